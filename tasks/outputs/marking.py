"""The marked workbook: a copy with the bad cells coloured, and a note on what is wrong."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from config.mistakes import Mistake
from config.reading.own_tables import Named, OwnTable, header_in, own_tables
from tasks.outputs.plain_workbook import plain_workbook, usable_names
from tasks.outputs.workbook_copy.cells import Cell, Spot, spot, styles_of, with_cells
from tasks.outputs.workbook_copy.fills import LIGHT_RED, LIGHT_YELLOW, with_fill, without_fill
from tasks.outputs.workbook_copy.notes import add_notes, take_notes_away
from tasks.outputs.workbook_copy.package import Package, is_package

# Spreadsheet programs become slow with thousands of notes; further cells are only coloured.
MOST_NOTES = 5_000


@dataclass(frozen=True, slots=True)
class Mark:
    """The messages about one cell, and the colour of the worst."""

    colour: str
    texts: list[str]


Marks = dict[str, dict[Spot, Mark]]
Vary = Callable[[bytes, set[int]], tuple[bytes, dict[int, int]]]


@dataclass(frozen=True, slots=True)
class Marked:
    """A marked copy: how many cells are marked, how many of those have a note, how many mistakes
    belong to no cell in it; `anew` if it has only the values of the table, not its formats.
    """

    content: bytes
    cells: int
    notes: int
    elsewhere: int
    anew: bool


def marked_copy(
    named: Named, problems: Sequence[Mistake], warnings: Sequence[Mistake] = ()
) -> Marked | None:
    """Mark in a table what is wrong and what to check.

    None if none of that is in a cell of the table. Raises BadInput if the file cannot be read at
    all.
    """
    coloured = [
        (colour, problem)
        for colour, complaints in ((LIGHT_RED, problems), (LIGHT_YELLOW, warnings))
        for problem in complaints
        if problem.place.file == str(named.path)
    ]
    if not any(problem.place.sheet or problem.place.line for _, problem in coloured):
        return None
    data, tables = own_tables(named)
    marks = _marks(named, tables, coloured)
    anew = not is_package(data)
    if not anew:
        book = Package(data)
        names = {table.name: table.name for table in tables}
    else:
        old = [table.name for table in tables]
        names = dict(zip(old, usable_names(old), strict=True))
        book = Package(plain_workbook([(table.name, _placed(table)) for table in tables]))
    for name in names.values():
        _clear(book, book.sheet(name))
    cells = sum(map(len, marks.values()))
    notes = 0
    for sheet, on_cells in marks.items():
        notes += _mark(book, names[sheet], on_cells)
    placed = sum(len(mark.texts) for on_cells in marks.values() for mark in on_cells.values())
    return Marked(book.file(), cells, notes, len(problems) + len(warnings) - placed, anew)


def _placed(table: OwnTable) -> list[tuple[int, Sequence[object]]]:
    """The rows of a text table in the new copy: there a line break begins no new row."""
    if table.delimiter is None:
        return list(table.rows)
    return [(row, cells) for row, (_, cells) in enumerate(table.rows, start=1)]


def _marks(
    named: Named, tables: Sequence[OwnTable], coloured: Iterable[tuple[str, Mistake]]
) -> Marks:
    """Assign the messages to cells, by sheet, the worst first.

    A message about a whole sheet goes to its cell A1.
    """
    marks: Marks = {}
    sheets = {table.name.casefold(): table.name for table in tables}
    (first, *_) = tables
    lines = {line: row for row, (line, _) in enumerate(first.rows, start=1)}
    header = header_in(named, first) if first.delimiter else None
    columns: Mapping[str, int] = header.columns if header else {}
    for colour, problem in coloured:
        place = problem.place
        if place.sheet is not None and place.sheet.casefold() in sheets:
            sheet, at = sheets[place.sheet.casefold()], spot(place.cell or "A1")
        elif place.line is not None and first.delimiter:
            sheet = first.name
            at = lines.get(place.line, 1), columns.get(problem.field or "", 0)
        else:
            continue
        text = f"{problem.field}: {problem.clause}" if problem.field else problem.clause
        marks.setdefault(sheet, {}).setdefault(at, Mark(colour, [])).texts.append(text)
    return marks


def _clear(book: Package, part: str) -> None:
    """Remove the marks of an earlier copy from one sheet: corrected cells must not look bad."""
    marked = take_notes_away(book, part)
    _restyle(book, part, marked, partial(without_fill, colours=(LIGHT_RED, LIGHT_YELLOW)))


def _mark(book: Package, sheet: str, marks: Mapping[Spot, Mark]) -> int:
    """Colour the cells of one sheet and put notes on them; returns the number of notes."""
    part = book.sheet(sheet)
    for colour in (LIGHT_RED, LIGHT_YELLOW):
        spots = [at for at, mark in marks.items() if mark.colour == colour]
        _restyle(book, part, spots, partial(with_fill, colour=colour))
    worst_first = sorted(marks, key=lambda at: (marks[at].colour != LIGHT_RED, at))
    noted = sorted(worst_first[:MOST_NOTES])
    add_notes(book, part, {at: "\n".join(marks[at].texts) for at in noted})
    return len(noted)


def _restyle(book: Package, part: str, spots: Sequence[Spot], vary: Vary) -> None:
    """Give cells the variants of their formats that `vary` adds to the workbook."""
    styles = book.part_of_kind("styles")
    if styles is None or not spots:
        return
    formats = styles_of(book[part], spots)
    book[styles], variants = vary(book[styles], set(formats.values()))
    changes = {at: Cell(style=variants[old]) for at, old in formats.items() if old in variants}
    book[part] = with_cells(book[part], changes)
