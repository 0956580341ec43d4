"""The common form of every kind of workbook: sheets of rows, and a few facts about each sheet.

A cell is None, a text, a number, a truth value, or a pair that says what else it holds: only such
plain values can be sent from one process to another.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, time
from typing import Any, Protocol

ERROR = "error"  # with the error's name, such as #N/A
MOMENT = "moment"  # with an ISO date and time
CLOCK = "clock"  # with an ISO time of day
FORMULA = "formula"  # a formula whose result was never stored
TOO_LONG = "too long"  # with the number of characters

# What a spreadsheet program can hold; a file that claims more was not made by one.
ROWS = 1_048_576
COLUMNS = 16_384
CHARACTERS = 32_767
# What a table of people needs at most; a cell further out was typed there by accident.
TABLE_COLUMNS = 1_000
LETTERS = 26

# The number (from 1) of a row and its cells from column A on; a merged area as first row, last row
# (from 1), and column (from 0).
RowOfCells = tuple[int, list[Any]]
Merged = tuple[int, int, int]
# Where a hyperlink lies: first and last row (from 1), first and last column (from 0); its target.
Link = tuple[int, int, int, int, str]
MAILTO = "mailto:"
_HYPERLINK = re.compile(r'\bHYPERLINK\(\s*"(mailto:[^"&]+)"\s*[;,)]', re.IGNORECASE)


class Unfit(Exception):
    """This is not a workbook that can be read; the message is the sentence that a person sees.

    `sheet` and `cell` say where, if it is about one cell.
    """

    def __init__(self, message: str, sheet: str | None = None, cell: str | None = None) -> None:
        self.sheet = sheet
        self.cell = cell
        super().__init__(message)


DAMAGED = "this workbook is damaged; open it in a spreadsheet program and save it again"
PROTECTED = "this workbook is protected by a password; save it without one"


@dataclass
class Layout:
    """What is known about a sheet once its rows are read: hidden rows, vertically merged cells,
    hyperlinks to email addresses, and by row the columns (from 0) that are struck through.
    """

    hidden: list[int] = field(default_factory=list)
    merged: list[Merged] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    struck: dict[int, list[int]] = field(default_factory=dict)


class Book(Protocol):
    """A workbook of any kind. `names` are its sheets in order, each with whether it is hidden."""

    names: list[tuple[str, bool]]
    from_1904: bool

    def rows(self, sheet: int, layout: Layout) -> Iterator[RowOfCells]:
        """Go through the rows of a sheet, and fill in its layout on the way."""


def mailto_in(formula: str) -> str:
    """Return the mailto address of a HYPERLINK formula; "" if there is none, or if it has to be
    calculated.
    """
    match = _HYPERLINK.search(formula)
    return match[1] if match else ""


def text(value: str) -> Any:
    """Return a text as a cell; for a text that is too long for a cell, only its length."""
    return value if len(value) <= CHARACTERS else (TOO_LONG, len(value))


def moment(value: datetime | time) -> Any:
    """Return a date and time, or a time of day, as a cell."""
    return (MOMENT if isinstance(value, datetime) else CLOCK, value.isoformat())


def column_letters(column: int) -> str:
    """Name a column, counted from 0, as spreadsheets do: A, B, … Z, AA."""
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, LETTERS)
        letters = chr(ord("A") + letter) + letters
    return letters
