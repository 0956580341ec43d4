"""Runs that found nothing to do, as a schedule begins them: a few stay, and they write no logs.

One a minute would hide, in a single night, the runs that a person wants to see in the morning; and
they would be most of what Prefect keeps, as their lines would be of what a terminal shows.
"""

import logging
from collections import deque
from contextlib import suppress
from uuid import UUID

from prefect.client.orchestration import PrefectClient
from prefect.client.schemas.filters import (
    DeploymentFilter,
    DeploymentFilterId,
    FlowRunFilter,
    FlowRunFilterState,
    FlowRunFilterStateName,
)
from prefect.client.schemas.objects import FlowRun
from prefect.client.schemas.sorting import FlowRunSort
from prefect.exceptions import ObjectNotFound

NOTHING_NEW = "Nothing new"
DROPPED = "The previous run is still in progress and does the work of this one."
AT_ONCE = 100


class UntilBusy(logging.Filter):
    """Holds back Prefect's lines about each run of one flow until that run has something to do.

    Warnings and errors are written at once, but for Prefect's that a run was dropped.
    """

    def __init__(self, flow_name: str) -> None:
        super().__init__()
        self._flow = flow_name
        self._held: deque[logging.LogRecord] = deque(maxlen=AT_ONCE)
        self._busy: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        about = vars(record)  # Prefect says there which run it is
        if about.get("flow_name") != self._flow or about.get("flow_run_id") in self._busy:
            return True
        if record.levelno >= logging.WARNING and DROPPED not in record.getMessage():
            return True
        self._held.append(record)
        return False

    def busy(self, flow_run: str | None) -> None:
        """Write what was held back of a run, and from now on all that comes."""
        if flow_run is None or flow_run in self._busy:
            return
        self._busy.add(flow_run)
        for record in self._held:
            if vars(record).get("flow_run_id") == flow_run:
                logging.getLogger(record.name).handle(record)


def quiet_until_busy(flow_name: str) -> UntilBusy:
    """Hold back what Prefect writes of a flow, and of its steps, in this process."""
    holding = UntilBusy(flow_name)
    for name in ("prefect.flow_runs", "prefect.task_runs"):
        logging.getLogger(name).addFilter(holding)
    return holding


async def forget_earlier(
    client: PrefectClient, deployment: UUID, this: UUID, ended_as: str | None = None
) -> int:
    """Take earlier runs of a deployment out of the list, where there was nothing in them.

    `this` is the run that is at work now. Of scheduled runs that ended in the very words of it
    (`ended_as`) the first stays, which may have done something. Answers how many were taken out.
    """
    runs = await client.read_flow_runs(
        deployment_filter=DeploymentFilter(id=DeploymentFilterId(any_=[deployment])),
        flow_run_filter=FlowRunFilter(
            state=FlowRunFilterState(name=FlowRunFilterStateName(any_=["Completed", "Cancelled"]))
        ),
        sort=FlowRunSort.EXPECTED_START_TIME_DESC,
        limit=AT_ONCE,
    )
    earlier = [run for run in runs if run.id != this]
    idle = [run.id for run in earlier if _words(run) in (NOTHING_NEW, DROPPED)]
    alike = [run.id for run in earlier if run.auto_scheduled and _words(run) == ended_as]
    gone = dict.fromkeys([*idle, *alike[:-1]])
    for run in gone:
        with suppress(ObjectNotFound):  # another run beside this one tidies as well
            await client.delete_flow_run(run)
    return len(gone)


def _words(run: FlowRun) -> str | None:
    return run.state.message if run.state else None
