"""Notices about runs: recorded before they are sent, so that none is lost or sent twice.

Each function works inside a transaction that its caller commits.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection, delete, insert, update
from sqlmodel import col, select

from data.store.tables import Notice, notices, rows_of

KEPT = timedelta(days=30)


def note(
    connection: Connection, flow_run: str, state: str, says: str, at: datetime
) -> Notice | None:
    """Record a notice about a state of a run; None if it was recorded before."""
    same = select(Notice).where(Notice.flow_run == flow_run, Notice.state == state)
    if rows_of(connection, same):
        return None
    connection.execute(delete(notices).where(notices.c.noted_at < at - KEPT))
    values = {"flow_run": flow_run, "state": state, "says": says, "noted_at": at}
    connection.execute(insert(notices).values(values))
    return rows_of(connection, same)[0]


def tell(connection: Connection, row: int, at: datetime) -> None:
    """Record that a notice was delivered."""
    connection.execute(update(notices).where(notices.c.id == row).values(told_at=at))


def waiting(connection: Connection, before: datetime) -> Sequence[Notice]:
    """The undelivered notices from before a moment: the process that recorded them may be gone."""
    ours = select(Notice).where(col(Notice.told_at).is_(None), Notice.noted_at < before)
    return rows_of(connection, ours.order_by(col(Notice.id)))


def noted(connection: Connection, flow_runs: list[str]) -> set[tuple[str, str]]:
    """The states of these runs that were recorded."""
    theirs = rows_of(connection, select(Notice).where(col(Notice.flow_run).in_(flow_runs)))
    return {(notice.flow_run, notice.state) for notice in theirs}
