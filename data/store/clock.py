"""Which clock counts.

What a run did and saw is dated by the machine it ran on, as are the answers it got. Whether a run
on another machine still lives is judged by the database's clock alone, when it shows a sign of
life and when others look for one: two machines whose clocks differ by minutes would else take each
other for dead. How old a claim is, a run reads from clocks that go on while its machine sleeps.
"""

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Connection


def now() -> datetime:
    """The time of everything written down here: UTC, aware."""
    return datetime.now(UTC)


def shared_now(connection: "Connection") -> datetime:
    """The time of a server's ledger; of one in a file it is the machine's own."""
    if connection.dialect.name != "postgresql":
        return now()
    from sqlalchemy import func, select  # noqa: PLC0415 - states are for commands that start at once

    there: datetime | None = connection.scalar(select(func.clock_timestamp()))
    return there or now()


# Linux counts sleep in the first one, macOS in the second, where time.monotonic() does not.
_COUNTS_SLEEP: int | None = getattr(
    time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC_RAW", None)
)


class Moment:
    """Now, to ask later how long ago that was, however long the machine slept in between."""

    __slots__ = ("_then",)

    def __init__(self) -> None:
        self._then = _clocks()

    def age(self) -> float:
        """Give the seconds since then, by whichever clock saw more of them pass."""
        return max(now - then for now, then in zip(_clocks(), self._then, strict=True))


def _clocks() -> tuple[float, float]:
    """Read the clock that counts sleep, and the wall clock: a paused machine may learn the time
    from its network only."""
    awake_or_asleep = (
        time.monotonic() if _COUNTS_SLEEP is None else time.clock_gettime(_COUNTS_SLEEP)
    )
    return awake_or_asleep, time.time()
