"""The times that `check` and `plan` show are those at which Prefect begins the runs."""

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest
from prefect.server.schemas.schedules import CronSchedule, IntervalSchedule

from config.timetable.schedule import Schedule
from flows.serving.deployments import every as so_often

# After changes of the clocks as well; which run falls into the hour itself is left out.
MOMENTS = [
    datetime(2026, 11, 22, 12, 7, 3, tzinfo=UTC),
    datetime(2026, 3, 29, 20, tzinfo=UTC),
    datetime(2026, 10, 25, 20, tzinfo=UTC),
    datetime(2026, 11, 1, 20, tzinfo=UTC),
]
A_MOMENT = timedelta(seconds=1)


@pytest.mark.parametrize("zone", ["UTC", "Europe/Paris", "America/New_York"])
@pytest.mark.parametrize("after", MOMENTS)
@pytest.mark.parametrize(
    "when",
    [
        *("0 9 * * 1-5", "*/20 * * * *", "0 0 1 * *", "0 9 1 * 1", "59 23 * * sun"),
        *(timedelta(minutes=7), timedelta(hours=1), timedelta(days=1), timedelta(days=7)),
    ],
)
def test_prefect_begins_at_these_times(zone: str, after: datetime, when: str | timedelta) -> None:
    """By its own reckoning, for cron lines and spans."""
    if isinstance(when, str):
        schedule = Schedule(cron=when, timezone=zone)
        theirs: CronSchedule | IntervalSchedule = CronSchedule(cron=when, timezone=zone)
    else:
        schedule = Schedule(every=when, timezone=zone)
        kept = so_often(when, zone)
        theirs = IntervalSchedule(interval=when, timezone=zone, anchor_date=kept.anchor_date)
    found = asyncio.run(theirs.get_dates(n=5, start=after + A_MOMENT))
    own = list(islice(schedule.times(after), 5))
    assert [at.astimezone(UTC) for at in own] == [at.astimezone(UTC) for at in found]


def test_the_next_three_times_are_in_the_zone_of_the_schedule() -> None:
    """Which is named, and without which it is UTC."""
    after = datetime(2026, 12, 1, 9, tzinfo=UTC)
    when = Schedule(cron="0 9 * * *", timezone="Asia/Tokyo")
    (_, line), (_, following) = when.in_words(after)
    assert line.startswith("0 9 * * * (Asia/Tokyo), ")
    assert following.endswith(" 2026-12-02 09:00, 2026-12-03 09:00, 2026-12-04 09:00")
    (_, line), (_, following) = Schedule(every=timedelta(hours=12)).in_words(after)
    assert line.startswith("every 12 hours (UTC), ")
    assert following.endswith(" 2026-12-01 12:00, 2026-12-02 00:00, 2026-12-02 12:00")
