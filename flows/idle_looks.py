"""Looks into a watched folder that found nothing: only the last one stays among the runs.

One a minute would bury, in a single night, the runs that a person wants to see in the morning.
"""

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

NOTHING_NEW = "Nothing new"
# What Prefect says of a look that came due while the one before was still at work.
DROPPED = "Deployment concurrency limit reached"
AT_ONCE = 100


async def forget_earlier(client: PrefectClient, deployment: UUID, this: UUID) -> int:
    """Take earlier looks of a deployment out of the list, where there was nothing in them.

    `this` is the run that is looking now. Answers how many were taken out.
    """
    looks = await client.read_flow_runs(
        deployment_filter=DeploymentFilter(id=DeploymentFilterId(any_=[deployment])),
        flow_run_filter=FlowRunFilter(
            state=FlowRunFilterState(name=FlowRunFilterStateName(any_=["Completed", "Cancelled"]))
        ),
        sort=FlowRunSort.EXPECTED_START_TIME_DESC,
        limit=AT_ONCE,
    )
    idle = [look.id for look in looks if look.id != this and _idle(look)]
    for look in idle:
        await client.delete_flow_run(look)
    return len(idle)


def _idle(look: FlowRun) -> bool:
    said = look.state.message if look.state else None
    return said == NOTHING_NEW or (said or "").startswith(DROPPED)
