"""Pauses: a person stops everything a campaign sends, and resumes it.

Each function works inside a transaction that its caller commits.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, insert, select, update

from data.store.states import By
from data.store.tables import campaign, pauses

HOLD_ON = "invites.hold_on"  # who paused a campaign, where nobody did
# Composed once: it is asked before every wave.
_STANDING = (
    select(pauses.c.who, pauses.c.why, pauses.c.paused_at, campaign.c.timezone)
    .outerjoin(campaign, campaign.c.key == pauses.c.campaign_key)
    .where(pauses.c.campaign_key == bindparam("wanted"), pauses.c.resumed_at.is_(None))
    .order_by(pauses.c.id)
)


@dataclass(frozen=True, slots=True)
class Paused:
    """Who paused a campaign, when and why; `timezone` is the campaign's, if it is known here."""

    who: str
    why: str
    since: datetime
    timezone: str | None = None


def standing(connection: Connection, key: str) -> Paused | None:
    """The first pause of a campaign that stands; None if it is not paused."""
    return next(iter(all_standing(connection, key)), None)


def all_standing(connection: Connection, key: str) -> list[Paused]:
    """The pauses of a campaign now, oldest first."""
    return [Paused(*row) for row in connection.execute(_STANDING, {"wanted": key})]


def reasons(connection: Connection, key: str) -> list[str]:
    """What people wrote with a campaign's pauses, also with those that are over."""
    theirs = select(pauses.c.why).where(
        pauses.c.campaign_key == key, pauses.c.who != HOLD_ON, pauses.c.why != ""
    )
    return list(connection.scalars(theirs))


def pause(connection: Connection, key: str, by: By) -> list[Paused]:
    """Pause a campaign; returns all pauses that stand, oldest first. Each person's is kept, once
    with the same reason; `invites.hold_on` pauses only what nobody has paused.
    """
    before = all_standing(connection, key)
    same = any((paused.who, paused.why) == (by.who, by.why) for paused in before)
    if same or (before and by.who == HOLD_ON):
        return before
    row = {"who": by.who, "why": by.why, "paused_at": by.at}
    connection.execute(insert(pauses).values(campaign_key=key, **row))
    return all_standing(connection, key)


def resume(connection: Connection, key: str, by: By) -> list[Paused]:
    """End the pauses of a campaign; returns them, none if the campaign was not paused."""
    before = all_standing(connection, key)
    connection.execute(
        update(pauses)
        .where(pauses.c.campaign_key == key, pauses.c.resumed_at.is_(None))
        .values(resumed_at=by.at, resumed_by=by.who, resumed_why=by.why)
    )
    return before
