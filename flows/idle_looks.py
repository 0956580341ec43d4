"""Runs that found nothing to do, as a schedule begins them: a few of them stay among the runs.

One a minute would bury, in a single night, the runs that a person wants to see in the morning; and
they would be most of what Prefect keeps.
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
DROPPED = "The run before is still at work. It does what this one was to do."
AT_ONCE = 100


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
        await client.delete_flow_run(run)
    return len(gone)


def _words(run: FlowRun) -> str | None:
    return run.state.message if run.state else None
