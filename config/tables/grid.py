"""Where the rows and cells of one table are: in a sheet, or in the lines of a text."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from config.mistakes import Mistake, Place
from config.workbooks.shapes import column_letters

# A table row: its number in the file (from 1) and its cells.
TableRow = tuple[int, Sequence[Any]]
# Yields the rows of a table, from the top each time it is called.
Rows = Callable[[], Iterator[TableRow | Mistake]]

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
NAMED_ROWS = 10


@dataclass(frozen=True, slots=True)
class Grid:
    """The places of a table; columns count from 0.

    `sheet` is None in a text, whose places are the lines on which rows begin; `delimiter`, what is
    between the cells of a text, is None in a sheet. `hidden` are the rows that a sheet hides, and
    `struck` by row the columns that it strikes through; `notes` are remarks on how the table was
    read.
    """

    file: str
    sheet: str | None = None
    delimiter: str | None = None
    hidden: frozenset[int] = frozenset()
    struck: Mapping[int, Sequence[int]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def whole(self) -> Place:
        return Place(self.file, sheet=self.sheet)

    def cell(self, number: int, column: int = 0) -> Place:
        """Find a cell, by default the first of its row."""
        if self.sheet is None:
            return Place(self.file, number)
        return Place(self.file, sheet=self.sheet, cell=f"{column_letters(column)}{number}")

    def misfit(self, number: int, cells: Sequence[Any], width: int) -> Mistake | None:
        """Say what is wrong with a row that is wider than the header.

        A delimiter inside a cell shifts all that follow, so none of them can be trusted. In a
        sheet people write remarks beside the table.
        """
        if self.delimiter is None or not any(cell.strip() for cell in cells[width:]):
            return None
        message = (
            f"this row has {len(cells)} columns, the header has {width}; put quotes around text "
            f"that contains a {DELIMITERS[self.delimiter]}"
        )
        return Mistake(self.cell(number), message=message)

    def remarks(self, header: int, person: Collection[int]) -> Iterator[str]:
        """Remark on rows below the header that look as if they were not read: hidden, or struck
        through in one of the columns of a `person`.
        """
        struck = [row for row, columns in self.struck.items() if not {*person}.isdisjoint(columns)]
        yield from self.notes
        for how, numbers in (("hidden", self.hidden), ("struck through", struck)):
            if below := sorted(number for number in numbers if number > header):
                named = ", ".join(map(str, below[:NAMED_ROWS]))
                more = f" and {len(below) - NAMED_ROWS:,} more" if len(below) > NAMED_ROWS else ""
                rows = "1 row is" if len(below) == 1 else f"{len(below):,} rows are"
                yield f"{self.whole}: {rows} {how}, but read like any other: {named}{more}"
