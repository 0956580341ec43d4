"""Workbooks: their sheets as rows of cells, with the true name of every cell."""

import io
import struct
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal
from xml.etree.ElementTree import ParseError

from config.errors import BadInput
from config.places import Place, Problem
from config.table import TableRow

# Engines by what each reads faithfully: openpyxl tells error cells from blank ones.
ENGINES: dict[str, Literal["openpyxl", "calamine"]] = {
    ".xlsx": "openpyxl",
    ".xlsm": "openpyxl",
    ".xls": "calamine",
    ".ods": "calamine",
}
# What lies in the archive that each newer format is.
MEMBER = {".xlsx": "[Content_Types].xml", ".xlsm": "[Content_Types].xml", ".ods": "content.xml"}
OLD_FORMAT = bytes.fromhex("d0cf11e0a1b11ae1")
# A workbook of 100,000 people unpacks to about 60 MB; a few kilobytes can unpack to gigabytes.
LARGEST_UNPACKED = 256 * 2**20
LETTERS = 26

# What the two engines raise for files that are damaged or are no workbooks at all.
DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    ParseError,
    EOFError,
    OSError,
    KeyError,
    IndexError,
    ValueError,
    TypeError,
    AttributeError,
    RuntimeError,
    NotImplementedError,
)


@dataclass(frozen=True, slots=True)
class Sheet:
    """One sheet: its rows, numbered as the spreadsheet numbers them, and its cells' names."""

    file: str
    name: str
    cells: tuple[tuple[Any, ...], ...]

    def rows(self) -> Iterator[TableRow | Problem]:
        """Go through the rows from the top of the sheet."""
        yield from enumerate(self.cells, start=1)

    def row(self, number: int) -> Place:
        """Find a row, by its first cell."""
        return self.cell(number, 0)

    def cell(self, number: int, column: int) -> Place:
        """Find a cell by the number of its row (from 1) and of its column (from 0)."""
        return Place(self.file, sheet=self.name, cell=f"{column_letters(column)}{number}")


def column_letters(column: int) -> str:
    """Name a column, counted from 0, as spreadsheets do: A, B, … Z, AA."""
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, LETTERS)
        letters = chr(ord("A") + letter) + letters
    return letters


def read_sheets(data: bytes, file: str) -> dict[str, Sheet]:
    """Read every sheet, by its name in lower case. Raises BadInput for what is no workbook."""
    suffix = PurePath(file).suffix.lower()
    _check_container(data, suffix, file)
    # Imported here: pandas takes most of a second, and a definition in YAML needs none of it.
    import pandas  # noqa: PLC0415
    from python_calamine import CalamineError  # noqa: PLC0415

    try:
        with warnings.catch_warnings():
            # openpyxl warns about drop-downs and styles, which say nothing about the people.
            warnings.simplefilter("ignore")
            frames = pandas.read_excel(
                io.BytesIO(data),
                sheet_name=None,
                header=None,
                dtype=object,
                na_filter=False,
                engine=ENGINES[suffix],
            )
    except (*DAMAGED, CalamineError):
        raise _unreadable(
            file, "this workbook is damaged or protected; open it and save it again"
        ) from None
    sheets = {
        str(name): Sheet(file, str(name), tuple(frame.itertuples(index=False, name=None)))
        for name, frame in frames.items()
    }
    return {name.strip().casefold(): sheet for name, sheet in sheets.items()}


def _unreadable(file: str, message: str) -> BadInput:
    return BadInput([Problem(Place(file), message=message)])


def _check_container(data: bytes, suffix: str, file: str) -> None:
    """Look at the outside of a workbook before anything unpacks it: is it what its name says?"""
    old = data.startswith(OLD_FORMAT)
    if suffix not in MEMBER:
        if not old:
            raise _unreadable(file, "this is no workbook of type .xls; save it as .xlsx")
        return
    if old:
        message = (
            f"this is protected by a password, or no {suffix}; save it as {suffix} without one"
        )
        raise _unreadable(file, message)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
    except DAMAGED:
        members = []
    if MEMBER[suffix] not in {member.filename for member in members}:
        raise _unreadable(file, f"this is no workbook of type {suffix}, or only a part of one")
    unpacked = sum(member.file_size for member in members)
    if unpacked > LARGEST_UNPACKED:
        size = f"{unpacked // 2**20:,} MB"
        raise _unreadable(file, f"this workbook unpacks to {size}, which no campaign needs")
