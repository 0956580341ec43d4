"""Dates and times: what people write, and the clock changes it may fall into."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.timetable import moments


@pytest.mark.parametrize(
    ("typed", "wall"),
    [
        ("2026-12-01 09:00", "2026-12-01T09:00"),
        ("2026-12-01 9:05", "2026-12-01T09:05"),
        ("2026-12-01T09:00", "2026-12-01T09:00"),
        ("2026-12-01  09:00:00", "2026-12-01T09:00"),
        ("2026-12-01 09:00:00.000", "2026-12-01T09:00"),
        ("Dec 1, 2026 9:00 am", "2026-12-01T09:00"),
        ("dec 01, 2026 12:00 AM", "2026-12-01T00:00"),
        ("Dec 1, 2026 12:30 pm", "2026-12-01T12:30"),
        ("Mar 31, 2026 11:59PM", "2026-03-31T23:59"),
    ],
)
def test_a_wall_time_is_read_as_written(typed: str, wall: str) -> None:
    """ISO with a space or T, and the service's own English form, are the same wall time."""
    assert moments.wall_time(typed) == datetime.fromisoformat(wall)


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("2026-11-30", "2026-11-30 09:00"),  # what to write instead
        ("2026-12-01 09:00+01:00", moments.NO_OFFSET),
        ("2026-12-01T09:00:00Z", moments.NO_OFFSET),
        ("2026-12-01 09:00 -0500", moments.NO_OFFSET),
        ("2026-12-01 09:00:30", moments.NO_SECONDS),
        ("2026-02-30 09:00", moments.NO_SUCH),
        ("2026-12-01 24:00", moments.NO_SUCH),
        ("Feb 30, 2026 9:00 am", moments.NO_SUCH),
        ("Dec 1, 2026 13:00 pm", moments.NO_SUCH),
        ("Dec 1, 2026 0:30 am", moments.NO_SUCH),
        ("Dez 1, 2026 9:00 am", moments.NO_SUCH),
        ("01.12.2026 09:00", moments.WANTED),
        ("12/1/2026 9:00", moments.WANTED),
        ("tomorrow", moments.WANTED),
    ],
)
def test_what_could_be_misread_is_refused(typed: str, why: str) -> None:
    """Nothing is guessed: not the order of day and month, not a missing time, not an offset."""
    with pytest.raises(ValueError) as refused:
        moments.wall_time(typed)
    assert str(refused.value).endswith(why)


@given(st.datetimes(min_value=datetime(1000, 1, 1), max_value=datetime(9999, 12, 30)))  # noqa: DTZ001
def test_every_minute_survives_both_forms(moment: datetime) -> None:
    """Whatever minute is meant, both ways of writing it give that minute."""
    wall = moment.replace(second=0, microsecond=0)
    month = moments.MONTHS[wall.month - 1].title()
    hour, half = wall.hour % 12 or 12, "pm" if wall.hour >= 12 else "am"
    theirs = f"{month} {wall.day}, {wall.year} {hour}:{wall.minute:02} {half}"
    assert moments.wall_time(wall.isoformat(" ", "minutes")) == wall
    assert moments.wall_time(theirs) == wall


@pytest.mark.parametrize(
    ("wall", "timezone", "why"),
    [
        ("2026-03-29 02:30", "Europe/Paris", "skip"),
        ("2026-03-29 02:00", "Europe/Paris", "skip"),
        ("2026-03-29 03:00", "Europe/Paris", None),
        ("2026-03-29 01:59", "Europe/Paris", None),
        ("2026-10-25 02:30", "Europe/Paris", "twice"),
        ("2026-10-25 03:00", "Europe/Paris", None),
        ("2026-10-25 02:30", "UTC", None),
        ("2026-03-08 02:30", "America/New_York", "skip"),
        ("2026-11-01 01:30", "America/New_York", "twice"),
        ("2026-10-04 02:15", "Australia/Lord_Howe", "skip"),
        ("2011-12-30 12:00", "Pacific/Apia", "skip"),
    ],
)
def test_hours_of_a_clock_change_are_told(wall: str, timezone: str, why: str | None) -> None:
    """A wall time that never comes, or comes twice, is not one moment."""
    said = moments.clock_change(datetime.fromisoformat(wall), timezone)
    assert said is None if why is None else why in str(said)


def test_a_moment_is_written_by_the_clocks_of_a_zone() -> None:
    """To the minute, or to the second where two may be told apart."""
    at = datetime(2026, 12, 1, 9, 30, 5, tzinfo=UTC)
    assert moments.in_zone(at, "Asia/Tokyo") == "2026-12-01 18:30 (Asia/Tokyo)"
    assert moments.in_zone(at, "Asia/Tokyo", seconds=True) == "2026-12-01 18:30:05 (Asia/Tokyo)"
    # Whoever waits until then, waits long enough.
    assert moments.minute_from(at, "Asia/Tokyo") == "2026-12-01 18:31 (Asia/Tokyo)"
    assert (
        moments.minute_from(at.replace(second=0), "Asia/Tokyo") == "2026-12-01 18:30 (Asia/Tokyo)"
    )


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("Europe/Pariss", "Europe/Paris"),
        ("europe/paris", "Europe/Paris"),
        ("Paris", "Europe/Paris"),
        ("New York", "America/New_York"),
        ("Buenos Aires", "America/Buenos_Aires"),
        ("Paros", "Europe/Paris"),
        ("Indianapolis", "America/Indianapolis"),
        ("Monticello", "America/Kentucky/Monticello"),
        ("utc", "UTC"),
        ("PARIS", "Europe/Paris"),
        ("CEST", None),  # and not EST, which is American
        ("qqqqqqq", None),
    ],
)
def test_an_unknown_timezone_gets_the_nearest(typed: str, meant: str | None) -> None:
    """People write the city, or misspell it: the complaint names the zone they meant."""
    assert not moments.timezone_known(typed)
    assert moments.nearest_timezone(typed) == meant


@pytest.mark.parametrize("name", ["", "Europe", "../etc/passwd", "/etc/localtime", "x" * 300, "\0"])
def test_what_is_no_timezone_is_unknown(name: str) -> None:
    """Folders and paths of the database are not zones, and asking never fails."""
    assert not moments.timezone_known(name)


def test_a_date_time_cell_is_a_wall_time() -> None:
    """A spreadsheet keeps times as fractions of a day; a microsecond off is the minute meant."""
    half = datetime.fromisoformat("2026-12-01T08:59:59.500000")
    assert moments.whole_minute(half) == datetime.fromisoformat("2026-12-01T09:00")
    nearly = datetime.fromisoformat("2026-12-01T08:59:59.999995")
    assert moments.whole_minute(nearly) == datetime.fromisoformat("2026-12-01T09:00")
    with pytest.raises(ValueError, match=moments.NO_SECONDS):
        moments.whole_minute(datetime.fromisoformat("2026-12-01T09:00:30"))
    with pytest.raises(ValueError, match=moments.NO_OFFSET):
        moments.whole_minute(datetime(2026, 12, 1, 9, tzinfo=UTC))
