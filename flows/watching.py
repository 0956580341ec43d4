"""Who watches a run in this process: a progress bar, or nobody.

A flow's parameters are stored by Prefect, so a watcher cannot be one of them.
"""

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from data.remaining import Remaining
from tasks.sending import Sent


class Watcher(Protocol):
    """Hears what a run is going to do, and of every request it made."""

    def expects(self, left: Remaining) -> None: ...

    def hears(self, sent: Sent) -> None: ...


@dataclass(frozen=True, slots=True)
class Nobody:
    """Watches nothing."""

    def expects(self, left: Remaining) -> None:
        return None

    def hears(self, sent: Sent) -> None:
        return None


watcher: ContextVar[Watcher] = ContextVar("watcher", default=Nobody())  # noqa: B039 - it has no state
