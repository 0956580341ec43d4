"""Runs of campaigns, as Prefect knows them: begin one now, or at its time."""

import asyncio
import time
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.filters import TaskRunFilter
from prefect.client.schemas.responses import DeploymentResponse
from prefect.context import FlowRunContext
from prefect.events.worker import EventsWorker
from prefect.exceptions import Abort, ObjectNotFound
from prefect.logging.handlers import APILogHandler
from prefect.runtime import flow_run
from prefect.states import Scheduled

CAMPAIGN = "campaign"  # the flow
PAGE = 200  # as many answers a question to Prefect gets
RECORDS_WITHIN = 30.0  # seconds that Prefect's server may take to write down what it was told


async def run_now(client: PrefectClient, file: Path, key: str | None) -> bool:
    """Have a run of a file begin, in its campaign's own history; says whether one will.

    None does where a person paused the campaign's deployment in Prefect. Of several that wait and
    would do the same, `tidy` keeps the first.
    """
    own = await deployment_named(client, f"{CAMPAIGN}/{key}") if key else None
    deployment = own or await client.read_deployment_by_name(f"{CAMPAIGN}/any")
    if deployment.paused:
        return False
    asked, tags = {"file": str(file), "campaign": key}, [f"campaign:{key}"] if key else []
    await client.create_flow_run_from_deployment(deployment.id, parameters=asked, tags=tags)
    return True


def named(parameters: dict[str, Any], at: datetime | None) -> str:
    """The name of a run, as Prefect's lists show it: by campaign and time."""
    key = parameters.get("campaign") or Path(str(parameters.get("file"))).stem
    return f"{key} {at or datetime.now(UTC):%Y-%m-%d %H:%M}"


async def deployment_named(client: PrefectClient, name: str) -> DeploymentResponse | None:
    with suppress(ObjectNotFound):
        return await client.read_deployment_by_name(name)
    return None


def is_typed() -> bool:
    """Whether a person typed this run, and reads there how it goes on and ends."""
    return _deployment() is None


async def begin_another(moment: datetime) -> None:
    """Have a run of the same file begin at a moment, one for all that ask for it.

    Without an answer from Prefect this run stays as if its process had died: it begins again.
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
                once = f"after {planned.id}"  # which is over, or begins: a clock was ahead
    except Exception as error:  # noqa: BLE001 - a server fails in ways of its own
        raise Abort(f"No run could be planned ({type(error).__name__}).") from None


def _deployment() -> UUID | None:
    """What this run was made from; `prefect.runtime` would ask the server each time."""
    context = FlowRunContext.get()
    return context.flow_run.deployment_id if context and context.flow_run else None


async def everything_recorded(tasks: Sequence[str]) -> None:
    """Send what Prefect's server, which may end next, is still to know, and see it arrive."""
    left = list(tasks)
    ends = time.monotonic() + RECORDS_WITHIN
    with suppress(Exception):  # the ledger knows what was sent, whatever becomes of records
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
