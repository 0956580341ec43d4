"""A file of addresses that no campaign sends to: one a line, or a table with an email column."""

from collections.abc import Iterator
from pathlib import Path

from config.email_key import email_key
from config.errors import BadInput
from config.mistakes import Mistake, Place, shown
from config.people.email_address import NotAnEmail, email_address
from config.reading.own_tables import Named, PeopleAt, own_tables, people_at
from config.reading.sources import MARKUP, ONLY_TABLES, WORKBOOKS, suffix_of
from config.tables.csv_file import ENCODINGS
from config.tables.file_bytes import decoded, file_bytes
from config.workbooks.shapes import column_letters

COMMENT = "#"
EMPTY = "the file is empty; if nobody is on the list, say so in a line that begins with #"


def read_do_not_contact(path: Path) -> dict[str, str]:
    """Read the list: each address as it is written there, by email key.

    Raises BadInput with every line that is no address: a list that is read in part protects in
    part. An empty file is refused as well, as it may be one that got lost.
    """
    if path.is_file() and path.stat().st_size == 0:
        raise BadInput([Mistake(Place(str(path)), message=EMPTY)])
    addresses: dict[str, str] = {}
    problems: list[Mistake] = []
    for place, typed in _addresses(path):
        try:
            addresses.setdefault(email_key(typed), email_address(typed))
        except NotAnEmail as error:
            problems.append(Mistake(place, "email1", shown(typed), str(error)))
    if problems:
        raise BadInput(problems)
    return addresses


def _addresses(path: Path) -> Iterator[tuple[Place, str]]:
    suffix = suffix_of(path)
    if suffix in (*WORKBOOKS, *MARKUP):
        return _column(path)
    lines = list(_lines(path))
    if suffix in ONLY_TABLES and not _plain(lines):
        return _column(path)
    return iter(lines)


def _lines(path: Path) -> Iterator[tuple[Place, str]]:
    """Every line with something on it, but for remarks."""
    text = decoded(file_bytes(path), str(path), ENCODINGS)
    for number, line in enumerate(text.splitlines(), start=1):
        typed = line.strip()
        if typed and not typed.startswith(COMMENT):
            yield Place(str(path), number), typed


def _plain(lines: list[tuple[Place, str]]) -> bool:
    """Whether the first line is an address already, as in a table without a header."""
    try:
        return not lines or bool(email_address(lines[0][1]))
    except NotAnEmail:
        return False


def _column(path: Path) -> Iterator[tuple[Place, str]]:
    """The email column of a table, found by its header as in a table of candidates."""
    named = Named(path)
    _, tables = own_tables(named)
    at = people_at(named, tables)
    for number, fields in at.people():
        yield _place(at, number), fields.get("email1", "")


def _place(at: PeopleAt, number: int) -> Place:
    if at.table.delimiter is not None:
        return Place(at.file, number)
    cell = f"{column_letters(at.columns['email1'])}{number}"
    return Place(at.file, sheet=at.table.name, cell=cell)
