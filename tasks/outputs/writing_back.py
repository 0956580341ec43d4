"""Each person's result, written next to their row in a copy of somebody's own table."""

import csv
import re
from codecs import BOM_UTF8
from collections.abc import Collection, Iterable, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from config.email_key import email_key
from config.errors import BadInput
from config.mistakes import Mistake, Place, Unusable
from config.people.email_address import email_address
from config.reading.own_tables import Named, OwnTable, PeopleAt, own_tables
from config.tables.cells import as_text, is_blank
from config.tables.cells import guarded as guarded_cell
from config.tables.headers import spelling
from config.workbooks.shapes import TABLE_COLUMNS
from tasks.outputs.exports import RESULT_COLUMNS, Result, WebLink
from tasks.outputs.plain_workbook import plain_workbook
from tasks.outputs.workbook_copy.cells import Cell, Spot, styles_of, with_cells
from tasks.outputs.workbook_copy.hyperlinks import link_cells
from tasks.outputs.workbook_copy.package import Package

# What the column with a campaign's key is called in a sheet of campaigns.
KEY_NAMES = ("campaign", "key")
NOT_HERE = "not in the campaign"
# Texts that begin like a formula but are not: a number, a telephone number, a dash for "none".
NO_FORMULA = re.compile(r"[+-]?\d+(?:[.,]\d+)?|\+\d[\d ]*|[+-]+")


def results_by_row(
    people: PeopleAt, campaign: str, by_key: Mapping[str, Result]
) -> dict[int, Result]:
    """Find the result of each row by its email key, whatever order the rows are in now.

    `by_key` are the results by email key. Rows of another campaign have none.
    """
    results = {}
    for number, fields in people.people():
        if fields.get("campaign", campaign) != campaign:
            continue
        typed = fields.get("email1", "")
        results[number] = by_key.get(email_key(typed)) or _unknown(typed, campaign)
    return results


def absent(people: PeopleAt, campaign: str, by_key: Mapping[str, Result]) -> set[str]:
    """The email keys of people who are in no row of the table."""
    return by_key.keys() - keys_in(people, campaign)


def keys_in(people: PeopleAt, campaign: str) -> set[str]:
    """The email keys of everybody who is in the table for a campaign."""
    return {
        email_key(fields.get("email1", ""))
        for _, fields in people.people()
        if fields.get("campaign", campaign) == campaign
    }


def _unknown(typed: str, campaign: str) -> Result:
    try:
        email_address(typed)
        why = f"no run of {campaign} has included this address yet"
    except ValueError as error:
        why = f"email1: wanted {error}"
    return Result(None, None, NOT_HERE, why, finished=False)


def into_workbook(book: bytes, people: PeopleAt, results: Mapping[int, Result]) -> bytes:
    """Write the results into a copy of a workbook (.xlsx, .xlsm); all else is kept as it is.

    Raises BadInput if it has too many columns.
    """
    package = Package(book)
    part = package.sheet(people.table.name)
    first = _first_column(people)
    sheet = package[part]
    beside: Spot = (people.header, max(first - 1, 0))
    style = styles_of(sheet, [beside])[beside]
    cells = {(people.header, first + i): Cell(name, style) for i, name in enumerate(RESULT_COLUMNS)}
    for number, result in results.items():
        for i, value in enumerate(result.cells):
            # An empty text, so that an earlier result does not stay there.
            cells[number, first + i] = Cell("" if value is None else value)
    package[part] = with_cells(sheet, cells)
    links = {at: cell.value for at, cell in cells.items() if isinstance(cell.value, WebLink)}
    link_cells(package, part, links, cells.keys())
    return package.file()


def with_results(people: PeopleAt, results: Mapping[int, Result]) -> OwnTable:
    """Return the table with the results beside it, as values."""
    first = _first_column(people)
    rows: list[tuple[int, Sequence[Any]]] = []
    for number, cells in people.table.rows:
        result = results.get(number)
        if number == people.header:
            added: Sequence[Any] = RESULT_COLUMNS
        elif result is not None:
            added = result.cells
        else:
            rows.append((number, cells))
            continue
        beside = [*cells[:first], *[None] * (first - len(cells))]
        rows.append((number, [*beside, *added, *cells[first + len(RESULT_COLUMNS) :]]))
    return OwnTable(people.table.name, tuple(rows), people.table.delimiter)


def only_unfinished(people: PeopleAt, table: OwnTable, unfinished: Collection[int]) -> OwnTable:
    """Keep the rows to fix and send again, and everything above the people."""
    rows = [row for row in table.rows if row[0] <= people.header or row[0] in unfinished]
    return OwnTable(table.name, tuple(rows), table.delimiter)


def of_one_campaign(table: OwnTable, campaign: str) -> OwnTable:
    """Keep one row of a sheet of campaigns: the other campaigns would have nobody left."""
    key_column, rows = None, []
    for number, cells in table.rows:
        if key_column is None:
            names = [spelling(str(as_text(cell))) for cell in cells]
            key_column = next((i for i, name in enumerate(names) if name in KEY_NAMES), None)
        elif not is_blank(cells[key_column]) and str(cells[key_column]).strip() != campaign:
            continue
        rows.append((number, cells))
    return OwnTable(table.name, tuple(rows), table.delimiter)


def as_workbook(tables: Iterable[OwnTable]) -> bytes:
    """Write tables as a new workbook, values only, without gaps between their rows."""
    return plain_workbook(
        [
            (table.name, [(n, cells) for n, (_, cells) in enumerate(table.rows, start=1)])
            for table in tables
        ]
    )


def as_text_file(table: OwnTable) -> tuple[bytes, int]:
    """Write a table as a text with its own delimiter, and say how many cells had to be guarded.

    UTF-8 with a byte-order mark, every text quoted: Excel and our own reader read this correctly.
    """
    text = StringIO(newline="")
    writer = csv.writer(
        text, delimiter=table.delimiter or ",", quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n"
    )
    guarded = 0
    for _, row in table.rows:
        cells = [cell.error if isinstance(cell, Unusable) else cell for cell in row]
        written = ["" if cell is None else _harmless(cell) for cell in cells]
        guarded += sum(new is not old for new, old in zip(written, cells, strict=True) if old)
        writer.writerow(written)
    return BOM_UTF8 + text.getvalue().encode("utf-8", "replace"), guarded


def _harmless(cell: Any) -> Any:
    if isinstance(cell, str) and NO_FORMULA.fullmatch(cell.strip()):
        return cell
    return guarded_cell(cell)


def has_results(path: Path) -> bool:
    """Whether a file is a copy with results, of any table, or empty. Raises OSError."""
    if not path.stat().st_size:
        return True
    try:
        _, tables = own_tables(Named(path))
    except BadInput:
        return False
    return any(_earlier_results(cells) is not None for table in tables for _, cells in table.rows)


def _earlier_results(header: Sequence[Any]) -> int | None:
    """The column (from 0) in which results begin, by their headers."""
    names = [str(as_text(cell)).strip() if not is_blank(cell) else "" for cell in header]
    width = len(RESULT_COLUMNS)
    starts = (at for at in range(len(names)) if tuple(names[at : at + width]) == RESULT_COLUMNS)
    return next(starts, None)


def _first_column(people: PeopleAt) -> int:
    """Where the results go: where earlier ones are, else beside everything."""
    header = next(cells for number, cells in people.table.rows if number == people.header)
    if (earlier := _earlier_results(header)) is not None:
        return earlier
    first = people.width
    if (most := TABLE_COLUMNS - len(RESULT_COLUMNS)) < first:
        message = f"results fit beside {most} columns, and this table has {first:,}; delete some"
        raise BadInput([Mistake(Place(people.file, sheet=people.table.name), message=message)])
    return first
