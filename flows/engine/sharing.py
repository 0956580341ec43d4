"""A large campaign asks its work pool for wave runs, which share its invitations.

They help, but are not needed: a wave run takes parts that no other run has begun, and if none
starts, the run sends everything itself. Claims in the ledger keep them apart.
"""

from prefect.client.orchestration import get_client
from prefect.exceptions import ObjectNotFound
from prefect.logging import get_run_logger
from prefect.runtime import flow_run

from config.command_line import command
from flows.engine.runs import root_run
from tasks.plan.target import CampaignSource

WAVE_RUN = "wave run"  # the flow; its deployment is called as the work pool
ENOUGH = 500  # people for each run: to start one takes as long as inviting some hundreds


async def ask_for_wave_runs(asked: CampaignSource, most: int, key: str, people: int) -> None:
    """Ask for as many runs as `people` are worth, this one included, at most `most`.

    A run that no worker of a pool began has nobody to ask.
    """
    wanted = min(most, people // ENOUGH) - 1
    if wanted < 1:
        return
    from prefect.deployments import arun_deployment  # noqa: PLC0415 - its import is felt by all

    try:
        pool = await _pool()
        if pool is None:
            return
        for number in range(1, wanted + 1):
            await arun_deployment(
                f"{WAVE_RUN}/{pool}",
                parameters={
                    "file": str(asked.file),
                    "campaign": key,
                    "definition": str(asked.definition) if asked.definition else None,
                    "sheet": asked.sheet,
                },
                tags=[WAVE_RUN],  # by which a worker knows it (flows/serving/pool_worker.py)
                timeout=0,  # seconds: it is not waited for
                idempotency_key=f"{flow_run.id} {number}",
            )
    except ObjectNotFound:
        get_run_logger().warning(
            f"No wave runs are deployed for this pool. To deploy them: {command('deploy')}"
        )
    except Exception as error:  # noqa: BLE001 - Prefect may fail in ways of its own
        get_run_logger().warning(f"No wave runs could be started: {type(error).__name__}.")


async def _pool() -> str | None:
    """The work pool of the run that all this is a part of."""
    async with get_client() as client:
        return (await root_run(client)).work_pool_name
