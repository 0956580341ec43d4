"""How far a run has come: a bar on a terminal, a plain line now and then elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

from data.campaigns.remaining import Remaining
from data.store.states import Ending, Operation
from flows.cli.run.one_run import OneRun
from flows.run.ending import Finish
from flows.run.observer import RunObserver
from flows.words.speech import goes_on_unread, printable, say
from tasks.sending.sender import Sent

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID


STARTING = "Starting Prefect …"
BESIDE = (
    "another run of this campaign is in progress; waiting for it to end (Ctrl-C to stop waiting)"
)
LINES = 10  # plain lines on the way through a step
LEAST = 25  # people between two of them


def paused(until: datetime) -> str:
    """Say when sending goes on, by the clock that `until` comes with."""
    clock = getattr(until.tzinfo, "key", until.tzname())
    return f"the service asked for a pause: sending continues at {until:%H:%M:%S} ({clock})"


Progress = Callable[[OneRun], RunObserver]
"""Makes an observer for one of the runs of a command, which also keeps how it ended."""


@contextmanager
def progress(*, starts: bool) -> Iterator[Progress]:
    """A bar where people look at a terminal, lines where the output goes to a file or a pipe.

    `starts`: Prefect starts first, which takes some seconds.
    """
    if not sys.stderr.isatty():
        if starts:
            say(STARTING)
        yield LineObserver
        return
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bar

    count = TextColumn("{task.fields[count]}")
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), count)
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        start = bar.add_task(STARTING, total=None, count="", visible=starts)
        yield lambda run: _BarObserver(run, bar, start)


class _Keeping(RunObserver):
    """Keeps how a run ended where the command looks for it, and how far it has come.

    `_tell` shows a line while the run goes on.
    """

    def __init__(self, run: OneRun) -> None:
        self._run = run
        self.key = run.key
        self._left = Remaining()
        self._done = {Operation.ADD: 0, Operation.INVITE: 0}

    def on_reading(self, digest: str, left: Remaining) -> None:
        self._run.hold_to_it(digest, left)

    def on_plan(self, left: Remaining) -> None:
        self._left = left

    def _count(self, sent: Sent) -> tuple[int, int, int]:
        """How many people have this step done: before this request, now, and at the end."""
        before = self._done.get(sent.operation, 0)
        self._done[sent.operation] = now = before + sent.brought
        total = self._left.add if sent.operation is Operation.ADD else self._left.invite
        return before, now, total

    def _tell(self, line: str) -> None:
        say(f"{self.key}: {line}")

    def on_warning(self, doubt: str) -> None:
        self._tell(f"warning: {doubt}")

    def on_waiting(self) -> None:
        self._tell(BESIDE)

    def on_pause(self, until: datetime) -> None:
        self._tell(paused(until))

    def on_words(self, words: str) -> None:
        self._run.wrote = words

    def on_end(self, end: Finish) -> None:
        self._run.end = end

    def on_failure(self, error: Exception) -> None:
        self._run.error = error


class LineObserver(_Keeping):
    """Plain lines, on the stream that people read."""

    def on_plan(self, left: Remaining) -> None:
        super().on_plan(left)
        if not left.nothing:
            self._tell(f"{left.add:,} to add, {left.invite:,} to invite")

    def on_end(self, end: Finish) -> None:
        super().on_end(end)
        # While another run is at work, nothing is left for this one, but much is being sent.
        if self._left.nothing and end.ending is not Ending.STOPPED:
            self._tell("nothing to send")

    def on_sent(self, sent: Sent) -> None:
        if sent.operation not in (Operation.ADD, Operation.INVITE):
            return
        before, now, total = self._count(sent)
        apart = max(LEAST, total // LINES)
        if now != before and (before // apart != now // apart or now == total):
            word = "added" if sent.operation is Operation.ADD else "invited"
            self._tell(f"{now:,} of {total:,} {word}")


class _BarObserver(_Keeping):
    def __init__(self, run: OneRun, bar: "Bar", start: "TaskID") -> None:
        super().__init__(run)
        self._bar = bar
        self._start = start
        self._bars: dict[Operation, TaskID] = {}

    def on_plan(self, left: Remaining) -> None:
        super().on_plan(left)
        self._bar.update(self._start, visible=False)
        for operation, word, total in (
            (Operation.ADD, "add", left.add),
            (Operation.INVITE, "invite", left.invite),
        ):
            if total:
                self._bars[operation] = self._bar.add_task(
                    f"{self.key}: {word}", total=total, count=f"0 of {total:,}"
                )

    def _tell(self, line: str) -> None:
        # Through the bar, which draws itself anew below it.
        console = self._bar.console
        try:
            console.print(printable(f"{self.key}: {line}"), markup=False)
        except OSError:  # the terminal is closed: that may not tear the others in flight away
            if not goes_on_unread(console.file):
                raise

    def on_sent(self, sent: Sent) -> None:
        shown = self._bars.get(sent.operation)
        if shown is None:
            return
        _, done, total = self._count(sent)
        self._bar.update(shown, completed=done, count=f"{done:,} of {total:,}")
