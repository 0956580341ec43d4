""".ods: the cells of an OpenDocument spreadsheet, in one pass over its content.

One empty row may represent a million, and a cell may show something other than it holds.
"""

import re
import zipfile
from collections.abc import Container, Iterator
from datetime import datetime, time
from typing import Any
from xml.etree.ElementTree import Element

from config.workbooks.container import elements, rows_of
from config.workbooks.shapes import (
    COLUMNS,
    DAMAGED,
    ERROR,
    FORMULA,
    MAILTO,
    PROTECTED,
    ROWS,
    Layout,
    RowOfCells,
    Unfit,
    mailto_in,
    moment,
    text,
)

SPACE = "urn:oasis:names:tc:opendocument:xmlns:"
OFFICE, TABLE = f"{{{SPACE}office:1.0}}", f"{{{SPACE}table:1.0}}"
TEXT, STYLE = f"{{{SPACE}text:1.0}}", f"{{{SPACE}style:1.0}}"
KIND_OF_CALC = "{urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0}value-type"
HREF = "{http://www.w3.org/1999/xlink}href"
HIDDEN = {"collapse", "filter"}
# LibreOffice stores truth values of other formats as a formula with a number as its result.
TRUTHS: dict[str | None, bool] = {"of:=TRUE()": True, "of:=FALSE()": False}
# Programs other than LibreOffice store the error of a formula as the text that shows it.
_ERROR_TEXT = re.compile(r"#(?:N/A|REF!|VALUE!|DIV/0!|NAME\?|NUM!|NULL!)|Err:\d{3}")
_CLOCK = re.compile(r"PT0*(\d+)H0*(\d+)M0*(\d+)(?:[.,]\d+)?S")


class Ods:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        if "META-INF/manifest.xml" in archive.namelist():
            manifest = elements(archive, "META-INF/manifest.xml")
            if any(element.tag.endswith("}encryption-data") for _, element in manifest):
                raise Unfit(PROTECTED)
        self.names: list[tuple[str, bool]] = []
        self.from_1904 = False
        hidden: set[str] = set()
        self._struck: set[str] = set()
        style = ""
        for event, element in elements(archive, "content.xml", "start", "end"):
            if event == "end":
                element.clear()
            elif element.tag == f"{STYLE}style":
                style = element.get(f"{STYLE}name", "")
            elif element.tag == f"{STYLE}table-properties":
                if element.get(f"{TABLE}display") == "false":
                    hidden.add(style)
            elif element.tag == f"{STYLE}text-properties":
                if element.get(f"{STYLE}text-line-through-style", "none") != "none":
                    self._struck.add(style)
            elif element.tag == f"{TABLE}null-date":
                self.from_1904 = element.get(f"{TABLE}date-value", "").startswith("1904")
            elif element.tag == f"{TABLE}table":
                name = element.get(f"{TABLE}name", "")
                self.names.append((name, element.get(f"{TABLE}style-name", "") in hidden))

    def rows(self, sheet: int, layout: Layout) -> Iterator[RowOfCells]:
        number = 0
        events = elements(self._archive, "content.xml", "start", "end")
        for row in rows_of(events, f"{TABLE}table", f"{TABLE}table-row", sheet):
            times = _times(row, "number-rows-repeated", ROWS)
            cells = _cells(row, number + 1, times, layout, self._struck)
            for _ in range(times if cells else 0):
                number += 1
                if number > ROWS:
                    raise Unfit(DAMAGED)
                if row.get(f"{TABLE}visibility") in HIDDEN:
                    layout.hidden.append(number)
                yield number, cells
            number += 0 if cells else times


def _times(element: Element, name: str, most: int) -> int:
    return min(int(element.get(TABLE + name, 1)), most)


def _cells(
    row: Element, number: int, rows: int, layout: Layout, struck: Container[str | None]
) -> list[Any]:
    """Return the cells of a row, or of `rows` equal ones, up to the last that holds something."""
    cells: list[Any] = []
    waiting = 0  # blank cells: they count only if another cell follows
    for element in row:
        if element.tag not in {f"{TABLE}table-cell", f"{TABLE}covered-table-cell"}:
            continue
        times = _times(element, "number-columns-repeated", COLUMNS)
        value = None if element.tag.endswith("covered-table-cell") else _value(element)
        if value is None or value == "":
            waiting += times
            continue
        if len(cells) + waiting + times > COLUMNS:
            raise Unfit(DAMAGED)
        cells.extend([None] * waiting)
        waiting = 0
        if element.get(f"{TABLE}style-name") in struck:
            layout.struck.setdefault(number, []).append(len(cells))
        span = _times(element, "number-rows-spanned", ROWS)
        if span > 1:
            layout.merged.append((number, number + span - 1, len(cells)))
        if target := _mailto(element):
            last = len(cells) + times - 1
            layout.links.append((number, number + rows - 1, len(cells), last, target))
        cells.extend([value] * times)
    return cells


def _mailto(cell: Element) -> str:
    """Return the targets of a cell's mailto links, separated by commas."""
    targets = [link.get(HREF, "") for link in cell.iter(f"{TEXT}a")]
    targets.append(mailto_in(cell.get(f"{TABLE}formula", "")))
    return ",".join(target for target in targets if target.lower().startswith(MAILTO))


def _value(cell: Element) -> Any:
    kind = cell.get(f"{OFFICE}value-type")
    formula = cell.get(f"{TABLE}formula")
    if kind is None:
        # An empty text as a result has no type, only an empty line.
        never_calculated = formula is not None and cell.find(f"{TEXT}p") is None
        return (FORMULA, "") if never_calculated else None
    if formula in TRUTHS:
        return TRUTHS[formula]
    shown = "\n".join(_line(line) for line in cell if line.tag == f"{TEXT}p")
    if cell.get(KIND_OF_CALC) == "error" or (formula and _ERROR_TEXT.fullmatch(shown)):
        return (ERROR, shown or "an error")
    if kind == "boolean":
        return cell.get(f"{OFFICE}boolean-value") == "true"
    if kind == "date":
        stored = cell.get(f"{OFFICE}date-value", "")
        return moment(datetime.fromisoformat(stored).replace(tzinfo=None))
    if kind == "time":
        clock = _CLOCK.fullmatch(cell.get(f"{OFFICE}time-value", ""))
        if clock is None or int(clock[1]) > 23:
            return text(shown)
        return moment(time(int(clock[1]), int(clock[2]), int(clock[3])))
    if kind == "string":
        return text(cell.get(f"{OFFICE}string-value") or shown)
    number = float(cell.get(f"{OFFICE}value", ""))
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _line(element: Element) -> str:
    """Write out a paragraph: spaces, tabs and line breaks are elements in it."""
    parts = [element.text or ""]
    for inner in element:
        if inner.tag == f"{TEXT}s":
            parts.append(" " * min(int(inner.get(f"{TEXT}c", 1)), COLUMNS))
        elif inner.tag == f"{TEXT}tab":
            parts.append("\t")
        elif inner.tag == f"{TEXT}line-break":
            parts.append("\n")
        elif inner.tag.startswith(TEXT):
            parts.append(_line(inner))
        parts.append(inner.tail or "")
    return "".join(parts)
