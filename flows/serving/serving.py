"""Serving deployments from this process until it is told to stop, and stopping gently.

A run under way gets the signal first, lets what is in flight finish, and says itself how it ended;
another one goes on with it as soon as something serves it. Schedules stay as they are: if runs came
due meanwhile, one of them is run at the next start.
"""

import asyncio
import signal
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

import psutil
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.objects import StateType
from prefect.client.schemas.sorting import FlowRunSort
from prefect.runner import Runner
from prefect.states import Cancelled

from config.timetable.moments import in_zone
from flows.engine.runs import find_runs, printed_stacks_left_out, run_of
from flows.serving.deployments import Planned, renew
from flows.serving.folder_changes import FolderChanges, Given, Tell
from flows.serving.inbox_watch import watch
from flows.serving.lookout import Lookout, go_on_later

STOPS = (signal.SIGINT, signal.SIGTERM)
MISSED = "Missed"


async def serve(
    given: Given,
    also: Sequence[Planned],
    *,
    patience: float,
    alone: bool = False,
    ready: Callable[[], None] = lambda: None,
    tell: Tell = lambda _: None,
) -> None:
    """Register deployments and run what comes due, until SIGINT or SIGTERM.

    `also` is what no file defines, such as forms. `patience` is in seconds: how long runs under way
    may take to end by themselves. `alone`: the server is ours, and has no runs of other machines.
    `ready` is called once, when the first run could be taken; `tell` hears what a person should
    know of files and schedules. Raises BadInput.
    """
    runner = Runner(name="campaign", pause_on_shutdown=False)
    changes = FolderChanges(given, partial(_register, runner), tell)

    async def register() -> None:
        async with get_client() as client:
            words = await _register(runner, client, also)
            words += await changes.begin(client)
        ready()
        tell(words)

    async def end() -> bool:
        if started := runner.started:
            await runner.astop()
        return started

    watching = [partial(watch, each) for each in also if each.watched]
    served = Served(register, runner.start, end, beside=[changes.keep, *watching])
    await until_stopped(served, patience, alone=alone)


@dataclass(frozen=True, slots=True)
class Served:
    """Something of Prefect's that starts runs as processes.

    `register` is called before `start`. After `close` it takes no more runs, and `end` returns
    whether `start` then ends by itself. The tasks in `beside` run at the same time.
    """

    register: Callable[[], Awaitable[None]]
    start: Callable[[], Coroutine[Any, Any, None]]
    end: Callable[[], Awaitable[bool]]
    close: Callable[[], None] = lambda: None
    beside: Sequence[Callable[[], Coroutine[Any, Any, None]]] = ()


async def _register(runner: Runner, client: PrefectClient, planned: Sequence[Planned]) -> list[str]:
    """Register deployments; returns what a person should know of their schedules."""
    words = []
    for wanted in planned:
        renewed, remarks = await renew(client, wanted)
        words += [f"Warning: {remark}" for remark in remarks]
        deployment = await runner.aadd_deployment(renewed)
        zone = wanted.schedule.timezone if wanted.schedule else None
        await skip_missed(client, deployment, wanted.name, zone)
    return words


async def until_stopped(served: Served, patience: float, *, alone: bool) -> None:
    """Let runs be started, look after those that die, and end all of it gently when told to."""
    stopped = asyncio.Event()
    with _signalled_alone(stopped), printed_stacks_left_out():
        _stop_on_signals(stopped)
        await served.register()
        serving = asyncio.create_task(served.start())
        # Prefect begins with a signal handler of its own, which ends its runs in its own way.
        await asyncio.sleep(0)
        _stop_on_signals(stopped)
        keeping = [Lookout(alone=alone).keep(), *(beside() for beside in served.beside)]
        beside = [asyncio.create_task(each) for each in keeping]
        stopping = asyncio.create_task(stopped.wait())
        runs: dict[UUID, psutil.Process] = {}
        try:
            await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
            stopped.set()
            served.close()
            for each in beside:
                each.cancel()
            # Not the server that `campaign up` started.
            children = psutil.Process().children()
            runs = {run: child for child in children if (run := run_of(child)) is not None}
            await asyncio.to_thread(_end_runs, [*runs.values()], patience, stopped)
        finally:
            stopping.cancel()
            try:
                if not await served.end():
                    serving.cancel()
                with suppress(asyncio.CancelledError):
                    await serving
            finally:
                await go_on_later([*runs])  # last: nothing here takes them any more


def _stop_on_signals(stopped: asyncio.Event) -> None:
    for number in STOPS:
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)


@contextmanager
def _signalled_alone(stopped: asyncio.Event) -> Iterator[None]:
    """Keep signals from the runs that are started meanwhile, and hear them in their place.

    A terminal sends Ctrl-C to every process of a command, and a run that is still loading would
    crash in Prefect's words, whichever signal it gets. What is blocked here is blocked in each
    process begun from here: Ctrl-C for good, and SIGTERM, by which runs are told to stop, waits
    until the run listens (flows/run/interrupts.py).
    """
    loop, over = asyncio.get_running_loop(), threading.Event()

    def hear() -> None:
        signal.sigwait(STOPS)
        while not over.is_set():
            loop.call_soon_threadsafe(stopped.set)
            signal.sigwait(STOPS)

    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
    hearing = threading.Thread(target=hear)
    hearing.start()
    try:
        yield
    finally:
        over.set()
        signal.pthread_kill(hearing.ident or 0, signal.SIGINT)
        hearing.join()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_runs(runs: Sequence[psutil.Process], patience: float, again: asyncio.Event) -> None:
    """Ask every run to stop, once more when told again, and wait until each said how it ended."""
    ends = time.monotonic() + patience
    # Only look whether they are alive: the runner must be the one that waits for their exit.
    while any(map(_alive, runs)) and time.monotonic() < ends:
        if again.is_set():
            again.clear()
            for run in runs:
                with suppress(psutil.NoSuchProcess):
                    run.send_signal(signal.SIGTERM)
        time.sleep(0.2)


def _alive(run: psutil.Process) -> bool:
    try:
        return bool(run.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


async def skip_missed(
    client: PrefectClient, deployment: UUID, name: str, zone: str | None = None
) -> int:
    """Skip all but the latest of the runs that came due while nobody served: it does all the rest.

    Returns how many were skipped. They stay in the list, with a state that says why, and are named
    as the others are, by `name` and the time in `zone`; Prefect's own names say nothing.
    """
    due = await find_runs(
        client,
        sort=FlowRunSort.EXPECTED_START_TIME_DESC,
        deployment_id={"any_": [deployment]},
        state={"type": {"any_": [StateType.SCHEDULED]}},
        expected_start_time={"before_": datetime.now(UTC)},
    )
    # A run that a person asked for is kept: its parameters may be others.
    missed = [run for run in due if run.auto_scheduled][1:]
    for run in missed:
        message = "No process was there to run this at its time. One later run does all of it."
        await client.set_flow_run_state(run.id, Cancelled(name=MISSED, message=message), force=True)
        if run.expected_start_time is not None:
            named = f"{name} {in_zone(run.expected_start_time, zone)}"
            await client.update_flow_run(run.id, name=named)
    return len(missed)
