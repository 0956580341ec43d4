"""What people are told of runs: noted before it is sent, so that nothing is lost or told twice.

Each function works inside a transaction that its caller commits.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, delete, insert, select, update

from data.store.tables import notices

KEPT = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A notice that nobody has taken yet."""

    row: int
    says: str


def note(
    connection: Connection, flow_run: str, state: str, says: str, at: datetime
) -> Waiting | None:
    """Note what is to be told of a state of a run; None where it was noted before."""
    same = (notices.c.flow_run == flow_run) & (notices.c.state == state)
    if connection.execute(select(notices.c.id).where(same)).first() is not None:
        return None
    connection.execute(delete(notices).where(notices.c.noted_at < at - KEPT))
    values = {"flow_run": flow_run, "state": state, "says": says, "noted_at": at}
    row = connection.execute(insert(notices).values(values).returning(notices.c.id)).scalar_one()
    return Waiting(row, says)


def tell(connection: Connection, row: int, at: datetime) -> None:
    """Note that a notice was taken."""
    connection.execute(update(notices).where(notices.c.id == row).values(told_at=at))


def waiting(connection: Connection, before: datetime) -> list[Waiting]:
    """The notices of before a moment that nobody has taken: whoever noted them may be gone."""
    ours = notices.c.told_at.is_(None) & (notices.c.noted_at < before)
    rows = connection.execute(select(notices.c.id, notices.c.says).where(ours).order_by("id"))
    return [Waiting(row.id, row.says) for row in rows]


def noted(connection: Connection, flow_runs: list[str]) -> set[tuple[str, str]]:
    """Of these runs, the states that were noted."""
    rows = connection.execute(
        select(notices.c.flow_run, notices.c.state).where(notices.c.flow_run.in_(flow_runs))
    )
    return {(row.flow_run, row.state) for row in rows}
