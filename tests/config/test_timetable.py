"""When a campaign may send: decided by plain functions that are given the time."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from config import timetable
from config.definition import Invites
from config.timetable import NEVER, Wave, as_sent, may_send, next_by_rate, wave

PARIS = {"timezone": "Europe/Paris"}
WORK = {**PARIS, "hours": "Mon-Fri 09:00-18:00"}


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("rules", "now", "then"),
    [
        ({}, "2026-12-01 03:00", None),
        ({**PARIS, "not_before": "2026-12-01 09:00"}, "2026-11-30 12:00", "2026-12-01 08:00"),
        ({**PARIS, "not_after": "2026-12-01 09:00"}, "2026-12-01 08:00", None),
        ({**PARIS, "not_after": "2026-12-01 09:00"}, "2026-12-01 08:01", NEVER),
        (WORK, "2026-12-01 17:00", None),  # the end belongs to the hours
        (WORK, "2026-12-01 17:01", "2026-12-02 08:00"),
        (WORK, "2026-12-04 20:00", "2026-12-07 08:00"),  # over the weekend
        ({**WORK, "holidays": ["2026-12-02"]}, "2026-12-01 18:00", "2026-12-03 08:00"),
        ({**WORK, "not_after": "2026-12-02 08:00"}, "2026-12-01 18:00", NEVER),
        ({**WORK, "not_before": "2026-12-05 10:00"}, "2026-12-01 18:00", "2026-12-07 08:00"),
        ({**PARIS, "hours": "18:00-24:00"}, "2026-12-01 22:59", None),
        ({**PARIS, "hours": "Sat-Mon 9-10"}, "2026-12-01 12:00", "2026-12-05 08:00"),
        # clocks skip 02:00 to 03:00 on 2027-03-28: hours begin with the skip, or not at all
        ({**PARIS, "hours": "02:30-04:00"}, "2027-03-28 00:00", "2027-03-28 01:30"),
        ({**PARIS, "hours": "Sun 02:00-02:30"}, "2027-03-27 12:00", "2027-03-28 01:00"),
        # and show 02:00 to 03:00 twice on 2026-10-25: hours begin with the first
        ({**PARIS, "hours": "02:30-04:00"}, "2026-10-25 00:00", "2026-10-25 00:30"),
    ],
)
def test_when_may_invitations_go_out(rules: dict[str, Any], now: str, then: Any) -> None:
    """None: now. Otherwise the first moment at which they may."""
    wanted = at(then) if isinstance(then, str) else then
    assert may_send(Invites.model_validate(rules), at(now)) == wanted


@pytest.mark.parametrize(
    ("tried", "where"),
    [
        (0, Wave(1, 5, False)),
        (3, Wave(1, 2, False)),
        (5, Wave(2, 50, True)),
        (54, Wave(2, 1, False)),
        (55, Wave(3, None, True)),
        (90, Wave(3, None, False)),
    ],
)
def test_waves(tried: int, where: Wave) -> None:
    """Five, then fifty, then everybody else."""
    assert wave([5, 50], tried) == where
    assert wave([], tried) == Wave(1, None, False)


def test_the_rate_leaves_time_between_two_invitations() -> None:
    now = at("2026-12-01 12:00")
    assert next_by_rate(60, now, now) == now + timedelta(minutes=1)
    assert next_by_rate(60, now - timedelta(hours=1), now) == now
    assert next_by_rate(None, now, now) == next_by_rate(60, None, now) == now


@pytest.mark.parametrize(
    ("wall", "text"),
    [
        (datetime.fromisoformat("2026-12-01 09:00"), "Dec 1, 2026 9:00 am"),
        (datetime.fromisoformat("2026-12-14 18:05"), "Dec 14, 2026 6:05 pm"),
        (datetime.fromisoformat("2026-01-31 00:00"), "Jan 31, 2026 12:00 am"),
        (datetime.fromisoformat("2026-01-31 12:00"), "Jan 31, 2026 12:00 pm"),
        (None, ""),
    ],
)
def test_times_are_sent_as_the_service_writes_them(wall: datetime | None, text: str) -> None:
    """Interface 2."""
    assert as_sent(wall) == text


@pytest.mark.parametrize(
    ("read", "typed", "wanted"),
    [
        (timetable.moment, "2026-12-01", "…, without an offset"),
        (timetable.moment, "2026-12-01 09:00+01:00", "…, without an offset"),
        (timetable.moment, "2026-12-01 09:00:30", "a date and time such as …"),
        (timetable.moment, "2026-02-30 09:00", "…, without an offset"),
        (timetable.span, "0 days", "a span of time, …"),
        (timetable.span, "2 fortnights", "a span of time, …"),
        (timetable.hours, "Mon-Fri", "days and times of the clock, …"),
        (timetable.hours, "Mo-Fr 9-18", "days and times of the clock, …"),
        (timetable.hours, "Mon to Fri 9-18", "days and times of the clock, …"),
        (timetable.hours, "18:00-09:00", "an end after the start, …"),
        (timetable.hours, "09:00-25:00", "an end after the start, …"),
        (timetable.cron, "0 9 31 2 *", "a cron line of five fields, …"),
        (timetable.cron, "@daily", "a cron line of five fields, …"),
        (timetable.cron, "0 0 9 * * *", "a cron line of five fields, …"),
        (timetable.cron, "0 9 LW * *", "a cron line of five fields, …"),
        (timetable.timezone, "paris", "a timezone such as Europe/Paris"),
    ],
)
def test_what_cannot_be_read_says_what_was_wanted(
    read: Callable[[str], object], typed: str, wanted: str
) -> None:
    with pytest.raises(ValueError) as refused:
        read(typed)
    begin, rest, end = wanted.partition("…")
    assert str(refused.value).startswith(begin)
    assert str(refused.value).endswith(end)
    assert rest or str(refused.value) == wanted


def test_a_moment_is_shown_with_the_zone_whose_clocks_count() -> None:
    shown = timetable.on_the_wall(at("2026-12-01 08:00"), "Europe/Paris")
    assert shown == "2026-12-01 09:00 (Europe/Paris)"
