"""Whose clock is looked at.

What a run did and saw is dated by the machine it ran on, as are the answers it got. Whether a run
on another machine still lives is judged by the database's clock alone, when it shows a sign of
life and when others look for one: two machines whose clocks differ by minutes would else take each
other for dead.
"""

from datetime import datetime

from sqlalchemy import Connection, func, select


def shared_now(connection: Connection, own: datetime) -> datetime:
    """The time of a server's ledger; of one in a file it is the machine's `own`."""
    if connection.dialect.name != "postgresql":
        return own
    found: datetime | None = connection.scalar(select(func.clock_timestamp()))
    return found or own
