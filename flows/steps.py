"""The steps of a campaign as Prefect's tasks: a name around a function that does one thing.

What sends has no retries and no cache: after an unclear answer Prefect would send again. The
ledger knows what was sent. Names of runs are keys and numbers, never people.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.runtime import task_run

from config.errors import Bug, CampaignError
from config.settings import Settings
from data.store.ledger import Ledger
from flows.ending import unquoted
from tasks.preflight import preflight as ask
from tasks.sending.run import Run, Turn


@task(task_run_name="ask the service for its problems", cache_policy=NO_CACHE, persist_result=False)
async def preflight(key: str, ledger: Ledger, settings: Settings) -> None:
    """See that token and address work, and resolve the problem's title (interface 4.1, 4.2)."""
    with _step():
        await ask(key, ledger, settings)


@task(task_run_name="create project", cache_policy=NO_CACHE, persist_result=False)
async def create_project(run: Run) -> None:
    """Create the project, or use the one that the definition names (interface 4.3)."""
    with _step():
        await run.create()


@task(task_run_name="attach problem", cache_policy=NO_CACHE, persist_result=False)
async def attach_problem(run: Run) -> None:
    """Give the project its one problem (interface 4.4)."""
    with _step():
        await run.attach()


@task(task_run_name="add batch {number}", cache_policy=NO_CACHE, persist_result=False)
async def add_batch(run: Run, batch: Turn, number: int) -> None:
    """Add a part of the people, up to a hundred in each request (interface 4.5)."""
    with _step():
        await run.add(batch)


@task(task_run_name="invite part {number}", cache_policy=NO_CACHE, persist_result=False)
async def invite_part(run: Run, part: Turn, number: int) -> None:
    """Have invitations sent, one request for each person (interface 4.6)."""
    with _step():
        await run.invite(part)


begun: list[str] = []  # the task runs of this process: at its end Prefect's server must know them


@contextmanager
def _step() -> Iterator[None]:
    """What every task does around its one thing."""
    if task_run.id is not None:
        begun.append(task_run.id)
    with scrubbed():
        yield


@contextmanager
def scrubbed() -> Iterator[None]:
    """Prefect keeps what an exception says: what nobody has worded may name a candidate.

    So may the service's own words, and whatever an exception was raised from.
    """
    try:
        yield
    except CampaignError as error:
        says, quotes = unquoted(str(error))
        error.args = (says,)
        error.fields.setdefault("quotes", quotes)  # for the terminal: ending.py
        raise error from None
    except Exception as error:  # noqa: BLE001 - whatever it is
        raise Bug(error, "What was sent is recorded; the next run goes on from there.") from None
