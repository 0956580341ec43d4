"""Runs of campaigns, as Prefect knows them: begin one, and leave out what another one does."""

import asyncio
import time
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.filters import FlowRunFilter, TaskRunFilter
from prefect.client.schemas.objects import FlowRun, State
from prefect.client.schemas.responses import DeploymentResponse
from prefect.context import FlowRunContext
from prefect.events.worker import EventsWorker
from prefect.exceptions import Abort, ObjectNotFound
from prefect.logging.handlers import APILogHandler
from prefect.runtime import flow_run
from prefect.states import Scheduled

from flows.ending import End

CAMPAIGN = "campaign"  # the flow
SCHEDULED = "auto-scheduled"  # Prefect's tag of what a schedule began
PAGE = 200  # as many answers a question to Prefect gets
RECORDS_WITHIN = 30.0  # seconds that Prefect's server may take to write down what it was told


async def run_now(client: PrefectClient, file: Path, key: str | None, once: str) -> bool:
    """Start a run of a file as it stands now, in its campaign's own history; `once` for each.

    Not where a person paused the campaign's deployment in Prefect.
    """
    named = await deployment_named(client, f"{CAMPAIGN}/{key}") if key else None
    deployment = named or await client.read_deployment_by_name(f"{CAMPAIGN}/any")
    if deployment.paused:
        return False
    await client.create_flow_run_from_deployment(
        deployment.id,
        parameters={"file": str(file), "campaign": key},
        tags=[f"campaign:{key}"] if key else [],
        idempotency_key=f"{file} {once}",
    )
    return True


async def deployment_named(client: PrefectClient, name: str) -> DeploymentResponse | None:
    with suppress(ObjectNotFound):
        return await client.read_deployment_by_name(name)
    return None


def is_typed() -> bool:
    """Whether a person typed this run, and reads there how it goes on and ends."""
    return _deployment() is None


def is_scheduled() -> bool:
    return SCHEDULED in flow_run.tags


async def is_missed() -> bool:
    """Whether a later run of the same file is due or done: of missed ones the latest runs.

    No other run does what a person asked of this very one.
    """
    asked = flow_run.parameters
    if asked.get("digest") or asked.get("accept_removed") or asked.get("keep_project"):
        return False
    mine = (flow_run.scheduled_start_time, str(flow_run.id))
    others = await _others(
        ("SCHEDULED", "PENDING", "RUNNING", "COMPLETED"),
        {"expected_start_time": {"after_": mine[0], "before_": datetime.now(UTC)}},
    )
    works = (run for run in others if run.state and not _ended_early(run.state))
    return any((run.expected_start_time, str(run.id)) > mine for run in works)


async def another_before(moment: datetime | None) -> bool:
    """Whether a run of the same file begins by itself before then, so that this one may end."""
    due = {"after_": datetime.now(UTC), "before_": moment}
    return bool(await _others(("SCHEDULED",), {"next_scheduled_start_time": due}))


async def begin_another(moment: datetime | None) -> None:
    """Have a new run of the same file begin at a moment, while this one ends as it does.

    Without an answer from Prefect this run stays as if its process had died: it begins again.
    """
    asked = flow_run.parameters
    try:
        async with get_client() as client:
            await client.create_flow_run_from_deployment(
                cast(UUID, _deployment()),
                parameters={"file": str(asked["file"]), "campaign": asked.get("campaign")},
                state=Scheduled(scheduled_time=moment),
                tags=[tag for tag in flow_run.tags if tag != SCHEDULED],
                idempotency_key=f"{flow_run.id} {moment}",
            )
    except Exception as error:  # noqa: BLE001 - a server fails in ways of its own
        raise Abort(f"No run could be planned ({type(error).__name__}).") from None


async def _others(states: Sequence[str], when: dict[str, Any]) -> list[FlowRun]:
    mine = _deployment()
    if mine is None:
        return []
    wanted = FlowRunFilter.model_validate(
        {
            "deployment_id": {"any_": [mine]},
            "state": {"type": {"any_": states}},
            "id": {"not_any_": [flow_run.id]},
        }
        | when
    )
    with suppress(Exception):  # a server that is away keeps nobody from running
        async with get_client() as client:
            found = await client.read_flow_runs(flow_run_filter=wanted)
        file = str(flow_run.parameters.get("file"))
        return [run for run in found if str(run.parameters.get("file")) == file]
    return []


def _ended_early(state: State[Any]) -> bool:
    """Whether a run is over and has left something to do, for which it counted on another one."""
    return state.is_completed() and not (state.message or "").startswith(End.DONE)


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
