"""The progress of a long reading, for the code that shows it to a person."""

from collections.abc import Callable
from contextvars import ContextVar

# Called with the current activity ("reading", "checking") and the number of rows done so far.
Follower = Callable[[str, int], None]

follower: ContextVar[Follower | None] = ContextVar("follower", default=None)


def tell(doing: str, rows: int) -> None:
    if (follow := follower.get()) is not None:
        follow(doing, rows)
