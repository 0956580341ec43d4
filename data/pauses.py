"""Pauses: a person's word that nothing of a campaign is sent, and the word to go on.

Each function works inside a transaction that its caller commits.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, insert, select, update

from data.tables import Pause, table_of

pauses = table_of(Pause)

# Composed once: it is asked before every wave.
_STANDING = select(pauses).where(
    pauses.c.campaign_key == bindparam("wanted"), pauses.c.resumed_at.is_(None)
)


@dataclass(frozen=True, slots=True)
class Paused:
    """Who paused a campaign, when and why."""

    who: str
    why: str
    since: datetime


def standing(connection: Connection, key: str) -> Paused | None:
    """The pause that holds a campaign now; None where nothing does."""
    found = connection.execute(_STANDING, {"wanted": key}).first()
    return None if found is None else Paused(found.who, found.why, found.paused_at)


def pause(connection: Connection, key: str, who: str, why: str, at: datetime) -> Paused:
    """Pause a campaign, or leave the pause that stands as it is; answers the one that stands."""
    before = standing(connection, key)
    if before is not None:
        return before
    connection.execute(insert(pauses).values(campaign_key=key, who=who, why=why, paused_at=at))
    return Paused(who, why, at)


def resume(connection: Connection, key: str, who: str, why: str, at: datetime) -> Paused | None:
    """End the pause of a campaign; answers the one that stood, None where none did."""
    before = standing(connection, key)
    connection.execute(
        update(pauses)
        .where(pauses.c.campaign_key == key, pauses.c.resumed_at.is_(None))
        .values(resumed_at=at, resumed_by=who, resumed_why=why)
    )
    return before
