"""Which numbers of a workbook are dates: those whose cell has a date format."""

import re
import zipfile
from datetime import datetime, time, timedelta
from typing import Any

from config.workbooks.container import elements
from config.workbooks.shapes import ERROR, moment

# Built-in formats that have only a number (ECMA-376, 18.8.30); the later ones are in East Asian
# editions.
BUILT_IN = {*range(14, 23), *range(45, 48), *range(27, 37), *range(50, 59)}
# Literal text in a format code, and colours, conditions and currencies.
_LITERAL = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!(?:h+|m+|s+)\])[^\]]*\]', re.IGNORECASE)
_DATE_LETTER = re.compile("[dmyhs]", re.IGNORECASE)

# Day 0 of each system; the older one counts 29 February 1900, which did not exist.
DAY_0_OF_1900 = datetime(1899, 12, 30)  # noqa: DTZ001 - cells have no timezone
DAY_0_OF_1904 = datetime(1904, 1, 1)  # noqa: DTZ001
NEVER_WAS = 60


def date_styles(archive: zipfile.ZipFile, part: str) -> frozenset[int]:
    """Return the numbers of the cell styles that show a number as a date or a time."""
    own: dict[int, str] = {}
    styles: list[int] = []
    inside: str | None = None
    for event, element in elements(archive, part, "start", "end"):
        name = element.tag.rpartition("}")[2]
        if event == "start":
            inside = name if name in {"cellXfs", "cellStyleXfs", "dxfs"} else inside
        elif name == "numFmt" and inside != "dxfs":
            own[int(element.get("numFmtId", 0))] = element.get("formatCode", "")
        elif name == "xf" and inside == "cellXfs":
            styles.append(int(element.get("numFmtId", 0)))
    return frozenset(
        style
        for style, number in enumerate(styles)
        if (shows_a_date(own[number]) if number in own else number in BUILT_IN)
    )


def shows_a_date(code: str) -> bool:
    """Say whether a format code shows a number as a date or a time; its first part is for numbers
    above zero.
    """
    first = _LITERAL.sub("", code).partition(";")[0]
    return first.casefold() != "general" and bool(_DATE_LETTER.search(first))


def moment_of(number: Any, from_1904: bool) -> Any:
    """Turn a serial number of days into the date it stands for; one out of range is an error."""
    if not isinstance(number, int | float):
        return number
    try:
        # Fractions of a day are some microseconds off.
        passed = timedelta(milliseconds=round(number * 86_400_000))
        if not from_1904 and 1 <= number < NEVER_WAS:
            passed += timedelta(days=1)
        date_and_time = (DAY_0_OF_1904 if from_1904 else DAY_0_OF_1900) + passed
    except (OverflowError, ValueError):
        return (ERROR, "#VALUE!")
    if number < 0:
        return (ERROR, "#VALUE!")
    clock = date_and_time.time()
    return moment(clock if number < 1 and clock != time() else date_and_time)
