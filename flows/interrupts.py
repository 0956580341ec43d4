"""A first Ctrl-C or SIGTERM ends sending gently: what is in flight still gets its answer."""

import asyncio
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tasks.gate import Gate

INTERRUPTED = "The run was interrupted."


@contextmanager
def stopping_on_signals(gate: Gate) -> Iterator[None]:
    """Turn the first signal into a stop of `gate`; a second one acts as it always does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def restore() -> None:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)

    def stop() -> None:
        gate.stop(INTERRUPTED)
        restore()

    for number in before:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        restore()
