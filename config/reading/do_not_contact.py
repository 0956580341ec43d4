"""A file of addresses that no campaign sends to: one a line, or a table with an email column."""

import re
from collections.abc import Container, Iterator
from pathlib import Path

from config.email_key import email_key
from config.errors import BadInput
from config.mistakes import Mistake, Place, shown
from config.people.email_address import email_address
from config.reading.own_tables import Named, OwnTable, own_tables, people_at
from config.reading.sources import MARKUP, ONLY_TABLES, WORKBOOKS, suffix_of
from config.tables.address_cells import Linked, addresses_in
from config.tables.cells import as_text
from config.tables.csv_file import ENCODINGS
from config.tables.file_bytes import EMPTY, decoded, file_bytes

_REMARK = re.compile(r"(?:^|\s)#.*")
EMPTY_LIST = f"{EMPTY}; if nobody is on the list, say so in a line that begins with #"
NOT_TAKEN = (
    "there is an address here that is not on the list, because only the cells below the header of "
    "the email column are; move it there, or remove it"
)


def read_do_not_contact(path: Path) -> dict[str, str]:
    """Read the list: addresses as written there, by email key.

    Raises BadInput with every line that is not an address, and every cell with an address that is
    not taken: a list that is only read in part protects only some people. An empty file is refused
    too, because its content may have been lost.
    """
    if path.is_file() and path.stat().st_size == 0:
        raise BadInput.at(Place(str(path)), EMPTY_LIST)
    addresses: dict[str, str] = {}
    problems: list[Mistake] = []
    entries, tables = _entries(path)
    for place, typed in entries:
        try:
            addresses.setdefault(email_key(typed), email_address(typed))
        except ValueError as error:
            problems.append(Mistake(place, "email1", shown(typed), str(error)))
    wrong = {problem.place for problem in problems}
    lost = dict.fromkeys(at for each in tables for at in _not_taken(path, each, addresses))
    problems += [Mistake(each, message=NOT_TAKEN) for each in lost if each not in wrong]
    if problems:
        raise BadInput(problems)
    return addresses


def _entries(path: Path) -> tuple[list[tuple[Place, str]], tuple[OwnTable, ...]]:
    """Return the entries, and the tables whose email column they come from."""
    suffix = suffix_of(path)
    if suffix in (*WORKBOOKS, *MARKUP):
        return _column(path)
    lines = list(_lines(path))
    if suffix in ONLY_TABLES and not _plain(lines):
        return _column(path)
    return lines, ()


def _lines(path: Path) -> Iterator[tuple[Place, str]]:
    """Every line that is neither blank nor a remark, without the remark behind it."""
    text = decoded(file_bytes(path), str(path), ENCODINGS)
    for number, line in enumerate(text.splitlines(), start=1):
        if typed := _REMARK.sub("", line).strip():
            yield Place(str(path), number), typed


def _plain(lines: list[tuple[Place, str]]) -> bool:
    """Whether the first line is an address already, as in a table without a header."""
    try:
        return not lines or bool(email_address(lines[0][1]))
    except ValueError:
        return False


def _column(path: Path) -> tuple[list[tuple[Place, str]], tuple[OwnTable, ...]]:
    """The email column of a table, found by its header as in a table of candidates."""
    named = Named(path)
    _, tables = own_tables(named, strict=True)
    at = people_at(named, tables)
    column, grid = at.columns["email1"], at.table.grid(path)
    entries = [
        (grid.cell(number, column), fields.get("email1", "")) for number, fields in at.people()
    ]
    return entries, tables


def _not_taken(path: Path, table: OwnTable, addresses: Container[str]) -> Iterator[Place]:
    """The cells, wherever they are, with an address that is not on the list."""
    grid = table.grid(path)
    for number, cells in table.rows:
        for column, cell in enumerate(cells):
            text = f"{cell}, {cell.target}" if isinstance(cell, Linked) else str(as_text(cell))
            for address in addresses_in(text) if "@" in text else ():
                key = email_key(address.rstrip(".)"))
                if "://" not in key and key not in addresses:
                    yield grid.cell(number, column)
                    break
