""".xls: values as calamine reads them, and what calamine leaves out, from the records.

calamine reads an error as a blank cell and does not report hidden rows; both are in the records
(MS-XLS).
"""

import io
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any

from python_calamine import CalamineError, CalamineWorkbook, SheetVisibleEnum

from config.workbooks.compound import stream_of
from config.workbooks.shapes import (
    DAMAGED,
    ERROR,
    MAILTO,
    PROTECTED,
    Layout,
    Link,
    RowOfCells,
    Unfit,
    moment,
)
from config.workbooks.shapes import text as text_cell

EOF, DATE_MODE, FILE_PASS, BOUND_SHEET, MERGED, ROW = 0x0A, 0x22, 0x2F, 0x85, 0xE5, 0x208
HYPERLINK = 0x1B8
ERROR_OR_TRUTH, FORMULA = 0x205, 0x06
HIDDEN_ROW = 0x20
WORKSHEET = 0
ERRORS = {
    0x00: "#NULL!",
    0x07: "#DIV/0!",
    0x0F: "#VALUE!",
    0x17: "#REF!",
    0x1D: "#NAME?",
    0x24: "#NUM!",
    0x2A: "#N/A",
}


@dataclass
class Records:
    """What the records of one sheet say besides its values; rows and columns count from 0, except
    the rows of `links`.
    """

    errors: dict[int, dict[int, str]] = field(default_factory=dict)
    hidden: list[int] = field(default_factory=list)
    merged: list[tuple[int, int, int]] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)


class Xls:
    """A workbook of the kind that Excel wrote until 2003."""

    def __init__(self, data: bytes) -> None:
        self._stream = stream_of(data, "Workbook", "Book")
        self.from_1904 = False
        self._starts: list[int] = []
        for kind, content in _records(self._stream, 0):
            if kind == FILE_PASS:
                raise Unfit(PROTECTED)
            if kind == DATE_MODE:
                self.from_1904 = content[:2] == b"\1\0"
            if kind == BOUND_SHEET and content[5] == WORKSHEET:
                self._starts.append(struct.unpack_from("<I", content)[0])
        try:
            self._book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        except CalamineError:
            raise Unfit(DAMAGED) from None
        sheets = [s for s in self._book.sheets_metadata if str(s.typ).endswith("WorkSheet")]
        self.names = [(s.name, s.visible != SheetVisibleEnum.Visible) for s in sheets]

    def rows(self, sheet: int, layout: Layout) -> Iterator[RowOfCells]:
        """Go through the rows of a sheet, and fill in its layout on the way."""
        records = self._records(sheet)
        layout.hidden = [row + 1 for row in records.hidden]
        layout.merged = [(top + 1, end + 1, column) for top, end, column in records.merged]
        layout.links = records.links
        values = self._book.get_sheet_by_name(self.names[sheet][0]).to_python(skip_empty_area=False)
        count = max(len(values), max(records.errors, default=-1) + 1)
        for row in range(count):
            cells = [_cell(value) for value in values[row]] if row < len(values) else []
            for column, name in records.errors.get(row, {}).items():
                cells.extend([None] * (column + 1 - len(cells)))
                cells[column] = (ERROR, name)
            yield row + 1, cells

    def _records(self, sheet: int) -> Records:
        records = Records()
        if sheet >= len(self._starts):
            raise Unfit(DAMAGED)
        for kind, content in _records(self._stream, self._starts[sheet]):
            try:
                _take(records, kind, content)
            except struct.error:
                raise Unfit(DAMAGED) from None
        return records


def _take(records: Records, kind: int, content: bytes) -> None:
    if kind == ERROR_OR_TRUTH:
        row, column, _, code, is_error = struct.unpack_from("<HHHBB", content)
        if is_error:
            records.errors.setdefault(row, {})[column] = ERRORS.get(code, "an error")
    elif kind == FORMULA:
        row, column, _, what, _, code = struct.unpack_from("<HHHBBB", content)
        # A result that is not a number says so in its last bytes; 2 means an error.
        if content[12:14] == b"\xff\xff" and what == 2:
            records.errors.setdefault(row, {})[column] = ERRORS.get(code, "an error")
    elif kind == ROW:
        row = struct.unpack_from("<H", content)[0]
        if struct.unpack_from("<H", content, 12)[0] & HIDDEN_ROW:
            records.hidden.append(row)
    elif kind == HYPERLINK:
        top, end, left, right = struct.unpack_from("<HHHH", content)
        # The address is a zero-terminated text, somewhere in the record.
        if (begins := content.lower().find(MAILTO.encode("utf-16-le"))) >= 0:
            target = content[begins:].decode("utf-16-le", "ignore").partition("\0")[0]
            records.links.append((top + 1, end + 1, left, right, target))
    elif kind == MERGED:
        count = struct.unpack_from("<H", content)[0]
        for at in range(2, 2 + 8 * count, 8):
            top, end, column = struct.unpack_from("<HHH", content, at)
            if top < end:
                records.merged.append((top, end, column))


def _records(stream: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    """Go through the records from a place on, up to the end of their part."""
    while at + 4 <= len(stream):
        kind, length = struct.unpack_from("<HH", stream, at)
        if kind == EOF:
            return
        yield kind, stream[at + 4 : at + 4 + length]
        at += 4 + length


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return text_cell(value) if value else None
    if isinstance(value, datetime | time):
        return moment(value)
    if isinstance(value, date):
        return moment(datetime.combine(value, time()))
    return str(value) if isinstance(value, timedelta) else value
