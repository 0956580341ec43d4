"""Telling a Prefect server all it needs: the work pool, deployments, automations, block types."""

from collections.abc import Sequence

from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.exceptions import ObjectAlreadyExists
from prefect.workers.process import ProcessWorker
from pydantic import SecretStr

from flows.automations import register
from flows.credentials import AssessmentCredentials
from flows.deployments import Planned, to_work


async def deploy_all(planned: Sequence[Planned], pool: str, notify_url: SecretStr | None) -> None:
    """Create or renew everything for the workers of a pool. Safe to repeat."""
    async with get_client() as client:
        await prepare_server(client, notify_url)
        await _pool(client, pool)
    for one in planned:
        await (await to_work(one, pool)).aapply()


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
