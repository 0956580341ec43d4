"""How often a call that changes nothing is tried again. Calls that change something never are."""

import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass

import stamina

from tasks.service.evidence import GLUED, Exchange
from tasks.service.verdict import pause_of

# A log line for each try would drown the messages for the operator, which report how it ends.
logging.getLogger("stamina").setLevel(logging.ERROR)

# Statuses by which a server says that it is busy, late or broken, not that the request is wrong.
_PASSING = frozenset({408, 421, 425, 429, 500, 502, 503, 504})


class TryAgain(Exception):
    """A harmless call failed, perhaps only for now. `after`: seconds the service asked for."""

    def __init__(self, why: str, after: float | None = None) -> None:
        self.why = why
        self.after = after
        super().__init__(why)


@dataclass(frozen=True, slots=True)
class Patience:
    """Tries with growing waits. `first`, `most` (of one wait) and `in_all` are in seconds."""

    attempts: int = 5
    first: float = 0.25
    most: float = 5.0
    in_all: float = 45.0

    def tries(self) -> AsyncIterator[stamina.Attempt]:
        """Iterate over tries: a TryAgain in one leads to the next, and is raised on in the last."""
        return stamina.retry_context(
            on=_wait,
            attempts=self.attempts,
            timeout=self.in_all,
            wait_initial=self.first,
            wait_max=self.most,
            wait_jitter=self.first,
        ).__aiter__()

    def unless_passing(self, seen: Exchange) -> Exchange:
        """Return an answer that is final. Raises TryAgain for one that may be better next time."""
        if seen.status is None or seen.failure == GLUED:
            raise TryAgain(seen.failure or "no answer")
        if seen.status in _PASSING:
            asked = seen.retry_after
            after = pause_of(asked, least=self.first, most=self.most) if asked else None
            raise TryAgain(f"status {seen.status}", after)
        if 200 <= seen.status < 300 and seen.body is None:
            raise TryAgain(seen.failure or "the answer was cut off")
        return seen


def _wait(error: Exception) -> bool | float:
    if not isinstance(error, TryAgain):
        return False
    return True if error.after is None else error.after
