"""Spans of time as people write them: `2 days`, `36 hours`, `90 minutes`."""

import re
from datetime import timedelta

WANTED = "a span of time, such as 2 days, 36 hours or 90 minutes"
IN_A_YEAR = "a span of time from a minute to a year"
LONGEST = timedelta(days=366)

_UNITS = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}
_WRITTEN = re.compile(r"([0-9]{1,6})\s*([a-z]+?)s?", re.ASCII | re.IGNORECASE)


def span(typed: str, longest: timedelta = LONGEST) -> timedelta:
    """Read a span of at least a minute and at most `longest` (a year). Raises ValueError."""
    written = _WRITTEN.fullmatch(typed.strip())
    unit = _UNITS.get(written[2].lower()) if written else None
    if written is None or unit is None:
        raise ValueError(WANTED)
    length = int(written[1]) * unit
    if not timedelta(0) < length <= longest:
        raise ValueError(IN_A_YEAR)
    return length


def in_words(length: timedelta) -> str:
    """Write a span in the largest unit that fits it: `2 days`, `36 hours`."""
    for name, unit in reversed(_UNITS.items()):
        if length % unit == timedelta(0):
            number = length // unit
            return f"{number} {name}" + ("" if number == 1 else "s")
    return f"{length.total_seconds():.0f} seconds"
