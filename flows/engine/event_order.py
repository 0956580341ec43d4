"""So that Prefect's automations hear at once what becomes of a scheduled run.

Each event of a run names the one before it, and a server judges them in that order. Its scheduler
makes runs without an event: where one comes due within five minutes, all that becomes of it waits
a quarter of an hour for a word that nobody says. Its heartbeats do not wait, so a run that had
long completed seemed to have fallen silent, and was started again.
"""

import logging
from typing import Any

from prefect import Flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun, State
from prefect.events import emit_event


async def say_scheduled(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:
    """Say in the scheduler's place that a run was scheduled; to be called as it begins to run."""
    if not flow_run.auto_scheduled:
        return
    async with get_client() as client:
        states = await client.read_flow_run_states(flow_run.id)
    first = min(states, key=lambda each: each.timestamp)
    emit_event(
        f"prefect.flow-run.{first.name}",
        resource={
            "prefect.resource.id": f"prefect.flow-run.{flow_run.id}",
            "prefect.resource.name": flow_run.name,
        },
        occurred=first.timestamp,
        id=first.id,  # the event of a state has the state's id
    )


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a line is about anything but that the above began, or ended well."""
    return record.levelno >= logging.WARNING or say_scheduled.__name__ not in record.getMessage()


logging.getLogger("prefect.engine").addFilter(_is_news)
