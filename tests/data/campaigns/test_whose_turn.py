"""Whose turn it is, rule by rule beside a simulated clock; and the forecast made of turns."""

from datetime import UTC, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.timetable.hours import Hours
from config.timetable.timetable import Timetable
from config.timetable.waves import HoldOn, Waves
from config.timetable.window import Window
from data.campaigns.forecast import Foresight, foresee
from data.campaigns.whose_turn import SendProgress, Turn, Wait, Waiting, allowed_now

MONDAY = datetime(2026, 11, 30, 8, tzinfo=UTC)
HOUR = timedelta(hours=1)
OFFICE = Hours(frozenset(range(5)), time(9), time(18), frozenset(), "UTC")
FIVE = [Waiting(row) for row in range(1, 6)]


def rows(answer: Turn) -> list[int]:
    return [row for row, _ in answer.now]


def window(begin: datetime | None = None, end: datetime | None = None) -> Timetable:
    return Timetable(window=Window(begin, end, "UTC"))


def test_without_rules_everybody_may_go() -> None:
    """A campaign that says nothing about time is sent as a whole, in its own order."""
    answer = allowed_now(Timetable(), None, FIVE, SendProgress(), MONDAY)
    assert answer == Turn(tuple((row, None) for row in range(1, 6)))


@pytest.mark.parametrize(
    ("table", "so_far", "wait", "again"),
    [
        (window(begin=MONDAY + HOUR), SendProgress(), Wait.EARLY, MONDAY + HOUR),
        (window(end=MONDAY - HOUR), SendProgress(), Wait.OVER, None),
        (Timetable(latest=MONDAY - HOUR), SendProgress(), Wait.TOO_LATE, None),
        (Timetable(hours=OFFICE), SendProgress(), Wait.HOURS, MONDAY + HOUR),
        (Timetable(pilot="me@example.com"), SendProgress(), Wait.PILOT, None),
        (Timetable(hold_on=HoldOn(unsure=1)), SendProgress(judged=3, unsure=1), Wait.HELD, None),
        (
            Timetable(waves=Waves((2,), HOUR)),
            SendProgress(tried=2, last=MONDAY),
            Wait.BETWEEN,
            MONDAY + HOUR,
        ),
    ],
)
def test_each_rule_can_hold_everybody(
    table: Timetable, so_far: SendProgress, wait: Wait, again: datetime | None
) -> None:
    """Nobody goes, the reason is named, and the moment to ask again where there is one."""
    answer = allowed_now(table, None, FIVE, so_far, MONDAY)
    assert (answer.now, answer.wait, answer.again) == ((), wait, again)


def test_the_bounds_of_a_window_are_inside() -> None:
    """Not before nine includes nine, not after six includes six."""
    for table in (window(begin=MONDAY), window(end=MONDAY), Timetable(latest=MONDAY)):
        assert rows(allowed_now(table, None, FIVE, SendProgress(), MONDAY)) == [1, 2, 3, 4, 5]


def test_the_pilot_goes_alone_and_then_waits_for_a_person() -> None:
    """Nobody else is invited before the invitation to oneself is confirmed."""
    table = Timetable(pilot="me@example.com", waves=Waves((2,)))
    first = allowed_now(table, Waiting(9), FIVE, SendProgress(), MONDAY)
    assert (rows(first), first.wave) == ([9], 0)
    assert allowed_now(table, None, FIVE, SendProgress(last=MONDAY), MONDAY).wait is Wait.PILOT
    confirmed = allowed_now(table, None, FIVE, SendProgress(last=MONDAY, confirmed=True), MONDAY)
    assert (rows(confirmed), confirmed.wave) == ([1, 2], 1)


def test_people_go_by_their_own_clocks() -> None:
    """Whoever has working hours now goes; the others as soon as one of them has."""
    people = [Waiting(1, "America/New_York"), Waiting(2), Waiting(3, "Asia/Tokyo")]
    answer = allowed_now(Timetable(hours=OFFICE), None, people, SendProgress(), MONDAY + HOUR)
    assert answer.now == (
        (2, MONDAY.replace(hour=18)),
        (3, MONDAY.replace(hour=9)),
    )
    assert (answer.wait, answer.again) == (Wait.HOURS, MONDAY.replace(hour=14))


def test_waves_grow_with_time_between_them() -> None:
    """Two, an hour later three, an hour later the rest."""
    people = [Waiting(row) for row in range(1, 11)]
    seen = foresee(Timetable(waves=Waves((2, 3), HOUR)), None, people, SendProgress(), MONDAY)
    assert [(leg.wave, len(leg.rows), leg.begins) for leg in seen.legs] == [
        (1, 2, MONDAY),
        (2, 3, MONDAY + HOUR),
        (3, 5, MONDAY + 2 * HOUR),
    ]


def test_a_rate_that_outlasts_the_day_goes_on_the_next_one() -> None:
    """Ten an hour from nine to six: ninety-one the first day, the rest on Tuesday."""
    people = [Waiting(row) for row in range(100)]
    table = Timetable(hours=OFFICE, gap=HOUR / 10)
    seen = foresee(table, None, people, SendProgress(), MONDAY)
    assert [(len(leg.rows), leg.begins, leg.ends) for leg in seen.legs] == [
        (91, MONDAY.replace(hour=9), MONDAY.replace(hour=18)),
        (9, MONDAY.replace(day=1, month=12, hour=9), MONDAY.replace(day=1, month=12, hour=9)
         + 8 * HOUR / 10),
    ]  # fmt: skip


def test_whoever_would_come_too_late_is_left_and_named() -> None:
    """What a rate cannot bring through before the end is said beforehand."""
    table = Timetable(gap=HOUR, latest=MONDAY + 2 * HOUR)
    seen = foresee(table, None, FIVE, SendProgress(), MONDAY)
    assert (seen.left, seen.wait) == ((4, 5), Wait.TOO_LATE)


ZONES = st.sampled_from([None, None, "Asia/Tokyo", "America/New_York", "Asia/Kathmandu"])
TABLES = st.builds(
    Timetable,
    window=st.none()
    | st.builds(
        lambda begin, length: Window(
            MONDAY + begin * HOUR, MONDAY + (begin + length) * HOUR, "UTC"
        ),
        st.integers(-50, 50),
        st.integers(1, 200),
    ),
    hours=st.none() | st.just(OFFICE),
    gap=st.sampled_from([timedelta(0), timedelta(minutes=1), HOUR, 5 * HOUR]),
    latest=st.none() | st.integers(-2, 300).map(lambda hours: MONDAY + hours * HOUR),
    pilot=st.none() | st.just("me@example.com"),
    waves=st.none()
    | st.builds(
        Waves,
        st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple),
        st.sampled_from([timedelta(0), HOUR, 30 * HOUR]),
    ),
    hold_on=st.none() | st.just(HoldOn(unsure=1)),
)


@given(table=TABLES, zones=st.lists(ZONES, max_size=12), last=st.none() | st.integers(0, 9))
def test_a_forecast_keeps_every_rule_and_forgets_nobody(
    table: Timetable, zones: list[str | None], last: int | None
) -> None:
    """Each person goes once, in time, in the order of waves, or is left with a reason."""
    people = [Waiting(row, zone) for row, zone in enumerate(zones, start=1)]
    pilot = Waiting(0) if table.pilot else None
    before = MONDAY - last * HOUR if last is not None else None
    seen = foresee(table, pilot, people, SendProgress(last=before), MONDAY)
    _everybody_once(seen, people, pilot)
    _in_time(seen, table, people)
    _far_enough_apart(seen, table, before)
    if table.waves is not None:
        for number, size in enumerate(table.waves.sizes, start=1):
            assert sum(len(leg.rows) for leg in seen.legs if leg.wave == number) <= size
    assert [leg.wave for leg in seen.legs] == sorted(leg.wave for leg in seen.legs)


def _everybody_once(seen: Foresight, people: list[Waiting], pilot: Waiting | None) -> None:
    gone = [row for leg in seen.legs for row in leg.rows]
    assert sorted([*gone, *seen.left]) == sorted(p.row for p in [*people, *([pilot] * bool(pilot))])
    assert bool(seen.left) is (seen.wait is not None)


def _in_time(seen: Foresight, table: Timetable, people: list[Waiting]) -> None:
    zone = {person.row: person.zone for person in people}
    for leg in seen.legs:
        assert MONDAY <= leg.begins <= leg.ends
        for place, row in enumerate(leg.rows):
            at = leg.begins + place * table.gap
            assert table.hours is None or table.hours.closes(at, zone.get(row)) is not None
            assert table.window is None or table.window.phase(at) == "open"
            assert table.latest is None or at <= table.latest


def _far_enough_apart(seen: Foresight, table: Timetable, before: datetime | None) -> None:
    end = before
    wave = None
    for leg in seen.legs:
        if end is not None:
            assert leg.begins >= end + table.gap
            if table.waves and wave not in (None, 0, leg.wave):
                assert leg.begins >= end + table.waves.between
        end, wave = leg.ends, leg.wave
