""".xls: values as calamine reads them, and what calamine leaves out, from the records.

calamine reads an error as a blank cell and does not report hidden rows; both are in the records
(MS-XLS).
"""

import io
import struct
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Any

from python_calamine import CalamineWorkbook, SheetVisibleEnum

from config.workbooks.compound import stream_of
from config.workbooks.shapes import (
    DAMAGED,
    ERROR,
    MAILTO,
    PROTECTED,
    Layout,
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


# The names of errors by their rows and columns (from 0).
Errors = dict[int, dict[int, str]]


class Xls:
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
        self._book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        sheets = [s for s in self._book.sheets_metadata if str(s.typ).endswith("WorkSheet")]
        self.names = [(s.name, s.visible != SheetVisibleEnum.Visible) for s in sheets]

    def rows(self, sheet: int, layout: Layout) -> Iterator[RowOfCells]:
        errors = self._errors(sheet, layout)
        values = self._book.get_sheet_by_name(self.names[sheet][0]).to_python(skip_empty_area=False)
        for row in range(max(len(values), max(errors, default=-1) + 1)):
            cells = [_cell(value) for value in values[row]] if row < len(values) else []
            for column, name in errors.get(row, {}).items():
                cells.extend([None] * (column + 1 - len(cells)))
                cells[column] = (ERROR, name)
            yield row + 1, cells

    def _errors(self, sheet: int, layout: Layout) -> Errors:
        """Go through the records of a sheet: returns its errors, and fills in its layout."""
        errors: Errors = {}
        if sheet >= len(self._starts):
            raise Unfit(DAMAGED)
        for kind, content in _records(self._stream, self._starts[sheet]):
            take(errors, layout, kind, content)
        return errors


def take(errors: Errors, layout: Layout, kind: int, content: bytes) -> None:
    """Take what one record says of errors, hidden rows, links and merged cells."""
    if kind == ERROR_OR_TRUTH:
        row, column, _, code, is_error = struct.unpack_from("<HHHBB", content)
        if is_error:
            errors.setdefault(row, {})[column] = ERRORS.get(code, "an error")
    elif kind == FORMULA:
        row, column, _, what, _, code = struct.unpack_from("<HHHBBB", content)
        # A result that is not a number says so in its last bytes; 2 means an error.
        if content[12:14] == b"\xff\xff" and what == 2:
            errors.setdefault(row, {})[column] = ERRORS.get(code, "an error")
    elif kind == ROW:
        row = struct.unpack_from("<H", content)[0]
        if struct.unpack_from("<H", content, 12)[0] & HIDDEN_ROW:
            layout.hidden.append(row + 1)
    elif kind == HYPERLINK:
        top, end, left, right = struct.unpack_from("<HHHH", content)
        # The address is a zero-terminated text, somewhere in the record.
        if (begins := content.lower().find(MAILTO.encode("utf-16-le"))) >= 0:
            target = content[begins:].decode("utf-16-le", "ignore").partition("\0")[0]
            layout.links.append((top + 1, end + 1, left, right, target))
    elif kind == MERGED:
        count = struct.unpack_from("<H", content)[0]
        for at in range(2, 2 + 8 * count, 8):
            top, end, column = struct.unpack_from("<HHH", content, at)
            if top < end:
                layout.merged.append((top + 1, end + 1, column))


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
