"""Pauses: a person stops everything a campaign sends, and resumes it.

Each function works inside a transaction that its caller commits.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, insert, select, update

from data.store.states import By
from data.store.tables import campaign, pauses

# Composed once: it is asked before every wave.
_STANDING = (
    select(pauses.c.who, pauses.c.why, pauses.c.paused_at, campaign.c.timezone)
    .outerjoin(campaign, campaign.c.key == pauses.c.campaign_key)
    .where(pauses.c.campaign_key == bindparam("wanted"), pauses.c.resumed_at.is_(None))
)


@dataclass(frozen=True, slots=True)
class Paused:
    """Who paused a campaign, when and why; `timezone` is the campaign's, if it is known here."""

    who: str
    why: str
    since: datetime
    timezone: str | None = None


def standing(connection: Connection, key: str) -> Paused | None:
    """The pause that holds a campaign now; None where nothing does."""
    row = connection.execute(_STANDING, {"wanted": key}).first()
    return None if row is None else Paused(*row)


def pause(connection: Connection, key: str, by: By) -> Paused:
    """Pause a campaign, or leave the pause that stands as it is; answers the one that stands."""
    before = standing(connection, key)
    if before is not None:
        return before
    row = {"who": by.who, "why": by.why, "paused_at": by.at}
    connection.execute(insert(pauses).values(campaign_key=key, **row))
    return standing(connection, key) or Paused(by.who, by.why, by.at)


def resume(connection: Connection, key: str, by: By) -> Paused | None:
    """End the pause of a campaign; answers the one that stood, None where none did."""
    before = standing(connection, key)
    connection.execute(
        update(pauses)
        .where(pauses.c.campaign_key == key, pauses.c.resumed_at.is_(None))
        .values(resumed_at=by.at, resumed_by=by.who, resumed_why=by.why)
    )
    return before
