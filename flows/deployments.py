"""Prefect's deployments: one for each campaign of a folder, one for any file, and the forms.

A deployment that a person paused or resumed stays so. Its schedule changes only when the schedule
in its definition does, or the definition is gone; what is in RENEWED is renewed. `campaign up` uses
this module. For `prefect deploy --all`, prefect.yaml describes `any`, `approve` and `settle` in the
same way; a test compares the two.
"""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from prefect import Flow, schedules
from prefect.client.orchestration import PrefectClient
from prefect.client.schemas.actions import (
    DeploymentScheduleCreate,
    DeploymentUpdate,
    WorkPoolCreate,
    WorkPoolUpdate,
)
from prefect.client.schemas.filters import FlowFilter
from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy
from prefect.client.schemas.responses import DeploymentResponse
from prefect.exceptions import ObjectAlreadyExists
from prefect.types.entrypoint import EntrypointType
from prefect.utilities.callables import parameter_schema
from prefect.workers.process import ProcessWorker

from config.definition import Definition, Schedule
from config.timetable import span
from flows.campaign import run_campaign
from flows.forms import approve_campaign, settle_campaign
from flows.page import artifact_key
from flows.this_run import CAMPAIGN, deployment_named

POOL = "campaigns"
SLUG = "definition"  # the slug of the definition's schedule; a person may add other schedules
# Runs get no pipe to their worker. With one, printing fails in a run whose worker was killed.
JOB = {"stream_output": False}
# One run of a campaign at a time; the campaign's other runs wait.
ALONE = ConcurrencyLimitConfig(limit=1, collision_strategy=ConcurrencyLimitStrategy.ENQUEUE)
RENEWED = (
    *("entrypoint", "parameters", "tags", "job_variables", "description", "version"),
    "concurrency_options",
)
# The deployments that belong to no single campaign: the forms, and one for any file.
FORMS: dict[str, Flow[..., Any]] = {"approve": approve_campaign, "settle": settle_campaign}
FOR_EVERYBODY = {"any": run_campaign, **FORMS}


async def deploy_forms(client: PrefectClient) -> None:
    """Make or renew the deployments that belong to no single campaign."""
    for name, flow in FOR_EVERYBODY.items():
        await _deploy(client, flow, name)


async def make_pool(client: PrefectClient) -> bool:
    """Make the work pool. Returns whether its job template had been changed; it is restored."""
    template = ProcessWorker.get_default_base_job_template()
    pool = WorkPoolCreate(name=POOL, type=ProcessWorker.type, base_job_template=template)
    with suppress(ObjectAlreadyExists):
        await client.create_work_pool(pool)
    there = await client.read_work_pool(POOL)
    if there.base_job_template == template:
        return False
    await client.update_work_pool(POOL, WorkPoolUpdate(base_job_template=template))
    return True


async def deploy(client: PrefectClient, file: Path, campaign: Definition) -> None:
    """Make or renew the deployment of a campaign, with the schedule in its definition."""
    page = f"/artifacts/key/{artifact_key(campaign.campaign)}"
    await _deploy(
        client,
        run_campaign,
        campaign.campaign,
        campaign.schedule,
        parameters={"file": str(file), "campaign": campaign.campaign},
        tags=[f"campaign:{campaign.campaign}"],
        description=f"[The page of {campaign.campaign}]({page})",
        concurrency_limit=ALONE,
    )


async def unschedule(client: PrefectClient, folder: Path, keys: Mapping[Path, str | None]) -> None:
    """Delete the schedules of definitions that are gone from a folder, or have another key now.

    `keys` maps each file of the folder to its key, or to None if the key cannot be read. The
    deployments stay, with their history. A schedule that a person switched off stays off.
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
                await client.update_deployment(deployment.id, DeploymentUpdate(version=""))
                await client.delete_deployment_schedule(deployment.id, schedule.id)


async def _deploy(
    client: PrefectClient,
    flow: Flow[..., Any],
    name: str,
    said: Schedule | None = None,
    **more: Any,
) -> None:
    own = _schedule(said)
    planned = f"{said.cron or said.every} {said.timezone or ''}".strip() if said else "no schedule"
    made = await flow.ato_deployment(
        name,
        schedules=[own] if own else [],
        version=planned,  # until this changes, the schedule stays as a person left it
        work_pool_name=POOL,
        job_variables=JOB,
        entrypoint_type=EntrypointType.MODULE_PATH,  # found in any working folder
        **more,
    )
    there = await deployment_named(client, f"{flow.name}/{name}")
    if there is None:
        await made.aapply()
        return
    if there.version != made.version:
        await _reschedule(client, there, own)
    schema = parameter_schema(flow).model_dump(exclude_unset=True)
    wanted = {each: getattr(made, each) for each in RENEWED} | {"parameter_openapi_schema": schema}
    # An update deletes the runs that a schedule planned, so it is made only if something is new.
    new = {each: value for each, value in wanted.items() if getattr(there, each) != value}
    if "concurrency_options" in new:
        new["concurrency_limit"] = made.concurrency_limit
    if new:
        await client.update_deployment(there.id, DeploymentUpdate(**new))


async def _reschedule(
    client: PrefectClient, there: DeploymentResponse, own: DeploymentScheduleCreate | None
) -> None:
    """Give a deployment the schedule of its definition. A schedule that was off stays off."""
    earlier = next((each for each in there.schedules if each.slug == SLUG), None)
    if earlier is not None and own is not None:
        await client.update_deployment_schedule(there.id, earlier.id, schedule=own.schedule)
    elif earlier is not None:
        await client.delete_deployment_schedule(there.id, earlier.id)
    elif own is not None:
        await client.create_deployment_schedules(there.id, [own])


def _schedule(said: Schedule | None) -> DeploymentScheduleCreate | None:
    if said is None:
        return None
    zone = said.timezone or "UTC"
    schedule = schedules.Schedule(cron=said.cron, timezone=said.timezone)
    if said.cron is None:
        # A fixed anchor keeps the times the same at each deploy: `every: 1 day` is at midnight.
        anchor = datetime(2026, 1, 1, tzinfo=ZoneInfo(zone))
        every = span(said.every or "")
        schedule = schedules.Schedule(interval=every, timezone=zone, anchor_date=anchor)
    own = DeploymentScheduleCreate.from_schedule(schedule)
    return own.model_copy(update={"slug": SLUG, "active": True})
