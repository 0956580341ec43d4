"""What came through a watched folder: which contents, and what became of each campaign in them.

Each function works inside a transaction that its caller commits.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, insert, select, update

from data.store import clock
from data.store.tables import inbox


@dataclass(frozen=True, slots=True)
class Passed:
    """What became of one campaign of a content when it last came through.

    `key` is None for a content that cannot be read; `ending` is then BAD_CONTENT, and an Ending
    (data/store/states.py) for all others.
    """

    key: str | None
    ending: str
    at: datetime


BAD_CONTENT = "bad"


def passed(connection: Connection, digest: str) -> list[Passed]:
    """What became of a content; empty where it never came through."""
    rows = connection.execute(select(inbox).where(inbox.c.digest == digest).order_by(inbox.c.id))
    return [Passed(row.campaign_key or None, row.ending, row.seen_at) for row in rows]


def note(connection: Connection, digest: str, key: str | None, file: str, ending: str) -> None:
    """Write down what became of one campaign of a content; `file` is its name, for people."""
    values = {"file": file, "ending": ending, "seen_at": clock.now()}
    same = (inbox.c.digest == digest) & (inbox.c.campaign_key == (key or ""))
    if connection.execute(update(inbox).where(same).values(values)).rowcount == 0:
        connection.execute(insert(inbox).values(digest=digest, campaign_key=key or "", **values))
