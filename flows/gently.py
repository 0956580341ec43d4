"""How a process notices that it is to stop, and a wrapper that stops Prefect's worker gently.

`python -P -m flows.gently COMMAND…` runs a worker. By itself `prefect worker` ends its runs with
SIGKILL when it is told to stop, which leaves the requests in flight unsure.
"""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import psutil

PATIENCE = 60.0  # seconds in which runs have to end
PARENT = "WRAPPED_BY"  # a variable with the number of the process that begins a wrapper
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def stop_signals() -> tuple[signal.Signals, ...]:
    """The signals that tell a process to stop; after `nohup`, a closed terminal does not."""
    after_nohup = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    return STOP_SIGNALS[:-1] if after_nohup else STOP_SIGNALS


@asynccontextmanager
async def stop_on_signal() -> AsyncIterator[asyncio.Event]:
    """Give an event that is set once a signal tells this process to stop.

    Prefect's own handler would raise an exception in the middle of a request.
    """
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in stop_signals()}
    for number in before:
        loop.add_signal_handler(number, stop.set)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)


async def happens_within(seconds: float, event: asyncio.Event) -> bool:
    """Wait for an event, at most this many seconds. Returns whether it is set."""
    with suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)
    return event.is_set()


def main(words: list[str]) -> int:
    """Run a worker. If this process is told to stop or loses its parent, the runs end first."""
    heard: list[int] = []  # the signals that came
    for number in stop_signals():
        signal.signal(number, lambda number, _: heard.append(number))
    # Once this parent is gone, this process stops as well. It may be gone by now.
    parent = int(os.environ.get(PARENT) or os.getppid())
    worker = subprocess.Popen(words, start_new_session=True)  # noqa: S603 - Prefect's own
    while worker.poll() is None and not heard and parent == os.getppid():
        time.sleep(0.1)
    if worker.poll() is None:
        process = psutil.Process(worker.pid)
        process.suspend()  # so the worker begins no other run
        _end_runs(process)
        process.terminate()
        process.resume()
    return worker.wait()


def _end_runs(worker: psutil.Process) -> None:
    """Tell the runs of a worker to stop, and wait at most PATIENCE seconds for their ends."""
    runs = []
    for process in worker.children(recursive=True):
        with suppress(psutil.Error):  # a process has just ended
            if "PREFECT__FLOW_RUN_ID" in process.environ():
                process.terminate()
                runs.append(process)
    ends = time.monotonic() + PATIENCE
    while any(map(_lives, runs)) and time.monotonic() < ends:
        time.sleep(0.1)


def _lives(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    return False


if __name__ == "__main__":
    os.environ.setdefault("PYTHONSAFEPATH", "1")
    sys.exit(main(sys.argv[1:]))
