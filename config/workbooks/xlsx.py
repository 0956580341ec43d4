""".xlsx and .xlsm: the cells as stored, so that errors and formulas differ from blanks.

The dialects differ only in their namespaces (ECMA-376, transitional and strict), so names are
compared without namespaces.
"""

import posixpath
import re
import zipfile
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from typing import Any
from xml.etree.ElementTree import Element

from config.workbooks.container import elements, namespace
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
from config.workbooks.xlsx_dates import date_styles, moment_of

TRUE = {"1", "true", "on"}
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
_AREA = re.compile(r"([A-Z]+)(\d+):([A-Z]+)(\d+)")
_LINKED = re.compile(r"([A-Z]+)(\d+)(?::([A-Z]+)(\d+))?")


class Xlsx:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        main = _first(_related(archive, ""), "officeDocument")
        if main is None:
            raise Unfit(DAMAGED)
        parts = _related(archive, main)
        self._sheets: list[str] = []
        self.names: list[tuple[str, bool]] = []
        self.from_1904 = False
        for _, element in elements(archive, main):
            name = _local(element)
            if name == "workbookPr":
                self.from_1904 = element.get("date1904", "") in TRUE
            elif name == "sheet":
                kind, part = parts[_relation(element)]
                # A chart sheet has no cells.
                if kind == "worksheet":
                    self._sheets.append(part)
                    hidden = element.get("state", "visible") != "visible"
                    self.names.append((element.get("name", ""), hidden))
        self._strings_part = _first(parts, "sharedStrings")
        self._strings: list[Any] | None = None
        styles = _first(parts, "styles")
        self._dates = date_styles(archive, styles) if styles else frozenset()
        self._struck = _struck_styles(archive, styles) if styles else frozenset()

    def rows(self, sheet: int, layout: Layout) -> Iterator[RowOfCells]:
        if self._strings is None:
            part = self._strings_part
            self._strings = list(_strings(self._archive, part)) if part else []
        part = self._sheets[sheet]
        dialect = namespace(self._archive, part)
        row_tag, merged_tag, link_tag = (
            f"{dialect}{name}" for name in ("row", "mergeCell", "hyperlink")
        )
        number, mailto = 0, None
        for _, element in elements(self._archive, part):
            if element.tag == row_tag:
                number = int(element.get("r", number + 1))
                if not 0 < number <= ROWS:
                    raise Unfit(DAMAGED)
                cells = self._cells(element, number, dialect, layout)
                if element.get("hidden") in TRUE:
                    layout.hidden.append(number)
                element.clear()
                yield number, cells
            elif element.tag == merged_tag and (area := _AREA.fullmatch(element.get("ref", ""))):
                top, bottom = int(area[2]), int(area[4])
                if top < bottom <= ROWS:
                    layout.merged.append((top, bottom, column_of(area[1])))
            elif element.tag == link_tag and (area := _LINKED.fullmatch(element.get("ref", ""))):
                mailto = _mailto(self._archive, part) if mailto is None else mailto
                if target := mailto.get(_relation(element)):
                    left, top = column_of(area[1]), int(area[2])
                    right, bottom = column_of(area[3] or area[1]), int(area[4] or top)
                    layout.links.append((top, bottom, left, right, target))

    def _cells(self, row: Element, number: int, dialect: str, layout: Layout) -> list[Any]:
        cells: list[Any] = []
        for element in row:
            place = element.get("r")
            column = column_of(place.rstrip("0123456789")) if place else len(cells)
            value = self._value(element, dialect)
            if self._struck and element.get("s") in self._struck and value is not None:
                layout.struck.setdefault(number, []).append(column)
            if column == len(cells):
                cells.append(value)
            elif value is not None:
                cells.extend([None] * (column + 1 - len(cells)))
                cells[column] = value
            formula = element.findtext(f"{dialect}f") if element.get("t") == "str" else None
            if formula and (target := mailto_in(formula)):
                layout.links.append((number, number, column, column, target))
        return cells

    def _value(self, cell: Element, dialect: str) -> Any:
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            return text(_plain(cell.find(f"{dialect}is"), dialect))
        stored = cell.findtext(f"{dialect}v")
        if not stored:
            calculated = cell.find(f"{dialect}f") is not None
            # An empty text is a result; an empty result of another kind was never calculated.
            return (FORMULA, "") if calculated and kind != "str" else None
        if kind == "n":
            number = _number(stored)
            dated = (style := cell.get("s")) is not None and int(style) in self._dates
            return moment_of(number, self.from_1904) if dated else number
        if kind == "s":
            return (self._strings or [])[int(stored)]
        if kind == "str":
            return text(_unescaped(stored))
        if kind == "b":
            return stored.strip() in TRUE
        if kind == "d":
            return moment(datetime.fromisoformat(stored.strip()).replace(tzinfo=None))
        return (ERROR, stored)


@cache
def column_of(letters: str) -> int:
    """Return the column, from 0, that spreadsheets call by these letters."""
    column = 0
    for letter in letters.upper():
        column = column * 26 + ord(letter) - 64
    if not 0 < column <= COLUMNS:
        raise Unfit(DAMAGED)
    return column - 1


def _number(stored: str) -> Any:
    try:
        return int(stored)
    except ValueError:
        number = float(stored)
    return number if number - number == 0 else (ERROR, "#NUM!")


def _unescaped(stored: str) -> str:
    if "_x" not in stored:
        return stored
    return _ESCAPED.sub(lambda code: chr(int(code[1], 16)), stored)


def _plain(rich: Element | None, dialect: str) -> str:
    """Join the runs of a text, without its pronunciation (rPh)."""
    if rich is None:
        return ""
    run, written = f"{dialect}r", f"{dialect}t"
    parts = (part for each in rich for part in (each if each.tag == run else (each,)))
    return _unescaped("".join(part.text or "" for part in parts if part.tag == written))


def _strings(archive: zipfile.ZipFile, part: str) -> Iterator[Any]:
    dialect = namespace(archive, part)
    item_tag, text_tag = f"{dialect}si", f"{dialect}t"
    for _, element in elements(archive, part):
        if element.tag != item_tag:
            continue
        if len(element) == 1 and element[0].tag == text_tag:
            # Nearly all texts are plain ones.
            yield text(_unescaped(element[0].text or ""))
        else:
            yield text(_plain(element, dialect))
        element.clear()


def _struck_styles(archive: zipfile.ZipFile, part: str) -> frozenset[str]:
    """Return the numbers of the cell styles that strike the text through."""
    fonts: set[str] = set()
    for _, element in elements(archive, part):
        if _local(element) == "fonts":
            strikes = ([each for each in font if _local(each) == "strike"] for font in element)
            fonts = {
                str(at)
                for at, each in enumerate(strikes)
                if each and each[0].get("val", "1") in TRUE
            }
        elif _local(element) == "cellXfs":
            return frozenset(str(at) for at, xf in enumerate(element) if xf.get("fontId") in fonts)
    return frozenset()


def _local(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _relation(element: Element) -> str:
    return next((value for name, value in element.items() if name.endswith("}id")), "")


def _mailto(archive: zipfile.ZipFile, part: str) -> dict[str, str]:
    """Return the mailto links of a sheet: id to target."""
    folder, name = posixpath.split(part)
    relations = posixpath.join(folder, "_rels", f"{name}.rels")
    if relations not in archive.namelist():
        return {}
    return {
        element.get("Id", ""): target
        for _, element in elements(archive, relations)
        if (target := element.get("Target", "")).lower().startswith(MAILTO)
    }


def _related(archive: zipfile.ZipFile, part: str) -> dict[str, tuple[str, str]]:
    """Return what a part refers to: id to kind and name."""
    folder, name = posixpath.split(part)
    relations = {}
    for _, element in elements(archive, posixpath.join(folder, "_rels", f"{name}.rels")):
        if _local(element) == "Relationship" and element.get("TargetMode") != "External":
            kind = element.get("Type", "").rpartition("/")[2]
            # Relative to the archive's root if it begins with a slash, or else to the part's
            # folder.
            target = posixpath.normpath(posixpath.join("/", folder, element.get("Target", "")))
            relations[element.get("Id", "")] = (kind, target.lstrip("/"))
    return relations


def _first(parts: dict[str, tuple[str, str]], kind: str) -> str | None:
    return next((name for what, name in parts.values() if what == kind), None)
