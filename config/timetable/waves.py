"""Growing waves: a few people first, then more, and what stops them if something goes wrong."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

WANTED = "sizes of waves, such as [5, 50, rest]"
SHARE_WANTED = "a share such as 2%"
REST = "rest"

_SHARE = re.compile(r"(\d{1,3}(?:\.\d{1,4})?)\s*%", re.ASCII)


@dataclass(frozen=True, slots=True)
class HoldOn:
    """When to pause a campaign: at this share of refused invitations, or this many unsure ones.

    `refused` is between 0 and 1. None: does not count.
    """

    refused: float | None = None
    unsure: int | None = None

    def reached(self, tried: int, refused: int, unsure: int) -> str | None:
        """Say why to pause a campaign with these numbers of invitations; None: no reason."""
        if self.unsure is not None and unsure >= self.unsure:
            return f"{unsure} of {tried} invitations unsure (hold_on unsure: {self.unsure})"
        if self.refused is not None and refused and refused >= self.refused * tried:
            share = in_percent(self.refused)
            return f"{refused} of {tried} invitations refused (hold_on refused: {share})"
        return None


@dataclass(frozen=True, slots=True)
class Waves:
    """The sizes of the waves, after which the rest follows; `between` is the time from one to the
    next.
    """

    sizes: tuple[int, ...]
    between: timedelta = timedelta(0)

    def room(self, tried: int) -> tuple[int, int | None, bool]:
        """Where a campaign stands after so many people were tried.

        Returns the wave's number from 1, how many people it still takes (None: all), and whether it
        has not begun yet and follows another wave.
        """
        end = 0
        for number, size in enumerate(self.sizes, start=1):
            begin, end = end, end + size
            if tried < end:
                return number, end - tried, tried == begin and number > 1
        return len(self.sizes) + 1, None, tried == end and bool(self.sizes)


def sizes(typed: Sequence[object]) -> tuple[int, ...]:
    """Read `[5, 50, rest]` as (5, 50): whatever comes last, the rest follows. Raises ValueError."""
    parts = list(typed)
    if parts and isinstance(parts[-1], str) and parts[-1].strip().casefold() == REST:
        parts.pop()
    numbers = [part for part in parts if isinstance(part, int) and not isinstance(part, bool)]
    if len(numbers) != len(parts) or not numbers or min(numbers) < 1:
        raise ValueError(f"{WANTED}, whole numbers above 0")
    return tuple(numbers)


def share(typed: str) -> float:
    """Read `2%` as 0.02. Raises ValueError."""
    written = _SHARE.fullmatch(typed.strip())
    if written is None or not 0 < float(written[1]) <= 100:
        raise ValueError(SHARE_WANTED)
    return float(written[1]) / 100


def in_percent(fraction: float) -> str:
    """Write a share for people: 0.02 is `2%`."""
    return f"{fraction * 100:.4g}%"
