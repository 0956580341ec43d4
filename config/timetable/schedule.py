"""When a campaign runs on its own: a cron line or an interval, and the times that come of it.

A cron line has five fields, in the form that every scheduler understands.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from config.timetable.moments import MONTHS, on_the_wall
from config.timetable.spans import in_words

WANTED = 'a cron line of five fields, such as "0 9 * * 1-5" for every weekday at nine'
SHOWN = 3
SINCE = (2024, 1, 1)  # `every` is counted from midnight of this day (flows/serving/deployments.py)

# Numbers, lists, ranges, steps and names: all schedulers read these in the same way.
_FIELD = re.compile(r"[0-9A-Za-z*/,-]+", re.ASCII)
_NAMES = (*MONTHS, "sun", "mon", "tue", "wed", "thu", "fri", "sat")


@dataclass(frozen=True, slots=True)
class Schedule:
    """When Prefect starts a campaign's run: by a cron line, or at an interval `every`; never both.

    `timezone` is an IANA name, always there for a cron line.
    """

    cron: str | None = None
    every: timedelta | None = None
    timezone: str | None = None

    def times(self, after: datetime) -> Iterator[datetime]:
        """The times, as aware moments, beginning with the first one after `after` (aware)."""
        zone = ZoneInfo(self.timezone or "UTC")
        if self.every is None:
            from cronsim import CronSim  # noqa: PLC0415 - few definitions carry a schedule

            yield from CronSim(self.cron or "", after.astimezone(zone))
            return
        begun = datetime(*SINCE, tzinfo=zone).astimezone(UTC)
        at = begun + self.every * ((after - begun) // self.every)
        days = timedelta(self.every.days)
        while True:
            if days:  # by the calendar: at the same hour, even after the clocks change
                at = (at.astimezone(zone) + days).astimezone(UTC)
            at += self.every - days
            if at > after:
                yield at

    def in_words(self, after: datetime) -> Iterator[tuple[str, str]]:
        """Write the schedule and its next times, each line with its heading."""
        zone = self.timezone or "UTC"
        line = self.cron if self.every is None else f"every {in_words(self.every)}"
        yield "schedule", f"{line} ({zone}), while campaign up, serve or a worker is running"
        walls = [on_the_wall(at, zone) for at in islice(self.times(after), SHOWN)]
        yield "", f"next {', '.join(f'{wall:%Y-%m-%d %H:%M}' for wall in walls)}"


def read_cron(typed: str) -> str:
    """Read a cron line: minute, hour, day, month, weekday (0 and 7: Sunday). Raises ValueError."""
    # Imported here: few definitions carry a schedule.
    from cronsim import CronSim, CronSimError  # noqa: PLC0415

    fields = typed.split()
    if len(fields) != 5 or not all(map(_plain, fields)):
        raise ValueError(WANTED)
    line = " ".join(fields)
    try:
        next(CronSim(line, datetime(2026, 1, 1, tzinfo=UTC)))
    except (CronSimError, StopIteration):  # it never comes due
        raise ValueError(WANTED) from None
    return line


def _plain(field: str) -> bool:
    words = re.findall(r"[A-Za-z]+", field)
    return bool(_FIELD.fullmatch(field)) and all(word.lower() in _NAMES for word in words)
