"""Which numbers of a workbook are dates: those whose cell has the format of one."""

import warnings
import zipfile
from datetime import datetime, time
from typing import Any

from openpyxl.styles.numbers import BUILTIN_FORMATS, is_date_format
from openpyxl.utils.datetime import CALENDAR_MAC_1904, CALENDAR_WINDOWS_1900, from_excel

from config.workbooks.container import elements
from config.workbooks.shapes import ERROR, moment

# Dates in the formats of East Asian editions, which carry a number only (ECMA-376, 18.8.30).
EAST_ASIAN = {*range(27, 37), *range(50, 59)}


def date_styles(archive: zipfile.ZipFile, part: str) -> frozenset[int]:
    """Answer the numbers of the cell styles that show a number as a date or a time."""
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
        for style, code in enumerate(styles)
        if (code not in own and code in EAST_ASIAN)
        or is_date_format(own.get(code, BUILTIN_FORMATS.get(code, "General")))
    )


def moment_of(number: Any, from_1904: bool) -> Any:
    """Turn a serial number of days into the date it stands for; one out of range is an error."""
    if not isinstance(number, int | float):
        return number
    epoch = CALENDAR_MAC_1904 if from_1904 else CALENDAR_WINDOWS_1900
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = from_excel(number, epoch)
        except (OverflowError, ValueError):
            return (ERROR, "#VALUE!")
    return moment(found) if isinstance(found, datetime | time) else number
