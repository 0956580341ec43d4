"""Who was forgotten: only keyed hashes of their addresses stay, so that nobody is invited again.

The key lies in the ledger itself, as the hash must go wherever the ledger goes. Somebody who has
both can try addresses one by one, and learns nothing else. Each function works inside a
transaction that its caller commits.
"""

import hmac
from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, bindparam, delete, func, insert, select

from data.store.states import By, Step
from data.store.tables import (
    candidate,
    forgotten,
    identity,
)

MARK = "forgotten:"  # in front of the hash, where it stands for an email key: no address has this
WORD = "forgotten"  # stands where their name or their state would
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
    """Who of these email keys is not to be taken in: forgotten everywhere, or by this campaign."""
    gone = set(connection.scalars(_HASHES))
    if campaign_row is not None:
        left = connection.scalars(_FORGOTTEN_BY, {"of": campaign_row})
        gone |= {key.removeprefix(MARK) for key in left}
    if not gone:
        return set()
    return {key for key, number in hashes(connection, keys).items() if number in gone}


def added(connection: Connection, campaign_row: int) -> int:
    """How many people who were forgotten had been added: the service may still have them."""
    there = select(func.count()).where(
        candidate.c.campaign_id == campaign_row,
        candidate.c.email_key.startswith(MARK),
        candidate.c.add_state == Step.DONE,
    )
    return connection.execute(there).scalar_one()


def write(connection: Connection, by_key: Mapping[str, str], by: By) -> None:
    """Keep the hashes of these email keys; who was forgotten before stays so."""
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
    """Let these addresses come in again; answers the email keys that were forgotten."""
    gone = among(connection, keys, None)
    connection.execute(
        delete(forgotten).where(forgotten.c.hash.in_(hashes(connection, gone).values()))
    )
    return gone
