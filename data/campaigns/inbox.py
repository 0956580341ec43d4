"""What was put into a watched folder: the contents of files, and how each campaign in them ended.

Each function works inside a transaction that its caller commits.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import ColumnElement, Connection, and_, insert, or_, select, update

from data.store import clock
from data.store.tables import inbox, inbox_places


@dataclass(frozen=True, slots=True)
class Passed:
    """How one campaign of a file's content ended when the content was last run.

    `key` is None for content that cannot be read; `ending` is then BAD_CONTENT, and otherwise an
    Ending (data/store/states.py), or BEGUN. `file` is the name under which the content lay.
    """

    key: str | None
    ending: str
    at: datetime
    file: str = ""


BAD_CONTENT = "bad"
BEGUN = "begun"  # a look began with it, and it has not come to an end


def passed(connection: Connection, digest: str) -> list[Passed]:
    """How each campaign of a file's content ended last time; empty if no look began with it."""
    rows = connection.execute(select(inbox).where(inbox.c.digest == digest).order_by(inbox.c.id))
    return [Passed(row.campaign_key or None, row.ending, row.seen_at, row.file) for row in rows]


def changed(connection: Connection, file: Path, digest: str, key: str | None) -> bool:
    """Whether a file, or its folder for this campaign, held another content at the last look."""
    at_places = or_(*(_at(*place) for place in _places(file, [key or ""])))
    other = select(inbox_places.c.id).where(at_places, inbox_places.c.digest != digest)
    return connection.scalar(other.limit(1)) is not None


def begin(
    connection: Connection,
    file: Path,
    digest: str,
    keys: Collection[str | None],
    doubled: Collection[str | None] = (),
) -> None:
    """Record campaigns of a file (`keys`) before any of them runs, so that none is forgotten.

    `doubled`: those that another file describes as well, so that the folder says nothing of them.
    """
    for key in keys:
        note(connection, digest, key, file.name, BEGUN)
    for place, key in _places(file, [key or "" for key in keys if key not in doubled]):
        same = _at(place, key)
        if connection.execute(update(inbox_places).where(same).values(digest=digest)).rowcount == 0:
            connection.execute(
                insert(inbox_places).values(place=place, campaign_key=key, digest=digest)
            )


def note(connection: Connection, digest: str, key: str | None, file: str, ending: str) -> None:
    """Record how one campaign of a file's content ended; `file` is the file's name, for people."""
    values = {"file": file, "ending": ending, "seen_at": clock.now()}
    same = (inbox.c.digest == digest) & (inbox.c.campaign_key == (key or ""))
    if connection.execute(update(inbox).where(same).values(values)).rowcount == 0:
        connection.execute(insert(inbox).values(digest=digest, campaign_key=key or "", **values))


def _places(file: Path, keys: Collection[str]) -> list[tuple[str, str]]:
    """Where a content is looked for: the file, and the folder for each of its campaigns."""
    whole = file.resolve()
    return [(str(whole), ""), *((str(whole.parent), key) for key in keys if key)]


def _at(place: str, key: str) -> ColumnElement[bool]:
    return and_(inbox_places.c.place == place, inbox_places.c.campaign_key == key)
