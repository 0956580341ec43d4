"""What Prefect can start by itself: a deployment for each campaign of a folder, and the forms.

What a person switched off in Prefect's pages stays off: a deployment that is there keeps whether it
is paused, and its schedule whether it is active. `campaign up` deploys by this module; prefect.yaml
says the same of any, approve and settle for `prefect deploy --all`, and a test compares them.
"""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from prefect import Flow
from prefect.client.orchestration import PrefectClient
from prefect.client.schemas.actions import DeploymentScheduleCreate, WorkPoolCreate, WorkPoolUpdate
from prefect.client.schemas.filters import FlowFilter
from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy
from prefect.client.schemas.responses import DeploymentResponse
from prefect.deployments.runner import RunnerDeployment
from prefect.exceptions import ObjectAlreadyExists, ObjectNotFound
from prefect.schedules import Schedule
from prefect.types.entrypoint import EntrypointType
from prefect.utilities.callables import parameter_schema
from prefect.workers.process import ProcessWorker

from config import definition as written
from config.timetable import span
from flows.campaign import run_campaign
from flows.forms import approve_campaign, settle_campaign
from flows.runs import CAMPAIGN, deployment_named

POOL = "campaigns"
SLUG = "definition"  # of the schedule that a definition says; a person may add others
# A worker that is killed would break the pipe that its runs print into, and so the runs.
JOB = {"stream_output": False}
# One run of a campaign at a time; `Runs` of the keeper has those begin that nobody may lose.
ALONE = ConcurrencyLimitConfig(limit=1, collision_strategy=ConcurrencyLimitStrategy.CANCEL_NEW)
RENEWED = (
    *("entrypoint", "parameters", "tags", "job_variables", "description"),
    "concurrency_options",
)
# The deployments that belong to no single campaign.
FOR_EVERYBODY: dict[str, Flow[..., Any]] = {
    "any": run_campaign,
    "approve": approve_campaign,
    "settle": settle_campaign,
}


async def deploy_forms(client: PrefectClient) -> None:
    """Make the forms, and a deployment for any file that can be read."""
    for name, flow in FOR_EVERYBODY.items():
        await _deploy(client, flow, name)


async def make_pool(client: PrefectClient) -> bool:
    """Make the work pool; says whether its job template, the command of each run, was changed."""
    template = ProcessWorker.get_default_base_job_template()
    pool = WorkPoolCreate(name=POOL, type=ProcessWorker.type, base_job_template=template)
    with suppress(ObjectAlreadyExists):
        await client.create_work_pool(pool)
    there = await client.read_work_pool(POOL)
    if there.base_job_template == template:
        return False
    await client.update_work_pool(POOL, WorkPoolUpdate(base_job_template=template))
    return True


async def deploy(client: PrefectClient, file: Path, campaign: written.Definition) -> None:
    """Make or renew the deployment of a campaign, with the schedule that it carries."""
    parameters = {"file": str(file), "campaign": campaign.campaign}
    tags = [f"campaign:{campaign.campaign}"]
    schedule = _schedule(campaign.schedule)
    more = {"parameters": parameters, "tags": tags, "concurrency_limit": ALONE}
    await _deploy(client, run_campaign, campaign.campaign, schedule, **more)


async def unschedule(client: PrefectClient, folder: Path, keys: Mapping[Path, str | None]) -> None:
    """Take away the schedules of definitions that are gone from a folder, or have another key.

    `keys` has every file of the folder, with its key if that can be read. The deployments stay,
    with their history. So does a schedule that a person switched off, for when the file is back.
    """
    ours = FlowFilter.model_validate({"name": {"any_": [CAMPAIGN]}})
    every: list[DeploymentResponse] = []
    while page := await client.read_deployments(flow_filter=ours, offset=len(every)):
        every += page
    for deployment in every:
        file = Path(str(deployment.parameters.get("file")))
        is_current = keys.get(file, "") in (None, deployment.name)
        if file.parent != folder or is_current:
            continue
        for schedule in deployment.schedules:
            if schedule.slug == SLUG and schedule.active:
                await client.delete_deployment_schedule(deployment.id, schedule.id)


async def _deploy(
    client: PrefectClient,
    flow: Flow[..., Any],
    name: str,
    schedule: Schedule | None = None,
    **more: Any,
) -> None:
    deployed = await deployment_named(client, f"{flow.name}/{name}")
    by_slug = {each.slug or str(each.id): each for each in (deployed.schedules if deployed else ())}
    earlier = by_slug.pop(SLUG, None)  # what the definition said when it was last deployed
    schedules = [  # those that a person added; without a slug Prefect would make all of them anew
        DeploymentScheduleCreate(
            schedule=each.schedule, active=each.active, parameters=each.parameters, slug=slug
        )
        for slug, each in by_slug.items()
    ]
    if schedule is not None:
        active = {"active": earlier.active if earlier else True, "slug": SLUG}
        new = DeploymentScheduleCreate.from_schedule(schedule)
        schedules.append(new.model_copy(update=active))
    made = await flow.ato_deployment(
        name,
        schedules=schedules,
        paused=deployed.paused if deployed else False,
        work_pool_name=POOL,
        job_variables=JOB,
        entrypoint_type=EntrypointType.MODULE_PATH,  # found from whatever folder
        **more,
    )
    if not _is_there(made, flow, deployed):
        await made.aapply()
    if deployed and earlier and schedule is None:
        with suppress(ObjectNotFound):
            await client.delete_deployment_schedule(deployed.id, earlier.id)


def _is_there(
    made: RunnerDeployment, flow: Flow[..., Any], deployed: DeploymentResponse | None
) -> bool:
    """Whether Prefect has just this: to renew it takes away the runs that its schedule planned."""
    if deployed is None:
        return False
    schema = parameter_schema(flow).model_dump(exclude_unset=True)
    planned = {each.slug: each.schedule for each in deployed.schedules}
    return (
        schema == deployed.parameter_openapi_schema
        and all(getattr(made, each) == getattr(deployed, each) for each in RENEWED)
        and all(planned.get(each.slug) == each.schedule for each in made.schedules or ())
    )


def _schedule(schedule: written.Schedule | None) -> Schedule | None:
    if schedule is None:
        return None
    if schedule.cron is not None:
        return Schedule(cron=schedule.cron, timezone=schedule.timezone)
    zone = schedule.timezone or "UTC"
    # At the same times however often it is deployed: `every: 1 day` is at midnight.
    anchor = datetime(2026, 1, 1, tzinfo=ZoneInfo(zone))
    return Schedule(interval=span(schedule.every or ""), timezone=zone, anchor_date=anchor)
