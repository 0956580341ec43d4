"""Who watches a run in this process: a progress bar, Prefect's pages, a test, or nobody.

A flow's parameters are stored by Prefect, so an observer cannot be one of them.
"""

from contextvars import ContextVar
from datetime import datetime
from pathlib import Path

from data.campaigns.remaining import Remaining
from flows.run.ending import Finish
from tasks.plan.target import CampaignSource
from tasks.sending.sender import Sent


class RunObserver:
    """Hears what a run is going to do, every request it made, and how it ended. Ignores it all."""

    def of(self, file: Path, key: str | None) -> "RunObserver":
        """Who observes one campaign of several; `key` is None where its file cannot be read."""
        return self

    def on_start(self, key: str, zone: str | None) -> None:
        """This is the campaign, and the time zone of its people."""

    def on_reading(self, digest: str, left: Remaining) -> None:
        """Raise CampaignError where this is not what a person was asked about."""

    def on_warning(self, warning: str) -> None:
        """A person should look at this."""

    def on_doubtful(self, source: CampaignSource, places: int) -> None:
        """A person should look at so many places of a file. Whoever typed it has seen them."""

    def on_plan(self, left: Remaining) -> None:
        """These calls are left to make."""

    def on_waiting(self) -> None:
        """Nothing is left to send but what another run is sending, which is waited for."""

    def on_pause(self, until: datetime) -> None:
        """The service asked for a pause; nothing is sent until then, by the campaign's clock."""

    def on_sent(self, sent: Sent) -> None:
        """One request was made, and this is what it proved."""

    def on_words(self, words: str) -> None:
        """The service gave no token or no list of problems, and wrote this: for people alone."""

    def on_end(self, end: Finish) -> None:
        """The run came to an end that the ledger knows."""

    def on_failure(self, error: Exception) -> None:
        """The run could not begin, or broke off."""


class Observers(RunObserver):
    """Several observers of one run; each hears everything, in this order."""

    def __init__(self, *observers: RunObserver) -> None:
        self._all = observers

    def on_start(self, key: str, zone: str | None) -> None:
        for each in self._all:
            each.on_start(key, zone)

    def on_reading(self, digest: str, left: Remaining) -> None:
        for each in self._all:
            each.on_reading(digest, left)

    def on_warning(self, warning: str) -> None:
        for each in self._all:
            each.on_warning(warning)

    def on_doubtful(self, source: CampaignSource, places: int) -> None:
        for each in self._all:
            each.on_doubtful(source, places)

    def on_plan(self, left: Remaining) -> None:
        for each in self._all:
            each.on_plan(left)

    def on_waiting(self) -> None:
        for each in self._all:
            each.on_waiting()

    def on_pause(self, until: datetime) -> None:
        for each in self._all:
            each.on_pause(until)

    def on_sent(self, sent: Sent) -> None:
        for each in self._all:
            each.on_sent(sent)

    def on_words(self, words: str) -> None:
        for each in self._all:
            each.on_words(words)

    def on_end(self, end: Finish) -> None:
        for each in self._all:
            each.on_end(end)

    def on_failure(self, error: Exception) -> None:
        for each in self._all:
            each.on_failure(error)


# The id of the run in Prefect that started this one and others: to stop it stops them all.
whole: ContextVar[str | None] = ContextVar("whole", default=None)
observing: ContextVar[RunObserver] = ContextVar("observing", default=RunObserver())  # noqa: B039
