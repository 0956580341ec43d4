"""Claims: write down durably what is about to be sent, before its first byte leaves."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Row, Select, bindparam, func, insert, literal, select, update
from sqlmodel import Session

from data.campaigns.people import steps_of
from data.eligibility.evidence import ABOUT, WHOSE, facts_of
from data.eligibility.holds import Hold, Scope, kept_back
from data.sending.outcomes import refusals
from data.store.ledger import NEWEST, LedgerGone, place_of
from data.store.states import OPERATIONS, Op, State
from data.store.tables import PART, PERSON, REQUEST, STEP, now, one_of


@dataclass(frozen=True, slots=True)
class Claim:
    """A request that may leave now, and its steps, as rows of `_FREE`.

    `service_id` of a step is the id that the call needs: the problem to attach, or the candidate to
    invite; `fields` are the person's. `refused` has the statuses of earlier `refusals` of the
    step that was refused most often.
    """

    request: int
    op: Op
    steps: Sequence[Row[Any]] = field(repr=False)
    refused: tuple[int, ...] = ()


ClaimResult = Claim | Hold | None
"""A Hold on the campaign or on all invitations; None if each person is held, or no longer due."""


def claim(
    session: Session,
    campaign_id: int,
    run_id: int,
    op: Op,
    requests: Sequence[Sequence[int]],
    per_second: float | None = None,
    mark: int = 0,
) -> list[ClaimResult]:
    """Claim one request for each list in `requests`; at most `per_second` invitations a second.

    The transaction that claims asks again what is due and what is held: a person may have decided
    otherwise since the plan. Raises LedgerGone if the campaign's mark in the ledger is behind
    `mark`, which this run wrote, or if the ledger was migrated.
    """
    facts = facts_of(session, campaign_id, per_second)  # as it is now
    if facts is None or facts.mark < mark or facts.version != NEWEST:
        raise LedgerGone(place=place_of(session.get_bind().engine.url))
    wanted = dict.fromkeys(step for steps in requests for step in steps)
    rows = session.connection().execute(_FREE[op], {"of": campaign_id, "steps": wanted})
    still = {row.step_id: row for row in rows}
    kept = kept_back(session, facts, op, list(still.values()), per_second) if still else {}
    answers: list[ClaimResult] = []
    granted: dict[int, list[Row[Any]]] = {}
    for place, steps in enumerate(requests):
        mine = [still[step] for step in steps if step in still]
        free = [row for row in mine if row.id not in kept]
        all_of_it = [kept[row.id] for row in mine if row.id in kept]
        answers.append(next((h for h in all_of_it if h.scope is not Scope.PERSON), None))
        if free:
            granted[place] = free
    tried = [r.step_id for rows in granted.values() for r in rows if r.part_id is not None]
    before = refusals(session, tried) if tried else {}
    numbers = _write_down(session, run_id, op, facts, list(granted.values()))
    for number, (place, free) in zip(numbers, granted.items(), strict=True):
        most = max((before.get(row.step_id, ()) for row in free), key=len)
        answers[place] = Claim(number, op, free, most)
    return answers


def _write_down(
    session: Session, run_id: int, op: Op, facts: Any, granted: Sequence[Sequence[Row[Any]]]
) -> Sequence[int]:
    """Add a request for each list, and a part for each step. Returns the requests' numbers."""
    if not granted:
        return ()
    connection = session.connection()
    # All rows are alike, so any of the new numbers fits any of them.
    rows = [{"run_id": run_id, "op": op, "claimed_at": now()}] * len(granted)
    requests = sorted(connection.scalars(insert(REQUEST).returning(REQUEST.c.id), rows))
    parts = [
        {"request_id": number, "step_id": row.step_id, "generation": row.generation}
        | ({"mailbox": row.mailbox, "problem": facts.problem} if OPERATIONS[op].emails else {})
        for number, rows in zip(requests, granted, strict=True)
        for row in rows
    ]
    connection.execute(insert(PART), parts)
    connection.execute(_TAKEN, {"steps": dict.fromkeys(part["step_id"] for part in parts)})
    return requests


def _free(op: Op) -> Select[Any]:
    """Select the open steps whose needed steps are done, with the columns about their person
    (evidence.py)."""
    its = OPERATIONS[op]
    needed = {each: STEP.alias(f"needed_{each}") for each in its.needs}
    whom = needed[its.of_id].c.service_id if its.of_id else STEP.c.service_id
    columns = (STEP.c.person_id, STEP.c.generation, STEP.c.part_id, whom.label("service_id"))
    free: Select[Any] = select(STEP.c.id.label("step_id"), *columns).where(
        one_of(STEP.c.id, "steps"),
        STEP.c.campaign_id == bindparam("of"),
        STEP.c.op == op,
        STEP.c.state.in_(its.open),
    )
    if its.own:
        free = free.add_columns(STEP.c.person_id.label("id"), literal("").label("email_key"))
    else:
        free = free.join(PERSON, PERSON.c.id == STEP.c.person_id).join(*WHOSE)
        free = free.add_columns(*ABOUT, PERSON.c.fields)
    for before, step in needed.items():
        free = free.join(step, steps_of(step, before)).where(step.c.state == State.DONE)
    return free.order_by(STEP.c.id)


_FREE = {op: _free(op) for op in Op}
_newest = select(func.max(PART.c.id)).where(PART.c.step_id == STEP.c.id).scalar_subquery()
_TAKEN = (
    update(STEP)
    .where(one_of(STEP.c.id, "steps"))
    .values(state=State.SENDING, part_id=_newest, why=None)
)
