"""The requests of one operation that are still to be sent, in order; refused ones may be split.

Pure: nothing here asks the ledger or the service.
"""

from collections import deque
from collections.abc import Iterable, Sequence

StepIds = tuple[int, ...]
IN_A_ROW = 3  # unsure requests, or people refused alike, after which a run ends


class Backlog:
    """The requests that wait, each a tuple of steps."""

    def __init__(self, requests: Iterable[Sequence[int]]) -> None:
        self._waiting = deque(tuple(each) for each in requests)
        self._tries: dict[StepIds, int] = {}

    def take(self) -> StepIds | None:
        """Take the next request; None if none is left."""
        return self._waiting.popleft() if self._waiting else None

    def first(self, steps: StepIds) -> None:
        """Put a request back at the front of the line, to be sent next."""
        self._waiting.appendleft(steps)

    def last(self, steps: StepIds) -> None:
        """Put a request at the end of the line, so that others are tried before it."""
        self._waiting.append(steps)

    def tried(self, steps: StepIds) -> int:
        """Count a try of this request. Returns the number of tries."""
        self._tries[steps] = self._tries.get(steps, 0) + 1
        return self._tries[steps]

    def split(self, steps: StepIds) -> None:
        """Replace a request that was refused as a whole by its halves, to find the bad row."""
        middle = len(steps) // 2
        self._waiting.extendleft((steps[middle:], steps[:middle]))

    def probe_next(self) -> None:
        """Take one person from the middle of the largest request, and send them next, alone.

        Bad rows are often neighbours, so this person shows sooner whether everybody is refused.
        """
        if not self._waiting:
            return
        at = max(range(len(self._waiting)), key=lambda i: len(self._waiting[i]))
        steps = self._waiting[at]
        del self._waiting[at]
        middle = len(steps) // 2
        for piece in (steps[middle + 1 :], steps[:middle]):
            if piece:
                self._waiting.insert(at, piece)
        self._waiting.appendleft((steps[middle],))
