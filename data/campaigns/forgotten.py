"""Who was forgotten: only keyed hashes of their addresses stay, so that nobody is invited again.

The key is in the ledger itself, because the hashes must go wherever the ledger goes. Somebody who
has both can test addresses one by one, and learns nothing else. Each function works inside a
transaction that its caller commits.
"""

import hmac
from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from data.store.states import By, Step
from data.store.tables import campaign, candidate, forgotten, identity

MARK = "forgotten:"  # before a hash that replaces an email key; no address begins like this
WORD = "forgotten"  # written instead of their name or their state
_HASHES = select(forgotten.c.hash)
_FORGOTTEN_BY = select(candidate.c.email_key).where(
    candidate.c.campaign_id == bindparam("of"), candidate.c.email_key.startswith(MARK)
)


def is_forgotten(key: str) -> bool:
    """Whether an email key in the ledger only stands for somebody who was forgotten."""
    return key.startswith(MARK)


def hashes(connection: Connection, keys: Iterable[str]) -> dict[str, str]:
    """The hash that stands for each of these email keys in this ledger, by email key."""
    secret = bytes.fromhex(connection.execute(select(identity.c.secret)).scalar_one())
    return {key: hmac.digest(secret, key.encode(), "sha256").hex() for key in keys}


def among(connection: Connection, keys: Iterable[str], campaign_row: int | None = None) -> set[str]:
    """Which of these email keys must not be added: forgotten everywhere, or by this campaign."""
    gone = set(connection.scalars(_HASHES))
    if campaign_row is not None:
        left = connection.scalars(_FORGOTTEN_BY, {"of": campaign_row})
        gone |= {key.removeprefix(MARK) for key in left}
    if not gone:
        return set()
    return {key for key, number in hashes(connection, keys).items() if number in gone}


def by_which(connection: Connection, key: str) -> list[str]:
    """The keys of the campaigns that have forgotten this email key: none adds the person again."""
    [number] = hashes(connection, [key]).values()
    there = select(campaign.c.key).join(candidate, candidate.c.campaign_id == campaign.c.id)
    of_them = there.where(candidate.c.email_key == MARK + number).order_by(campaign.c.id)
    return [*connection.scalars(of_them)]


def added(connection: Connection, campaign_row: int) -> int:
    """How many people who were forgotten had been added: the service may still have them."""
    there = select(func.count()).where(
        candidate.c.campaign_id == campaign_row,
        candidate.c.email_key.startswith(MARK),
        candidate.c.add_state == Step.DONE,
    )
    return connection.execute(there).scalar_one()


def write(connection: Connection, by_key: Mapping[str, str], by: By) -> None:
    """Record the hashes of these email keys; people who were forgotten before stay forgotten."""
    hashes_kept = set(connection.scalars(_HASHES))
    new = [number for number in by_key.values() if number not in hashes_kept]
    if new:
        connection.execute(
            insert(forgotten),
            [
                {"hash": number, "who": by.who, "why": by.why, "forgotten_at": by.at}
                for number in new
            ],
        )


def lift(connection: Connection, keys: Iterable[str]) -> set[str]:
    """Allow these addresses again; returns the email keys that were forgotten.

    Every definition is read anew: any of them may have been stored without them.
    """
    gone = among(connection, keys, None)
    connection.execute(
        delete(forgotten).where(forgotten.c.hash.in_(hashes(connection, gone).values()))
    )
    if gone:
        connection.execute(update(campaign).values(digest=""))
    return gone
