"""Each person's result, beside their row in a copy of somebody's own sheet."""

import csv
import io
import re
import zipfile
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from config.emails import email_key
from config.errors import NotAsTyped
from config.folder import COPY
from config.sheets.cells import addresses_in
from config.sheets.files import Kind, Source, read_file
from config.sheets.table import Table, table_of
from tasks.outputs.each_result import Result
from tasks.outputs.exports import guarded, put, write_file
from tasks.outputs.ours import check_output


class WrongCopy(NotAsTyped):
    """The results of {sheet} cannot be written into {copy}: {why}. Nothing was written.

    Name another file with -o.
    """


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy holds: rows by status, how many people have no row, and what the copy lost."""

    statuses: Counter[str]
    absent: int
    lost: list[str]


def write_results(
    sheet_file: Path,
    into: Path,
    results: Mapping[str, Result],
    *,
    sheet: str | None = None,
    columns: Mapping[str, str] | None = None,
    encoding: str | None = None,
    force: bool = False,
) -> Copied:
    """Write a copy of a table with a result in each person's row, whatever order they are in now.

    `results` are by email key. Results of an earlier time are replaced. Raises WrongCopy, BadInput,
    NotOurs, CannotWrite; the table itself is never changed.
    """
    source = read_file(sheet_file, encoding)
    is_workbook = source.kind is Kind.WORKBOOK
    _check_copy(source, into)
    check_output(into, force=force)
    table = table_of(source, sheet, columns)
    rows = dict(_by_row(table, results))
    if is_workbook:
        content = _in_workbook(source, table, rows)
    elif into.suffix.lower() == ".xlsx":
        content = _new_workbook(_with_results(table, rows))
    else:
        content = _text(_with_results(table, rows), table.grid.delimiter)
    write_file(into, content, force=force)
    found = {key for key, _ in rows.values()}
    return Copied(
        Counter(result.status for _, result in rows.values()),
        len(results.keys() - found),
        lost(source) if is_workbook else [],
    )


def lost(source: Source) -> list[str]:
    """Name what a workbook has that a copy of it loses."""
    with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist() if name.endswith(".xml")}
        names = " ".join(archive.namelist())
    sheets = b"".join(data for name, data in parts.items() if "worksheets/" in name)
    drawings = b"".join(data for name, data in parts.items() if "drawings/" in name)
    signs = {
        "the stored results of formulas, until a spreadsheet program opens it": b"<f" in sheets,
        "sparklines": b"sparklineGroup" in sheets,
        "newer conditional formats or validations": b"x14:cfRule" in sheets
        or b"x14:dataValidation" in sheets,
        "text boxes and shapes": bool(re.search(rb"<(?:\w+:)?sp[ >]", drawings)),
        "pictures": "xl/media/" in names,
        "threaded comments": "threadedComments" in names,
        "slicers": "slicers/" in names,
    }
    return [what for what, there in signs.items() if there]


def _check_copy(source: Source, into: Path) -> None:
    """Raises WrongCopy."""
    ending = source.file.suffix.lower()
    endings = {Kind.WORKBOOK: (ending,), Kind.TEXT: TEXTS, Kind.PAGE: (".xlsx",)}[source.kind]
    if into.exists() and into.samefile(source.file):
        raise WrongCopy(sheet=source.file, copy=into, why="it is the table itself")
    if into.suffix.lower() not in endings:
        why = f"its name must end in {' or '.join(endings)}"
        raise WrongCopy(sheet=source.file, copy=into, why=why)


def _by_row(
    table: Table, results: Mapping[str, Result]
) -> Iterable[tuple[int, tuple[str, Result]]]:
    """The result of each row below the header that has an address, with its email key."""
    column = table.by_field.get("email1", 0)
    for number, cells in table.grid.rows:
        shown = cells[column] if column < len(cells) else ""
        keys = [email_key(each) for each in addresses_in(shown)]
        if number > table.header and keys:
            key = next((each for each in keys if each in results), keys[0])
            yield number, (key, results.get(key, NOT_THERE))


def _first_column(table: Table) -> int:
    """Where results go (from 0): where earlier ones are, else beside everything."""
    width = len(Result._fields)
    for at in range(len(table.headers)):
        if tuple(table.headers[at : at + width]) == Result._fields:
            return at
    return max(len(cells) for _, cells in table.grid.rows)


def _in_workbook(source: Source, table: Table, rows: Mapping[int, tuple[str, Result]]) -> bytes:
    from openpyxl import load_workbook  # noqa: PLC0415
    from openpyxl.cell.cell import MergedCell  # noqa: PLC0415

    macros = source.file.suffix.lower() == ".xlsm"
    book = load_workbook(io.BytesIO(source.data), keep_vba=macros, rich_text=True)
    book.properties.category = COPY + source.file.name  # by which a folder passes it over
    sheet = book[table.grid.sheet or book.sheetnames[0]]
    first = _first_column(table) + 1
    written: dict[int, Sequence[object]] = {table.header: Result._fields}
    written |= {number: result for number, (_, result) in rows.items()}
    for number, values in written.items():
        for column, value in enumerate(values, start=first):
            cell: Any = sheet.cell(number, column)
            if isinstance(cell, MergedCell):
                continue
            put(cell, value)
            if number == table.header and first > 1:
                cell._style = copy(sheet.cell(number, first - 1)._style)
            is_link = isinstance(value, str) and value.startswith("http")
            cell.hyperlink = value if is_link else None
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def _with_results(
    table: Table, rows: Mapping[int, tuple[str, Result]]
) -> Iterable[tuple[Sequence[str], Sequence[object], Sequence[str]]]:
    """Each row as the cells before its result, the result (empty: it has none), and those after."""
    first = _first_column(table)
    for number, cells in table.grid.rows:
        added: Sequence[object] = Result._fields if number == table.header else ()
        if number in rows:
            added = rows[number][1]
        before = [*cells[:first], *[""] * (first - len(cells) if added else 0)]
        yield before, added, cells[first + len(Result._fields) :]


def _new_workbook(rows: Iterable[tuple[Sequence[object], ...]]) -> bytes:
    from openpyxl import Workbook  # noqa: PLC0415

    book = Workbook()
    for number, (before, added, after) in enumerate(rows, start=1):
        for column, value in enumerate([*before, *added, *after], start=1):
            put(book.active.cell(number, column), value)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def _text(
    rows: Iterable[tuple[Sequence[str], Sequence[object], Sequence[str]]], delimiter: str | None
) -> bytes:
    """Every text is quoted, and a formula is none: spreadsheets and our own reader see the same."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter or ",", quoting=csv.QUOTE_NONNUMERIC)
    for before, added, after in rows:
        new = ["" if cell is None else guarded(cell) for cell in added]
        writer.writerow([*map(_harmless, before), *new, *map(_harmless, after)])
    return BOM_UTF8 + text.getvalue().encode("utf-8", "replace")


def _harmless(cell: str) -> object:
    return cell if NUMBER.fullmatch(cell.strip()) else guarded(cell)


NOT_THERE = Result(None, None, "not in the campaign", "not among the people of its last run")
TEXTS = (".csv", ".tsv", ".txt", ".xlsx")
# What begins like a formula and is none: a number, a telephone number, a dash.
NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?|\+\d[\d ]*|[+-]+")
