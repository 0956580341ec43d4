"""The same loop, each step through a library that remembers what was done. LIBRARY FILE

`prefect-retries`: tasks that are tried again. `prefect-cache`: their results are kept, and found
by their inputs. `prefect-transactions`: each inside a transaction with a key. `dbos`: steps of a
durable workflow, on SQLite. `procrastinate`: jobs of a queue in PostgreSQL, with those that a dead
worker left retried at the start, as its manual has it. Each as its own manual shows it first;
where the moments lie, the comments say. FILE as in loops.py.
"""

import asyncio
import logging
import os
import sys
from pathlib import Path

from tests.matrix.loops import invite, people
from tests.matrix.moments import Moment, reached


def step(email: str, url: str) -> str:
    """What every library is given to do: it has begun the step, and has not seen it end."""
    reached(Moment.CLAIMED, email)
    invite(url)
    reached(Moment.ANSWERED, email)
    return email


def prefect_tasks(file: str, *, kept: bool) -> None:
    """A task for each person; what was kept is not done again."""
    from prefect import flow, task
    from prefect.cache_policies import INPUTS, NO_CACHE

    policy = INPUTS if kept else NO_CACHE
    remembered = task(step, retries=3, cache_policy=policy, persist_result=kept)

    @flow
    def campaign() -> None:
        for email, url in people(file):
            reached(Moment.BEFORE, email)
            remembered(email, url)
            reached(Moment.RECORDED, email)

    campaign()


def prefect_transactions(file: str) -> None:
    """A transaction for each person, with a key; what was committed is not done again."""
    from prefect import flow, task
    from prefect.cache_policies import NO_CACHE
    from prefect.transactions import transaction

    tried_again = task(step, retries=3, cache_policy=NO_CACHE)

    @flow(persist_result=True)
    def campaign() -> None:
        for email, url in people(file):
            reached(Moment.BEFORE, email)
            with transaction(key=url.replace("/", "-"), write_on_commit=True) as sending:
                if not sending.is_committed():
                    sending.stage(tried_again(email, url))
            reached(Moment.RECORDED, email)

    campaign()


def dbos(file: str) -> None:
    """A step for each person, of a workflow that goes on after those that were recorded."""
    from dbos import DBOS, SetWorkflowID

    remembered = DBOS.step(retries_allowed=True)(step)

    @DBOS.workflow()
    def campaign(file: str) -> None:
        for email, url in people(file):
            reached(Moment.BEFORE, email)
            remembered(email, url)
            reached(Moment.RECORDED, email)

    DBOS(config={"name": "matrix", "system_database_url": "sqlite:///dbos.sqlite"})
    DBOS.launch()
    with SetWorkflowID("campaign"):
        handle = DBOS.start_workflow(campaign, file)
    handle.get_result()
    DBOS.destroy()


def procrastinate(file: str) -> None:
    """A job for each person, one after the other; the folder's name is the queue's."""
    from procrastinate import App, PsycopgConnector
    from procrastinate.manager import JobManager

    queue = Path.cwd().name
    app = App(connector=PsycopgConnector(conninfo=os.environ["MATRIX_POSTGRES"]))
    job = app.task(name="step")(step)
    # The claim is the fetch of a job, the record its end: both lie in the library.
    fetch, finish = JobManager.fetch_job, JobManager.finish_job

    async def fetch_job(self, *given, **more):  # type: ignore[no-untyped-def]
        waiting = await self.list_jobs_async(queue=queue, status="todo")
        for each in sorted(waiting, key=lambda each: each.id)[:1]:
            reached(Moment.BEFORE, each.task_kwargs["email"])
        return await fetch(self, *given, **more)

    async def finish_job(self, job, *given, **more):  # type: ignore[no-untyped-def]
        await finish(self, job, *given, **more)
        reached(Moment.RECORDED, job.task_kwargs["email"])

    JobManager.fetch_job, JobManager.finish_job = fetch_job, finish_job  # type: ignore[method-assign]

    async def campaign() -> None:
        async with app.open_async():
            if not list(await app.job_manager.list_jobs_async(queue=queue)):
                rows = [{"email": email, "url": url} for email, url in people(file)]
                await job.configure(queue=queue).batch_defer_async(*rows)
            # The worker before this one is dead: nobody has to wait for its heartbeat.
            stalled = await app.job_manager.get_stalled_jobs(queue=queue, seconds_since_heartbeat=0)
            for each in stalled:
                await app.job_manager.retry_job(each)
            await app.run_worker_async(
                queues=[queue], wait=False, concurrency=1, listen_notify=False
            )

    asyncio.run(campaign())


def procrastinate_schema() -> None:
    """Make the tables of procrastinate's database, once."""
    logging.disable(logging.WARNING)  # that nobody else can import this app: nobody has to
    from procrastinate import App, PsycopgConnector

    app = App(connector=PsycopgConnector(conninfo=os.environ["MATRIX_POSTGRES"]))
    with app.open():
        app.schema_manager.apply_schema()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["prefect-retries", file]:
            prefect_tasks(file, kept=False)
        case ["prefect-cache", file]:
            prefect_tasks(file, kept=True)
        case ["prefect-transactions", file]:
            prefect_transactions(file)
        case ["dbos", file]:
            dbos(file)
        case ["procrastinate", file]:
            procrastinate(file)
        case ["procrastinate-schema"]:
            procrastinate_schema()
