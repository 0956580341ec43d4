"""To stop without harm: what is in flight gets its answer, and a worker's run goes on by itself.

`python -P -m flows.gently COMMAND…` runs Prefect's own worker in the same way: `prefect worker`
ends its runs with SIGKILL when it is told to stop, which leaves what was in flight unsure.
"""

import asyncio
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, NoReturn

import psutil
from anyio import CancelScope

if TYPE_CHECKING:
    from prefect.client.orchestration import PrefectClient
    from prefect.client.schemas.objects import State

PATIENCE = 60.0  # seconds that runs may take to end, longer than a request may wait for its answer
LOOKS = 2.0  # seconds between two looks at whether somebody ended the run in Prefect
# Seconds that such a look may take: to a busy server, Prefect's client waits for a minute or more.
ANSWERS_WITHIN = 8.0
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@asynccontextmanager
async def stop_on_signal() -> AsyncIterator[asyncio.Event]:
    """Give the event that a signal told this process to stop.

    Prefect's own handler would raise in the middle of a request.
    """
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, stop.set)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)


async def happens_within(seconds: float, event: asyncio.Event) -> bool:
    """Wait so long, or until the event is set; says whether it is."""
    with suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)
    return event.is_set()


@asynccontextmanager
async def stopping_gently() -> AsyncIterator[asyncio.Event]:
    """Give the event that this run was told to stop: by a signal, or by a person in Prefect.

    Meanwhile Prefect breaks nothing off, as it would if the run could not renew its place among
    the runs of its campaign: the ledger's lease says who sends.
    """
    with CancelScope(shield=True):
        async with stop_on_signal() as stop:
            looking = asyncio.create_task(_ended_in_prefect(stop))
            try:
                yield stop
            finally:
                looking.cancel()


async def _ended_in_prefect(stop: asyncio.Event) -> None:
    from prefect.client.orchestration import get_client  # noqa: PLC0415
    from prefect.runtime import flow_run  # noqa: PLC0415

    while flow_run.id and not stop.is_set():
        with suppress(Exception):  # a server that is away ends nothing
            async with get_client() as client:
                while not await happens_within(LOOKS, stop):
                    looked = asyncio.wait_for(_after_this(client, ""), ANSWERS_WITHIN)
                    if await looked is not None:
                        stop.set()
        await happens_within(LOOKS, stop)


async def go_on_later(message: str, at: datetime) -> NoReturn:
    """End here, and have the same run begin again with the next worker, at this time or later.

    Only for a run that a worker began; what a person did with it meanwhile stays so. Without an
    answer from Prefect it stays as if its process had died: so it begins again, too.
    """
    from prefect.client.orchestration import get_client  # noqa: PLC0415
    from prefect.exceptions import Abort  # noqa: PLC0415
    from prefect.runtime import flow_run  # noqa: PLC0415
    from prefect.states import AwaitingRetry  # noqa: PLC0415

    with suppress(Exception):
        async with get_client() as client:
            again: State[Any] = AwaitingRetry(message=message, scheduled_time=at)
            after = await _after_this(client, message) or again
            if after.message == message:
                await client.set_flow_run_state(flow_run.id, after, force=True)
    logging.getLogger("prefect.flow_runs").disabled = True  # that it is Running is no error
    raise Abort(message)


async def _after_this(client: "PrefectClient", message: str) -> "State[Any] | None":
    """What a person has made of this run in Prefect, or of its deployment; None: it is to go on."""
    from prefect.exceptions import ObjectNotFound  # noqa: PLC0415
    from prefect.runtime import flow_run  # noqa: PLC0415
    from prefect.states import Cancelled  # noqa: PLC0415

    cancelled: State[Any] = Cancelled(message=message)
    try:
        run = await client.read_flow_run(flow_run.id)
        if run.deployment_id is not None:
            await client.read_deployment(run.deployment_id)
    except ObjectNotFound:
        return cancelled
    if run.state is None or run.state.is_running() or run.state.is_crashed():
        return None
    return cancelled if run.state.is_cancelling() or run.state.is_cancelled() else run.state


def main(words: list[str]) -> int:
    """Run a worker; told to stop, halt it, tell its runs, await them, and then let it end."""
    heard: list[int] = []  # signals
    for number in STOP_SIGNALS:
        signal.signal(number, lambda number, _: heard.append(number))
    parent = os.getppid()  # it also stops when whoever started it is gone, however that ended
    worker = subprocess.Popen(words, start_new_session=True)  # noqa: S603 - Prefect's own
    while worker.poll() is None and not heard and parent == os.getppid():
        time.sleep(0.1)
    if worker.poll() is None:
        process = psutil.Process(worker.pid)
        process.suspend()  # it begins no other run
        _end_runs(process)
        process.terminate()
        process.resume()
    return worker.wait()


def _end_runs(worker: psutil.Process) -> None:
    """Tell the flow runs of a worker to stop, and wait for them."""
    runs = []
    for process in worker.children(recursive=True):
        with suppress(psutil.Error):  # it has just ended
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
