"""The do-not-contact list: no campaign sends to these mailboxes and domains.

A person may still let somebody through (`invite`). An address blocks its mailbox: `ada@x.org` also
blocks `ada+jobs@x.org`, and the address to which it was corrected. An entry from a file stays on
the list until a person lifts it, even if it is gone from the file.
"""

from collections.abc import Collection, Iterable

from sqlalchemy import insert, select, update
from sqlmodel import Session

from data.campaigns.people import forgotten_among
from data.store.tables import DO_NOT_CONTACT, FORGOTTEN, PERSON, Person, now, one_of

BY_FILE, BY_PERSON, LIFTED = "file", "person", "lifted"


def follow(session: Session, entries: Collection[str]) -> int:
    """Add the entries of a file that are neither listed nor lifted, and the addresses to which they
    were corrected. Returns how many these are.

    Forgotten people are kept out anyway, so their addresses are not stored again.
    """
    gone = forgotten_among(session, entries, FORGOTTEN.c.mailbox_digest)
    new = {*entries} - gone - {*session.scalars(select(DO_NOT_CONTACT.c.email_key))}
    new = corrected(session, new)
    _hold_again(session, new)
    return len(_put(session, new, BY_FILE))


def block(session: Session, entries: Collection[str]) -> list[str]:
    """Add what a person typed, and hold again whoever was let through. Returns the entries."""
    entries = corrected(session, entries)
    _hold_again(session, entries)
    return _put(session, entries, BY_PERSON)


def lift(session: Session, entries: Iterable[str]) -> list[str]:
    """Take entries off the list, whoever put them there. Returns those that were on it."""
    return _put(session, listed_among(session, entries), LIFTED)


def listed_among(session: Session, keys: Iterable[str]) -> set[str]:
    """Which of these mailboxes or domains are listed."""
    return set(session.scalars(_STANDING, {"keys": dict.fromkeys(keys)}))


def _put(session: Session, entries: set[str], by: str) -> list[str]:
    """Note for each entry: BY_FILE, BY_PERSON or LIFTED. Returns the entries in order."""
    these = {"keys": dict.fromkeys(entries)}
    there = set(session.scalars(_LISTED, these))
    session.execute(_CHANGE.values(listed_by=by), these)
    if new := sorted(entries - there):
        values = [{"email_key": key, "listed_by": by, "at": now()} for key in new]
        session.execute(insert(DO_NOT_CONTACT), values)
    return sorted(entries)


def corrected(session: Session, entries: Collection[str]) -> set[str]:
    """These, and the mailboxes to which people at them were corrected, any number of times."""
    found, new = {*entries}, {*entries}
    while new:
        theirs = set(session.scalars(_BECAME, {"keys": dict.fromkeys(new)}))
        new = theirs - found  # corrections may lead back to a mailbox
        found |= theirs
    return found


def _hold_again(session: Session, entries: Collection[str]) -> None:
    """Listing somebody cancels what let them through before, also under another address."""
    names = set(session.scalars(_NAMES, {"keys": dict.fromkeys(entries)}))
    for person in session.scalars(select(Person).where(PERSON.c.let_through.is_not(None))):
        known_as = {person.mailbox, person.email_key.rpartition("@")[2]}
        if known_as & {*entries} or person.name_key in names:
            person.let_through = None


_THESE = one_of(DO_NOT_CONTACT.c.email_key, "keys")
_LISTED = select(DO_NOT_CONTACT.c.email_key).where(_THESE)
_STANDING = _LISTED.where(DO_NOT_CONTACT.c.listed_by != LIFTED)
_NAMES = select(PERSON.c.name_key).where(one_of(PERSON.c.mailbox, "keys"), PERSON.c.name_key != "")
_right = PERSON.alias()
_BECAME = (
    select(_right.c.mailbox)
    .join(PERSON, PERSON.c.became == _right.c.id)
    .where(one_of(PERSON.c.mailbox, "keys"), _right.c.mailbox != "")
)
_CHANGE = update(DO_NOT_CONTACT).where(_THESE)
