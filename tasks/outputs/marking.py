"""The marked copy of a table: cells with mistakes are coloured, and notes say what is wrong."""

import io
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from config.errors import BadInput, CampaignError, Mistake, NotAsTyped
from config.reading import YAML, said_of_table, who_reads
from config.sheets.cells import letters
from config.sheets.files import Format, Source, read_file
from config.sheets.table import grids_of, read_table
from tasks.outputs.exports import COPY, put, write_file

RED = "FFFFC7CE"
AUTHOR = "campaign"
# Spreadsheet programs become slow with more notes; cells beyond these are only coloured.
MOST_NOTES = 5_000
Spots = dict[tuple[str, str], list[str]]  # sheet and cell: what is wrong there


class NothingToMark(CampaignError):
    says = "No copy was written: no mistake is in a cell of a table."


class CannotMark(NotAsTyped):
    says = "No copy was written: {why}."


def write_marked(
    copy: Path, mistakes: Sequence[Mistake], *folders: Path, force: bool = False
) -> str:
    """Write the copy, and say what is in it. A definition in `folders` may name the encoding.

    Raises CampaignError, also if `copy` is somebody else's file.
    """
    in_cells = [each for each in mistakes if each.place.file.suffix.lower() not in YAML]
    in_cells = [each for each in in_cells if each.place.cell or each.place.line]
    files = list(dict.fromkeys(each.place.file for each in in_cells))
    if not files:
        raise NothingToMark
    if len(files) > 1:
        raise CannotMark(why=f"{len(files)} tables have mistakes; check them one at a time")
    source = read_file(files[0], said_of_table(who_reads(files[0], *folders)).get("encoding"))
    is_workbook = source.format is Format.WORKBOOK
    ending = (source.file.suffix.lower() if is_workbook else "") or ".xlsx"
    if copy.suffix.lower() != ending:
        raise CannotMark(why=f"it is a workbook, so its name ends in {ending}")
    book, spots = (_own if is_workbook else _anew)(source, in_cells)
    _mark(book, spots)
    book.properties.category = COPY + source.file.name  # so flows/folder.py knows the copy
    book.save(content := io.BytesIO())
    write_file(copy, content.getvalue(), force=force)
    lost = "its formulas have no results, and drawings are gone" if is_workbook else "values only"
    elsewhere = len(mistakes) - len(in_cells)
    more = f"; {elsewhere:,} more are not in the table" if elsewhere else ""
    return f"{copy}: cells marked: {len(spots):,} ({lost}){more}. Fix the original, not the copy."


def _own(source: Source, mistakes: Iterable[Mistake]) -> tuple[Any, Spots]:
    """Load the workbook, without the marks of an earlier copy."""
    from openpyxl import load_workbook  # noqa: PLC0415
    from openpyxl.styles import PatternFill  # noqa: PLC0415

    book = load_workbook(io.BytesIO(source.data), keep_vba=source.file.suffix.lower() == ".xlsm")
    for sheet in book.worksheets:
        for cell in [cell for row in sheet.iter_rows() for cell in row if cell.comment]:
            if cell.comment.author == AUTHOR:
                cell.comment, cell.fill = None, PatternFill()
    spots: Spots = defaultdict(list)
    for each in mistakes:
        sheet, at = each.place.sheet or "", each.place.cell or "A1"
        merged = (area for area in book[sheet].merged_cells.ranges if at in area)
        at = next((area.coord.partition(":")[0] for area in merged), at)  # it alone takes a note
        spots[sheet, at].append(_said(each))
    return book, spots


def _anew(source: Source, mistakes: Iterable[Mistake]) -> tuple[Any, Spots]:
    """Make a workbook of a text or a page. Its rows are numbered anew, without empty lines."""
    from openpyxl import Workbook  # noqa: PLC0415

    grid = grids_of(source)[0]
    try:
        table = read_table(source)
    except BadInput:
        table = None
    book = Workbook()
    rows: dict[int | None, int] = {}
    for at, (number, cells) in enumerate(grid.rows, start=1):
        rows[number] = at
        for column, text in enumerate(cells, start=1):
            put(book.active.cell(at, column), text)
    spots: Spots = defaultdict(list)
    for each in mistakes:
        column = table.column_of(each.field) if table else 0
        row = rows.get(each.place.line, 1)
        spots[book.active.title, f"{letters(column)}{row}"].append(_said(each))
    return book, spots


def _mark(book: Any, spots: Spots) -> None:
    from openpyxl.comments import Comment  # noqa: PLC0415
    from openpyxl.styles import PatternFill  # noqa: PLC0415

    for number, ((sheet, at), texts) in enumerate(spots.items()):
        cell = book[sheet][at]
        cell.fill = PatternFill("solid", fgColor=RED)
        if number < MOST_NOTES:
            before = cell.comment or Comment("", AUTHOR)  # `check` asks about somebody else's
            text = "\n".join(filter(None, [before.text, *texts]))
            cell.comment = Comment(text, before.author, width=400)


def _said(mistake: Mistake) -> str:
    return f"{mistake.field}: {mistake.message}" if mistake.field else mistake.message
