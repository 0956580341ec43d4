"""People in a table where nobody would read them; all of it reports, and reads nobody.

Exports have addresses in many places: above the header, in footers, of recruiters and referrers. So
an address alone is no mistake, unless it stands as a person's would.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from config.email_key import email_key
from config.tables.address_cells import address_of
from config.tables.cells import is_blank
from config.tables.grid import TableRow
from config.tables.headers import FULL_NAME, OR_RENAME, Wishes, fields_meant, spelling

PERSON = (FULL_NAME, "first_name", "last_name", "email1")
ABOVE = (
    "this address is above the header, so nobody is invited there; put all people below one "
    "header, or remove the address"
)
SECOND = (
    "a second table begins here, which is not read; put all people below one header, or keep one "
    "table in a sheet"
)
BESIDE = (
    "there is an address here, but no cell of this row is in a column that is read, so nobody is "
    "invited; move the row below its headers, or remove the address"
)
SECOND_PERSON = (
    "this row has a second person here, who is not read and not invited; put all people below one "
    f"header, {OR_RENAME}"
)
SWALLOWED = (
    "a cell of this row holds whole rows with people, often because of a stray quote; remove the "
    "quote, or the line breaks inside the cell"
)
_ADDRESS = re.compile(r"[^\s@,;|<>:]+@[^\s@,;|<>:]+\.[^\s@,;|<>:.]+")

# A column (from 0), and what is wrong with what it holds.
Finding = tuple[int, str]


def is_address(cell: Any) -> bool:
    """Whether a cell holds one address and nothing else; a footer has words around it."""
    return not is_blank(cell) and bool(_ADDRESS.fullmatch(str(address_of(cell, first=False))))


def numbered(titles: Sequence[str], columns: Mapping[str, int]) -> list[list[int]]:
    """Find the columns of further people by the number in their headers, as in `First name 2`."""
    wanted = [field for field in PERSON if field in columns]
    by_number: dict[str, dict[int, str]] = {}
    for at, title in enumerate(titles):
        if at not in columns.values() and (number := "".join(filter(str.isdigit, title))):
            without = "".join(c for c in title if not c.isdigit())
            by_number.setdefault(number, {})[at] = without
    people = []
    for headers in by_number.values():
        fields = fields_meant([*headers.values()], {}, (FULL_NAME,))
        by_field = dict(zip(fields, headers, strict=True))
        if all(field in by_field for field in wanted):
            people.append([by_field[field] for field in wanted])
    return people


@dataclass(frozen=True, slots=True)
class Unread:
    """Looks at the rows around the header `titles`, whose `columns` are read; `untitled` are
    columns (from 0) without a header, and `numbered` those of further people in each row.

    `has_addresses` says whether people have addresses in a column (from 0) that is not read, such
    as that of their recruiters.
    """

    titles: Sequence[str]
    columns: Mapping[str, int]
    untitled: Sequence[int]
    numbered: Sequence[Sequence[int]]
    wishes: Wishes
    has_addresses: Callable[[int], bool]

    @property
    def _person(self) -> list[int]:
        """The columns of a person; the last is the one of the address."""
        return [self.columns[field] for field in PERSON if field in self.columns]

    def above(self, rows: Sequence[TableRow], header: int) -> Iterator[tuple[int, int]]:
        """Find the addresses (row, column) of people above the header, which is in row `header`.

        They stand below another header, or all rows there are people, as after sorting the header
        among them.
        """
        email = None
        for number, cells in rows:
            if email is not None and email < len(cells) and is_address(cells[email]):
                yield number, email
            else:
                email = self._email_of_header(cells) if email is None else email
        adjoining = bool(rows) and rows[-1][0] == header - 1
        if adjoining and all(self._is_person(cells) for _, cells in rows):
            yield from ((number, self._person[-1]) for number, _ in rows)

    def _is_person(self, cells: Sequence[Any], shift: int = 0) -> bool:
        """Whether a person's columns, so many to the right, hold names and an address."""
        *names, email = (column + shift for column in self._person)
        if any(at >= len(cells) or is_blank(cells[at]) for at in (*names, email)):
            return False
        texts = [str(cells[at]) for at in names]
        if any(":" in text for text in texts):
            return False
        whole = FULL_NAME not in self.columns or len(texts[0].split()) > 1
        return whole and is_address(cells[email])

    def in_row(self, cells: Sequence[Any]) -> Finding | None:
        """Find a person or a second header in the cells of a row below the header.

        Whatever stands beside a person belongs to the person, unless it is a header.
        """
        width = len(cells)
        for further in self.numbered:
            if max(further) < width and self._is_another(cells, further):
                return further[-1], SECOND_PERSON
        if any(at < width and not is_blank(cells[at]) for at in self.columns.values()):
            places = (*self.untitled, *range(len(self.titles), width))
            return self._second_header(cells, [at for at in places if at < width])
        if second := self._second_header(cells, range(width)):
            return second
        email = self._person[-1]
        for at in range(email + 1, width):
            if self._is_person(cells, at - email) and not self.has_addresses(at):
                return at, BESIDE
        return None

    def _is_another(self, cells: Sequence[Any], further: Sequence[int]) -> bool:
        """Whether further columns hold a person with another name and another address."""
        *names, email = ("" if is_blank(cells[at]) else str(cells[at]) for at in further)
        *own, address = (str(cells[at]) if at < len(cells) else "" for at in self._person)
        name = spelling("".join(names))
        if name in ("", spelling("".join(own))) or not is_address(cells[further[-1]]):
            return False
        return email_key(email) != email_key(address)

    def _second_header(self, cells: Sequence[Any], places: Sequence[int]) -> Finding | None:
        """Find a header with all columns of a person among the cells at these places."""
        filled = [at for at in places if not is_blank(cells[at])]
        if len(filled) < len(self._person):
            return None
        email = self._email_of_header([cells[at] for at in filled])
        return None if email is None else (filled[email], SECOND)

    def _email_of_header(self, cells: Sequence[Any]) -> int | None:
        """Return the column of the addresses (from 0), if a row names all columns of a person."""
        texts = [cell if isinstance(cell, str) else "" for cell in cells]
        named = {spelling(name): field for field, name in self.wishes.named.items() if name}
        fields = fields_meant(texts, {}, (FULL_NAME,))
        meant = [
            named.get(spelling(text), field) for text, field in zip(texts, fields, strict=True)
        ]
        if all(field in meant for field in PERSON if field in self.columns):
            return meant.index("email1")
        return None

    def swallowed(self, cells: Sequence[str], delimiter: str) -> bool:
        """Whether a cell of a text has line breaks, and between them rows like the table's own."""
        return any(
            ("\n" in cell or "\r" in cell) and self._has_rows(cell, at, delimiter)
            for at, cell in enumerate(cells)
        )

    def _has_rows(self, cell: str, at: int, delimiter: str) -> bool:
        """The first line is the end of a row that begins elsewhere, the last the beginning."""
        width, email = len(self.titles), self._person[-1]
        first, *others = (line.split(delimiter) for line in cell.splitlines())
        tail = [""] * at + first
        if len(tail) == width > at + 1 and is_address(tail[email]):
            return True
        last = len(others) - 1
        return any(
            (len(row) == width or (number == last and at < len(row) < width))
            and self._is_person(row)
            for number, row in enumerate(others)
        )
