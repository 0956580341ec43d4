"""Receipts that did not fit this ledger: noted when a run stops, accepted only by a person.

Each function works inside a transaction that its caller commits.
"""

from datetime import datetime
from uuid import uuid4

from sqlalchemy import Connection, insert, select, update

from data.tables import Campaign, Decision, ReceiptDoubt

campaign = Campaign.__table__  # type: ignore[attr-defined]
decision = Decision.__table__  # type: ignore[attr-defined]
doubt = ReceiptDoubt.__table__  # type: ignore[attr-defined]

ACCEPTED = "accept-ledger"  # the decision's verdict


def note(connection: Connection, key: str, file: str, says: str, at: datetime) -> None:
    """Remember what a receipt said; the same words again only renew the time."""
    seen = connection.execute(
        update(doubt)
        .where(
            doubt.c.campaign_key == key,
            doubt.c.file == file,
            doubt.c.says == says,
            doubt.c.accepted_at.is_(None),
        )
        .values(seen_at=at)
    )
    if not seen.rowcount:
        connection.execute(insert(doubt).values(campaign_key=key, file=file, says=says, seen_at=at))


def accept(connection: Connection, key: str, who: str, why: str, at: datetime) -> int:
    """Accept the open doubts of a campaign, each with its decision; returns how many."""
    open_now = connection.execute(
        select(doubt.c.id, doubt.c.file, doubt.c.says).where(
            doubt.c.campaign_key == key, doubt.c.accepted_at.is_(None)
        )
    ).all()
    if not open_now:
        return 0
    connection.execute(
        update(doubt)
        .where(doubt.c.id.in_([row.id for row in open_now]))
        .values(accepted_at=at, who=who, why=why, line=str(uuid4()))
    )
    connection.execute(
        insert(decision),
        [
            {
                "campaign_id": connection.scalar(
                    select(campaign.c.id).where(campaign.c.key == key)
                ),
                "verdict": ACCEPTED,
                "value": f"{row.file}: {row.says}",
                "who": who,
                "why": why,
                "decided_at": at,
            }
            for row in open_now
        ],
    )
    return len(open_now)


def accepted(connection: Connection, key: str) -> set[str]:
    """What receipts of this campaign said that a person accepted, word for word."""
    return set(
        connection.scalars(
            select(doubt.c.says).where(
                doubt.c.campaign_key == key, doubt.c.accepted_at.is_not(None)
            )
        )
    )


def line(connection: Connection, key: str) -> str | None:
    """The name that the last acceptance gave this campaign's records here; None: the ledger's."""
    found = connection.scalar(
        select(doubt.c.line)
        .where(doubt.c.campaign_key == key, doubt.c.line.is_not(None))
        .order_by(doubt.c.id.desc())
        .limit(1)
    )
    return None if found is None else str(found)
