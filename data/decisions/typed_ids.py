"""Ids that a person typed: another id may replace one that has had no effect.

An id that the service gave is never replaced, nor one that was used for anything that may have had
an effect. A run reads ids before it claims, so no run of the campaign may be at work meanwhile.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    String,
    bindparam,
    case,
    cast,
    exists,
    select,
    update,
)

from data.decisions.doubt_rows import SEEN, WHO, doubts_in
from data.decisions.verdicts import Decided, Doubt
from data.store.states import MAY_HAVE_HAPPENED, Operation, Step, Word
from data.store.tables import attempt, campaign, candidate, decision, runs

_used = attempt.alias("used")
_USES = (_used.c.campaign_id == bindparam("of"), _used.c.state.in_(MAY_HAVE_HAPPENED))
_NOTHING_CAME = (Step.WAITING, Step.REFUSED)


def _typed(number: ColumnElement[Any]) -> tuple[ColumnElement[bool], ...]:
    return (
        decision.c.campaign_id == bindparam("of"),
        decision.c.attempt_id == attempt.c.id,
        decision.c.verdict == Word.ID,
        decision.c.value == cast(number, String),
    )


_PROJECT = (
    select(*SEEN, campaign.c.project_id.label("typed"))
    .join(campaign, campaign.c.project_attempt == attempt.c.id)
    .where(
        campaign.c.id == bindparam("of"),
        campaign.c.project_state == Step.DONE,
        campaign.c.problem_state.in_(bindparam("stands", expanding=True)),
        exists().where(*_typed(campaign.c.project_id)),
        ~exists().where(*_USES, _used.c.operation != Operation.CREATE),
    )
)
_PEOPLE = (
    select(*WHO, candidate.c.candidate_id.label("typed"))
    .join(candidate, candidate.c.add_attempt == attempt.c.id)
    .where(
        candidate.c.campaign_id == bindparam("of"),
        candidate.c.add_state == Step.DONE,
        candidate.c.invite_state.in_(bindparam("stands", expanding=True)),
        exists().where(
            *_typed(candidate.c.candidate_id), decision.c.candidate_row == candidate.c.id
        ),
        # In any generation: an email may already have been sent under this id.
        candidate.c.id.not_in(
            select(_used.c.candidate_row).where(*_USES, _used.c.operation == Operation.INVITE)
        ),
    )
    .order_by(attempt.c.id, candidate.c.id)
)
_AT_WORK = select(exists().where(runs.c.campaign_id == bindparam("of"), runs.c.ended_at.is_(None)))
_WITHOUT_ID = (
    update(candidate)
    .where(
        candidate.c.id == bindparam("person"),
        candidate.c.candidate_id == bindparam("before"),
        candidate.c.add_state == Step.DONE,
        # Not `in`, which many rows at once do not take.
        (candidate.c.invite_state == Step.WAITING) | (candidate.c.invite_state == Step.REFUSED),
    )
    .values(candidate_id=None)
)
_refused = candidate.c.invite_state == Step.REFUSED
_WITH_ID = (
    update(candidate)
    .where(candidate.c.id == bindparam("person"), candidate.c.candidate_id.is_(None))
    .values(
        candidate_id=bindparam("number"),
        # What the service said about the old id says nothing about this one, as after a resend.
        generation=candidate.c.generation + case((_refused, 1), else_=0),
        invite_attempt=case((_refused, None), else_=candidate.c.invite_attempt),
        invite_state=Step.WAITING,
        why=None,
    )
)


def find(
    connection: Connection,
    campaign_row: int,
    stands: Sequence[Step] = _NOTHING_CAME,
) -> list[Doubt]:
    """The steps whose id may be replaced: the project's, and people's in the order sent.

    `stands` is the state of the next step, the problem or the invitation.
    """
    at_work = bool(connection.scalar(_AT_WORK, {"of": campaign_row}))
    asked: tuple[tuple[Operation, Select[Any]], ...] = (
        (Operation.CREATE, _PROJECT),
        (Operation.ADD, _PEOPLE),
    )
    mistyped: list[Doubt] = []
    for operation, statement in asked:
        rows = connection.execute(statement, {"of": campaign_row, "stands": stands}).all()
        doubts = doubts_in(connection, operation, rows)
        mistyped += [replace(doubt, alive=at_work) for doubt in doubts]
    return mistyped


def refused(connection: Connection, campaign_row: int) -> list[Doubt]:
    """The steps with a typed id that the service refused: the id may be replaced."""
    return find(connection, campaign_row, (Step.REFUSED,))


def replace_ids(
    connection: Connection, campaign_row: int, anew: Sequence[tuple[Doubt, Decided]]
) -> None:
    """Write the new ids; steps that were refused because of the old ids wait again."""
    for doubt, verdict in anew:
        if doubt.operation is Operation.CREATE:
            _replace_project(connection, campaign_row, doubt, verdict)
    people = [
        {"person": doubt.row, "before": doubt.typed, "number": verdict.value}
        for doubt, verdict in anew
        if doubt.operation is Operation.ADD
    ]
    if people:
        # Remove all old ids first: one may be another person's new id.
        connection.execute(_WITHOUT_ID, people)
        connection.execute(_WITH_ID, people)


def _replace_project(
    connection: Connection, campaign_row: int, doubt: Doubt, verdict: Decided
) -> None:
    connection.execute(
        update(campaign)
        .where(
            campaign.c.id == campaign_row,
            campaign.c.project_id == doubt.typed,
            campaign.c.project_state == Step.DONE,
            campaign.c.problem_state.in_(_NOTHING_CAME),
        )
        .values(project_id=verdict.value, problem_state=Step.WAITING, why=None)
    )
