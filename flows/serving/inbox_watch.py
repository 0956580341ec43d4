"""A watched folder: a run begins when there is something to do; otherwise nothing is written.

A schedule would begin a run every minute; an idle inbox would fill Prefect's database with them.
"""

import asyncio
from pathlib import Path

from prefect.client.orchestration import PrefectClient, get_client
from prefect.logging import get_logger

from config.errors import CampaignError
from flows import reports
from flows.arrivals import is_due
from flows.inbox import EVERY
from flows.serving.deployments import Planned, next_unfinished


async def watch(inbox: Planned) -> None:
    """Begin a run of an inbox whenever it has something to do, until this is cancelled."""
    folder = Path(inbox.parameters["folder"])
    while True:
        try:
            due = await asyncio.to_thread(is_due, folder)
            await asyncio.to_thread(reports.tidy, folder)
            if due:
                async with get_client() as client:
                    await _begin(client, inbox.full_name)
        except Exception as error:  # noqa: BLE001 - Prefect may fail in ways of its own
            what = str(error) if isinstance(error, CampaignError) else type(error).__name__
            get_logger("campaign").warning("Could not look into the inbox: %s", what)
        await asyncio.sleep(EVERY)


async def _begin(client: PrefectClient, name: str) -> None:
    deployment = await client.read_deployment_by_name(name)
    if not deployment.paused and await next_unfinished(client, deployment.id) is None:
        await client.create_flow_run_from_deployment(deployment.id)
