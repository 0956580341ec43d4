"""Claims: what is about to be sent is written down, durably, before its first byte leaves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, bindparam, func, insert, select, update
from sqlmodel import Session

from data.eligibility.holds import Hold, Scope, kept_back
from data.sending import pace
from data.sending.outcomes import refusals
from data.store.ledger import LedgerGone, place_of
from data.store.states import NEEDS, OF_PROJECT, OPEN, Op, State
from data.store.tables import PART, PERSON, REQUEST, STEP, Campaign, now


@dataclass(frozen=True, slots=True)
class ClaimedStep:
    """One step that a request is for.

    `key` and `fields` are a person's to add: their email key, and what is sent of them.
    `service_id` is whom the call is about: the problem to attach, the candidate to invite.
    """

    step_id: int
    person_id: int
    generation: int
    part_id: int | None  # the one before
    service_id: int | None
    key: str = ""
    fields: Any = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A request that may leave now, and the steps that it is for.

    `refused` are the statuses that said no to the same before (see `refusals`).
    """

    request: int
    op: Op
    steps: tuple[ClaimedStep, ...]
    refused: tuple[int, ...] = ()


Answer = Claim | Hold | None
"""To a claim. A hold: something keeps back more than single people. None: nobody is due any more.
"""


def claim(
    session: Session,
    campaign_id: int,
    run_id: int,
    op: Op,
    requests: Sequence[Sequence[int]],
    per_second: float | None = None,
    mark: int = 0,
) -> list[Answer]:
    """Claim one request for each list of steps; of invitations no more than so many `per_second`.

    Whatever was planned, what is due and what is held are asked again here, in the transaction
    that claims: a person may have decided otherwise a moment ago. Raises LedgerGone for a ledger
    whose mark is smaller than `mark`, to which this run has grown it.
    """
    campaign = session.get(Campaign, campaign_id)  # as it stands by now
    if campaign is None or campaign.mark < mark:
        raise LedgerGone(place=place_of(session.get_bind().engine.url))
    if (pause := pace.throttled(session, campaign)) is not None:
        return [pause] * len(requests)
    wanted = [step for steps in requests for step in steps]
    rows = session.connection().execute(_FREE[op], {"of": campaign.id, "steps": wanted})
    still = {row.id: ClaimedStep(*row) for row in rows}
    people = [step.person_id for step in still.values()]
    kept = kept_back(session, campaign, op, people, per_second=per_second) if people else {}
    answers: list[Answer] = []
    granted: dict[int, list[ClaimedStep]] = {}
    for place, steps in enumerate(requests):
        mine = [still[step] for step in steps if step in still]
        free = [step for step in mine if step.person_id not in kept]
        all_of_it = [kept[s.person_id] for s in mine if s.person_id in kept]
        answers.append(next((h for h in all_of_it if h.scope is not Scope.PERSON), None))
        if free:
            granted[place] = free
    for place, number in zip(granted, _write_down(session, run_id, op, granted), strict=True):
        tried = [step.step_id for step in granted[place] if step.part_id is not None]
        before = refusals(session, tried) if tried else ()
        answers[place] = Claim(number, op, tuple(granted[place]), before)
    return answers


def _write_down(
    session: Session, run_id: int, op: Op, granted: Mapping[int, Sequence[ClaimedStep]]
) -> Sequence[int]:
    """A request for each, a part for each of its steps. Returns the requests' numbers."""
    if not granted:
        return ()
    connection, one = session.connection(), {"run_id": run_id, "op": op, "claimed_at": now()}
    # The rows are all alike, so it does not matter which of them has which number.
    numbers = connection.scalars(insert(REQUEST).returning(REQUEST.c.id), [one] * len(granted))
    requests = sorted(numbers)
    parts = [
        {"request_id": number, "step_id": step.step_id, "generation": step.generation}
        for number, steps in zip(requests, granted.values(), strict=True)
        for step in steps
    ]
    connection.execute(insert(PART), parts)
    connection.execute(_TAKEN, {"steps": [part["step_id"] for part in parts]})
    return requests


def _free(op: Op) -> Select[Any]:
    """Of some steps of a campaign, those that are open and have what they need."""
    needed = STEP.alias()
    whom = needed.c.service_id if op is Op.INVITE else STEP.c.service_id
    free: Select[Any] = select(
        STEP.c.id, STEP.c.person_id, STEP.c.generation, STEP.c.part_id, whom
    ).where(
        STEP.c.id.in_(bindparam("steps", expanding=True)),
        STEP.c.campaign_id == bindparam("of"),
        STEP.c.op == op,
        STEP.c.state.in_(OPEN[op]),
    )
    if op is Op.ADD:
        free = free.join(PERSON, PERSON.c.id == STEP.c.person_id)
        free = free.add_columns(PERSON.c.email_key, PERSON.c.fields)
    if op in NEEDS:
        free = free.join(
            needed,
            (needed.c.campaign_id == STEP.c.campaign_id)
            & (needed.c.person_id == (0 if NEEDS[op] in OF_PROJECT else STEP.c.person_id))
            & (needed.c.op == NEEDS[op]),
        ).where(needed.c.state == State.DONE)
    return free


_FREE = {op: _free(op) for op in Op}
_newest = select(func.max(PART.c.id)).where(PART.c.step_id == STEP.c.id).scalar_subquery()
_TAKEN = (
    update(STEP)
    .where(STEP.c.id.in_(bindparam("steps", expanding=True)))
    .values(state=State.SENDING, part_id=_newest, why=None)
)
