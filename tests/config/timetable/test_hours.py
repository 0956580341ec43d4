"""Working hours: what is read, and when they are open, in every zone and over clock changes."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.timetable.hours import (
    EVERY_DAY,
    IN_A_DAY,
    IN_ORDER,
    WANTED,
    Hours,
    hours,
)

WEEKDAYS = frozenset(range(5))


def office(**other: object) -> Hours:
    plain = {
        "days": WEEKDAYS,
        "begins": time(9),
        "ends": time(18),
        "holidays": frozenset(),
        "timezone": "Europe/Paris",
    }
    return Hours(**(plain | other))  # type: ignore[arg-type]


def paris(written: str) -> datetime:
    return datetime.fromisoformat(written).replace(tzinfo=ZoneInfo("Europe/Paris"))


@pytest.mark.parametrize(
    ("typed", "days", "begins", "ends"),
    [
        ("Mon-Fri 09:00-18:00", WEEKDAYS, time(9), time(18)),
        ("mon-fri 9-18", WEEKDAYS, time(9), time(18)),
        ("9 - 17:59", EVERY_DAY, time(9), time(17, 59)),
        ("9:30 - 17:45", EVERY_DAY, time(9, 30), time(17, 45)),
        ("Monday, Wed - Fri 8-12", frozenset({0, 2, 3, 4}), time(8), time(12)),
        ("Sat-Mon 10:00-24:00", frozenset({5, 6, 0}), time(10), time(0)),
        ("Mon\u2013Fri 09:00\u201318:00", WEEKDAYS, time(9), time(18)),
        ("Sun 0-24", frozenset({6}), time(0), time(0)),
    ],
)
def test_hours_are_read_as_people_write_them(
    typed: str, days: frozenset[int], begins: time, ends: time
) -> None:
    """Short and long names, lists, runs around the week's end, times with and without minutes."""
    assert hours(typed) == (days, begins, ends)


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        *((typed, WANTED) for typed in ("", "always", "Mon-Fri", "Mo-Fr 9-18", "Funday 9-18")),
        *((typed, WANTED) for typed in ("Mon-Tue-Wed 9-18", "9:00-18:00 Mon", "-9-18")),
        *((typed, IN_ORDER) for typed in ("18:00-09:00", "9-9", "24-24")),
        *((typed, IN_A_DAY) for typed in ("9-25", "9:60-10", "9-10:60", "9-24:01")),
    ],
)
def test_anything_else_is_refused(typed: str, wanted: str) -> None:
    """Hours that nobody can be sure about are refused, with what was wanted."""
    with pytest.raises(ValueError) as refused:
        hours(typed)
    assert str(refused.value) == wanted


@pytest.mark.parametrize(
    ("at", "closes", "opens"),
    [
        ("2026-12-01 08:59", None, "2026-12-01 09:00"),  # a Tuesday
        ("2026-12-01 09:00", "2026-12-01 18:00", "2026-12-01 09:00"),
        ("2026-12-01 18:00", "2026-12-01 18:00", "2026-12-01 18:00"),
        ("2026-12-01 18:01", None, "2026-12-02 09:00"),
        ("2026-12-04 20:00", None, "2026-12-07 09:00"),  # over the weekend
        ("2028-02-28 19:00", None, "2028-02-29 09:00"),  # a leap day
        ("2026-12-31 23:59", None, "2027-01-01 09:00"),
        ("2026-03-27 19:00", None, "2026-03-30 09:00"),  # clocks go forward in between
        ("2026-10-23 19:00", None, "2026-10-26 09:00"),  # and back
    ],
)
def test_open_and_closed(at: str, closes: str | None, opens: str) -> None:
    """Begin and end are inside; what comes next is the next working day, on the wall's clock."""
    table = office()
    assert table.closes(paris(at)) == (paris(closes) if closes else None)
    found = table.opens(paris(at))
    assert found == paris(opens)
    assert found.tzinfo is UTC


def test_midnight_as_the_end_is_that_of_the_same_day() -> None:
    """Until 24:00 is until the next day begins, and no day longer."""
    assert office(ends=time(0)).closes(paris("2026-12-01 10:00")) == paris("2026-12-02 00:00")


def test_the_day_is_the_one_on_the_clock_of_the_place() -> None:
    """Late on a Sunday in New York it is Monday elsewhere; Sunday's hours still come."""
    table = office(days=frozenset({6}), begins=time(21), ends=time(23), timezone="America/New_York")
    sunday = datetime(2026, 12, 6, 20, 30, tzinfo=ZoneInfo("America/New_York"))
    assert table.opens(sunday) == sunday + timedelta(minutes=30)


def test_holidays_are_closed_and_the_next_day_is_looked_for() -> None:
    """Nobody is invited on a holiday; a year of nothing but holidays never opens."""
    free = office(holidays=frozenset({date(2026, 12, 25), date(2026, 12, 28)}))
    assert free.closes(paris("2026-12-25 10:00")) is None
    assert free.opens(paris("2026-12-24 19:00")) == paris("2026-12-29 09:00")
    for_ever = frozenset(date(2026, 1, 1) + timedelta(days=day) for day in range(800))
    assert office(holidays=for_ever).opens(paris("2026-01-01 09:00")) is None


def test_a_person_has_a_clock_of_their_own() -> None:
    """Nine in the morning is nine where the person is, and so is the holiday's date."""
    table = office(holidays=frozenset({date(2026, 12, 25)}))
    at = paris("2026-12-01 10:00")
    assert table.closes(at, "America/New_York") is None
    new_york = ZoneInfo("America/New_York")
    assert table.opens(at, "America/New_York") == datetime(2026, 12, 1, 9, tzinfo=new_york)
    assert table.closes(at, "Asia/Tokyo") == datetime(
        2026, 12, 1, 18, tzinfo=ZoneInfo("Asia/Tokyo")
    )


@pytest.mark.parametrize(
    ("written", "at", "opens"),
    [
        ("2:30-5", "2026-03-29 00:00", "2026-03-29T01:30+00:00"),  # skipped: after the jump
        ("2:30-5", "2026-10-25 00:00", "2026-10-25T00:30+00:00"),  # shown twice: the first time
        ("2:10-2:50", "2026-03-29 00:00", "2026-03-29T01:10+00:00"),
        ("0-24", "2026-03-29 04:00", "2026-03-29T02:00+00:00"),
    ],
)
def test_clock_changes(written: str, at: str, opens: str) -> None:
    """A begin that clocks skip is the moment as much later; one shown twice counts once."""
    days, begins, ends = hours(written)
    table = office(days=days, begins=begins, ends=ends)
    assert table.opens(paris(at)) == datetime.fromisoformat(opens)


def test_written_for_people() -> None:
    """Days are written as runs."""
    table = office(days=frozenset({0, 2, 3, 4, 6}), holidays=frozenset({date(2026, 12, 25)}))
    assert str(table) == "Mon, Wed-Fri, Sun 09:00-18:00 (Europe/Paris), not on 1 holiday"
    holidays = frozenset({date(2026, 12, 25), date(2026, 12, 26)})
    assert str(office(holidays=holidays)).endswith("not on 2 holidays")
    assert str(office(ends=time(0))) == "Mon-Fri 09:00-24:00 (Europe/Paris)"


MOMENTS = st.integers(0, 5 * 366 * 24 * 60).map(
    lambda minutes: datetime(2025, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
)
ZONES = st.sampled_from(
    ["Europe/Paris", "America/New_York", "Asia/Kathmandu", "Pacific/Apia", "Australia/Lord_Howe"]
)


@given(
    at=MOMENTS,
    zone=ZONES,
    days=st.frozensets(st.integers(0, 6), min_size=1),
    clock=st.lists(st.integers(0, 24), min_size=2, max_size=2, unique=True),
)
def test_the_next_opening_is_open_and_nothing_before_it_is(
    at: datetime, zone: str, days: frozenset[int], clock: list[int]
) -> None:
    """`opens` and `closes` tell one story about every moment, in every zone."""
    begins, ends = sorted(clock)
    table = office(days=days, begins=time(begins), ends=time(ends % 24), timezone=zone)
    opens = table.opens(at)
    assert opens is not None
    assert opens >= at
    closes = table.closes(opens)
    assert closes is not None
    assert closes >= opens
    wall = opens.astimezone(ZoneInfo(zone))
    assert wall.weekday() in days
    quarter = timedelta(minutes=15)
    between = (at + number * quarter for number in range(96))
    assert all(table.closes(moment) is None for moment in between if moment < opens)
