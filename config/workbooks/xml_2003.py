"""The XML that Excel 2003 wrote (SpreadsheetML), which many systems still export as .xls."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from io import BytesIO
from typing import Any
from xml.etree.ElementTree import Element, iterparse
from xml.parsers import expat

from config.workbooks.container import refuse_document_type, rows_of
from config.workbooks.shapes import (
    COLUMNS,
    DAMAGED,
    ERROR,
    FORMULA,
    MAILTO,
    ROWS,
    Layout,
    RowOfCells,
    Unfit,
    mailto_in,
    moment,
    text,
)

SHEET = "{urn:schemas-microsoft-com:office:spreadsheet}"
EXCEL = "{urn:schemas-microsoft-com:office:excel}"
NO_WORKBOOK = "this XML is not a workbook; export the table as .xlsx or .csv instead"


class Xml2003:
    def __init__(self, data: bytes) -> None:
        with suppress(expat.ExpatError):  # reported when the elements are read
            refuse_document_type(BytesIO(data))
        self._data = data
        self.names: list[tuple[str, bool]] = []
        self.from_1904 = False
        for number, (event, element) in enumerate(self._elements()):
            if number == 0 and element.tag != f"{SHEET}Workbook":
                raise Unfit(NO_WORKBOOK)
            if event == "start" and element.tag == f"{SHEET}Worksheet":
                self.names.append((element.get(f"{SHEET}Name", ""), False))
            elif event == "end" and element.tag == f"{EXCEL}Visible" and self.names:
                self.names[-1] = (self.names[-1][0], element.text != "SheetVisible")
            elif element.tag == f"{EXCEL}Date1904":
                self.from_1904 = True
            elif event == "end" and element.tag in {f"{SHEET}Row", f"{SHEET}Styles"}:
                element.clear()

    def rows(self, sheet: int, layout: Layout) -> Iterator[RowOfCells]:
        number = 0
        for row in rows_of(self._elements(), f"{SHEET}Worksheet", f"{SHEET}Row", sheet):
            number = int(row.get(f"{SHEET}Index", number + 1))
            if not 0 < number <= ROWS:
                raise Unfit(DAMAGED)
            if row.get(f"{SHEET}Hidden") == "1":
                layout.hidden.append(number)
            yield number, _cells(row, number, layout)
            # This many rows below have its format and are empty.
            number += int(row.get(f"{SHEET}Span", 0))

    def _elements(self) -> Iterator[tuple[str, Element]]:
        # A file that declares anything has been refused.
        return iterparse(BytesIO(self._data), events=("start", "end"))  # noqa: S314


def _cells(row: Element, number: int, layout: Layout) -> list[Any]:
    cells: list[Any] = []
    for cell in row:
        if cell.tag != f"{SHEET}Cell":
            continue
        column = int(cell.get(f"{SHEET}Index", len(cells) + 1)) - 1
        across = int(cell.get(f"{SHEET}MergeAcross", 0))
        if not len(cells) <= column < COLUMNS - across or across < 0:
            raise Unfit(DAMAGED)
        cells.extend([None] * (column - len(cells)))
        cells.append(_value(cell))
        cells.extend([None] * across)
        down = min(int(cell.get(f"{SHEET}MergeDown", 0)), ROWS - number)
        if down > 0:
            layout.merged.append((number, number + down, column))
        target = cell.get(f"{SHEET}HRef") or mailto_in(cell.get(f"{SHEET}Formula", ""))
        if target.lower().startswith(MAILTO):
            layout.links.append((number, number, column, column, target))
    return cells


def _value(cell: Element) -> Any:
    data = cell.find(f"{SHEET}Data")
    if data is None:
        return (FORMULA, "") if cell.get(f"{SHEET}Formula") else None
    stored, kind = "".join(data.itertext()), data.get(f"{SHEET}Type")
    if kind == "Number":
        number = float(stored)
        if number - number != 0:
            return (ERROR, "#NUM!")
        return int(number) if number.is_integer() and abs(number) < 2**53 else number
    if kind == "Boolean":
        return stored.strip() == "1"
    if kind == "DateTime":
        return moment(datetime.fromisoformat(stored.strip()).replace(tzinfo=None))
    if kind == "Error":
        return (ERROR, stored.strip() or "an error")
    return text(stored)
