"""Why people wait, in words."""

from datetime import UTC, datetime

from config.timetable.timetable import Timetable
from data.campaigns.whose_turn import Turn, Wait
from tasks.plan.timing import later


def test_whoever_waits_for_the_minute_that_is_named_waits_long_enough() -> None:
    """The next wave may go fifteen seconds after it is half past."""
    at = datetime(2026, 12, 1, 16, 30, 15, tzinfo=UTC)
    waits = later(Turn(wait=Wait.BETWEEN, again=at), Timetable(), "UTC")
    assert waits is not None and waits.again == at
    assert " from 2026-12-01 16:31 (UTC) " in waits.reason
