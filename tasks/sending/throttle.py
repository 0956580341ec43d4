"""How fast requests may be sent to a service that asked for a pause. Pure: the clock is given.

A service that answers 429 names no rate, so the rate is found. After the pause one request goes
alone; with each answer that follows one more may be on the wire. Between two departures lies a gap
that doubles with each pause and shrinks with each answer. Moments are seconds of one clock.
"""

from dataclasses import dataclass
from math import inf

LONGEST = 600.0  # seconds of a pause, however often it was asked for
FIRST_GAP = 0.125
LEAST_GAP = 0.005  # a smaller one is none
SHRINKS = 0.98
QUIET = 1.0  # seconds without a departure before somebody's last chance
LONG_QUIET = 60.0  # the same once a pause was asked for: many services count by the minute


@dataclass(slots=True)
class Throttle:
    """`until` is when a pause ends, `pause` its length. `abreast` requests may be on the wire,
    where `out` are now; `gap` seconds lie between two departures."""

    until: float = 0.0
    pause: float = 0.0
    in_a_row: int = 0  # pauses with no other answer between them
    abreast: float = inf
    gap: float = 0.0
    out: int = 0
    left: float = -inf

    def paused(self, asked: float, at: float) -> None:
        """Take an answer that asks for a pause of so many seconds.

        Those of requests that were on the wire together are one; the next in a row is twice as
        long, at least.
        """
        if at < self.until:
            self.pause = max(self.pause, asked)
            self.until = max(self.until, at + asked)
        else:
            self.pause = min(max(asked, 2 * self.pause if self.in_a_row else 0.0), LONGEST)
            self.until = at + self.pause
            if not self.in_a_row:  # right after a pause it says nothing about the distance
                self.gap = min(max(2 * self.gap, FIRST_GAP), LONGEST)
            self.in_a_row += 1
        self.abreast = 1

    def held_until(self, until: float) -> None:
        """Take a pause that another run was asked for."""
        self.until = max(self.until, until)
        self.abreast = 1

    def answered(self, at: float) -> None:
        """Take any other answer; to a request from before the pause it says nothing about after."""
        if at < self.until:
            return
        self.in_a_row = 0
        self.abreast += 1
        self.gap = self.gap * SHRINKS if self.gap > LEAST_GAP else 0.0

    def wait(self, at: float, *, alone: bool = False) -> float:
        """For how many seconds nothing may leave still; inf: until a request came back.

        `alone`: with nobody else on the wire, and after a longer silence than the last pause was.
        """
        if self.out >= (1 if alone else self.abreast):
            return inf
        silence = self.gap
        if alone:
            silence = max(self.gap, 2 * self.pause, LONG_QUIET) if self.until else QUIET
        return max(self.until - at, self.left + silence - at, 0.0)

    def leaves(self, at: float) -> None:
        """Count a request that leaves now."""
        self.out += 1
        self.left = at

    def back(self) -> None:
        """Count one that came back, or did not leave."""
        self.out -= 1
