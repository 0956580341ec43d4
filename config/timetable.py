"""When a campaign may send: read times, hours, waves and rates, and decide by them.

No function asks the clock. Functions that read a text raise ValueError with what was wanted.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from functools import cache
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo, available_timezones

if TYPE_CHECKING:
    from config.definition import Invites

NEVER = datetime.max.replace(tzinfo=UTC)
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
HOURS_WANTED = "days and times of the clock, such as Mon-Fri 09:00-18:00"
FARTHEST = 400  # days to look ahead; without an open hour, the answer is NEVER


class Wave(NamedTuple):
    """The current wave: its number from 1, how many more people it takes (None: all), and whether
    it follows another wave and has not begun."""

    number: int
    room: int | None
    follows: bool


def may_send(invites: "Invites", now: datetime) -> datetime | None:
    """When invitations may go out, by window, hours and holidays, at `now` (aware) or later.

    None: now. Otherwise the first moment (UTC) at which they may; NEVER if there is none.
    """
    zone = ZoneInfo(invites.timezone or "UTC")
    at = now.astimezone(UTC)
    if invites.not_before:
        at = max(at, instant(invites.not_before, zone))
    if invites.hours or invites.holidays:
        at = _opens(invites, at, zone)
    if invites.not_after and at > instant(invites.not_after, zone):
        return NEVER
    return None if at == now else at


def next_by_rate(per_hour: float | None, last: datetime | None, now: datetime) -> datetime:
    """When the next invitation may leave at this rate after the `last`, but not before `now`."""
    if per_hour is None or last is None:
        return now
    return max(now, last + timedelta(hours=1) / per_hour)


def wave(sizes: Sequence[int], tried: int) -> Wave:
    """The current wave after so many people were tried. The last wave takes all the rest."""
    end = 0
    for number, size in enumerate(sizes, start=1):
        begin, end = end, end + size
        if tried < end:
            return Wave(number, end - tried, tried == begin and number > 1)
    return Wave(len(sizes) + 1, None, tried == end and bool(sizes))


def instant(wall: datetime, zone: ZoneInfo) -> datetime:
    """The moment (UTC) when clocks in a zone first show this time, or would without a jump."""
    # For a skipped wall time zoneinfo uses the offset before the jump.
    return wall.replace(tzinfo=zone).astimezone(UTC)


def no_one_moment(wall: datetime | None, zone: str | None) -> str:
    """Say that clocks skip this time or show it twice, and what to write instead; else ""."""
    if wall is None or zone is None:
        return ""
    one, two = (wall.replace(tzinfo=ZoneInfo(zone), fold=fold).utcoffset() for fold in (0, 1))
    if one is None or two is None or one == two:
        return ""
    shows, then = ("skip" if one < two else "show twice"), wall + abs(two - one)
    return f"clocks {shows} {wall:%Y-%m-%d %H:%M} in {zone}; write {then:%Y-%m-%d %H:%M} instead"


def as_sent(wall: datetime | None) -> str:
    """Write a time as the service wants it: `Dec 1, 2026 9:00 am` (interface 2), in any locale."""
    if wall is None:
        return ""
    half = "am" if wall.hour < 12 else "pm"
    clock = f"{wall.hour % 12 or 12}:{wall.minute:02} {half}"
    return f"{MONTHS[wall.month - 1]} {wall.day}, {wall.year} {clock}"


def on_the_wall(at: datetime, zone: str | None) -> str:
    """Write an aware moment in the time of a zone: `2026-12-01 09:00 (Europe/Paris)`."""
    wall = at.astimezone(ZoneInfo(zone or "UTC"))
    return f"{wall:%Y-%m-%d %H:%M} ({zone or 'UTC'})"


def moment(typed: object) -> datetime:
    """Read `2026-12-01 09:00`, also with T or :00, as a naive time."""
    written = re.fullmatch(r"\s*(\d{4}-\d\d-\d\d)[ Tt]+(\d{1,2}:\d\d)(?::00)?\s*", str(typed), re.A)
    try:
        return datetime.fromisoformat(f"{written[1]}T{written[2]:0>5}" if written else "")
    except ValueError:
        raise ValueError("a date and time such as 2026-12-01 09:00, without an offset") from None


@cache
def timezone(typed: str) -> str:
    """Read the IANA name of a zone."""
    zones = {zone.casefold(): zone for zone in available_timezones()}
    spelt = typed.strip().replace(" ", "_").casefold()
    if spelt in zones:
        return zones[spelt]
    raise ValueError("a timezone such as Europe/Paris")


def span(typed: str) -> timedelta:
    """Read `6 months` (of 31 days), `2 days`, `36 hours` or `90 minutes`."""
    written = re.fullmatch(r"([0-9]{1,4}) *(minute|hour|day|week|month)s?", typed.strip(), re.I)
    if not written or not int(written[1]):
        raise ValueError("a span of time, such as 2 days, 36 hours or 90 minutes")
    number, unit = int(written[1]), written[2].lower()
    return timedelta(days=31 * number) if unit == "month" else timedelta(**{f"{unit}s": number})


def hours(typed: str) -> tuple[frozenset[int], time, time]:
    """Read `Mon-Fri 09:00-18:00`, or `9-18` for every day, as days (0 is Monday), first time and
    last time. Both times are included. Midnight as the last time is the end of the day."""
    written = _HOURS.fullmatch(" ".join(typed.replace("\u2013", "-").split()))
    if written is None:
        raise ValueError(HOURS_WANTED)
    clock = (written.group(2, 3), written.group(4, 5))
    begins, ends = (60 * int(hour) + int(minute or 0) for hour, minute in clock)
    if not begins < ends <= 24 * 60:
        raise ValueError("an end after the start, within one day, such as 09:00-18:00")
    days = _days(written[1] or "mon-sun")
    return days, time(*divmod(begins, 60)), time(ends // 60 % 24, ends % 60)


def cron(typed: str) -> str:
    """Read a cron line as Prefect does: minute, hour, day, month, weekday (0 and 7: Sunday)."""
    from cronsim import CronSim, CronSimError  # noqa: PLC0415 - few definitions have a schedule

    line = " ".join(typed.split())
    try:
        next(CronSim(line if _CRON.fullmatch(line) else "", datetime(2026, 1, 1, tzinfo=UTC)))
    except (CronSimError, StopIteration):  # StopIteration: this line is never due
        raise ValueError('a cron line of five fields, such as "0 9 * * 1-5"') from None
    return line


def _opens(invites: "Invites", at: datetime, zone: ZoneInfo) -> datetime:
    """The first moment (UTC) at or after `at` that is within hours, on no holiday; or NEVER."""
    days, first, last = hours(invites.hours or "0-24")
    today = at.astimezone(zone).date()
    for day in (today + timedelta(days=ahead) for ahead in range(FARTHEST)):
        if day.weekday() in days and day not in invites.holidays:
            end = day if last != time(0) else day + timedelta(days=1)
            begins = instant(datetime.combine(day, first), zone)
            ends = instant(datetime.combine(end, last), zone)
            # On the day when clocks go forward, these hours may not exist.
            if begins < ends and at <= ends:
                return max(at, begins)
    return NEVER


def _days(typed: str) -> frozenset[int]:
    """Read `Mon-Fri`, `Sat-Mon` or `Mon, Wed`, by three or more letters of each name."""
    days: set[int] = set()
    for part in typed.lower().split(","):
        ends = [name.strip() for name in part.split("-")]
        found = [at for name in ends for at, day in enumerate(DAYS) if day.startswith(name)]
        if not len(found) == len(ends) <= 2 or min(map(len, ends)) < 3:
            raise ValueError(HOURS_WANTED)
        begin, end = found[0], found[-1]
        days.update(day % 7 for day in range(begin, (end if end >= begin else end + 7) + 1))
    return frozenset(days)


_CRON = re.compile(r"(?:(?:[-*/,]|\d|[a-z]{3})+(?: |$)){5}", re.ASCII | re.I)
_HOURS = re.compile(r"(?:(.+?) )?(\d{1,2})(?::([0-5]\d))? ?- ?(\d{1,2})(?::([0-5]\d))?", re.ASCII)
