"""Let a held person through by name: the statements behind `campaign allow`.

The reasons that exist now no longer hold the person. A later reason (another invitation, a new
entry on the do-not-contact list) holds again, because nobody has looked at that.
"""

from collections.abc import Sequence

from sqlalchemy import Connection, func, select, update

from data.decisions.settling import write_down
from data.decisions.verdicts import Decided, NotDecided
from data.holds.reasons import held_rows
from data.holds.second_addresses import held_seconds
from data.store import clock
from data.store.states import By, Word
from data.store.tables import (
    attempt,
    candidate,
    do_not_contact,
)

NOTHING_HOLDS = "is not held: nothing stops this person from being invited"
LAST_ATTEMPT = select(func.coalesce(func.max(attempt.c.id), 0)).scalar_subquery()
LAST_ENTRY = select(func.coalesce(func.max(do_not_contact.c.id), 0)).scalar_subquery()


def objections(connection: Connection, campaign_row: int, rows: Sequence[int]) -> dict[int, str]:
    """Say who cannot be let through and why, by position in `rows`."""
    held = held_seconds(connection, campaign_row) | held_rows(connection, rows, clock.now())
    return {n: NOTHING_HOLDS for n, row in enumerate(rows) if row not in held}


def allow(connection: Connection, campaign_row: int, rows: Sequence[int], by: By) -> None:
    """Let these candidates through, or raise NotDecided (by position) and change nothing."""
    if refused := objections(connection, campaign_row, rows):
        raise NotDecided(refused)
    connection.execute(
        update(candidate)
        .where(candidate.c.id.in_(rows), candidate.c.campaign_id == campaign_row)
        .values(allowed_attempt=LAST_ATTEMPT, allowed_entry=LAST_ENTRY)
    )
    write_down(connection, campaign_row, [Decided(None, row, Word.ALLOW) for row in rows], by)
