"""Which clock counts.

A run dates what it did, and the answers it got, by its machine's clock. Signs of life are dated and
judged by the database's clock alone: otherwise two machines whose clocks differ by minutes would
count each other as dead. For the age of a claim, a run uses clocks that go on while its machine
sleeps.
"""

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Connection


def now() -> datetime:
    """The time for everything recorded here: UTC, aware."""
    return datetime.now(UTC)


def shared_now(connection: "Connection") -> datetime:
    """The database server's time; for a ledger in a file, this machine's."""
    if connection.dialect.name != "postgresql":
        return now()
    from sqlalchemy import func, select  # noqa: PLC0415 - states are for commands that start at once

    there: datetime | None = connection.scalar(select(func.clock_timestamp()))
    return there or now()


# On Linux the first clock counts sleep, on macOS the second; time.monotonic() does not.
_COUNTS_SLEEP: int | None = getattr(
    time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC_RAW", None)
)


class Moment:
    """Now, so that its age can be asked later, however long the machine slept in between."""

    __slots__ = ("_then",)

    def __init__(self) -> None:
        self._then = _clocks()

    def age(self) -> float:
        """Return the seconds since then, by the clock on which more time has passed."""
        return max(now - then for now, then in zip(_clocks(), self._then, strict=True))


def _clocks() -> tuple[float, float]:
    """Read the clock that counts sleep, and the wall clock: a paused machine may learn only from
    the network how much time passed.
    """
    awake_or_asleep = (
        time.monotonic() if _COUNTS_SLEEP is None else time.clock_gettime(_COUNTS_SLEEP)
    )
    return awake_or_asleep, time.time()
