"""Workbooks: their sheets as rows of cells, with each cell's name as the spreadsheet shows it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time
from typing import Any

from config.errors import BadInput
from config.mistakes import Place, Unusable
from config.tables.address_cells import Linked
from config.tables.cells import is_error
from config.tables.grid import Grid, TableRow
from config.workbooks import frames
from config.workbooks.process import Received, ReceivedBook, received
from config.workbooks.shapes import (
    CLOCK,
    ERROR,
    MOMENT,
    TOO_LONG,
    Link,
    Unfit,
)


@dataclass(frozen=True, slots=True)
class Sheet:
    """One sheet: its rows that hold anything, numbered as the spreadsheet numbers them.

    `from_1904` says whether the workbook counts days from 1904.
    """

    name: str
    grid: Grid
    from_1904: bool
    received: Received = field(repr=False)

    def rows(self) -> Iterator[TableRow]:
        """Go through the rows from the top; a vertically merged value is in each of its rows."""
        by_top: dict[int, list[tuple[int, int]]] = {}
        for top, end, column in self.received.layout.merged:
            by_top.setdefault(top, []).append((end, column))
        reaching: dict[int, tuple[int, Any]] = {}
        for number, packed in self._linked():
            cells = packed
            if reaching:
                reaching = {c: (end, v) for c, (end, v) in reaching.items() if end >= number}
                cells = _filled(packed, reaching)
            for end, column in by_top.get(number, ()):
                if column < len(cells):
                    reaching[column] = (end, cells[column])
            yield number, cells

    def _linked(self) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """Go through the rows as they are stored, with the link targets of their texts."""
        waiting, here = sorted(self.received.layout.links, reverse=True), list[Link]()
        for number, cells in self._unpacked():
            while waiting and waiting[-1][0] <= number:
                here.append(waiting.pop())
            if here:
                here = [link for link in here if link[1] >= number]
                yield number, _with_links(cells, here)
            else:
                yield number, cells

    def _unpacked(self) -> Iterator[tuple[int, tuple[Any, ...]]]:
        for piece in self.received.pieces:
            for number, cells in frames.unpacked(piece)[1]:
                if tuple in map(type, cells):
                    yield number, tuple(map(_opened, cells))
                else:
                    yield number, cells


def _filled(cells: tuple[Any, ...], reaching: dict[int, tuple[int, Any]]) -> tuple[Any, ...]:
    filled = list(cells)
    for column, (_, value) in reaching.items():
        filled.extend([None] * (column + 1 - len(filled)))
        if filled[column] is None:
            filled[column] = value
    return tuple(filled)


def _with_links(cells: tuple[Any, ...], links: Sequence[Link]) -> tuple[Any, ...]:
    linked = list(cells)
    for _, _, left, right, target in links:
        for column in range(left, min(right + 1, len(linked))):
            if isinstance(linked[column], str):
                linked[column] = Linked(linked[column], target)
    return tuple(linked)


def _opened(cell: Any) -> Any:
    """Turn a cell from the form in which it was sent into its value."""
    if not isinstance(cell, tuple):
        return cell
    kind, content = cell
    if kind == MOMENT:
        return datetime.fromisoformat(content)
    if kind == CLOCK:
        return time.fromisoformat(content)
    if kind == ERROR:
        shown = f"the error {content}"
        return Unusable(shown, content) if is_error(content) else Unusable(shown)
    if kind == TOO_LONG:
        return Unusable(f"a text of {content:,} characters")
    without = "a formula without its result (open the file in a spreadsheet program and save it)"
    return Unusable(without)


@dataclass(frozen=True, slots=True)
class Book:
    """The sheets that were wanted, by their name in lower case, and the names of all there are."""

    sheets: dict[str, Sheet]
    names: tuple[str, ...]

    @property
    def listed(self) -> str:
        """Name all sheets, as what was found instead of another."""
        return f"the sheets {', '.join(self.names) or 'none'}"


def read_book(data: bytes, file: str, wanted: Sequence[str]) -> Book:
    """Read the sheets with these names (in lower case), or the only sheet.

    Raises BadInput if it is not a workbook, or if two wanted sheets have the same name.
    """
    try:
        book = received(data, wanted)
    except Unfit as error:
        place = Place(file, sheet=error.sheet, cell=error.cell)
        raise BadInput.at(place, str(error)) from None
    sheets: dict[str, Sheet] = {}
    for position, content in book.sheets.items():
        sheet = _sheet(file, book, position, content)
        first = sheets.setdefault(sheet.name.strip().casefold(), sheet)
        if first is not sheet and wanted:
            message = f"two sheets have the name {first.name}; rename one of them"
            raise BadInput.at(Place(file), message)
    return Book(sheets, tuple(name for name, _ in book.names))


def read_sheets(data: bytes, file: str) -> dict[str, Sheet]:
    """Read every sheet, by its name in lower case. Raises BadInput if it is not a workbook."""
    return read_book(data, file, ()).sheets


def _sheet(file: str, book: ReceivedBook, position: int, content: Received) -> Sheet:
    name, concealed = book.names[position]
    note = f"{Place(file, sheet=name)}: this sheet is hidden, but it is read like any other"
    hidden = frozenset(content.layout.hidden)
    notes = (note,) if concealed else ()
    grid = Grid(file, name, hidden=hidden, struck=content.layout.struck, notes=notes)
    return Sheet(name, grid, book.from_1904, content)
