"""What waits for its hour goes by itself: the run that found it waiting schedules the next one."""

from datetime import datetime
from uuid import UUID

from prefect.client.orchestration import get_client
from prefect.logging import get_run_logger
from prefect.runtime import flow_run
from prefect.states import Scheduled


async def schedule_next(at: datetime) -> None:
    """Have the deployment of this run, or of the batch it belongs to, run again `at` a moment.

    A run of no deployment was typed by a person, who is told the moment instead. Campaigns of one
    batch that wait for the same moment share a run.
    """
    try:
        async with get_client() as client:
            run = await client.read_flow_run(UUID(flow_run.root_flow_run_id or flow_run.id))
            if run.deployment_id is None:
                return
            await client.create_flow_run_from_deployment(
                run.deployment_id,
                parameters=run.parameters,
                state=Scheduled(scheduled_time=at),
                idempotency_key=f"again {run.deployment_id} {at.isoformat()}",
            )
    except Exception as error:  # noqa: BLE001 - the run itself is done, and its end is to be told
        why = type(error).__name__
        get_run_logger().warning(f"The next run could not be scheduled for {at:%c} UTC: {why}.")
