"""The web application's own list of who is in the project, as verdicts on all unsure adds at once.

Any table will do that has addresses in one column and ids in another.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from config.email_key import email_key
from config.errors import BadInput
from config.mistakes import Mistake, Place, shown
from config.reading.own_tables import Named, OwnTable, own_tables
from config.tables.address_cells import address_of, addresses_in
from config.tables.cells import as_text, as_whole_number, is_blank
from config.tables.headers import spelling
from data.decisions.verdicts import Decided, Doubt
from data.store.states import Operation, Word

# Which columns hold the ids, by their headers; the first of these that is there.
ID_NAMES = ("candidateid", "id", "candidatenumber", "number", "no")
NO_LIST = (
    "no column of email addresses; wanted the web application's list, with addresses and ids, or "
    "the file from --export"
)
ELSEWHERE = (
    "this person's address is here, but not in the column of addresses; move it there, or remove it"
)
FEWEST = 0.5  # the least share of addresses among the filled cells of the address column


@dataclass(frozen=True, slots=True)
class Listed:
    """The people that the service has: their ids by email key, each with its line or row.

    `anywhere` are all addresses in the file, by email key, each with a line or row.
    """

    file: str
    ids: Mapping[str, Sequence[tuple[int, int]]]
    anywhere: Mapping[str, int]

    def elsewhere(self, unsure: Iterable[Doubt]) -> list[Mistake]:
        """Find people whose address is in the file, but not in its list: they are not missing."""
        keys = dict.fromkeys(email_key(doubt.email1) for doubt in unsure)
        return [
            Mistake(Place(self.file, self.anywhere[key]), "email1", message=ELSEWHERE)
            for key in keys
            if key in self.anywhere and key not in self.ids
        ]

    def missing(self, adds: Iterable[Doubt]) -> list[Doubt]:
        """Find the unsure adds of people who are not listed."""
        return [doubt for doubt in adds if not self.ids.get(email_key(doubt.email1))]

    def verdicts(self, unsure: Iterable[Doubt], others: Word | None) -> list[tuple[int, Decided]]:
        """Verdicts on unsure adds, each with its line; `others` is the verdict on all not listed.

        If a person has several ids, the smallest is used, so that a later list leads to the same
        one; the others are records to be removed.
        """
        by_line: list[tuple[int, Decided]] = []
        for doubt in unsure:
            if doubt.operation is not Operation.ADD:
                continue
            ids = sorted(self.ids.get(email_key(doubt.email1), ()))
            for number, line in ids[:1]:
                by_line.append((line, Decided(doubt.attempt, doubt.row, Word.ID, number)))
            for (before, _), (number, line) in pairwise(ids):
                if number != before:
                    by_line.append((line, Decided(doubt.attempt, doubt.row, Word.DOUBLE, number)))
            if not ids and others is not None:
                by_line.append((0, Decided(doubt.attempt, doubt.row, others)))
        return by_line


def read(path: Path) -> Listed:
    """Read a list. Raises BadInput where there is none, or where a person has no usable id."""
    _, tables = own_tables(Named(path), strict=True)
    lists = [(table, at) for table in tables if (at := _column_of_emails(table)) is not None]
    if len(lists) != 1:
        sheets = ", ".join(table.name for table, _ in lists)
        message = NO_LIST
        if lists:
            message = f"the sheets {sheets} all have email addresses; keep only the right one"
        raise BadInput([Mistake(Place(str(path)), message=message)])
    [(table, emails)] = lists
    return _listed(path, table, emails)


def _listed(path: Path, table: OwnTable, emails: int) -> Listed:
    first = next(at for at, row in enumerate(table.rows) if _is_email(row[1], emails))
    header = table.rows[first - 1][1] if first else ()
    people = [row for row in table.rows[first:] if _is_email(row[1], emails)]
    column = _column_of_ids(path, header, [cells for _, cells in people], emails)
    ids: dict[str, list[tuple[int, int]]] = {}
    problems = []
    for line, cells in people:
        number = as_whole_number(_at(cells, column))
        if isinstance(number, int) and not isinstance(number, bool):
            ids.setdefault(email_key(_address(cells, emails)), []).append((number, line))
        else:
            cell = shown(_text(cells, column)) if _text(cells, column) else "nothing"
            problems.append(Mistake(Place(str(path), line), _name(header, column), cell, "an id"))
    if problems:
        raise BadInput(problems)
    return Listed(str(path), ids, dict(_addresses(table)))


def _addresses(table: OwnTable) -> Iterator[tuple[str, int]]:
    """Go through the addresses in all cells: their email keys, each with its line or row."""
    for line, cells in table.rows:
        for text in (_text(cells, column) for column in range(len(cells))):
            if "@" in text:
                yield from ((email_key(address), line) for address in addresses_in(text))


def _column_of_emails(table: OwnTable) -> int | None:
    """The column that mostly holds addresses; of several the one with the most."""
    width = max((len(cells) for _, cells in table.rows), default=0)
    counts = {}
    for column in range(width):
        filled = sum(not is_blank(_at(cells, column)) for _, cells in table.rows)
        emails = sum(_is_email(cells, column) for _, cells in table.rows)
        if emails and emails >= filled * FEWEST:
            counts[column] = emails
    return max(counts, key=lambda column: (counts[column], -column), default=None)


def _column_of_ids(
    path: Path, header: Sequence[Any], people: Sequence[Sequence[Any]], emails: int
) -> int:
    """By its header, else the only column of whole numbers that are all different."""
    named = {spelling(_text(header, at)): at for at in reversed(range(len(header)))}
    for name in ID_NAMES:
        if name in named:
            return named[name]
    width = max(map(len, people))
    columns_of_ids = [at for at in range(width) if at != emails and _may_be_ids(people, at)]
    if len(columns_of_ids) == 1:
        return columns_of_ids[0]
    if columns_of_ids:
        columns = " and ".join(_name(header, at) for at in columns_of_ids)
        message = f"both {columns} may be the ids; name the right one candidate_id"
    else:
        message = "no column of ids (whole numbers, each once); name it candidate_id"
    raise BadInput([Mistake(Place(str(path)), "candidate_id", message=message)])


def _may_be_ids(people: Sequence[Sequence[Any]], column: int) -> bool:
    numbers = [as_whole_number(_at(cells, column)) for cells in people]
    whole = all(isinstance(number, int) and number > 0 for number in numbers)
    return whole and len(set(numbers)) == len(numbers)


def _name(header: Sequence[Any], column: int) -> str:
    return _text(header, column) or f"column {column + 1}"


def _at(cells: Sequence[Any], column: int) -> Any:
    return cells[column] if column < len(cells) else None


def _text(cells: Sequence[Any], column: int) -> str:
    cell = _at(cells, column)
    return "" if is_blank(cell) else str(as_text(cell)).strip()


def _address(cells: Sequence[Any], column: int) -> str:
    return str(address_of(_at(cells, column), first=False)).strip()


def _is_email(cells: Sequence[Any], column: int) -> bool:
    """Whether a cell may be an address: the campaign's own were judged when it was read."""
    address = _address(cells, column)
    before, at, after = address.rpartition("@")
    return bool(before and at and "." in after) and len(address.split()) == 1
