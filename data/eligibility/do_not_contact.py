"""The do-not-contact list: mailboxes and domains to which no campaign ever sends.

An address blocks its mailbox: `ada@x.org` blocks `ada+jobs@x.org` too. An entry from a file stays
on the list until a person lifts it, even if it is gone from the file.
"""

from collections.abc import Collection, Iterable

from sqlalchemy import insert, select, update
from sqlmodel import Session

from data.campaigns.people import forgotten_among
from data.store.tables import DO_NOT_CONTACT, FORGOTTEN, PERSON, Person, now, one_of

BY_FILE, BY_PERSON, LIFTED = "file", "person", "lifted"


def follow(session: Session, entries: Collection[str]) -> int:
    """Add a file's entries, except those that were lifted. Returns how many are new.

    Forgotten people are kept out anyway, so their addresses are not stored again.
    """
    gone = forgotten_among(session, entries, FORGOTTEN.c.mailbox_digest)
    return len(_put(session, {*entries} - gone, BY_FILE))


def block(session: Session, entries: Collection[str]) -> list[str]:
    """Add what a person typed; this also cancels earlier exceptions. Returns what is new."""
    for person in session.scalars(select(Person).where(PERSON.c.let_through.is_not(None))):
        if {person.mailbox, person.email_key.rpartition("@")[2]} & {*entries}:
            person.let_through = None
    return _put(session, entries, BY_PERSON, over=[LIFTED])


def lift(session: Session, entries: Iterable[str]) -> list[str]:
    """Take entries off the list, from a file or a person. Returns those that were on it."""
    return _put(session, listed_among(session, entries), LIFTED, over=[BY_FILE, BY_PERSON])


def listed_among(session: Session, keys: Iterable[str]) -> set[str]:
    """Which of these mailboxes or domains are listed."""
    return set(session.scalars(_STANDING, {"keys": dict.fromkeys(keys)}))


def _put(
    session: Session, entries: Collection[str], by: str, over: Collection[str] = ()
) -> list[str]:
    """Add entries, or change those that `over` listed. Returns the added and changed ones."""
    rows = session.execute(select(DO_NOT_CONTACT.c.email_key, DO_NOT_CONTACT.c.listed_by))
    there = {row.email_key: row.listed_by for row in rows}
    new = {*entries} - there.keys()
    moved = [key for key in {*entries} if there.get(key) in over]
    if new:
        values = [{"email_key": key, "listed_by": by, "at": now()} for key in sorted(new)]
        session.execute(insert(DO_NOT_CONTACT), values)
    these = DO_NOT_CONTACT.c.email_key.in_(moved)
    session.execute(update(DO_NOT_CONTACT).where(these).values(listed_by=by))
    return sorted([*new, *moved])


_STANDING = select(DO_NOT_CONTACT.c.email_key).where(
    DO_NOT_CONTACT.c.listed_by != LIFTED, one_of(DO_NOT_CONTACT.c.email_key, "keys")
)
