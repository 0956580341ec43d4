"""Dates and times as people write them: local times, and the clock changes they may fall into."""

import re
from datetime import datetime, timedelta
from difflib import get_close_matches
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

WANTED = "a date and time such as 2026-12-01 09:00"
NO_SUCH = f"{WANTED}; there is no such date or time"
NO_OFFSET = "no offset; name the place instead, as in timezone: Europe/Paris"
NO_SECONDS = "a whole minute, without seconds"
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

_ISO = re.compile(
    r"(?P<date>\d{4}-\d{2}-\d{2})"
    r"(?:[ Tt]+(?P<clock>\d{1,2}:\d{2})(?P<seconds>:\d{2}(?:\.\d+)?)?)?"
    r"(?P<offset>\s*(?:[Zz]|[+-]\d{1,2}(?::?\d{2})?))?",
    re.ASCII,
)
# The service's own form, `Dec 1, 2026 9:00 am` (interface 2, "Project"), in English in any locale.
_SERVICE = re.compile(
    r"(?P<month>[A-Za-z]{3}) (?P<day>\d{1,2}), (?P<year>\d{4}) (?P<hour>\d{1,2}):(?P<minute>\d{2})"
    r" ?(?P<half>[AaPp])[Mm]",
    re.ASCII,
)


def in_zone(at: datetime, zone: str | None, *, seconds: bool = False) -> str:
    """Write an aware moment in the zone of a campaign, with the zone's name; None means this
    machine's zone.
    """
    wall = on_the_wall(at, zone)
    shown = f"{wall:%Y-%m-%d %H:%M:%S}" if seconds else f"{wall:%Y-%m-%d %H:%M}"
    return f"{shown} ({zone or wall.tzname()})"


def minute_from(at: datetime, zone: str | None) -> str:
    """Write the first whole minute that is not before a moment: who waits for it waits long
    enough.
    """
    minute = at.replace(second=0, microsecond=0)
    return in_zone(minute if minute == at else minute + timedelta(minutes=1), zone)


def on_the_wall(at: datetime, zone: str | None) -> datetime:
    """The same moment by the clocks of a zone; None means this machine's zone."""
    return at.astimezone(ZoneInfo(zone) if zone else None)


def wall_time(typed: str) -> datetime:
    """Read `2026-12-01 09:00`, also with `T` or `:00`, or `Dec 1, 2026 9:00 am`, as a naive time.

    Raises ValueError for anything else: no time of day, an offset, seconds, no such date.
    """
    text = " ".join(typed.split())
    if match := _ISO.fullmatch(text):
        written = _from_iso(match)
    elif match := _SERVICE.fullmatch(text):
        written = _from_service(match)
    else:
        raise ValueError(WANTED)
    try:
        return datetime.fromisoformat(written)
    except ValueError:
        raise ValueError(NO_SUCH) from None


def _from_iso(match: re.Match[str]) -> str:
    if match["clock"] is None:
        raise ValueError(f"a time of day as well, as in {match['date']} 09:00")
    if match["offset"]:
        raise ValueError(NO_OFFSET)
    if match["seconds"] and float(match["seconds"][1:]) != 0:
        raise ValueError(NO_SECONDS)
    return f"{match['date']}T{match['clock']:0>5}"


def _from_service(match: re.Match[str]) -> str:
    month, hour = match["month"].lower(), int(match["hour"])
    if month not in MONTHS or not 1 <= hour <= 12:
        raise ValueError(NO_SUCH)
    hour = hour % 12 + (12 if match["half"] in "Pp" else 0)
    date = f"{match['year']}-{MONTHS.index(month) + 1:02}-{int(match['day']):02}"
    return f"{date}T{hour:02}:{match['minute']}"


def whole_minute(cell: datetime) -> datetime:
    """Read a date-time cell as a wall time. Raises ValueError for an offset or for seconds."""
    if cell.tzinfo is not None:
        raise ValueError(NO_OFFSET)
    # Spreadsheets keep times as fractions of a day, so they are a few microseconds off.
    nearest = (cell + timedelta(milliseconds=500)).replace(microsecond=0)
    if nearest.second:
        raise ValueError(NO_SECONDS)
    return nearest


def timezone_known(name: str) -> bool:
    """Say whether the IANA database has a zone of exactly this name."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        # For a folder ("Europe"), a path outside the database, or an over-long name.
        return False
    return True


def nearest_timezone(name: str) -> str | None:
    """Guess which zone was meant: `paris` or `Europe/Pariss` is Europe/Paris.

    Nothing is near capitals: CEST is not EST.
    """
    zones = sorted(available_timezones())
    least = 1.0 if name.isupper() else 0.75
    by_spelling = {zone.casefold(): zone for zone in zones}
    by_city = {zone.rpartition("/")[2].casefold(): zone for zone in reversed(zones)}
    typed = name.strip().replace(" ", "_").casefold()
    for spellings in (by_spelling, by_city):
        if close := get_close_matches(typed, spellings, n=1, cutoff=least):
            return spellings[close[0]]
    return None


def clock_change(wall: datetime, timezone: str) -> str | None:
    """Say why a wall time is not exactly one moment in its zone; None when it is one."""
    zone = ZoneInfo(timezone)
    first = wall.replace(tzinfo=zone, fold=0).utcoffset()
    second = wall.replace(tzinfo=zone, fold=1).utcoffset()
    if first is None or second is None or first == second:
        return None
    if first < second:
        return f"a time that exists: clocks in {timezone} skip this one when they go forward"
    return f"a time that comes once: clocks in {timezone} show this one twice when they go back"
