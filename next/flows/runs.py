"""Runs of campaigns, as Prefect knows them: begin one, and leave the missed ones out."""

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.filters import FlowRunFilter
from prefect.client.schemas.responses import DeploymentResponse
from prefect.exceptions import ObjectNotFound
from prefect.runtime import deployment, flow_run

CAMPAIGN = "campaign"  # the flow


async def run_now(client: PrefectClient, file: Path, key: str | None, once: str) -> None:
    """Start a run of a file as it stands now, in its campaign's own history; `once` for each."""
    named = await deployment_named(client, f"{CAMPAIGN}/{key}") if key else None
    there = named or await client.read_deployment_by_name(f"{CAMPAIGN}/any")
    await client.create_flow_run_from_deployment(
        there.id,
        parameters={"file": str(file), "campaign": key},
        tags=[f"campaign:{key}"] if key else [],
        idempotency_key=f"{file} {once}",
    )


async def deployment_named(client: PrefectClient, name: str) -> DeploymentResponse | None:
    with suppress(ObjectNotFound):
        return await client.read_deployment_by_name(name)
    return None


async def is_missed() -> bool:
    """Whether a later run of the same schedule is due as well: of missed ones the latest runs."""
    if deployment.id is None or flow_run.scheduled_start_time is None:
        return False
    later = FlowRunFilter.model_validate(
        {
            "deployment_id": {"any_": [deployment.id]},
            "state": {"type": {"any_": ["SCHEDULED"]}},
            "expected_start_time": {
                "after_": flow_run.scheduled_start_time,
                "before_": datetime.now(UTC),
            },
            "id": {"not_any_": [flow_run.id]},
        }
    )
    async with get_client() as client:
        return bool(await client.read_flow_runs(flow_run_filter=later, limit=1))
