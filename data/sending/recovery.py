"""What a run leaves when its process disappears: requests that are unsure.

A request that was claimed and never recorded may or may not have left. Nothing here guesses: it
becomes UNSURE, and a person settles it.
"""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, bindparam, exists, select, update

from config.errors import CampaignError
from data.campaigns.intake import CHANGED_SINCE, ReadAnew, Version, overtaken
from data.sending.outcomes import Outcome, record_outcomes
from data.sending.prepared import Prepared
from data.sending.processes import HEARTBEAT_EXPIRES, Process, is_alive, is_here, this_process
from data.store import clock
from data.store.states import AttemptState, Ending, Operation, Step
from data.store.tables import attempt, candidate, runs

# Runs of this process: alive as long as they are in this set, whatever else the process does.
OWN_RUNS: set[int] = set()

_MAY_SEND = select(runs).where(
    runs.c.campaign_id == bindparam("of"),
    runs.c.ended_at.is_(None)
    | exists().where(attempt.c.run_id == runs.c.id, attempt.c.state == AttemptState.SENDING),
)
_OPEN = select(runs).where(runs.c.campaign_id == bindparam("of"), runs.c.ended_at.is_(None))
_ENDED = select(runs.c.ended_at.is_not(None)).where(runs.c.id == bindparam("run"))
_HAS_ENDED = Prepared(_ENDED)
# Composed as one, because it runs with every group commit that grants a claim.
_MAY_CLAIM = Prepared(_ENDED.add_columns(CHANGED_SINCE))
_LAST_HEARD = select(runs.c.heartbeat_at).where(runs.c.id == bindparam("run"))
_HEARD = (
    update(runs)
    .where(runs.c.id == bindparam("run"), runs.c.heartbeat_at == bindparam("before"))
    .values(heartbeat_at=bindparam("at"))
)
_CLOSE = (
    update(runs)
    .where(runs.c.id == bindparam("run"), runs.c.ended_at.is_(None))
    .values(ended_at=bindparam("at"), ending=Ending.DIED, reason="its process disappeared")
)
_STILL_SENDING = select(
    attempt.c.id, attempt.c.operation, attempt.c.candidate_row, attempt.c.campaign_id
).where(attempt.c.run_id == bindparam("run"), attempt.c.state == AttemptState.SENDING)


LEFT_BY_DEAD_RUN = "the run stopped while this request may have been in flight"
LEFT_BY_OWN_RUN = "the run ended before this request's answer could be recorded"


class TakenOver(CampaignError):
    """Another run took this one for dead: its open requests are unsure, the rest is the other's."""

    def __init__(self, silent: timedelta) -> None:
        minutes = round(silent / timedelta(minutes=1))
        super().__init__(
            f"This run gave no sign of life for {minutes:,} minutes, and another run took over. "
            "This one sends nothing more. Run it again."
        )


def taken_over(connection: Connection, run: int) -> TakenOver | None:
    """Say that a run that is at work was taken for dead; None if it was not."""
    ended = any(ended for (ended,) in _HAS_ENDED.rows(connection, {"run": run}))
    return _taken_over(connection, run) if ended else None


def no_claims(
    connection: Connection, run: int, campaign_row: int, version: Version | None
) -> TakenOver | ReadAnew | None:
    """Say why a run that is at work gets no more claims: it was taken for dead, or somebody changed
    its definition, even if the change was undone. None if it gets them.
    """
    if version is None:
        return taken_over(connection, run)
    asked = {"run": run, "version_of": campaign_row, "since": version.since}
    for ended, changed in _MAY_CLAIM.rows(connection, asked | {"digest": version.digest}):
        if changed:
            return overtaken(version.key)
        if ended:
            return _taken_over(connection, run)
    return None


def _taken_over(connection: Connection, run: int) -> TakenOver:
    heard = connection.execute(_LAST_HEARD, {"run": run}).scalar_one()
    return TakenOver(clock.shared_now(connection) - heard)


def dead_runs(connection: Connection, campaign_row: int) -> list[int]:
    """Runs of this campaign that never recorded their end, and whose process is gone.

    An earlier version let a run that was taken for dead claim more when it woke: it counts again.
    """
    runs_open = connection.execute(_MAY_SEND, {"of": campaign_row})
    here, at = this_process(), clock.shared_now(connection)
    return [int(run.id) for run in runs_open if not lives(run, here, at)]


def ahead(connection: Connection, campaign_row: int) -> list[tuple[Row[Any], timedelta]]:
    """Runs of other machines whose last sign of life is in this clock's future, and by how much."""
    runs_open = connection.execute(_OPEN, {"of": campaign_row}).all()
    at = clock.shared_now(connection)
    others = [(run, run.heartbeat_at - at) for run in runs_open if not is_here(_process(run))]
    return [(run, by) for run, by in others if by > HEARTBEAT_EXPIRES]


def hear_now(connection: Connection, run: Row[Any]) -> None:
    """Date the last sign of life of such a run by this clock.

    If the run is alive, its next sign comes within seconds, dated by its own clock. If not, this
    one expires.
    """
    heard = {"run": run.id, "before": run.heartbeat_at, "at": clock.shared_now(connection)}
    connection.execute(_HEARD, heard)


def lives(run: Row[Any], here: Process, at: datetime) -> bool:
    """Whether the process of a run (its whole row) may still send what it has claimed."""
    process = _process(run)
    return run.id in OWN_RUNS if process == here else is_alive(process, run.heartbeat_at, at)


def _process(run: Row[Any]) -> Process:
    return Process(run.host, run.pid, run.process_start)


def at_work(connection: Connection, campaign_row: int) -> list[int]:
    """The runs of a campaign that have not ended and are alive."""
    runs_open = connection.execute(_OPEN, {"of": campaign_row}).all()
    here, at = this_process(), clock.shared_now(connection)
    return [int(run.id) for run in runs_open if lives(run, here, at)]


def close_dead_run(connection: Connection, run: int) -> int:
    """Close a dead run. Returns how many of its calls are now UNSURE."""
    left = mark_unsure(connection, run, LEFT_BY_DEAD_RUN)
    connection.execute(_CLOSE, {"run": run, "at": clock.now()})
    return left


def mark_unsure(connection: Connection, run: int, evidence: str) -> int:
    """Make every call that a run still has SENDING unsure."""
    at = clock.now()
    sending = connection.execute(_STILL_SENDING, {"run": run}).all()
    outcomes = [
        Outcome(
            attempt=row.id,
            operation=Operation(row.operation),
            state=AttemptState.UNSURE,
            step=Step.UNSURE,
            at=at,
            rows=_rows(connection, row.id, row.operation, row.candidate_row, row.campaign_id),
            evidence=evidence,
            why=evidence,
        )
        for row in sending
    ]
    record_outcomes(connection, outcomes)
    return len(outcomes)


def _rows(
    connection: Connection, number: int, operation: str, candidate_row: int, campaign_row: int
) -> tuple[int, ...]:
    if operation == Operation.INVITE:
        return (candidate_row,)
    if operation != Operation.ADD:
        return ()
    return tuple(
        connection.scalars(
            select(candidate.c.id).where(
                candidate.c.campaign_id == campaign_row, candidate.c.add_attempt == number
            )
        )
    )
