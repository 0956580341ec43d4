"""Cron lines in a definition: five fields, in the form that every scheduler understands."""

import re
from datetime import UTC, datetime

from config.timetable.moments import MONTHS

WANTED = 'a cron line of five fields, such as "0 9 * * 1-5" for every weekday at nine'

# Numbers, lists, ranges, steps and names: all schedulers read these in the same way.
_FIELD = re.compile(r"[0-9A-Za-z*/,-]+", re.ASCII)
_NAMES = (*MONTHS, "sun", "mon", "tue", "wed", "thu", "fri", "sat")


class NotACron(ValueError):
    """The text is not a cron line; the message says what was wanted."""


def cron(typed: str) -> str:
    """Read a cron line: minute, hour, day, month, weekday (0 and 7 are Sunday). Raises NotACron."""
    # Imported here: few definitions carry a schedule.
    from cronsim import CronSim, CronSimError  # noqa: PLC0415

    fields = typed.split()
    if len(fields) != 5 or not all(map(_plain, fields)):
        raise NotACron(WANTED)
    line = " ".join(fields)
    try:
        next(CronSim(line, datetime(2026, 1, 1, tzinfo=UTC)))
    except CronSimError:
        raise NotACron(WANTED) from None
    except StopIteration:
        raise NotACron("a cron line that comes due again; this one never does") from None
    return line


def _plain(field: str) -> bool:
    words = re.findall(r"[A-Za-z]+", field)
    return bool(_FIELD.fullmatch(field)) and all(word.lower() in _NAMES for word in words)
