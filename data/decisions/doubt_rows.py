"""Doubts from the journal: the columns they are read from, and how rows become doubts.

Inside a transaction that the ledger opens.
"""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, bindparam, func, select

from data.decisions.verdicts import Doubt
from data.sending.processes import this_process
from data.sending.recovery import lives
from data.store import clock
from data.store.states import Ending, Operation
from data.store.tables import attempt, campaign, candidate, runs

_its = campaign.alias("its")


def _seen(evidence: ColumnElement[str | None]) -> tuple[ColumnElement[Any], ...]:
    return (
        attempt.c.id.label("attempt"),
        attempt.c.claimed_at.label("sent_at"),
        attempt.c.phase,
        attempt.c.status,
        evidence.label("evidence"),
        func.nullif(attempt.c.answer, "").label("answer"),
        attempt.c.run_id,
        select(_its.c.timezone)
        .where(_its.c.id == attempt.c.campaign_id)
        .scalar_subquery()
        .label("timezone"),
    )


# The fields of a doubt, and the run that sent the request.
SEEN = _seen(attempt.c.evidence)
WHO = (
    # For one of many people in a request, their own line says more than the request's.
    *_seen(func.coalesce(func.nullif(candidate.c.why, ""), attempt.c.evidence)),
    candidate.c.id.label("row"),
    candidate.c.email1,
    candidate.c.first_name,
    candidate.c.last_name,
    candidate.c.candidate_id,
)
_OPEN_RUNS = select(runs).where(
    runs.c.id.in_(bindparam("numbers", expanding=True)),
    runs.c.ended_at.is_(None) | (runs.c.ending == Ending.DIED),
)


def doubts_in(
    connection: Connection, operation: Operation, rows: Sequence[Row[Any]]
) -> list[Doubt]:
    """The doubts in rows of SEEN or WHO, and perhaps `typed`."""
    alive = _alive(connection, {row.run_id for row in rows})
    fields = [dict(row._mapping) for row in rows]
    return [Doubt(operation, alive=seen.pop("run_id") in alive, **seen) for seen in fields]


def _alive(connection: Connection, numbers: Collection[int]) -> set[int]:
    """Which of these runs may still send: one that counted as dead may have woken again."""
    if not numbers:
        return set()
    here, at = this_process(), clock.shared_now(connection)
    open_runs = connection.execute(_OPEN_RUNS, {"numbers": list(numbers)})
    return {run.id for run in open_runs if lives(run, here, at)}
