"""A new workbook made of what was read from another kind of file: the values, no formats."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime, time
from io import BytesIO
from math import isfinite
from typing import Any

LONGEST_TEXT = 32_767
LONGEST_NAME = 31
NOT_IN_A_NAME = str.maketrans("[]:*?/\\", "       ")
# Beyond 15 digits a spreadsheet rounds a number.
LARGEST_EXACT = 10**15
FIRST_DATE = datetime(1900, 1, 1)  # noqa: DTZ001 - cells have no timezone

# The number of a row, from 1, and its cells.
Rows = Iterable[tuple[int, Sequence[Any]]]


def plain_workbook(sheets: Sequence[tuple[str, Rows]]) -> bytes:
    """Write sheets of values (name and rows), each cell where it was; no text is a formula."""
    import xlsxwriter  # noqa: PLC0415 - most commands write no workbook

    file = BytesIO()
    options = {
        "in_memory": True,
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
        "default_date_format": "yyyy-mm-dd hh:mm",
    }
    with xlsxwriter.Workbook(file, options) as book:
        for name, rows in sheets:
            sheet = book.add_worksheet(name.translate(NOT_IN_A_NAME)[:LONGEST_NAME])
            for number, cells in rows:
                for column, value in enumerate(cells):
                    written = _writable(value)
                    if written is not None:
                        sheet.write(number - 1, column, written)
    return file.getvalue()


def _writable(value: Any) -> Any:
    """What a cell can hold that a person sees the same in."""
    if value is None or value == "" or isinstance(value, bool):
        return value if isinstance(value, bool) else None
    if isinstance(value, int):
        return str(value) if abs(value) >= LARGEST_EXACT else value
    if isinstance(value, float):
        # This is how the error of a cell was read.
        return value if isfinite(value) else "#N/A"
    if isinstance(value, datetime):
        plain = value.replace(tzinfo=None)
        return plain if plain >= FIRST_DATE else str(value)
    if isinstance(value, date):
        return value if value >= FIRST_DATE.date() else str(value)
    if isinstance(value, time):
        return value
    return str(value)[:LONGEST_TEXT]
