"""Who was forgotten: only keyed hashes of their addresses stay, so that nobody is invited again.

Whoever has the same mailbox at another address is put on the do-not-contact list, for a person to
decide: it may be the same person, or a colleague.

The key is in the ledger itself, because the hashes must go wherever the ledger goes. Somebody who
has both can test addresses one by one, and learns nothing else. Each function works inside a
transaction that its caller commits.
"""

import hmac
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update
from sqlmodel import select as whole

from config.people.doubts import mailbox
from data.store import clock
from data.store.states import SPELLING, By, Step
from data.store.tables import (
    Forgotten,
    box_of,
    campaign,
    candidate,
    do_not_contact,
    forgotten,
    identity,
    rows_of,
)

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
        gone |= _left(connection, campaign_row)
    return _with(connection, keys, gone)


def for_good(connection: Connection, keys: Iterable[str], campaign_row: int) -> set[str]:
    """Which of these email keys this campaign had and has forgotten: it never adds them again."""
    return _with(connection, keys, _left(connection, campaign_row))


def _left(connection: Connection, campaign_row: int) -> set[str]:
    """The hashes that stand in a campaign for people who were forgotten."""
    keys = connection.scalars(_FORGOTTEN_BY, {"of": campaign_row})
    return {key.removeprefix(MARK) for key in keys}


def _with(connection: Connection, keys: Iterable[str], gone: Collection[str]) -> set[str]:
    if not gone:
        return set()
    return {key for key, number in hashes(connection, keys).items() if number in gone}


def by_mailbox(connection: Connection, keys: Collection[str]) -> set[str]:
    """Which of these email keys have the mailbox of somebody who was forgotten."""
    gone = set(connection.scalars(select(forgotten.c.box)))
    numbers = hashes(connection, map(_box, keys))
    return {key for key in keys if numbers[_box(key)] in gone}


def spellings(connection: Connection, addresses: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """New entries of the do-not-contact list, by email key: those of these addresses that share
    their mailbox with somebody who was forgotten. Without those that were on it before: a person
    has decided about them.
    """
    rows = rows_of(connection, whole(Forgotten))
    boxes, gone = {row.box: row.who for row in rows}, {row.hash for row in rows}
    numbers = hashes(connection, map(_box, addresses)) if rows else {}
    who = {key: boxes[numbers[_box(key)]] for key in addresses if numbers.get(_box(key)) in boxes}
    own = hashes(connection, who)
    decided = set(connection.scalars(select(do_not_contact.c.email_key))) if who else set()
    return {
        key: {"email_key": key, "email1": addresses[key], "file": "", "who": by, "why": SPELLING}
        for key, by in who.items()
        if key not in decided and own[key] not in gone and not is_forgotten(key)
    }


def hold_spellings(connection: Connection, addresses: Mapping[str, str]) -> None:
    """Write these entries."""
    if entries := spellings(connection, addresses):
        at = {"listed_at": clock.now()}
        connection.execute(insert(do_not_contact), [entry | at for entry in entries.values()])


def _box(key: str) -> str:
    """What stands for a mailbox among the hashes; no email key looks like it."""
    return f"mailbox:{mailbox(key)}"


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
    there = set(connection.scalars(_HASHES))
    boxes = hashes(connection, map(_box, by_key))
    new = {number: boxes[_box(key)] for key, number in by_key.items() if number not in there}
    if new:
        connection.execute(
            insert(forgotten),
            [
                {"hash": number, "box": box, "who": by.who, "why": by.why, "forgotten_at": by.at}
                for number, box in new.items()
            ],
        )


def lift(connection: Connection, keys: Iterable[str]) -> set[str]:
    """Allow these addresses again; returns the email keys that were forgotten.

    Every definition is read anew: any of them may have been stored without them.
    """
    gone = among(connection, keys, None)
    numbers = hashes(connection, [*gone, *map(_box, gone)])
    connection.execute(delete(forgotten).where(forgotten.c.hash.in_(numbers.values())))
    still = set(connection.scalars(select(forgotten.c.box)))
    free = {box_of(key) for key in gone if numbers[_box(key)] not in still}
    because = do_not_contact.c.mailbox.in_(free), do_not_contact.c.why == SPELLING
    connection.execute(delete(do_not_contact).where(*because))
    if gone:
        connection.execute(update(campaign).values(digest=""))
    return gone
