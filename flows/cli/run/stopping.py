"""How a command is stopped by a person: with Ctrl-C, SIGTERM, or a terminal that is closed."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def until_stopped() -> Iterator[threading.Event]:
    """An event that a signal sets, while the block lasts; nothing is interrupted meanwhile."""
    stopped = threading.Event()
    before = {number: signal.signal(number, lambda *_: stopped.set()) for number in STOPS}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def tidily_stopped() -> Iterator[None]:
    """Let SIGTERM end the block as Ctrl-C does, so that what it set up is taken down."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
