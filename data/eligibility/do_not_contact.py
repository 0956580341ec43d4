"""The do-not-contact list: mailboxes and domains to which no campaign ever sends.

An address stands for its mailbox, so `ada+jobs@x.org` is blocked with `ada@x.org`. What a file
once listed stays listed until a person lifts it, whatever becomes of the file.
"""

from collections.abc import Collection, Iterable

from sqlalchemy import insert, select, update
from sqlmodel import Session

from data.campaigns.people import forgotten_among
from data.store.tables import DO_NOT_CONTACT, FORGOTTEN, PERSON, Person, now, one_of

BY_FILE, BY_PERSON, LIFTED = "file", "person", "lifted"


def follow(session: Session, entries: Collection[str]) -> int:
    """List what a file lists and nobody has lifted; returns how many are new.

    Whoever was forgotten is kept out anyway, and is not named again.
    """
    gone = forgotten_among(session, entries, FORGOTTEN.c.mailbox_digest)
    return len(_put(session, {*entries} - gone, BY_FILE))


def block(session: Session, entries: Collection[str]) -> list[str]:
    """List what a person typed, and hold again who was let through; returns what is new."""
    for person in session.scalars(select(Person).where(PERSON.c.let_through.is_not(None))):
        if {person.mailbox, person.email_key.rpartition("@")[2]} & {*entries}:
            person.let_through = None
    return _put(session, entries, BY_PERSON, over=[LIFTED])


def lift(session: Session, entries: Iterable[str]) -> list[str]:
    """Take entries off the list, whoever put them there; returns those that stood on it."""
    return _put(session, listed_among(session, entries), LIFTED, over=[BY_FILE, BY_PERSON])


def listed_among(session: Session, keys: Iterable[str]) -> set[str]:
    """Which of these mailboxes or domains are listed."""
    return set(session.scalars(_STANDING, {"keys": dict.fromkeys(keys)}))


def _put(
    session: Session, entries: Collection[str], by: str, over: Collection[str] = ()
) -> list[str]:
    """Put entries on the list, or change those that are listed by one of `over`; returns these."""
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
