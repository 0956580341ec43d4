"""Write cells of one sheet, or change their format, and change nothing else."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from config.workbooks.shapes import column_letters
from tasks.outputs.workbook_copy.splicing import (
    Element,
    Places,
    Splice,
    content,
    split,
    with_attribute,
)

# Row (from 1) and column (from 0), as the readers count them.
Spot = tuple[int, int]
# Beyond 15 digits a spreadsheet rounds a number, and an id would be another id.
LARGEST_EXACT = 10**15
LONGEST_TEXT = 32_767
# Excel does not open a sheet with many more links than this.
MOST_LINKS = 65_000

_NAME = re.compile(r"([A-Za-z]+)([0-9]+)")
_SPANS = re.compile(rb"""\sspans=("[^"]*"|'[^']*')""")
_DIMENSION = re.compile(rb"""(<(?:\w+:)?dimension\b[^>]*\bref=["'])([A-Z]+\d+)(?::([A-Z]+\d+))?""")
# How the format escapes characters; a text that looks like an escape must not be read as one.
_ESCAPED = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")


@dataclass(frozen=True, slots=True)
class Cell:
    """The new state of a cell. `value` or `style` None: unchanged; texts stay texts, not formulas.

    `style` is the number of a format in the workbook's list (`cellXfs`).
    """

    value: str | int | None = None
    style: int | None = None


def spot(name: str) -> Spot:
    """Read the name of a cell: C7 is row 7, column 2. Raises ValueError."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise ValueError(f"{name} is no name of a cell")
    column = 0
    for letter in match[1].upper():
        column = column * 26 + ord(letter) - ord("A") + 1
    return int(match[2]), column - 1


def name_of(at: Spot) -> str:
    """Write the name of a cell."""
    row, column = at
    return f"{column_letters(column)}{row}"


class _Rows(Places):
    """Visits the rows of a sheet, and collects the cells of those that are `wanted`."""

    def __init__(
        self,
        xml: bytes,
        wanted: Collection[int],
        met: Callable[[int, Element, dict[int, Element]], None],
    ) -> None:
        super().__init__(xml)
        self.data: Element | None = None
        self._wanted = wanted
        self._met = met
        self._row: Element | None = None
        self._cell: Element | None = None
        self._cells: dict[int, Element] = {}
        self._number = 0
        self._column = -1

    def start(self, name: str, attributes: dict[str, str]) -> None:
        prefix, local = split(name)
        if local == "c" and self._row is not None:
            at = attributes.get("r")
            self._column = spot(at)[1] if at else self._column + 1
            if self._number in self._wanted:
                self._cell = self._element(local, prefix, attributes, "row")
                self._cells[self._column] = self._cell
        elif local == "row" and self.data is not None and not self.data.end:
            self._number = int(attributes.get("r") or self._number + 1)
            self._column, self._cells = -1, {}
            self._row = self._element(local, prefix, attributes, "sheetData")
        elif local == "sheetData" and self.data is None:
            self.data = self._element(local, prefix, attributes, "worksheet")

    def finish(self, name: str) -> None:
        local = split(name)[1]
        if local == "c" and self._cell is not None:
            self._cell.closed, self._cell.end = self.ends(self._cell.opened)
            self._cell = None
        elif local == "row" and self._row is not None:
            self._row.closed, self._row.end = self.ends(self._row.opened)
            self._met(self._number, self._row, self._cells)
            self._row = None
        elif local == "sheetData" and self.data is not None and not self.data.end:
            self.data.closed, self.data.end = self.ends(self.data.opened)

    def _element(
        self, name: str, prefix: str, attributes: Mapping[str, str], around: str
    ) -> Element:
        start = self.here
        return Element(name, prefix, attributes, around, start, self.tag_end(start))


def styles_of(xml: bytes, spots: Collection[Spot]) -> dict[Spot, int]:
    """The number of the format that each of these cells has, or would have if it were there."""
    columns: dict[int, list[int]] = {}
    for row, column in spots:
        columns.setdefault(row, []).append(column)
    styles = dict.fromkeys(spots, 0)

    def met(number: int, row: Element, cells: dict[int, Element]) -> None:
        formatted = row.attributes.get("customFormat") in ("1", "true")
        of_row = row.attributes.get("s", 0) if formatted else 0
        for column in columns.get(number, ()):
            own = cells[column].attributes.get("s", 0) if column in cells else of_row
            styles[number, column] = int(own)

    _Rows(xml, columns, met).parse()
    return styles


def with_cells(xml: bytes, changes: Mapping[Spot, Cell]) -> bytes:
    """Write cells into a sheet: replace existing cells, and insert new ones in order."""
    by_row: dict[int, dict[int, Cell]] = {}
    for (row, column), cell in sorted(changes.items()):
        by_row.setdefault(row, {})[column] = cell
    splice = Splice(xml)
    missing = iter(sorted(by_row))
    following = next(missing, None)

    def rows_before(number: float, at: int, prefix: str) -> None:
        nonlocal following
        while following is not None and following < number:
            splice.insert(at, _new_row(following, by_row[following], prefix))
            following = next(missing, None)

    def met(number: int, row: Element, cells: dict[int, Element]) -> None:
        nonlocal following
        rows_before(number, row.start, row.prefix)
        if following == number:
            following = next(missing, None)
            _change_row(splice, xml, number, row, cells, by_row[number])

    walked = _Rows(xml, by_row, met)
    walked.parse()
    if walked.data is None:
        return xml
    if walked.data.closed != walked.data.end:
        rows_before(float("inf"), walked.data.closed, walked.data.prefix)
    else:
        new = b"".join(_new_row(row, by_row[row], walked.data.prefix) for row in sorted(by_row))
        walked.data.append(splice, xml, new)
    _grow_dimension(splice, xml[: walked.data.start], changes)
    return splice.done()


def _change_row(
    splice: Splice,
    xml: bytes,
    number: int,
    row: Element,
    cells: Mapping[int, Element],
    changes: Mapping[int, Cell],
) -> None:
    # `spans` only hints at where cells are, and is no longer right.
    tag = _SPANS.sub(b"", xml[row.start : row.opened])
    if row.closed == row.end:
        inside = _cells(number, changes, row.prefix)
        tag = tag.removesuffix(b"/>") + b">"
        splice.replace(row.start, row.end, tag + inside + f"</{row.prefix}row>".encode())
        return
    splice.replace(row.start, row.opened, tag)
    order = sorted(cells)
    for column, cell in changes.items():
        there = cells.get(column)
        if there is None:
            after = next((cells[c].start for c in order if c > column), row.closed)
            splice.insert(after, _cell((number, column), cell, cell.style, row.prefix))
        elif cell.value is not None:
            style = there.attributes.get("s") if cell.style is None else cell.style
            new = _cell((number, column), cell, None if style is None else int(style), row.prefix)
            splice.replace(there.start, there.end, new)
        elif cell.style is not None:
            tag = xml[there.start : there.opened]
            splice.replace(there.start, there.opened, with_attribute(tag, "s", str(cell.style)))


def _new_row(number: int, cells: Mapping[int, Cell], prefix: str) -> bytes:
    inside = _cells(number, cells, prefix)
    return f'<{prefix}row r="{number}">'.encode() + inside + f"</{prefix}row>".encode()


def _cells(number: int, cells: Mapping[int, Cell], prefix: str) -> bytes:
    return b"".join(_cell((number, column), c, c.style, prefix) for column, c in cells.items())


def _cell(at: Spot, cell: Cell, style: int | None, prefix: str) -> bytes:
    styled = "" if style is None else f' s="{style}"'
    begins = f'<{prefix}c r="{name_of(at)}"{styled}'
    value = cell.value
    if isinstance(value, int) and abs(value) >= LARGEST_EXACT:
        value = str(value)
    if value is None or value == "":
        return f"{begins}/>".encode()
    if isinstance(value, int):
        return f"{begins}><{prefix}v>{value}</{prefix}v></{prefix}c>".encode()
    text = content(_ESCAPED.sub("_x005F_", value[:LONGEST_TEXT]))
    inline = f'<{prefix}is><{prefix}t xml:space="preserve">{text}</{prefix}t></{prefix}is>'
    return f'{begins} t="inlineStr">{inline}</{prefix}c>'.encode()


def _grow_dimension(splice: Splice, head: bytes, changes: Collection[Spot]) -> None:
    """Correct the size that the sheet declares."""
    match = _DIMENSION.search(head)
    if match is None or not changes:
        return
    first, last = spot(match[2].decode()), spot((match[3] or match[2]).decode())
    rows, columns = [row for row, _ in changes], [column for _, column in changes]
    first = min(first[0], *rows), min(first[1], *columns)
    last = max(last[0], *rows), max(last[1], *columns)
    splice.replace(match.start(2), match.end(), f"{name_of(first)}:{name_of(last)}".encode())
