"""Outcomes: the only statements that move a step out of SENDING, and record what was seen.

Each function works inside a transaction that its caller commits.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, String, bindparam, case, exists, insert, select, update

from data.sending.prepared import Prepared
from data.store.states import TAKEN, AttemptState, Operation, Step, Word
from data.store.tables import (
    attempt,
    campaign,
    candidate,
    decision,
)

# Built once, as in data/sending/claims.py.
_another = attempt.alias("another")
_INVITES_STANDING = (
    select(attempt.c.id, candidate.c.invite_attempt, candidate.c.invite_state)
    .join(candidate, candidate.c.id == attempt.c.candidate_row)
    .where(
        attempt.c.id.in_(bindparam("numbers", expanding=True)),
        # A deliberate resend is another invitation: the outcome of this one says nothing about it.
        attempt.c.generation == candidate.c.generation,
        # Nor does it, once another request for this invitation counts: the index allows only one.
        ~exists().where(
            _another.c.candidate_row == attempt.c.candidate_row,
            _another.c.generation == attempt.c.generation,
            _another.c.operation == Operation.INVITE,
            _another.c.state.in_(TAKEN),
            _another.c.id != attempt.c.id,
        ),
    )
    # Rows that another run is claiming at this moment are read once it has claimed them.
    .order_by(candidate.c.id)
    .with_for_update(of=candidate, key_share=True)
)
# Done, by answers that came while a later request for the same invitation was on its way. What is
# not a plain yes has evidence.
_ANSWERED_BEFORE = (
    select(attempt.c.candidate_row, attempt.c.id)
    .join(candidate, candidate.c.id == attempt.c.candidate_row)
    .where(
        attempt.c.candidate_row.in_(bindparam("rows", expanding=True)),
        attempt.c.operation == Operation.INVITE,
        attempt.c.generation == candidate.c.generation,
        attempt.c.state == AttemptState.OVERRULED,
        attempt.c.status.between(200, 299),
        attempt.c.evidence.is_(None),
    )
    .order_by(attempt.c.id)
)
_COUNTS = update(attempt).where(attempt.c.id == bindparam("number")).values(state=AttemptState.DONE)
_ADDS_STANDING = (
    select(
        candidate.c.id,
        candidate.c.campaign_id,
        candidate.c.add_state,
        candidate.c.add_attempt,
        candidate.c.candidate_id,
    )
    .where(candidate.c.id.in_(bindparam("rows", expanding=True)))
    .order_by(candidate.c.id)
    .with_for_update(key_share=True)
)
_IDS_TAKEN = select(candidate.c.id, candidate.c.candidate_id).where(
    candidate.c.campaign_id
    == select(attempt.c.campaign_id).where(attempt.c.id == bindparam("own")).scalar_subquery(),
    candidate.c.candidate_id.in_(bindparam("numbers", expanding=True)),
)
_ADDED = (
    update(candidate)
    .where(candidate.c.id == bindparam("row"))
    .values(
        add_state=Step.DONE,
        add_attempt=bindparam("own"),
        candidate_id=bindparam("number"),
        why=None,
    )
)
_MOVE_INVITE = Prepared(
    update(candidate)
    .where(candidate.c.id == bindparam("row"))
    .values(
        invite_state=bindparam("step"),
        invite_attempt=bindparam("number"),
        why=bindparam("reason"),
    )
)
_WRITE_EVIDENCE = (
    update(attempt)
    .where(attempt.c.id == bindparam("number"))
    .values(
        ended_at=bindparam("at"),
        phase=bindparam("phase_reached"),
        status=bindparam("status_seen"),
        evidence=bindparam("seen"),
        # Deleted with a forgotten person (data/privacy/forgetting.py): no late answer brings it
        # back.
        answer=case((attempt.c.answer == "", ""), else_=bindparam("wrote", type_=String)),
    )
)
_WRITE_OUTCOME = _WRITE_EVIDENCE.values(state=bindparam("new_state"))
_WRITE_EXPECTED_OUTCOME = Prepared(
    _WRITE_OUTCOME.where(
        exists().where(
            candidate.c.id == bindparam("row"),
            candidate.c.invite_state == Step.SENDING,
            candidate.c.invite_attempt == attempt.c.id,
            candidate.c.generation == attempt.c.generation,
        )
    )
)
_SINGLE_STANDS = {
    name: select(
        campaign.c.id, campaign.c[f"{name}_state"].label("state"), attempt_of.label("last")
    )
    .where(
        campaign.c.id
        == select(attempt.c.campaign_id).where(attempt.c.id == bindparam("own")).scalar_subquery()
    )
    .with_for_update(key_share=True)
    for name, attempt_of in (
        ("project", campaign.c.project_attempt),
        ("problem", campaign.c.problem_attempt),
    )
}
_MOVE_SINGLE = update(campaign).where(campaign.c.id == bindparam("row"))
_KEEP_DOUBLES = insert(decision)
_MOVE_UNNAMED = (
    update(candidate)
    .where(candidate.c.id.in_(bindparam("rows", expanding=True)))
    .values(add_state=bindparam("step"), why=bindparam("reason"))
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one attempt, and the new state of its steps.

    `rows` are those of its claim. `ids` maps candidate rows to the service's candidate_id (add).
    Rows of an add that are not in `ids`, and every other step, go to `step`, with the reason in
    `whys` for the row, or else `why`. `answer` is what the service wrote, for people only.
    """

    attempt: int
    operation: Operation
    state: AttemptState
    step: Step
    at: datetime
    rows: tuple[int, ...] = ()
    phase: int | None = None
    status: int | None = None
    evidence: str | None = None
    answer: str | None = field(default=None, repr=False)
    why: str | None = None
    project_id: int | None = None
    ids: Mapping[int, int] = field(default_factory=dict)
    whys: Mapping[int, str] = field(default_factory=dict)


def record_outcomes(connection: Connection, outcomes: Sequence[Outcome]) -> None:
    """Write outcomes and move the steps that they settle; otherwise only record the evidence.

    An attempt's outcome may be late: after others took over its run (UNSURE), or even after a
    person overruled it. A late DONE still counts, unless the step has been sent again in a request
    that may have had an effect: this saves somebody a second email.
    """
    _land_invites(connection, [o for o in outcomes if o.operation is Operation.INVITE])
    for outcome in outcomes:
        if outcome.operation is Operation.ADD:
            moved = _move_added(connection, outcome)
        elif outcome.operation is not Operation.INVITE:
            moved = _move_single(connection, outcome)
        else:
            continue
        _write_outcomes(connection, [outcome], {outcome.attempt} if moved else set())


def _lands(step: Step, stands: Step, *, own: bool) -> bool:
    """Whether an outcome moves a step in this state. `own`: the step is on this attempt, not a
    later one.

    A later attempt that provably had no effect leaves the step WAITING or REFUSED.
    """
    if step is not Step.DONE:
        return own and stands in (Step.SENDING, Step.UNSURE)
    if own:
        return stands in (Step.SENDING, Step.UNSURE, Step.WAITING, Step.WITHDRAWN)
    return stands in (Step.WAITING, Step.REFUSED, Step.WITHDRAWN)


def _land_invites(connection: Connection, outcomes: Sequence[Outcome]) -> None:
    """Nearly always each step is still SENDING on its own attempt, and then any outcome counts.

    One statement checks this for a whole batch; only if it fails, each is checked alone.
    """
    if not outcomes:
        return
    rows = [_outcome(outcome) | {"row": outcome.rows[0]} for outcome in outcomes]
    if _WRITE_EXPECTED_OUTCOME.change(connection, *rows) == len(outcomes):
        moving = list(outcomes)
    else:
        moving = _still_moving(connection, outcomes)
        _write_outcomes(connection, outcomes, {outcome.attempt for outcome in moving})
    if moving:
        _MOVE_INVITE.change(
            connection,
            *(
                {"row": o.rows[0], "number": o.attempt, "step": o.step, "reason": o.why}
                for o in moving
            ),
        )
        _let_earlier_yes_count(
            connection, [o.rows[0] for o in moving if o.step in (Step.WAITING, Step.REFUSED)]
        )


def _let_earlier_yes_count(connection: Connection, without_effect: Sequence[int]) -> None:
    """Nobody whose earlier invitation was done is sent another, after one that had no effect."""
    if not without_effect:
        return
    earlier = connection.execute(_ANSWERED_BEFORE, {"rows": without_effect})
    done = [
        {"row": row, "number": number, "step": Step.DONE, "reason": None}
        for row, number in {person.candidate_row: person.id for person in earlier}.items()
    ]
    if done:
        connection.execute(_COUNTS, done)
        _MOVE_INVITE.change(connection, *done)


def _still_moving(connection: Connection, outcomes: Sequence[Outcome]) -> list[Outcome]:
    numbers = [outcome.attempt for outcome in outcomes]
    standing = connection.execute(_INVITES_STANDING, {"numbers": numbers})
    stands = {row.id: (Step(row.invite_state), row.invite_attempt == row.id) for row in standing}
    moving: dict[int, Outcome] = {}  # by person: of two late answers in a commit the first counts
    for outcome in outcomes:
        stand = stands.get(outcome.attempt)
        if stand and _lands(outcome.step, stand[0], own=stand[1]):
            moving.setdefault(outcome.rows[0], outcome)
    return list(moving.values())


def _write_outcomes(connection: Connection, outcomes: Sequence[Outcome], moved: set[int]) -> None:
    """Write the evidence always; the attempt's state only if its step moved with it."""
    for statement, these in (
        (_WRITE_OUTCOME, [o for o in outcomes if o.attempt in moved]),
        (_WRITE_EVIDENCE, [o for o in outcomes if o.attempt not in moved]),
    ):
        if these:
            connection.execute(statement, [_outcome(outcome) for outcome in these])


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {
        "number": outcome.attempt,
        "new_state": outcome.state,
        "at": outcome.at,
        "phase_reached": outcome.phase,
        "status_seen": outcome.status,
        "seen": outcome.evidence,
        "wrote": outcome.answer,
    }


def _move_single(connection: Connection, outcome: Outcome) -> bool:
    name = "project" if outcome.operation is Operation.CREATE else "problem"
    stands = connection.execute(_SINGLE_STANDS[name], {"own": outcome.attempt}).one()
    if not _lands(outcome.step, Step(stands.state), own=stands.last == outcome.attempt):
        return False
    values: dict[str, Any] = {
        f"{name}_state": outcome.step,
        f"{name}_attempt": outcome.attempt,
        "why": outcome.why,
    }
    if outcome.project_id is not None:
        values["project_id"] = outcome.project_id
    connection.execute(_MOVE_SINGLE, {"row": stands.id, **values})
    return True


def _move_added(connection: Connection, outcome: Outcome) -> bool:
    """Rows with an id are DONE; the others of this attempt go to `outcome.step`."""
    standing = connection.execute(_ADDS_STANDING, {"rows": outcome.rows}).all()
    stands = {row.id: (Step(row.add_state), row.add_attempt == outcome.attempt) for row in standing}
    ids = _ids_of_nobody_else(connection, outcome)
    done = [
        {"row": row, "number": number, "own": outcome.attempt}
        for row, number in ids.items()
        if row in stands and _lands(Step.DONE, stands[row][0], own=stands[row][1])
    ]
    if done:
        connection.execute(_ADDED, done)
    _keep_doubles(connection, outcome, standing, ids.keys() - {person["row"] for person in done})
    others = [
        row
        for row, (state, own) in stands.items()
        if row not in ids and own and state in (Step.SENDING, Step.UNSURE)
    ]
    reasons: dict[str | None, list[int]] = {}
    for row in others:
        reasons.setdefault(outcome.whys.get(row, outcome.why), []).append(row)
    for reason, rows in reasons.items():
        connection.execute(_MOVE_UNNAMED, {"rows": rows, "step": outcome.step, "reason": reason})
    return bool(done or others)


def _keep_doubles(
    connection: Connection, outcome: Outcome, standing: Sequence[Row[Any]], late: Set[int]
) -> None:
    """A late id of a person who was added again never replaces the newer id: it is kept beside it.

    It belongs to the record to remove by hand (data/decisions/cleaning.py).
    """
    doubles = [
        {
            "campaign_id": row.campaign_id,
            "attempt_id": outcome.attempt,
            "candidate_row": row.id,
            "verdict": Word.DOUBLE,
            "value": str(outcome.ids[row.id]),
            "who": "the service",
            "why": "",
            "decided_at": outcome.at,
        }
        for row in standing
        if row.id in late and row.candidate_id != outcome.ids[row.id]
    ]
    if doubles:
        connection.execute(_KEEP_DOUBLES, doubles)


def _ids_of_nobody_else(connection: Connection, outcome: Outcome) -> dict[int, int]:
    """The ids in the answer, without those that another person of this campaign already has.

    If two people had one id, one of them would get two emails and the other none.
    """
    if not outcome.ids:
        return {}
    asked = {"own": outcome.attempt, "numbers": list(outcome.ids.values())}
    taken = connection.execute(_IDS_TAKEN, asked)
    others = {number for row, number in taken if outcome.ids.get(row) != number}
    return {row: number for row, number in outcome.ids.items() if number not in others}
