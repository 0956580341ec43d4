"""A first Ctrl-C or SIGTERM ends sending gently: what is in flight still gets its answer.

Campaigns may run side by side in one process: a signal is meant for all of them. On a terminal,
Ctrl-C reaches every process of a command, and the one that serves runs passes it on as well: what
follows within `SAME` seconds is one and the same wish.
"""

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

INTERRUPTED = "The run was interrupted."
SAME = 1.0


class Stoppable(Protocol):
    """What can be told to come to an end, and why."""

    def stop(self, reason: str) -> None: ...


_under_way: list[Stoppable] = []
_listening: list[Callable[[], None]] = []  # what gives the signals back, while we listen


@contextmanager
def stopping_on_signals(gate: Stoppable) -> Iterator[None]:
    """Turn the first signal into a stop of `gate`; a second one acts as it always does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _under_way.append(gate)
    if not _listening:
        _listening.append(_listen())
    try:
        yield
    finally:
        _under_way.remove(gate)
        if not _under_way:
            _listening.pop()()


def _listen() -> Callable[[], None]:
    """Stop everything under way at a signal; answers what gives the signals back."""
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    waiting: list[asyncio.TimerHandle] = []

    def give_back() -> None:
        for timer in waiting:
            timer.cancel()
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)

    def stop() -> None:
        for one in _under_way:
            one.stop(INTERRUPTED)
        if not waiting:
            waiting.append(loop.call_later(SAME, give_back))

    for number in before:
        loop.add_signal_handler(number, stop)
    return give_back
