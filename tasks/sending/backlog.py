"""What is still to be sent of one operation: whose request comes next, and what a refusal splits.

Pure: nothing here asks the ledger or the service.
"""

from collections import deque
from collections.abc import Iterable, Sequence

from data.sending.outcomes import Outcome

StepIds = tuple[int, ...]
IN_A_ROW = 3  # unsure requests, or people refused alike, that end a run


class Backlog:
    """The requests that wait, each a tuple of steps."""

    def __init__(self, requests: Iterable[Sequence[int]]) -> None:
        self._waiting = deque(tuple(each) for each in requests)
        self._tries: dict[StepIds, int] = {}

    def take(self) -> StepIds | None:
        """The next request; None: there is none."""
        return self._waiting.popleft() if self._waiting else None

    def first(self, steps: StepIds) -> None:
        """Send this next: nothing of it was sent."""
        self._waiting.appendleft(steps)

    def last(self, steps: StepIds) -> None:
        """Send this once the others were: nobody is refused more often than necessary."""
        self._waiting.append(steps)

    def tried(self, steps: StepIds) -> int:
        """Count a try of this request, and say how many that makes."""
        self._tries[steps] = self._tries.get(steps, 0) + 1
        return self._tries[steps]

    def split(self, steps: StepIds) -> None:
        """Send the halves of a request that was refused as a whole: somebody in it is to blame."""
        middle = len(steps) // 2
        self._waiting.extendleft((steps[middle:], steps[:middle]))

    def far_from_here(self) -> None:
        """Send one person from the middle of the largest request alone, next.

        Bad rows are often neighbours; a refusal of everybody shows after few requests.
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


class RefusedAlike:
    """People refused alike, one after another, while nobody got through.

    After a few the cause is not in their rows: sending stops, and they wait like everybody else.
    """

    def __init__(self) -> None:
        self._alike: list[Outcome] = []

    def heard(self, outcome: Outcome) -> None:
        """Count one person who was refused alone."""
        if self._alike and self._alike[-1].why != outcome.why:
            self._alike.clear()
        self._alike.append(outcome)

    def somebody_got_through(self) -> None:
        self._alike.clear()

    def everybody(self) -> Sequence[Outcome]:
        """Those whose row is not to blame; none: it still may be."""
        return tuple(self._alike) if len(self._alike) >= IN_A_ROW else ()
