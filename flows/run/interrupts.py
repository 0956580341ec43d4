"""A first Ctrl-C, SIGTERM or SIGHUP ends sending gently: what is in flight still gets its answer.
So does a closed terminal or pipe, where there is nobody left to read.

Campaigns may run side by side in one process: a signal is meant for all of them. On a terminal,
Ctrl-C reaches every process of a command, and the one that serves runs passes it on as well: what
follows within `SAME` seconds is one and the same wish.
"""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Protocol

INTERRUPTED = "The run was interrupted."
AT_ONCE = "Interrupted. What was recorded is safe; the same command continues from there."
SAME = 1.0
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stoppable(Protocol):
    """What can be told to come to an end, and why."""

    def stop(self, reason: str) -> None: ...


class Stop:
    """Keeps that a signal came, and why, for what looks at it between its steps."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self._came = asyncio.Event()

    def stop(self, reason: str) -> None:
        self.reason = reason
        self._came.set()

    async def or_after(self, seconds: float) -> None:
        """Wait so long, or until a signal comes."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._came.wait()


class _Ears:
    """Hears the signals for everything under way in this process."""

    def __init__(self) -> None:
        self._under_way: list[Stoppable] = []
        self._heard = False
        self._loop = asyncio.get_running_loop()
        before = {number: signal.getsignal(number) for number in SIGNALS}
        if before[signal.SIGHUP] is signal.SIG_IGN:
            del before[signal.SIGHUP]  # nohup: it is meant to outlive its terminal
        self._before = before
        self._ends: asyncio.TimerHandle | None = None
        self._ended = False

    def listen(self) -> None:
        """Take the signals, unless the first of them has had its effect."""
        if not self._ended:
            for number in self._before:
                self._loop.add_signal_handler(number, self._hear)
            # What serves runs lets them start with it blocked (flows/serving/serving.py).
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})

    def end(self) -> None:
        """Give the signals back to who had them before."""
        self._ended = True
        if self._ends is not None:
            self._ends.cancel()
        for number, handler in self._before.items():
            self._loop.remove_signal_handler(number)
            signal.signal(number, handler)

    def begins(self, work: Stoppable) -> None:
        """Take the signals for it as well; one that came earlier stops it at once."""
        self._under_way.append(work)
        if self._heard:
            work.stop(INTERRUPTED)
        self.listen()

    def is_over(self, work: Stoppable) -> bool:
        """Forget it; returns whether nothing else is under way."""
        self._under_way.remove(work)
        return not self._under_way

    def stop(self) -> None:
        self._heard = True
        for work in self._under_way:
            work.stop(INTERRUPTED)

    def _hear(self) -> None:
        self.stop()
        if self._ends is None:
            self._ends = self._loop.call_later(SAME, self._end_and_hear_once_more)

    def _end_and_hear_once_more(self) -> None:
        """A second Ctrl-C ends what is under way at once; a third also ends its clean-up."""
        self.end()
        before = self._before[signal.SIGINT]

        def second(number: int, frame: FrameType | None) -> None:
            signal.signal(signal.SIGINT, _at_once)
            if callable(before):
                before(number, frame)

        if callable(before):
            signal.signal(signal.SIGINT, second)


def _at_once(*_: object) -> None:
    """End without any more ado: Python would show a stack trace of wherever it is."""
    try:
        os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, f"{AT_ONCE}\n".encode())
    finally:
        os._exit(130)


_ears: list[_Ears] = []  # at most one


@contextmanager
def stopping_on_signals(gate: Stoppable) -> Iterator[None]:
    """Turn the first signal into a stop of `gate`; a second one acts as it always does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    if not _ears:
        _ears.append(_Ears())
    ears = _ears[0]
    ears.begins(gate)
    try:
        yield
    finally:
        if ears.is_over(gate):
            _ears.remove(ears)
            ears.end()


def nobody_reads() -> bool:
    """Stop everything under way, as a signal does; False where nothing is."""
    for ears in _ears:
        ears.stop()
    return bool(_ears)


def as_ctrl_c(number: int, frame: FrameType | None) -> None:
    """Handle another signal as Ctrl-C at this moment: amid an event loop it cancels what runs
    there. An error raised out of nowhere could leave a lock of its threads taken, and the loop
    would wait for these for ever.
    """
    ctrl_c = signal.getsignal(signal.SIGINT)
    (ctrl_c if callable(ctrl_c) else signal.default_int_handler)(number, frame)


def listen_again() -> None:
    """Take the signals back: Prefect takes them at the begin of a run, for itself alone."""
    if _ears and threading.current_thread() is threading.main_thread():
        _ears[0].listen()
