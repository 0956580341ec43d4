"""Doubts from the journal: the columns they are read from, and how rows become doubts.

Inside a transaction that the ledger opens.
"""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select

from data.decisions.verdicts import Doubt
from data.sending.processes import this_process
from data.sending.recovery import lives
from data.store import clock
from data.store.states import Ending, Operation
from data.store.tables import (
    attempt,
    campaign,
    candidate,
    runs,
)

_its = campaign.alias("its")
SEEN: tuple[Any, ...] = (
    attempt.c.id,
    attempt.c.claimed_at,
    attempt.c.phase,
    attempt.c.status,
    attempt.c.evidence,
    attempt.c.answer,
    attempt.c.run_id,
    select(_its.c.timezone)
    .where(_its.c.id == attempt.c.campaign_id)
    .scalar_subquery()
    .label("timezone"),
)
WHO: tuple[Any, ...] = (
    *SEEN,
    candidate.c.id.label("row"),
    candidate.c.email1,
    candidate.c.first_name,
    candidate.c.last_name,
    candidate.c.candidate_id,
    candidate.c.why,
)
_OPEN_RUNS = select(runs).where(
    runs.c.id.in_(bindparam("numbers", expanding=True)),
    runs.c.ended_at.is_(None) | (runs.c.ending == Ending.DIED),
)


def doubts_in(
    connection: Connection, operation: Operation, rows: Sequence[Row[Any]]
) -> list[Doubt]:
    """The doubts in rows of SEEN columns."""
    alive = _alive(connection, {row.run_id for row in rows})
    return [_doubt(operation, row, alive) for row in rows]


def _doubt(operation: Operation, row: Row[Any], alive: Collection[int]) -> Doubt:
    seen = row._mapping
    return Doubt(
        operation=operation,
        attempt=row.id,
        sent_at=row.claimed_at,
        alive=row.run_id in alive,
        phase=row.phase,
        status=row.status,
        timezone=row.timezone,
        # For one of many people in a request, their own line says more than the request's.
        evidence=seen.get("why") or row.evidence,
        answer=row.answer or None,
        row=seen.get("row"),
        email1=seen.get("email1", ""),
        first_name=seen.get("first_name", ""),
        last_name=seen.get("last_name", ""),
        candidate_id=seen.get("candidate_id"),
    )


def _alive(connection: Connection, numbers: Collection[int]) -> set[int]:
    """Which of these runs may still send: one that counted as dead may have woken again."""
    if not numbers:
        return set()
    here, at = this_process(), clock.shared_now(connection)
    open_runs = connection.execute(_OPEN_RUNS, {"numbers": list(numbers)})
    return {run.id for run in open_runs if lives(run, here, at)}
