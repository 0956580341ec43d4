"""When invitations may go out: from one moment until another, no matter who starts a run."""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from zoneinfo import ZoneInfo


class Phase(StrEnum):
    """Where a moment lies relative to the window of a campaign."""

    EARLY = "early"  # everything may be prepared; invitations wait
    OPEN = "open"
    LATE = "late"  # nothing is sent any more


@dataclass(frozen=True, slots=True)
class Window:
    """`not_before` and `not_after` are moments in UTC, both included; None: open on that side.

    `timezone` is the IANA name of the zone in which people write and read them.
    """

    not_before: datetime | None
    not_after: datetime | None
    timezone: str

    @classmethod
    def of(
        cls, not_before: datetime | None, not_after: datetime | None, timezone: str
    ) -> "Window | None":
        """From naive wall times that each exist once in their zone; None if both are None."""
        if not_before is None and not_after is None:
            return None
        return cls(_moment(not_before, timezone), _moment(not_after, timezone), timezone)

    def phase(self, at: datetime) -> Phase:
        """Say what may be sent at a moment (aware, in any zone)."""
        if self.not_after is not None and at > self.not_after:
            return Phase.LATE
        if self.not_before is not None and at < self.not_before:
            return Phase.EARLY
        return Phase.OPEN

    def __str__(self) -> str:
        """Write it for people: `from 2026-12-01 09:00 until 2026-12-04 18:00 (Europe/Paris)`."""
        begin = [f"from {self.wall(self.not_before)}"] if self.not_before else []
        end = [f"until {self.wall(self.not_after)}"] if self.not_after else []
        return f"{' '.join(begin + end)} ({self.timezone})"

    def wall(self, moment: datetime) -> str:
        """Write a moment as the clocks of the window's zone show it."""
        return f"{moment.astimezone(ZoneInfo(self.timezone)):%Y-%m-%d %H:%M}"


def _moment(wall: datetime | None, timezone: str) -> datetime | None:
    # In UTC: two times of one zone would be compared by their clocks, not by their moments.
    return wall.replace(tzinfo=ZoneInfo(timezone)).astimezone(UTC) if wall else None
