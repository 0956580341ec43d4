"""The rows of a file as texts: each cell as a person sees it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, time
from pathlib import Path
from typing import Any

from config.errors import Mistake, Place

MOST_ROWS = 250_000  # twice as many as anybody invites: a longer file is no list of candidates
MOST_COLUMNS = 1_000
MOST_CELLS = 5_000_000
FileRow = tuple[int, list[str]]  # its number in the file, and its cells
UNCALCULATED = "#UNCALCULATED!"  # replaces a formula's missing result


class Unfit(Exception):
    """Why a file cannot be read."""


@dataclass
class Grid:
    """One sheet, or a whole text: the rows that are not empty, each with its number in the file.

    The number is the row of a sheet, or the line of a text on which the row begins. Columns count
    from 0. `encoding` is that of the Source (files.py).
    """

    file: Path
    rows: list[FileRow]
    sheet: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    hidden: set[int] = field(default_factory=set)
    struck: set[tuple[int, int]] = field(default_factory=set)
    comments: dict[tuple[int, int], str] = field(default_factory=dict)
    fills: dict[tuple[int, int], int] = field(default_factory=dict)  # a colour's number
    mistakes: list[Mistake] = field(default_factory=list)

    @property
    def whole(self) -> Place:
        """The place of the whole table."""
        return Place(self.file, sheet=self.sheet)

    def place(self, row: int, column: int = 0) -> Place:
        """The place of a cell, or of its line in a text."""
        if self.sheet is None:
            return Place(self.file, line=row)
        return Place(self.file, sheet=self.sheet, cell=f"{letters(column)}{row}")


def letters(column: int) -> str:
    """Name a column (from 0) as spreadsheets do: 27 is AB."""
    from openpyxl.utils import get_column_letter  # noqa: PLC0415 - no text needs it

    return str(get_column_letter(column + 1))


def text_of(value: Any) -> str:
    """Write a workbook's value as its cell shows it, as far as possible."""
    match value:
        case str():
            return _ESCAPED.sub(lambda code: chr(int(code[1], 16)), value)
        case None:
            return ""
        case bool():
            return str(value).upper()
        case float() if value.is_integer():
            return str(int(value))
        case datetime() if value.time() == time():
            return str(value.date())
    return str(value)


def error_in(text: str) -> str:
    """Name the spreadsheet error that a cell shows, such as `#N/A`; "" if it shows none."""
    if text == UNCALCULATED:
        return "a formula without a result (open the file in a spreadsheet program and save it)"
    return f"the error {text}" if _ERROR.fullmatch(text) else ""


def is_address(text: str) -> bool:
    """Whether a cell seems to hold an address, or `Ada <ada@x.org>`, and no other words."""
    return "@" in text and bool(_ADDRESS.fullmatch(plain_address(text)))


def plain_address(text: str, *, first: bool = False) -> str:
    """Return the address in `Ada <ada@x.org>`; with `first`, also the first of several.

    Any other text is returned trimmed; `checked_address` refuses it unless it is an address.
    """
    text = text.strip()
    if not _WRAPPED.search(text):
        return text
    each = addresses_in(text)
    is_one = len(each) == 1 and (_NAMED.fullmatch(text) or len(_EACH.findall(text)) > 1)
    return each[0] if is_one or (first and len(each) > 1) else text


def addresses_in(text: str) -> list[str]:
    """List the addresses in a text, each once. Capitals count, as at the login (interface 4.7)."""
    each = (match[1] or match[2] for match in _EACH.finditer(text))
    return list(dict.fromkeys(address.strip().strip("\"'()/") for address in each))


def is_person(cells: Sequence[str], columns: Sequence[int]) -> bool:
    """Whether these columns, the last of them the address, hold names and an address."""
    if max(columns) >= len(cells):
        return False
    *names, address = (cells[column].strip() for column in columns)
    return is_address(address) and all(name and ":" not in name for name in names)


_ESCAPED = re.compile("_x(000[9AD])_")
_ADDRESS = re.compile(r"[^\s@,;|<>:]+@[^\s@,;|<>:]+\.[^\s@,;|<>:.]+")
# A cell without any of these characters holds nothing beside an address.
_WRAPPED = re.compile(r"[<,;|/\s]")
_NAMED = re.compile(r"[^<>]*<[^<>]*>")
_EACH = re.compile(r"<([^<>]*@[^<>]*)>|([^\s,;|<>@]+@[^\s,;|<>/]+)")
# Errors in many languages: in German, #N/A is #NV, #REF! is #BEZUG!; LibreOffice has Err:502.
_ERROR = re.compile(r"#(?:N/A|N/D|N/B|NV|GETTING_DATA|[¡¿]?[^\W\d_][\w/]+[!?])|Err:\d{3}")
