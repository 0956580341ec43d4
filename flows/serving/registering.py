"""Telling a Prefect server all it needs: the work pool, deployments, automations, block types."""

from collections.abc import Collection, Sequence
from pathlib import Path

from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.client.schemas.filters import FlowFilter, FlowFilterName
from prefect.client.schemas.responses import DeploymentResponse
from prefect.exceptions import ObjectAlreadyExists
from prefect.workers.process import ProcessWorker
from pydantic import SecretStr

from flows.campaign import run_campaign
from flows.engine.credentials import AssessmentCredentials
from flows.serving.automations import register
from flows.serving.deployments import Planned, look_up, remarks_on, to_work

AT_ONCE = 100


async def deploy_all(
    planned: Sequence[Planned], pool: str, notify_url: SecretStr | None
) -> list[str]:
    """Create or renew everything for the workers of a pool. Safe to repeat.

    Answers what a person should know of schedules.
    """
    words = []
    async with get_client() as client:
        await prepare_server(client, notify_url)
        await _pool(client, pool)
        for wanted in planned:
            as_kept = await look_up(client, wanted)
            words += remarks_on(wanted, as_kept)
            await (await to_work(wanted, as_kept, pool)).aapply()
    return words


async def gone(
    planned: Sequence[Planned], places: Sequence[Path], unreadable: Collection[Path], *, prune: bool
) -> list[str]:
    """Name the campaigns of these places that are deployed, and defined in none of their files.

    What a file that cannot be read describes is not gone. With `prune` they are removed.
    """
    there = [place.resolve() for place in places]
    kept = {wanted.full_name for wanted in planned}
    names = []
    ours = FlowFilter(name=FlowFilterName(any_=[run_campaign.name]))
    async with get_client() as client:
        deployed: list[DeploymentResponse] = []
        while more := await client.read_deployments(
            flow_filter=ours, limit=AT_ONCE, offset=len(deployed)
        ):
            deployed += more
        for deployment in deployed:
            name = f"{run_campaign.name}/{deployment.name}"
            file = Path(deployment.parameters.get("file", ""))
            here = any(place in (file, *file.parents) for place in there)
            if here and name not in kept and file not in unreadable:
                names.append(name)
                if prune:
                    await client.delete_deployment(deployment.id)
    return names


async def prepare_server(client: PrefectClient, notify_url: SecretStr | None) -> None:
    """What every server needs: the automations, and the block type for credentials."""
    await AssessmentCredentials.aregister_type_and_schema(client=client)
    await register(client, notify_url)


async def _pool(client: PrefectClient, name: str) -> None:
    template = ProcessWorker.get_default_base_job_template()
    pool = WorkPoolCreate(
        name=name, type=ProcessWorker.type, base_job_template=template, description="Campaigns."
    )
    try:
        await client.create_work_pool(pool)
    except ObjectAlreadyExists:
        return
