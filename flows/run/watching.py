"""Who watches a run in this process: a progress bar, or nobody.

A flow's parameters are stored by Prefect, so a watcher cannot be one of them.
"""

from contextvars import ContextVar
from datetime import datetime
from pathlib import Path

from data.campaigns.remaining import Remaining
from flows.run.ending import Finish
from tasks.sending.sender import Sent


class Watcher:
    """Hears what a run is going to do, every request it made, and how it ended. Ignores it all."""

    def of(self, file: Path, key: str | None) -> "Watcher":
        """Who watches one campaign of several; `key` is None where its file cannot be read."""
        return self

    def agrees(self, digest: str, left: Remaining) -> None:
        """Raise CampaignError where this is not what a person was asked about."""

    def expects(self, left: Remaining) -> None:
        """These calls are left to make."""

    def warns(self, doubt: str) -> None:
        """A person should look at this before anything is sent."""

    def waits(self) -> None:
        """Nothing is left to send but what another run is sending, which is waited for."""

    def pauses(self, until: datetime) -> None:
        """The service asked for a pause; nothing is sent until then, by the campaign's clock."""

    def hears(self, sent: Sent) -> None:
        """One request was made, and this is what it proved."""

    def wrote(self, words: str) -> None:
        """The service gave no token or no list of problems, and wrote this instead."""

    def ended(self, end: Finish) -> None:
        """The run came to an end that the ledger knows."""

    def failed(self, error: Exception) -> None:
        """The run could not begin, or broke off."""


# The run in Prefect that begins this one among others, by its id: who stops it means them all.
whole: ContextVar[str | None] = ContextVar("whole", default=None)
watcher: ContextVar[Watcher] = ContextVar("watcher", default=Watcher())  # noqa: B039 - no state
