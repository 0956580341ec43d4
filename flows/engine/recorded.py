"""Whether Prefect's server has everything that this process told it.

Steps become events, which are sent and recorded some time after they happened. A server that
ends earlier has lost them.
"""

import asyncio
import time
from collections.abc import Awaitable
from typing import cast
from uuid import UUID

from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import FlowRunFilter, TaskRunFilter
from prefect.client.schemas.objects import TERMINAL_STATES
from prefect.events.worker import EventsWorker
from prefect.logging.handlers import APILogHandler

from tasks.shell import made

PATIENCE = 60.0  # seconds; then the server may end without them
EVERY = 0.02


async def everything_recorded() -> bool:
    """Send what was not sent yet, and wait until every step of every run is recorded as ended.

    False where that is not so after `PATIENCE`.
    """
    await APILogHandler.aflush()
    await cast(Awaitable[object], EventsWorker.drain_all(at_exit=False))
    ends = time.monotonic() + PATIENCE
    ended = TaskRunFilter.model_validate({"state": {"type": {"any_": sorted(TERMINAL_STATES)}}})
    async with get_client() as client:
        for run, steps in made.items():
            ours = FlowRunFilter.model_validate({"id": {"any_": [UUID(run)]}})
            # When the last one is there, all of them are.
            while not await client.read_task_runs(
                flow_run_filter=ours, task_run_filter=ended, limit=1, offset=steps - 1
            ):
                if time.monotonic() > ends:
                    return False
                await asyncio.sleep(EVERY)
    return True
