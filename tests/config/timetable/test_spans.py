"""Spans of time: what people write, and what is written back to them."""

from datetime import timedelta

import pytest

from config.timetable.spans import IN_A_YEAR, LONGEST, WANTED, in_words, span

DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("typed", "found", "written"),
    [
        ("1 minute", timedelta(minutes=1), "1 minute"),
        ("90 minutes", timedelta(minutes=90), "90 minutes"),
        (" 36 Hours ", timedelta(hours=36), "36 hours"),
        ("3weeks", DAY * 21, "3 weeks"),
        ("120minutes", timedelta(hours=2), "2 hours"),
        ("1 day", DAY, "1 day"),
        ("48 hours", DAY * 2, "2 days"),
        ("2 weeks", DAY * 14, "2 weeks"),
        ("366 days", LONGEST, "366 days"),
    ],
)
def test_a_span_is_read_and_written(typed: str, found: timedelta, written: str) -> None:
    """In the largest unit that fits, so that both mean the same."""
    assert span(typed) == found
    assert in_words(found) == written
    assert span(written) == found


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        *((typed, WANTED) for typed in ("", "2", "days", "2 moons", "-2 days", "1.5 hours")),
        ("\u0662 days", WANTED),
        *((typed, IN_A_YEAR) for typed in ("0 days", "367 days", "999999 weeks")),
    ],
)
def test_what_is_no_span_is_refused(typed: str, why: str) -> None:
    """Nothing is guessed, and nothing is longer than a year."""
    with pytest.raises(ValueError) as refused:
        span(typed)
    assert str(refused.value) == why


def test_where_more_makes_sense_more_is_allowed() -> None:
    """People may be kept for years."""
    assert span("1000 days", DAY * 1000) == DAY * 1000


def test_what_fits_no_unit_is_told_in_seconds() -> None:
    """A pause that a service asked for is no whole minute."""
    assert in_words(timedelta(seconds=90)) == "90 seconds"
