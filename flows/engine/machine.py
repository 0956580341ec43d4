"""On which machine a run is at work, and whether its process is still there."""

import socket
from uuid import UUID

import psutil
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun
from prefect.context import FlowRunContext

MACHINE = "campaign.machine"  # the label of a run that says where it is at work
_RUN = "PREFECT__FLOW_RUN_ID"  # in the environment of each process that runs a deployment


async def say_where() -> None:
    """Say where the run that is under way is at work, if it has a process of its own."""
    run = context.flow_run if (context := FlowRunContext.get()) else None
    if run is None or run.deployment_id is None:
        return
    async with get_client() as client:
        await client.update_flow_run_labels(run.id, {MACHINE: socket.gethostname()})


def is_of_this_machine(run: FlowRun) -> bool:
    """Whether a run said that it is at work here."""
    return run.labels.get(MACHINE) == socket.gethostname()


def runs_here() -> set[UUID]:
    """The runs of deployments that have a process on this machine."""
    runs = (run_of(process) for process in psutil.process_iter())
    return {run for run in runs if run is not None}


def run_of(process: psutil.Process) -> UUID | None:
    """The run of a deployment that a process is of."""
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return UUID(process.environ()[_RUN])
    except (psutil.Error, OSError, KeyError, ValueError):
        return None  # another person's, or none of a run
