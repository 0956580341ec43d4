"""The tables of a web page, which many systems export with the name of a workbook.

What a reader of the page sees counts: each table is a sheet.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from config.workbooks.content import encoding_of
from config.workbooks.shapes import COLUMNS, DAMAGED, MAILTO, Layout, RowOfCells, Unfit, text

NO_TABLE = "this is a web page without a table; export the table as .xlsx or .csv instead"
WHICH_LETTERS = (
    "this is a web page that does not name its encoding; open it in a spreadsheet "
    "program and save it as .xlsx"
)
WIDEST, LONGEST = 1_000, 65_534  # what a cell may span: columns and rows, as in the HTML standard

_CHARSET = re.compile(rb"charset\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE)
# What browsers understand by these names.
_WINDOWS = {"iso-8859-1", "latin1", "us-ascii", "ascii"}
_UNSEEN = {"script", "style", "template"}
_NONE = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_SPACE = re.compile(r"[ \t\r\n\f]+")


@dataclass
class Table:
    """A table as far as it was read: its rows, the rows (from 1) that a style hides, and cells that
    span several rows (column to last row).
    """

    rows: list[list[Any]] = field(default_factory=list)
    layout: Layout = field(default_factory=Layout)
    reaching: dict[int, int] = field(default_factory=dict)
    cell: list[str] | None = None
    column: int = 0
    across: int = 1
    target: str = ""


class WebPage(HTMLParser):
    """The tables of a page, in the order in which they begin."""

    from_1904 = False

    def __init__(self, data: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self._tables: list[Table] = []
        self._open: list[Table] = []
        self._unseen = 0
        self.feed(_decoded(data))
        self.close()
        for table in self._open:
            _end_cell(table)
        if not any(table.rows for table in self._tables):
            raise Unfit(NO_TABLE)
        self._tables = [table for table in self._tables if table.rows]
        self.names = [(f"Table {number}", False) for number in range(1, len(self._tables) + 1)]

    def rows(self, sheet: int, layout: Layout) -> Iterator[RowOfCells]:
        table = self._tables[sheet]
        last = len(table.rows)
        layout.hidden = table.layout.hidden
        layout.links = table.layout.links
        layout.merged = [
            (top, min(end, last), column)
            for top, end, column in table.layout.merged
            if top < min(end, last)
        ]
        yield from enumerate(table.rows, start=1)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self._unseen += tag in _UNSEEN
        if tag == "table":
            self._open.append(Table())
            self._tables.append(self._open[-1])
        elif not self._open:
            return
        elif tag == "tr":
            _begin_row(self._open[-1], hidden=_hidden(attributes))
        elif tag in {"td", "th"}:
            _begin_cell(self._open[-1], attributes)
        elif (cell := self._open[-1].cell) is not None:
            if tag == "br":
                cell.append("\n")
            elif tag in {"p", "div", "li"}:
                cell.append(" ")
            elif tag == "a" and attributes.get("href", "").strip().lower().startswith(MAILTO):
                self._open[-1].target += f",{attributes['href'].strip()}"

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNSEEN:
            self._unseen = max(self._unseen - 1, 0)
        elif tag in {"td", "th", "tr", "table"} and self._open:
            _end_cell(self._open[-1])
            if tag == "table":
                self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open and not self._unseen and (cell := self._open[-1].cell) is not None:
            cell.append(_SPACE.sub(" ", data))


def _begin_row(table: Table, *, hidden: bool) -> None:
    _end_cell(table)
    table.rows.append([])
    number = len(table.rows)
    table.reaching = {column: end for column, end in table.reaching.items() if end >= number}
    if hidden:
        table.layout.hidden.append(number)


def _begin_cell(table: Table, attributes: dict[str, str]) -> None:
    if not table.rows:
        _begin_row(table, hidden=False)
    _end_cell(table)
    row, number = table.rows[-1], len(table.rows)
    while len(row) in table.reaching:
        row.append(None)
    table.column, table.across = len(row), _span(attributes, "colspan", WIDEST)
    if table.column + table.across > COLUMNS:
        raise Unfit(DAMAGED)
    if (down := _span(attributes, "rowspan", LONGEST)) > 1:
        for column in range(table.column, table.column + table.across):
            table.reaching[column] = number + down - 1
        table.layout.merged.append((number, number + down - 1, table.column))
    table.cell, table.target = [], ""


def _end_cell(table: Table) -> None:
    if table.cell is None:
        return
    lines = (_SPACE.sub(" ", line).strip() for line in "".join(table.cell).split("\n"))
    shown = "\n".join(lines).strip()
    table.rows[-1] += [text(shown) if shown else None, *[None] * (table.across - 1)]
    if table.target:
        number = len(table.rows)
        link = (number, number, table.column, table.column, table.target.lstrip(","))
        table.layout.links.append(link)
    table.cell = None


def _span(attributes: dict[str, str], name: str, most: int) -> int:
    typed = attributes.get(name, "").strip()
    return min(max(int(typed), 1), most) if typed.isascii() and typed.isdigit() else 1


def _hidden(attributes: dict[str, str]) -> bool:
    return "hidden" in attributes or _NONE.search(attributes.get("style", "")) is not None


def _decoded(data: bytes) -> str:
    """Decode as the page itself says, or else as UTF-8. Raises Unfit if neither fits."""
    encoding = encoding_of(data)
    if encoding is None and (match := _CHARSET.search(data[:4096])):
        encoding = match[1].decode().lower()
    try:
        return data.decode("cp1252" if encoding in _WINDOWS else encoding or "utf-8")
    except (UnicodeError, LookupError):
        raise Unfit(WHICH_LETTERS) from None
