"""When a schedule is due: the times at which Prefect starts a campaign's run on its own."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from config.timetable.moments import on_the_wall
from config.timetable.spans import in_words as span_in_words

SHOWN = 3
SINCE = (2024, 1, 1)  # `every` is counted from midnight of this day (flows/serving/deployments.py)


def times(
    cron: str | None, every: timedelta | None, timezone: str | None, after: datetime
) -> Iterator[datetime]:
    """The times, as aware moments, beginning with the first one after `after` (aware); either
    `cron` or `every` is given.
    """
    zone = ZoneInfo(timezone or "UTC")
    if every is None:
        from cronsim import CronSim  # noqa: PLC0415 - few definitions carry a schedule

        yield from CronSim(cron or "", after.astimezone(zone))
        return
    begun = datetime(*SINCE, tzinfo=zone).astimezone(UTC)
    at = begun + every * ((after - begun) // every)
    days, rest = timedelta(every.days), every - timedelta(every.days)
    while True:
        if days:  # by the calendar: at the same hour, even after the clocks change
            at = (at.astimezone(zone) + days).astimezone(UTC)
        at += rest
        if at > after:
            yield at


def in_words(
    cron: str | None, every: timedelta | None, timezone: str | None, after: datetime
) -> Iterator[tuple[str, str]]:
    """Write the schedule and its next times, each line with its heading."""
    zone = timezone or "UTC"
    line = cron if every is None else f"every {span_in_words(every)}"
    yield "schedule", f"{line} ({zone}), while campaign up, serve or a worker is running"
    walls = [on_the_wall(at, zone) for at in islice(times(cron, every, zone, after), SHOWN)]
    yield "", f"next {', '.join(f'{wall:%Y-%m-%d %H:%M}' for wall in walls)}"
