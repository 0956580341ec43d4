"""How fast requests may be sent to a service that asked for a pause. Pure: the time is given.

A service that answers 429 names no rate, so we have to find it. After the pause one request goes
alone; with each following answer, one more may be on the wire. The gap between two departures
doubles with each pause and shrinks with each answer. Moments are seconds of one clock.
"""

from dataclasses import dataclass
from math import inf

LONGEST = 600.0  # the longest pause in seconds, however often the service asks
FIRST_GAP = 0.125
LEAST_GAP = 0.005  # a smaller gap counts as none
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
        """Count an answer that asks for a pause of this many seconds.

        Pauses for requests that were on the wire together are one; the next in a row is at least
        twice as long.
        """
        if at < self.until:
            self.pause = max(self.pause, asked)
            self.until = max(self.until, at + asked)
        else:
            self.pause = min(max(asked, 2 * self.pause if self.in_a_row else 0.0), LONGEST)
            self.until = at + self.pause
            if not self.in_a_row:  # right after a pause an answer says nothing about the gap
                self.gap = min(max(2 * self.gap, FIRST_GAP), LONGEST)
            self.in_a_row += 1
        self.abreast = 1

    def held_until(self, until: float) -> None:
        """Count a pause that the service asked another run for."""
        self.until = max(self.until, until)
        self.abreast = 1

    def answered(self, at: float) -> None:
        """Count any other answer; an answer to a request from before the pause says nothing about
        afterwards.
        """
        if at < self.until:
            return
        self.in_a_row = 0
        self.abreast += 1
        self.gap = self.gap * SHRINKS if self.gap > LEAST_GAP else 0.0

    def wait(self, at: float, *, alone: bool = False) -> float:
        """How many more seconds nothing may leave; inf: until a request has come back.

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
