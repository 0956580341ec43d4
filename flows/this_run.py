"""What a run asks of Prefect: to begin another run, whether to stop, to go on later."""

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn, cast
from uuid import UUID

from anyio import CancelScope
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.filters import TaskRunFilter
from prefect.client.schemas.objects import State
from prefect.client.schemas.responses import DeploymentResponse
from prefect.context import FlowRunContext
from prefect.events.worker import EventsWorker
from prefect.exceptions import Abort, ObjectNotFound
from prefect.logging.handlers import APILogHandler
from prefect.runtime import flow_run
from prefect.states import AwaitingRetry, Cancelled, Scheduled

from flows.gently import happens_within, stop_on_signal

CAMPAIGN = "campaign"  # the flow's name
PAGE = 200  # objects at most in one answer of Prefect
LOOKS = 2.0  # seconds between two looks at whether somebody ended the run in Prefect
# Seconds after which a look is given up: Prefect's client waits minutes for a busy server.
ANSWERS_WITHIN = 8.0
RECORDS_WITHIN = 30.0  # seconds in which Prefect's server has to record the task runs


async def run_now(client: PrefectClient, file: Path, key: str | None) -> bool:
    """Have a run of a file begin, by its campaign's deployment or `any`. Returns whether one will.

    No run begins while a person has paused this deployment in Prefect. If several runs wait that
    would do the same, `tidy` in dead_runs.py keeps the first.
    """
    own = await deployment_named(client, f"{CAMPAIGN}/{key}") if key else None
    deployment = own or await client.read_deployment_by_name(f"{CAMPAIGN}/any")
    if deployment.paused:
        return False
    asked, tags = {"file": str(file), "campaign": key}, [f"campaign:{key}"] if key else []
    await client.create_flow_run_from_deployment(deployment.id, parameters=asked, tags=tags)
    return True


def named(parameters: dict[str, Any], at: datetime | None) -> str:
    """The name of a run in Prefect's lists: its campaign and time."""
    key = parameters.get("campaign") or Path(str(parameters.get("file"))).stem
    return f"{key} {at or datetime.now(UTC):%Y-%m-%d %H:%M}"


async def deployment_named(client: PrefectClient, name: str) -> DeploymentResponse | None:
    with suppress(ObjectNotFound):
        return await client.read_deployment_by_name(name)
    return None


def is_typed() -> bool:
    """Whether a command makes this run, and no worker of Prefect."""
    return _deployment() is None


@asynccontextmanager
async def stopping_gently() -> AsyncIterator[asyncio.Event]:
    """Give an event that is set once this run is to stop, by a signal or by a person in Prefect.

    Prefect cancels a run that cannot renew its concurrency slot. The shield puts that off until the
    block ends, because the ledger's lease alone decides who may send.
    """
    with CancelScope(shield=True):
        async with stop_on_signal() as stop:
            looking = asyncio.create_task(_ended_in_prefect(stop))
            try:
                yield stop
            finally:
                looking.cancel()


async def _ended_in_prefect(stop: asyncio.Event) -> None:
    worker = os.getppid()
    while flow_run.id and not stop.is_set():
        with suppress(Exception):  # a server that is away ends nothing
            async with get_client() as client:
                while not await happens_within(LOOKS, stop):
                    if not is_typed() and worker != os.getppid():  # the worker is gone
                        stop.set()
                    looked = asyncio.wait_for(_after_this(client, ""), ANSWERS_WITHIN)
                    if await looked is not None:
                        stop.set()
        await happens_within(LOOKS, stop)


async def go_on_later(message: str, at: datetime) -> NoReturn:
    """End this run here, and have a worker begin it again as the same run, at this time or later.

    Only for a run that a worker began. If a person has ended it in Prefect meanwhile, it stays
    ended. If Prefect does not answer, this run looks dead to `campaign up`, which begins it again.
    """
    with suppress(Exception):
        async with get_client() as client:
            again: State[Any] = AwaitingRetry(message=message, scheduled_time=at)
            after = await _after_this(client, message) or again
            if after.message == message:
                await client.set_flow_run_state(flow_run.id, after, force=True)
    logging.getLogger("prefect.flow_runs").disabled = True  # Prefect would log that it is Running
    raise Abort(message)


async def _after_this(client: PrefectClient, message: str) -> State[Any] | None:
    """The state in which a person wants this run to end; None: it is to go on.

    A run that was cancelled or deleted, or lost its deployment, is Cancelled with this message.
    """
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


async def begin_another(moment: datetime) -> None:
    """Have a run of the same file begin at a moment. However many runs ask, only one begins.

    If Prefect does not answer, this run looks dead to `campaign up`, which begins the run again.
    """
    asked = flow_run.parameters
    once = f"{asked['file']} {moment}"
    try:
        async with get_client() as client:
            while True:
                planned = await client.create_flow_run_from_deployment(
                    cast(UUID, _deployment()),
                    parameters={"file": str(asked["file"]), "campaign": asked.get("campaign")},
                    state=Scheduled(scheduled_time=moment),
                    idempotency_key=once,
                )
                if planned.state is None or planned.state.is_scheduled():
                    return
                once = f"after {planned.id}"  # the run with this key is over, or is this one
    except Exception as error:  # noqa: BLE001 - a server fails in ways of its own
        raise Abort(f"No run could be planned ({type(error).__name__}).") from None


def _deployment() -> UUID | None:
    """The id of this run's deployment; `prefect.runtime` would ask the server each time."""
    context = FlowRunContext.get()
    return context.flow_run.deployment_id if context and context.flow_run else None


async def everything_recorded(tasks: Sequence[str]) -> None:
    """Wait, at most RECORDS_WITHIN seconds, until Prefect's server has recorded these task runs."""
    left = list(tasks)
    ends = time.monotonic() + RECORDS_WITHIN
    with suppress(Exception):  # the ledger has what was sent, even if Prefect has not
        await APILogHandler.aflush()
        await cast(Awaitable[object], EventsWorker.drain_all(at_exit=False))
        async with get_client() as client:
            while left and time.monotonic() < ends:
                wanted = TaskRunFilter.model_validate({"id": {"any_": left[:PAGE]}})
                found = await client.read_task_runs(task_run_filter=wanted)
                over = {str(run.id) for run in found if run.state and run.state.is_final()}
                left = [each for each in left if each not in over]
                if left:
                    await asyncio.sleep(0.1)
