"""Of runs that found nothing to do, as a schedule begins them, only the first and the last stay.

One a minute would hide, in a single night, the runs that a person wants to see in the morning. They
would be most of what Prefect keeps.
"""

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


async def forget_earlier(
    client: PrefectClient, deployment: UUID, this: UUID, ended_as: str | None = None
) -> int:
    """Remove earlier runs of a deployment that had nothing to do.

    `this` is the run that is at work now. Of the scheduled runs that ended with the same message
    (`ended_as`), the first one stays, because it may have done something. Returns how many were
    removed.
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
