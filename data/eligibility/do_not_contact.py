"""The do-not-contact list: mailboxes and domains to which no campaign ever sends.

An address stands for its mailbox, so `ada+jobs@x.org` is blocked with `ada@x.org`. What a file
once listed stays listed until a person lifts it, whatever becomes of the file.
"""

import re
from collections.abc import Collection, Iterable
from pathlib import Path

from sqlalchemy import insert, select, update
from sqlmodel import Session

from config.emails import ascii_domain, checked_address, mailbox
from config.errors import BadInput, Mistake, Place
from config.sheets.cells import error_in, plain_address
from config.sheets.files import read_file
from config.sheets.table import table_of
from data.campaigns.people import forgotten_among
from data.store.tables import DO_NOT_CONTACT, FORGOTTEN, PERSON, Person, now, one_of

BY_FILE, BY_PERSON, LIFTED = "file", "person", "lifted"
WANTED = "an address, or a domain such as @corp.org"
LISTED = select(DO_NOT_CONTACT.c.email_key).where(DO_NOT_CONTACT.c.listed_by != LIFTED)


def entry(typed: str) -> str:
    """Read `ada@corp.org`, `@corp.org` or `*@corp.org`, as a mailbox or a domain. Raises ValueError
    that says what was wanted: another wildcard would block nobody.
    """
    text = typed.strip()
    if domain := re.fullmatch(r"\*?@((?:[^@\s*.,;]+\.)+[^@\s*.,;]+)", text):
        return ascii_domain(domain[1])
    if "*" in text:
        raise ValueError(f"{WANTED}; a * stands only before the @ of a whole domain")
    return mailbox(checked_address(text))


def read_list(file: Path) -> list[str]:
    """Read a table of any kind: its column of addresses, or without one every cell with an @.

    What follows a # in a row is a remark. Raises BadInput, also for a row without an entry and for
    an empty list: one that lost its lines must not look like one that allows everybody.
    """
    table = table_of(read_file(file))
    column = table.by_field.get("email1")
    entries, mistakes = [], [*(table.grid if column is None else table).mistakes]
    for number, row in table.grid.rows:
        cells = row if column is None else row[column : column + 1]
        whole = "\n".join(cells)
        text = whole if any(map(error_in, cells)) else whole.partition("#")[0]
        typed = [each for each in text.splitlines() if "@" in each] or [text]
        typed = [each.strip(" \n,;") for each in typed]
        is_header = number == table.header and not re.search(r"[@.]", text)
        above = column is not None and number <= table.header
        if is_header or above or (whole.strip() and not typed[0]):
            continue
        for each in typed:
            try:
                entries.append(entry(plain_address(each)))
            except ValueError as error:
                place = table.place(number, column)
                if all(other.place != place for other in mistakes):
                    mistakes.append(Mistake(place, found=each or None, wanted=str(error)))
    if not entries and not mistakes:
        message = "the do-not-contact list is empty; remove CAMPAIGN_DO_NOT_CONTACT to have none"
        mistakes.append(Mistake(Place(file), message))
    if mistakes:
        raise BadInput(mistakes)
    return entries


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
    return _put(session, standing(session, entries), LIFTED, over=[BY_FILE, BY_PERSON])


def standing(session: Session, keys: Iterable[str]) -> set[str]:
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


_STANDING = LISTED.where(one_of(DO_NOT_CONTACT.c.email_key, "keys"))
