"""Write each person's result beside their row, in a copy of somebody's sheet."""

import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from config.emails import email_key
from config.errors import NotAsTyped
from config.sheets.cells import addresses_in
from config.sheets.files import Format, Source, read_file
from config.sheets.table import Table, read_table
from tasks.outputs.exports import COPY, as_csv, as_xlsx, put, write_file
from tasks.outputs.links import Standing


class WrongCopy(NotAsTyped):
    says = "The results of {sheet} cannot be written into {copy}: {why}. Nothing was written."
    then = "Name another file with -o."


class Result(NamedTuple):
    """A person's result. Its fields, in this order, are the columns that are added to a sheet."""

    candidate_id: int | None
    embed_url: str | None
    status: str
    why: str | None


@dataclass(frozen=True, slots=True)
class Copied:
    """What is in a copy: rows by status, how many people have no row, and what was lost."""

    statuses: Counter[str]
    absent: int
    lost: str = ""


def results_of(people: Iterable[Standing]) -> dict[str, Result]:
    """The results by address, as sent. `people` are the candidates of a campaign's status."""
    return {
        each["email1"]: Result(each["candidate_id"], each["embed_url"], each["stands"], each["why"])
        for each in people
    }


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
    """Write a copy of a table with each person's result in their row. Rows may be in any order.

    `results` are by address. Earlier results in the table are replaced. The table itself is never
    changed. Raises WrongCopy, BadInput, NotOurs, CannotWrite.
    """
    source = read_file(sheet_file, encoding)
    is_workbook = source.format is Format.WORKBOOK
    _check_copy(source, into)
    table = read_table(source, sheet, columns)
    rows = dict(_by_row(table, results))
    written = {table.header: Result._fields} | {row: result for row, (_, result) in rows.items()}
    first = _first_column(table)
    if is_workbook:
        content = _in_workbook(source, table, written, first)
    elif into.suffix.lower() == ".xlsx":
        content = as_xlsx(_with_results(table, written, first), first + URL)
    else:
        content = as_csv(_with_results(table, written, first), table.grid.delimiter or ",")
    write_file(into, content, force=force)
    return Copied(
        Counter(result.status for _, result in rows.values()),
        len(results.keys() - {key for key, _ in rows.values()}),
        LOST if is_workbook else "",
    )


def _check_copy(source: Source, into: Path) -> None:
    """Raise WrongCopy if the copy would replace the table, or its name has a wrong ending."""
    ending = source.file.suffix.lower()
    by_format = {Format.WORKBOOK: (ending,), Format.TEXT: TEXTS, Format.PAGE: (".xlsx",)}
    endings = by_format[source.format]
    if into.exists() and into.samefile(source.file):
        raise WrongCopy(sheet=source.file, copy=into, why="it is the table itself")
    if into.suffix.lower() not in endings:
        why = f"its name must end in {' or '.join(endings)}"
        raise WrongCopy(sheet=source.file, copy=into, why=why)


def _by_row(
    table: Table, results: Mapping[str, Result]
) -> Iterable[tuple[int, tuple[str, Result]]]:
    """The number, address and result of each row below the header that has an address."""
    column, sent = table.by_field.get("email1", 0), {email_key(each): each for each in results}
    for number, cells in table.grid.rows:
        if number > table.header and (typed := addresses_in("".join(cells[column : column + 1]))):
            keys = [sent[key] for key in map(email_key, typed) if key in sent] or typed
            result = results.get(keys[0], NOT_THERE)
            if keys[0] not in typed and not result.why:  # the login wants what was sent
                result = result._replace(why=f"logs in as {keys[0]}")
            yield number, (keys[0], result)


def _first_column(table: Table) -> int:
    """The first column (from 0) for results: over earlier results, else after the last column."""
    width = len(Result._fields)
    for at in range(len(table.headers)):
        if tuple(table.headers[at : at + width]) == Result._fields:
            return at
    return max(len(cells) for _, cells in table.grid.rows)


def _in_workbook(
    source: Source, table: Table, written: Mapping[int, Sequence[object]], first: int
) -> bytes:
    from openpyxl import load_workbook  # noqa: PLC0415

    macros = source.file.suffix.lower() == ".xlsm"
    book = load_workbook(io.BytesIO(source.data), keep_vba=macros, rich_text=True)
    book.properties.category = COPY + source.file.name  # so flows/folder.py knows the copy
    sheet = book[table.grid.sheet or book.sheetnames[0]]
    for area in [*sheet.merged_cells.ranges]:  # nothing can be written into merged cells
        is_wide = area.min_col <= first + len(Result._fields) and area.max_col > first
        if is_wide and written.keys() & {*range(area.min_row, area.max_row + 1)}:
            sheet.unmerge_cells(area.coord)
            for row in range(area.min_row + 1, area.max_row + 1):
                sheet.cell(row, area.min_col, sheet.cell(area.min_row, area.min_col).value)
    for number, values in written.items():
        for at, value in enumerate(values):
            cell: Any = sheet.cell(number, first + 1 + at)
            put(cell, value, link=at == URL)
            if number == table.header and first > 0:
                cell._style = copy(sheet.cell(number, first)._style)
    book.save(content := io.BytesIO())
    return content.getvalue()


def _with_results(
    table: Table, written: Mapping[int, Sequence[object]], first: int
) -> Iterable[Sequence[object]]:
    """The rows, with what is `written` in the columns from `first` on."""
    for number, cells in table.grid.rows:
        if number in written:
            before = [*cells[:first], *[""] * (first - len(cells))]
            yield [*before, *written[number], *cells[first + len(Result._fields) :]]
        else:
            yield cells


URL = Result._fields.index("embed_url")
LOST = "the stored results of formulas, pictures, shapes, slicers, sparklines and threaded comments"
NOT_THERE = Result(None, None, "not in the campaign", "not among the people of its last run")
TEXTS = (".csv", ".tsv", ".txt", ".xlsx")
