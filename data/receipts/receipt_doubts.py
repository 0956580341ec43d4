"""Receipts that did not match this ledger: noted when a run stops, accepted only by a person.

Each function works inside a transaction that its caller commits.
"""

from uuid import uuid4

from sqlalchemy import Connection, bindparam, func, insert, select, update
from sqlmodel import col
from sqlmodel import select as whole

from data.receipts.receipt import Reach
from data.store import clock
from data.store.states import By
from data.store.tables import (
    ReceiptDoubt,
    attempt,
    campaign,
    decision,
    identity,
    receipt_doubts,
    rows_of,
)

ACCEPTED = "accept-ledger"  # the decision's verdict

# Composed once, because it is needed before every wave.
_NAME = select(identity.c.uuid)
_RENAMED = (
    select(receipt_doubts.c.line, receipt_doubts.c.reached)
    .where(receipt_doubts.c.campaign_key == bindparam("wanted"), receipt_doubts.c.line.is_not(None))
    .order_by(receipt_doubts.c.id)
)
# From the end of the journal, which may be long.
_LAST = (
    select(attempt.c.id)
    .where(attempt.c.campaign_id == campaign.c.id)
    .order_by(attempt.c.id.desc())
    .limit(1)
    .scalar_subquery()
)
_ENTRIES = select(campaign.c.parts + func.coalesce(_LAST, 0)).where(
    campaign.c.key == bindparam("wanted")
)


def note(connection: Connection, key: str, file: str, says: str) -> None:
    """Record what a receipt said; the same words again only update the time."""
    at = clock.now()
    seen = connection.execute(
        update(receipt_doubts)
        .where(
            receipt_doubts.c.campaign_key == key,
            receipt_doubts.c.file == file,
            receipt_doubts.c.says == says,
            receipt_doubts.c.accepted_at.is_(None),
        )
        .values(seen_at=at)
    )
    if not seen.rowcount:
        connection.execute(
            insert(receipt_doubts).values(campaign_key=key, file=file, says=says, seen_at=at)
        )


def accept(connection: Connection, key: str, by: By) -> int:
    """Accept the open doubts of a campaign, each with its decision; returns how many."""
    of_campaign = whole(ReceiptDoubt).where(ReceiptDoubt.campaign_key == key)
    open_now = rows_of(connection, of_campaign.where(col(ReceiptDoubt.accepted_at).is_(None)))
    if not open_now:
        return 0
    connection.execute(
        update(receipt_doubts)
        .where(receipt_doubts.c.id.in_([row.id for row in open_now]))
        .values(
            accepted_at=by.at,
            who=by.who,
            why=by.why,
            line=str(uuid4()),
            reached=_entries(connection, key),
        )
    )
    row = connection.scalar(select(campaign.c.id).where(campaign.c.key == key))
    of = {"campaign_id": row, "verdict": ACCEPTED}
    given = {"who": by.who, "why": by.why, "decided_at": by.at}
    connection.execute(
        insert(decision),
        [of | given | {"value": f"{doubt.file}: {doubt.says}"} for doubt in open_now],
    )
    return len(open_now)


def accepted(connection: Connection, key: str) -> set[str]:
    """What receipts of this campaign said that a person accepted, word for word."""
    of_campaign = whole(ReceiptDoubt).where(ReceiptDoubt.campaign_key == key)
    closed = rows_of(connection, of_campaign.where(col(ReceiptDoubt.accepted_at).is_not(None)))
    return {doubt.says for doubt in closed}


def reach(connection: Connection, key: str) -> Reach:
    """How far this campaign has got here, and what receipts call its records."""
    name = str(connection.scalar(_NAME))
    earlier: dict[str, int] = {}
    for row in connection.execute(_RENAMED, {"wanted": key}):
        earlier.setdefault(name, row.reached)
        name = row.line
    earlier.pop(name, None)
    return Reach(name, _entries(connection, key), earlier)


def _entries(connection: Connection, key: str) -> int:
    """The last attempt's number, plus one for each part that has begun; 0 for none. It only grows.

    Without the parts, a copy from just before a wave would be at the same entry as the receipt from
    the beginning of that wave.
    """
    return int(connection.scalar(_ENTRIES, {"wanted": key}) or 0)
