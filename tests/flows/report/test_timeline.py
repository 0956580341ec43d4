"""When a campaign was sent, as pictures: nobody is left out of a bar, and clocks are right."""

import re
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.store.states import AttemptState
from flows.report.timeline import BARS, MOST, Point, in_words, pictures, scale
from tests.support.ledgers.small_ledger import NOON

PARIS = "Europe/Paris"
DONE, UNSURE = AttemptState.DONE, AttemptState.UNSURE


def at(**later: float) -> Point:
    return Point(NOON + timedelta(**later), DONE)


@pytest.mark.parametrize(
    ("minutes", "parts"),
    [((), 0), ((0,), 1), ((0, 30), 1), ((0, 31), 2), ((0, 29, 58), 1), ((0, 40, 41, 90), 3)],
)
def test_half_an_hour_without_a_request_ends_a_sitting(
    minutes: tuple[float, ...], parts: int
) -> None:
    """Two minutes in May and one in June are two pictures, not two thin lines in one."""
    assert len(pictures([at(minutes=one) for one in minutes], "UTC")) == parts


def test_many_sittings_share_one_picture() -> None:
    """A campaign that sends a little every day is one picture of days."""
    few = [at(days=day) for day in range(MOST)]
    assert len(pictures(few, "UTC")) == MOST
    [one] = pictures([*few, at(days=MOST)], "UTC")
    assert one.title == "2026-12-01 12:00 to 2026-12-09 12:00"
    assert "at most 1 in 6 hours" in one.svg


@pytest.mark.parametrize(
    ("seconds", "step"),
    [
        (0, "a second"),
        (50, "a second"),
        (59, "2 seconds"),
        (3000, "a minute"),
        (3600 * 8, "10 minutes"),
        (86_400, "30 minutes"),
        (86_400 * 28, "12 hours"),
        (86_400 * 50, "a day"),
        (86_400 * 365, "7 days"),
        (86_400 * 3650, "91 days"),
    ],
)
def test_a_bar_stands_for_a_round_stretch_of_time(seconds: int, step: str) -> None:
    """So that a person can read from a bar how fast it went."""
    assert in_words(scale(NOON, NOON + timedelta(seconds=seconds), "UTC").step) == step


def test_clocks_are_those_of_the_campaign() -> None:
    """Half-hours off, and days that are 23 hours long, included."""
    kathmandu = "Asia/Kathmandu"
    begin = scale(NOON, NOON + timedelta(days=1), kathmandu).start.astimezone(ZoneInfo(kathmandu))
    assert (begin.hour, begin.minute) == (17, 30)
    for first in (datetime(2026, 3, 20, 9, tzinfo=UTC), datetime(2026, 10, 1, 9, tzinfo=UTC)):
        days = [first + timedelta(days=day) for day in range(50)]
        [picture] = pictures([Point(day, DONE) for day in days], PARIS)
        assert re.findall(r"<title>([\d-]+):", picture.svg) == [f"{day:%Y-%m-%d}" for day in days]


@given(
    st.lists(
        st.tuples(st.integers(0, 10**9), st.sampled_from(list(AttemptState)), st.integers(1, 100)),
        min_size=1,
        max_size=60,
    ),
    st.sampled_from(["UTC", PARIS, "Asia/Kathmandu", "Pacific/Apia", None]),
)
def test_everybody_is_in_some_bar(
    drawn: list[tuple[int, AttemptState, int]], zone: str | None
) -> None:
    """Whenever it was sent: the bars add up to all, at most BARS of them, and the SVG is sound."""
    points = [
        Point(NOON + timedelta(milliseconds=when), state, people) for when, state, people in drawn
    ]
    drawn_people = 0
    for picture in pictures(points, zone):
        bars = re.findall(r"<title>[^<]*?: ([^<]+)</title>", sound(picture.svg))
        assert len(bars) <= BARS
        drawn_people += sum(
            int(number.replace(",", ""))
            for bar in bars
            for number in re.findall(r"(\d[\d,]*) ", bar)
        )
    assert drawn_people == sum(point.people for point in points)


def sound(svg: str) -> str:
    """The picture as it is, once it was read as XML."""
    ElementTree.fromstring(svg)
    return svg
