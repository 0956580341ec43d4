"""A new workbook with the values of another kind of file, without its formatting."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime, time
from io import BytesIO
from math import isfinite
from typing import Any

from config.mistakes import Unusable
from tasks.outputs.exports import WebLink
from tasks.outputs.workbook_copy.cells import LARGEST_EXACT, LONGEST_TEXT, MOST_LINKS

LONGEST_NAME = 31
NOT_IN_A_NAME = str.maketrans("[]:*?/\\", "       ")
RESERVED = "history"
FIRST_DATE = datetime(1900, 1, 1)  # noqa: DTZ001 - cells have no timezone

# The number of a row, from 1, and its cells.
Rows = Iterable[tuple[int, Sequence[Any]]]


def usable_names(names: Sequence[str]) -> list[str]:
    """Turn names of sheets into names that a workbook allows: short, plain and unique."""
    usable: list[str] = []
    taken: set[str] = {RESERVED}
    for name in names:
        plain = name.translate(NOT_IN_A_NAME).strip("' ")[:LONGEST_NAME] or "sheet"
        number = 1
        fits = plain
        while fits.casefold() in taken:
            number += 1
            fits = f"{plain[: LONGEST_NAME - 5]} {number}"
        taken.add(fits.casefold())
        usable.append(fits)
    return usable


def plain_workbook(sheets: Sequence[tuple[str, Rows]]) -> bytes:
    """Write sheets of values (name and rows), each cell where it was; no text is a formula.

    Names of sheets become `usable_names`.
    """
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
        names = usable_names([name for name, _ in sheets])
        for name, (_, rows) in zip(names, sheets, strict=True):
            sheet = book.add_worksheet(name)
            links = 0
            for number, cells in rows:
                for column, value in enumerate(cells):
                    written = _writable(value)
                    if isinstance(written, WebLink) and links < MOST_LINKS:
                        links += 1
                        sheet.write_url(number - 1, column, written)
                    elif written is not None:
                        sheet.write(number - 1, column, written)
    return file.getvalue()


def _writable(value: Any) -> Any:
    """A value that a cell can hold and that looks the same to a person."""
    if value is None or value == "" or isinstance(value, bool):
        return value if isinstance(value, bool) else None
    if isinstance(value, int):
        return str(value) if abs(value) >= LARGEST_EXACT else value
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, datetime):
        plain = value.replace(tzinfo=None)
        return plain if plain >= FIRST_DATE else str(value)
    if isinstance(value, date):
        return value if value >= FIRST_DATE.date() else str(value)
    if isinstance(value, time):
        return value
    if isinstance(value, WebLink):
        return value
    if isinstance(value, Unusable):  # left empty, its person would be left out, or take a default
        return value.error
    return value[:LONGEST_TEXT] if isinstance(value, str) else None
