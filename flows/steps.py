"""The steps of a campaign as Prefect's tasks. Each task calls one function of a lower floor.

The names of task runs have keys and numbers, never people.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.runtime import task_run

from config.errors import Bug, CampaignError
from config.settings import Settings
from data.store.ledger import Ledger
from tasks.preflight import ask_service
from tasks.sending.gate import EndedEarly, How
from tasks.sending.run import Batch, CampaignRun

# Set here, because settings can change Prefect's defaults. A retry would send nothing, because the
# gate of a run that has ended stays closed. A cache would leave out a step. The kept result of a
# failed task would be its exception, which may name a candidate.
ONCE: dict[str, Any] = {"retries": 0, "cache_policy": NO_CACHE, "persist_result": False}


@task(task_run_name="ask the service for its problems", **ONCE)
async def preflight(key: str, ledger: Ledger, settings: Settings) -> None:
    """Ask for a token and the problems, and find the problem of a title (interface 4.1, 4.2)."""
    with _as_task_run():
        await ask_service(key, ledger, settings)


@task(task_run_name="create project", **ONCE)
async def create_project(run: CampaignRun) -> None:
    """Create the project, or use the one that the definition names (interface 4.3)."""
    with _as_task_run():
        await run.create()


@task(task_run_name="attach problem", **ONCE)
async def attach_problem(run: CampaignRun) -> None:
    """Give the project its one problem (interface 4.4)."""
    with _as_task_run():
        await run.attach()


@task(task_run_name="add batch {batch.number}", **ONCE)
async def add_batch(run: CampaignRun, batch: Batch) -> None:
    """Add a batch of people, candidates_per_request in each request (interface 4.5)."""
    with _as_task_run():
        await run.add(batch)


@task(task_run_name="invite batch {batch.number}", **ONCE)
async def invite_batch(run: CampaignRun, batch: Batch) -> None:
    """Have invitations sent, one request for each person (interface 4.6)."""
    with _as_task_run():
        await run.invite(batch)


# The ids of all task runs of this process. A typed `run` waits until Prefect has recorded them.
started_task_runs: list[str] = []


@contextmanager
def _as_task_run() -> Iterator[None]:
    """Note the id of this task run, and keep names out of its errors.

    The task fails only if the run needs a person: otherwise the gate tells the flow how it ended.
    """
    if task_run.id is not None:
        started_task_runs.append(task_run.id)
    with scrubbed():
        try:
            yield
        except EndedEarly as early:
            if early.how is not How.INTERRUPTED and (not early.hold or early.hold.needs_a_person):
                raise


@contextmanager
def scrubbed() -> Iterator[None]:
    """Raise errors without their causes, because Prefect keeps both.

    Any error but a CampaignError may name a candidate: a Bug is raised in its place.
    """
    try:
        yield
    except CampaignError as error:
        raise error from None
    except Exception as error:  # noqa: BLE001 - whatever it is
        raise Bug(error, "What was sent is recorded; the next run goes on from there.") from None
