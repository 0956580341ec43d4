"""Waiting campaigns continue by themselves: the run that finds one waiting schedules the next."""

from datetime import datetime
from uuid import UUID

from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.objects import FlowRun
from prefect.exceptions import ObjectNotFound
from prefect.logging import get_run_logger
from prefect.states import Scheduled

from flows.engine.runs import root_run

CAMPAIGN = "campaign"  # the flow of one campaign
GO_ON = (CAMPAIGN, "batch")  # of these flows another run does what is left


async def schedule_next(key: str, at: datetime) -> None:
    """Have a campaign run again `at` a moment: by its own deployment, else by its batch's.

    A run of no deployment was typed by a person, who is told the moment instead. Campaigns of one
    batch that wait for the same moment share a run; so do runs that ask for it twice.
    """
    try:
        async with get_client() as client:
            root = await root_run(client)
            deployment = await _deployment(client, key, root)
            if deployment is not None:
                await client.create_flow_run_from_deployment(
                    deployment,
                    state=Scheduled(scheduled_time=at),
                    idempotency_key=_once(root, f"again {deployment} {at.isoformat()}"),
                )
    except Exception as error:  # noqa: BLE001 - the run itself is done, and its end is to be told
        why = type(error).__name__
        get_run_logger().warning(f"The next run could not be scheduled: {why}.")


def _once(root: FlowRun, moment: str) -> str:
    """The key of the one run for a moment, or of the one after `root`, if `root` is that run.

    Prefect lets a run begin half a second early, and a worker's clock may be behind by more. Such a
    run still waits for its moment, and with the moment's key it would get itself.
    """
    itself = (root.idempotency_key or "").startswith(moment)
    return f"{moment} after {root.id}" if itself else moment


async def _deployment(client: PrefectClient, key: str, root: FlowRun) -> UUID | None:
    if root.deployment_id is None:
        return None
    try:
        return (await client.read_deployment_by_name(f"{CAMPAIGN}/{key}")).id
    except ObjectNotFound:
        named = (await client.read_flow(root.flow_id)).name
        return root.deployment_id if named in GO_ON else None
