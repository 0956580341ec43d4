"""The do-not-contact list: addresses that no campaign sends to, typed or read from a file.

What is lifted stays in the ledger, as history. Whoever has the mailbox of a listed address is held
like that address (data/holds/rule.py): it is most likely the same person.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlalchemy import Connection, bindparam, insert, update
from sqlmodel import col, select

from config.people.doubts import mailbox
from data.campaigns import forgotten
from data.store.ledger import Ledger
from data.store.states import By
from data.store.tables import DoNotContact, do_not_contact, rows_of

BY_HAND = ""
NEW_ENTRY = 2**63 - 1  # the number of an entry that the ledger does not have yet
IN_THE_FILE = "listed in the file"
GONE_FROM_THE_FILE = "no longer in the file"


@dataclass(frozen=True)
class ListFile:
    """The do-not-contact list in a file, as it is now: addresses as written, by email key."""

    file: str
    addresses: Mapping[str, str]

    def amend(self, key: str, standing: Iterable[DoNotContact]) -> list[DoNotContact]:
        """The entries of somebody's mailbox as they will be once the ledger has read the file."""
        listed = self._spellings.get(mailbox(key), ())
        stay = [e for e in standing if e.file != self.file or e.email_key in listed]
        old = {entry.email_key for entry in stay if entry.file == self.file}
        return stay + [self._new(each) for each in listed if each not in old]

    def _new(self, key: str) -> DoNotContact:
        typed, file = self.addresses[key], self.file
        return DoNotContact(id=NEW_ENTRY, email_key=key, email1=typed, file=file, who=file, why="")

    @cached_property
    def _spellings(self) -> Mapping[str, list[str]]:
        """The email keys of each mailbox."""
        keys = defaultdict(list)
        for key in self.addresses:
            keys[mailbox(key)].append(key)
        return keys


def standing(connection: Connection, keys: Collection[str] | None = None) -> Sequence[DoNotContact]:
    """The entries that are not lifted, oldest first; for these email keys, or all."""
    wanted = select(DoNotContact).where(col(DoNotContact.lifted_at).is_(None))
    if keys is not None:
        wanted = wanted.where(col(DoNotContact.email_key).in_(keys))
    return rows_of(connection, wanted.order_by(col(DoNotContact.id)))


def block(connection: Connection, addresses: Mapping[str, str], by: By) -> set[str]:
    """List addresses, by email key; returns the keys that no person had listed before."""
    return _add(connection, BY_HAND, addresses, by)


def lift(connection: Connection, keys: Collection[str], by: By) -> set[str]:
    """Take addresses off the list, wherever they came from; returns the keys that were on it."""
    on_list = {entry.email_key for entry in standing(connection, keys)}
    connection.execute(
        update(do_not_contact)
        .where(do_not_contact.c.email_key.in_(keys), do_not_contact.c.lifted_at.is_(None))
        .values(lifted_at=by.at, lifted_by=by.who, lifted_why=by.why)
    )
    return on_list


def follow(ledger: Ledger, listed: ListFile) -> None:
    """Update the entries from a file to what it says now; writes only what differs."""
    if ledger.read(_differs, listed.file, listed.addresses):
        ledger.write(_follow, listed.file, listed.addresses)


def _differs(connection: Connection, file: str, addresses: Collection[str]) -> bool:
    """Whether a file's entries differ from those that the ledger has from it."""
    return _of(connection, file) != _named(connection, addresses)


def _follow(connection: Connection, file: str, addresses: Mapping[str, str]) -> None:
    by = By(file, IN_THE_FILE)
    _add(connection, file, addresses, by)
    gone = _of(connection, file) - addresses.keys()
    if gone:
        connection.execute(
            update(do_not_contact)
            .where(
                do_not_contact.c.email_key == bindparam("key"),
                do_not_contact.c.file == file,
                do_not_contact.c.lifted_at.is_(None),
            )
            .values(lifted_at=by.at, lifted_by=file, lifted_why=GONE_FROM_THE_FILE),
            [{"key": key} for key in gone],
        )


def _add(connection: Connection, file: str, addresses: Mapping[str, str], by: By) -> set[str]:
    new = _named(connection, addresses) - _of(connection, file)
    if new:
        connection.execute(
            insert(do_not_contact),
            [
                {
                    "email_key": key,
                    "email1": typed,
                    "file": file,
                    "who": by.who,
                    "why": by.why,
                    "listed_at": by.at,
                }
                for key, typed in addresses.items()
                if key in new
            ],
        )
    return set(new)


def _named(connection: Connection, keys: Iterable[str]) -> set[str]:
    """Those whom the list may name, without forgotten people: nobody sends to them anyway."""
    wanted = set(keys)
    return wanted - forgotten.among(connection, wanted, None)


def _of(connection: Connection, file: str) -> set[str]:
    return set(
        connection.scalars(
            select(DoNotContact.email_key).where(
                DoNotContact.file == file, col(DoNotContact.lifted_at).is_(None)
            )
        )
    )
