"""Outcomes: write down what a request proved. Only these statements end the state SENDING.

Recording an outcome twice moves no step twice, so it may be repeated after a lost connection.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, bindparam, exists, func, select, update
from sqlmodel import Session

from data.eligibility.holds import LONGEST_PAUSE
from data.store.states import COUNTS, OPERATIONS, Op, State
from data.store.tables import CAMPAIGN, DECISION, PART, REQUEST, STEP, Campaign, now, one_of

SHARED_ID = "The service gave an id that belongs to another one: nobody knows what it did."


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one request proved.

    `ids` has the service's id by step: a step with an id is done, the others go to `state`.
    `evidence` has columns of the request: phase, status, evidence, answer.
    """

    request: int
    state: State
    ids: Mapping[int, int] = field(default_factory=dict)
    why: str | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)


def record(session: Session, outcomes: Sequence[Outcome]) -> list[int]:
    """Write down outcomes, and change the state of their steps.

    The newest part of a step moves it. So does an older part of the same generation with a late
    yes, if no other part counts; every late yes sets `said_yes`. Returns the steps that got an
    id of another step: these steps are unsure, and nothing more may be sent.
    """
    if not outcomes:
        return []
    connection, ended = session.connection(), _NOTHING | {"ended_at": now()}
    connection.execute(
        _ENDED, [ended | dict(each.evidence) | {"number": each.request} for each in outcomes]
    )
    by_request = {each.request: each for each in outcomes}
    rows = connection.execute(_PARTS, {"requests": dict.fromkeys(by_request)}).all()
    given = {row.step_id: by_request[row.request_id].ids.get(row.step_id) for row in rows}
    strange = shared(session, {step: number for step, number in given.items() if number})
    moves: list[_Move] = []
    for row in rows:
        outcome = by_request[row.request_id]
        number = outcome.ids.get(row.step_id)
        to = State.DONE if number is not None else outcome.state
        why = None if to in (State.DONE, State.WAITING) else outcome.why
        if row.step_id in strange:
            to, number, why = State.UNSURE, None, SHARED_ID
        # A refused step moves if it is to wait again: tasks/sending/sender.py found no fault in it.
        moves_it = row.step_state in (State.SENDING, State.UNSURE) or (
            row.step_state is State.REFUSED and to is State.WAITING
        )
        if row.part_id == row.id and moves_it and to is not row.step_state:
            moves.append(_move(row, row.id, to, number, why))
            if to in (State.WAITING, State.REFUSED):
                moves += _earlier_yes(session, row)
        elif to is State.DONE and row.state is not State.DONE:
            moves += _late_yes(session, row, number)
    if moves:
        connection.execute(_MOVE_PART, moves)
        connection.execute(_MOVE_STEP, moves)
    return sorted(strange)


def refusals(session: Session, step_ids: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """The statuses of earlier refusals of each step, over all runs.

    They count from the last time a person settled the step as not sent. An add of several people
    that was refused with a status in _OF_SOME_ROW does not count.
    """
    said: dict[int, tuple[int, ...]] = {}
    for row in session.connection().execute(_REFUSALS, {"steps": dict.fromkeys(step_ids)}):
        if row.state is State.GIVEN_UP or row.again is not None:
            said[row.step_id] = ()
        elif not OPERATIONS[row.op].many or row.rows == 1 or row.status not in _OF_SOME_ROW:
            said[row.step_id] = (*said.get(row.step_id, ()), row.status)
    return said


def throttle(session: Session, campaign_id: int, seconds: float) -> datetime:
    """Pause each campaign at the same service and account, after an answer 429. Returns the end."""
    campaign, at = session.get_one(Campaign, campaign_id), now()
    until = at + min(timedelta(seconds=seconds), LONGEST_PAUSE)
    before = campaign.paused_until
    if before is not None and before <= at + LONGEST_PAUSE:
        until = max(until, before)
    there = (CAMPAIGN.c.service == campaign.service) & (CAMPAIGN.c.account == campaign.account)
    session.connection().execute(update(CAMPAIGN).where(there).values(paused_until=until))
    return until


def shared(session: Session, given: Mapping[int, int]) -> set[int]:
    """Which of these steps were given an id that already belongs to another project at this service
    and account, or to another person of this campaign."""
    of = {"steps": dict.fromkeys(given), "numbers": dict.fromkeys(given.values())}
    found = session.connection().execute(_SHARED, of) if given else ()
    return {row.id for row in found if given[row.id] == row.service_id}


_Move = dict[str, Any]  # the parameters of _MOVE_PART and _MOVE_STEP


def _move(row: Row[Any], part: int, to: State, number: int | None, why: str | None = None) -> _Move:
    return {"step": row.step_id, "part": part, "to": to, "number": number, "reason": why}


def _late_yes(session: Session, row: Row[Any], number: int | None) -> list[_Move]:
    """Note a late yes. The step is done, unless another part counts, or its generation is over."""
    values = {"said_yes": True, "service_id": number}
    session.connection().execute(update(PART).where(PART.c.id == row.id).values(values))
    if row.generation != row.now or session.connection().scalar(_ANOTHER, _of(row)):
        return []
    return [_move(row, row.id, State.DONE, number)]


def _earlier_yes(session: Session, row: Row[Any]) -> list[_Move]:
    """If the newest part failed, an earlier part of this generation with a late yes counts."""
    yes = session.connection().execute(_SAID_YES, _of(row)).first()
    return [_move(row, yes.id, State.DONE, yes.service_id)] if yes else []


def _of(row: Row[Any]) -> dict[str, int]:
    return {"step": row.step_id, "generation": row.generation, "part": row.id}


_NOTHING = {"ended_at": None, "phase": None, "status": None, "evidence": None, "answer": None}
_OF_SOME_ROW = (400, 413, 422)  # a bulk add may get these though most of its rows are good
_ENDED = (
    update(REQUEST)
    .where(REQUEST.c.id == bindparam("number"))
    .values({name: bindparam(name) for name in _NOTHING})
)
_PARTS = (
    select(PART, STEP.c.state.label("step_state"), STEP.c.part_id, STEP.c.generation.label("now"))
    .join(STEP, STEP.c.id == PART.c.step_id)
    .where(one_of(PART.c.request_id, "requests"))
    .order_by(PART.c.id)
)
_beside = PART.alias("beside")
_rows = select(func.count()).where(_beside.c.request_id == PART.c.request_id).scalar_subquery()
_REFUSALS = (
    select(
        *(PART.c.step_id, PART.c.state, REQUEST.c.status, STEP.c.op, _rows.label("rows")),
        DECISION.c.id.label("again"),
    )
    .join(REQUEST, REQUEST.c.id == PART.c.request_id)
    .join(STEP, (STEP.c.id == PART.c.step_id) & (STEP.c.generation == PART.c.generation))
    .outerjoin(DECISION, (DECISION.c.part_id == PART.c.id) & (DECISION.c.word == "again"))
    .where(
        one_of(PART.c.step_id, "steps"),
        PART.c.state.in_((State.WAITING, State.REFUSED, State.GIVEN_UP)),
        REQUEST.c.status.is_not(None) | (PART.c.state == State.GIVEN_UP),
    )
    .order_by(PART.c.id)
)
_same = (PART.c.step_id == bindparam("step"), PART.c.generation == bindparam("generation"))
_ANOTHER = select(exists().where(*_same, PART.c.state.in_(COUNTS), PART.c.id != bindparam("part")))
_SAID_YES = select(PART.c.id, PART.c.service_id).where(*_same, PART.c.said_yes).limit(1)
_MOVE_PART = (
    update(PART)
    .where(PART.c.id == bindparam("part"))
    .values(state=bindparam("to"), service_id=func.coalesce(bindparam("number"), PART.c.service_id))
)
_MOVE_STEP = (
    update(STEP)
    .where(STEP.c.id == bindparam("step"))
    .values(
        state=bindparam("to"),
        part_id=bindparam("part"),
        service_id=func.coalesce(bindparam("number"), STEP.c.service_id),
        why=bindparam("reason"),
    )
)
_mine, _other = STEP.alias("mine"), STEP.alias("other")
_my, _its = CAMPAIGN.alias("my"), CAMPAIGN.alias("its")
_SHARED = (
    select(_mine.c.id, _other.c.service_id)
    .join(_other, (_other.c.op == _mine.c.op) & (_other.c.id != _mine.c.id))
    .join(_my, _my.c.id == _mine.c.campaign_id)
    .join(_its, _its.c.id == _other.c.campaign_id)
    .where(one_of(_mine.c.id, "steps"), one_of(_other.c.service_id, "numbers"))
    .where(
        (_my.c.id == _its.c.id)
        | (_mine.c.op == Op.CREATE)
        & (_my.c.service == _its.c.service)
        & (_my.c.account == _its.c.account)
    )
)
