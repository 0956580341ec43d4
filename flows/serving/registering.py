"""Telling a Prefect server all it needs: the work pool, deployments, block types, addresses."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.client.schemas.responses import DeploymentResponse
from prefect.exceptions import ObjectAlreadyExists
from prefect.workers.process import ProcessWorker
from pydantic import SecretStr

from flows.campaign import run_campaign
from flows.engine.credentials import AssessmentCredentials
from flows.engine.notice_address import keep
from flows.engine.runs import flows_named
from flows.serving.deployments import Planned, in_pool, renew

AT_ONCE = 100
# Of versions before 0.2: what they did is done by the runs themselves, and by a look at them.
AUTOMATIONS = (
    "CampaignRunGone",
    "CampaignGoneRunAgain",
    "CampaignRunAgain",
    "CampaignNeedsAPerson",
)


async def deploy_all(
    planned: Sequence[Planned], pool: str, notify_url: SecretStr | None
) -> list[str]:
    """Create or renew everything for the workers of a pool. Safe to repeat.

    Returns what a person should know of schedules.
    """
    words = []
    async with get_client() as client:
        await prepare_server(client, notify_url)
        await _pool(client, pool)
        for wanted in planned:
            deployment, remarks = await renew(client, wanted, **in_pool(pool))
            words += remarks
            await deployment.aapply()
    return words


async def gone(
    planned: Sequence[Planned], places: Sequence[Path], unreadable: Collection[Path], *, prune: bool
) -> list[str]:
    """Name the deployed campaigns that are `undefined`; with `prune` they are removed."""
    async with get_client() as client:
        deployed = await undefined(client, planned, places, unreadable)
        for deployment in deployed if prune else []:
            await client.delete_deployment(deployment.id)
    return [name_of(deployment) for deployment in deployed]


async def undefined(
    client: PrefectClient,
    planned: Collection[Planned],
    places: Sequence[Path],
    unreadable: Collection[Path],
) -> list[DeploymentResponse]:
    """The deployed campaigns of these places that none of their files defines.

    What a file that cannot be read describes is not among them.
    """
    there = {place.resolve() for place in places}
    kept = {wanted.full_name for wanted in planned}
    ours = flows_named([run_campaign.name])
    deployed: list[DeploymentResponse] = []
    while more := await client.read_deployments(
        flow_filter=ours, limit=AT_ONCE, offset=len(deployed)
    ):
        deployed += more
    return [
        deployment
        for deployment in deployed
        if name_of(deployment) not in kept
        and (file := Path(deployment.parameters.get("file", ""))) not in unreadable
        and not there.isdisjoint((file, file.parent))
    ]


def name_of(deployment: DeploymentResponse) -> str:
    """The name by which Prefect knows a campaign's deployment."""
    return f"{run_campaign.name}/{deployment.name}"


async def prepare_server(client: PrefectClient, notify_url: SecretStr | None) -> None:
    """What every server needs: the block type for credentials, and where to tell people.

    Without an address, the one that is kept there stays. The automations of earlier versions go.
    """
    await AssessmentCredentials.aregister_type_and_schema(client=client)
    if notify_url is not None:
        await keep(notify_url)
    for name in AUTOMATIONS:
        for automation in await client.read_automations_by_name(name):
            await client.delete_automation(automation.id)


async def _pool(client: PrefectClient, name: str) -> None:
    template = ProcessWorker.get_default_base_job_template()
    pool = WorkPoolCreate(
        name=name, type=ProcessWorker.type, base_job_template=template, description="Campaigns."
    )
    with suppress(ObjectAlreadyExists):
        await client.create_work_pool(pool)
