"""A watched folder: a run begins when there is something to do; otherwise nothing is written.

A schedule would begin a run every minute; an idle inbox would fill Prefect's database with them.
"""

import asyncio
from pathlib import Path

from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.filters import (
    DeploymentFilter,
    DeploymentFilterId,
    FlowRunFilter,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import StateType
from prefect.logging import get_logger

from config.errors import CampaignError
from flows.inbox import is_due
from flows.serving.deployments import Planned

EVERY = 60.0  # seconds between two looks
NOT_OVER = [StateType.SCHEDULED, StateType.PENDING, StateType.RUNNING]


async def watch(inbox: Planned) -> None:
    """Begin a run of an inbox whenever it has something to do, until this is cancelled."""
    folder = Path(inbox.parameters["folder"])
    while True:
        try:
            if await asyncio.to_thread(is_due, folder):
                async with get_client() as client:
                    await _begin(client, inbox.full_name)
        except Exception as error:  # noqa: BLE001 - Prefect may fail in ways of its own
            what = str(error) if isinstance(error, CampaignError) else type(error).__name__
            get_logger("campaign").warning("Could not look into the inbox: %s", what)
        await asyncio.sleep(EVERY)


async def _begin(client: PrefectClient, name: str) -> None:
    deployment = await client.read_deployment_by_name(name)
    under_way = await client.read_flow_runs(
        deployment_filter=DeploymentFilter(id=DeploymentFilterId(any_=[deployment.id])),
        flow_run_filter=FlowRunFilter(
            state=FlowRunFilterState(type=FlowRunFilterStateType(any_=NOT_OVER))
        ),
        limit=1,
    )
    if not under_way and not deployment.paused:
        await client.create_flow_run_from_deployment(deployment.id)
