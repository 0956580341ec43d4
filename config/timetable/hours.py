"""Working hours: on which days and between which times of day invitations may go out."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

WANTED = "days and times of the clock, such as Mon-Fri 09:00-18:00"
IN_ORDER = "an end after the start, within one day, such as 09:00-18:00 or 18:00-24:00"
IN_A_DAY = "times from 00:00 to 24:00"
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
EVERY_DAY = frozenset(range(7))
MIDNIGHT = time(0)
# A year of holidays in a row: more than that means never.
FARTHEST = 400


@dataclass(frozen=True, slots=True)
class Hours:
    """From `begins` until `ends`, both included, on these `days` (0 is Monday), not on `holidays`.

    Midnight as the end is the end of the day. Dates and times are local in `timezone`, or in the
    person's own zone.
    """

    days: frozenset[int]
    begins: time
    ends: time
    holidays: frozenset[date]
    timezone: str

    def closes(self, at: datetime, zone: str | None = None) -> datetime | None:
        """The last moment (UTC) that is still open; None if `at` (an aware moment) is not."""
        place = ZoneInfo(zone or self.timezone)
        day = at.astimezone(place).date()
        if not self._open_on(day):
            return None
        opens, closes = self._span(day, place)
        return closes if opens <= at <= closes else None

    def opens(self, at: datetime, zone: str | None = None) -> datetime | None:
        """The first open moment (UTC) at or after `at`; None if there is none within a year."""
        if self.closes(at, zone) is not None:
            return at.astimezone(UTC)
        place = ZoneInfo(zone or self.timezone)
        day = at.astimezone(place).date()
        for ahead in range(FARTHEST):
            on = day + timedelta(days=ahead)
            if self._open_on(on):
                opens, closes = self._span(on, place)
                # A day may have no hours because the clocks go forward.
                if at <= opens < closes:
                    return opens
        return None

    def _open_on(self, day: date) -> bool:
        return day.weekday() in self.days and day not in self.holidays

    def _span(self, day: date, place: ZoneInfo) -> tuple[datetime, datetime]:
        last = day + timedelta(days=1) if self.ends == MIDNIGHT else day
        return _moment(day, self.begins, place), _moment(last, self.ends, place)

    def __str__(self) -> str:
        """Write it for people: `Mon-Fri 09:00-18:00 (Europe/Paris), not on 2 holidays`."""
        until = "24:00" if self.ends == MIDNIGHT else f"{self.ends:%H:%M}"
        free = len(self.holidays)
        but = f", not on {free} {'holiday' if free == 1 else 'holidays'}" if free else ""
        return f"{_in_words(self.days)} {self.begins:%H:%M}-{until} ({self.timezone}){but}"


_CLOCK = r"(\d{1,2})(?::(\d{2}))?"
_WRITTEN = re.compile(rf"(?:(.+?)\s+)?{_CLOCK}\s*-\s*{_CLOCK}", re.ASCII)


def hours(typed: str) -> tuple[frozenset[int], time, time]:
    """Read `Mon-Fri 09:00-18:00`: days, begin and end. No days: every day. Raises ValueError."""
    written = _WRITTEN.fullmatch(" ".join(typed.replace("\u2013", "-").split()))
    if written is None:
        raise ValueError(WANTED)
    days, *clock = written.groups()
    begins, ends = _clock(*clock[:2]), _clock(*clock[2:])
    if begins >= ends:
        raise ValueError(IN_ORDER)
    if ends > timedelta(days=1):
        raise ValueError(IN_A_DAY)
    return _days(days) if days else EVERY_DAY, _time(begins), _time(ends)


def _time(since_midnight: timedelta) -> time:
    return (datetime.combine(date.min, MIDNIGHT) + since_midnight).time()


def _clock(hour: str, minute: str | None) -> timedelta:
    if int(minute or 0) > 59:
        raise ValueError(IN_A_DAY)
    return timedelta(hours=int(hour), minutes=int(minute or 0))


def _days(typed: str) -> frozenset[int]:
    days: set[int] = set()
    for part in re.split(r"\s*,\s*", typed):
        first, *last = (_day(name) for name in re.split(r"\s*-\s*", part))
        if len(last) > 1:
            raise ValueError(WANTED)
        end = last[0] if last else first
        # Sat-Mon crosses the end of the week.
        days.update(day % 7 for day in range(first, end + 1 if end >= first else end + 8))
    return frozenset(days)


def _day(name: str) -> int:
    short = name.strip().title()
    for number, day in enumerate(DAYS):
        if len(short) >= 3 and day.startswith(short):
            return number
    raise ValueError(WANTED)


def _moment(day: date, clock: time, place: ZoneInfo) -> datetime:
    """When the clocks first show this time; a skipped time counts as the moment of the skip."""
    # zoneinfo reads a skipped wall time with the offset from before: later by what is skipped.
    return datetime.combine(day, clock, place).astimezone(UTC)


def _in_words(days: frozenset[int]) -> str:
    """Write days with ranges: `Mon-Fri`, `Mon, Wed-Fri`."""
    runs: list[list[int]] = []
    for day in sorted(days):
        if runs and runs[-1][-1] == day - 1:
            runs[-1].append(day)
        else:
            runs.append([day])
    short = [[DAYS[day][:3] for day in (run[0], run[-1])] for run in runs]
    return ", ".join(first if first == last else f"{first}-{last}" for first, last in short)
