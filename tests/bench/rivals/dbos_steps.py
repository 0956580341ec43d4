"""DBOS Transact with a durable step for each candidate, on SQLite. FILE IN_FLIGHT

A rerun goes on with the same workflow, after the steps that were recorded.
"""

import asyncio
import sys
from typing import Any

import calls
import httpx
from dbos import DBOS, SetWorkflowID

in_flight = int(sys.argv[2])
slots = asyncio.Semaphore(in_flight)
limits = httpx.Limits(max_connections=in_flight)
service = httpx.AsyncClient(**calls.SETTINGS, limits=limits)


async def ask(call: calls.Call) -> httpx.Response:
    return (await service.request(**call)).raise_for_status()


@DBOS.step(retries_allowed=True)
async def create_project() -> int:
    project: int = (await ask(calls.PROJECT)).json()["id"]
    await ask(calls.problem(project))
    return project


@DBOS.step(retries_allowed=True)
async def add(project: int, rows: list[dict[str, Any]]) -> list[int]:
    return calls.ids((await ask(calls.add(project, rows))).json())


@DBOS.step(retries_allowed=True)
async def invite(project: int, candidate: int) -> None:
    async with slots:
        await ask(calls.invite(project, candidate))


@DBOS.workflow()
async def campaign(file: str) -> None:
    project = await create_project()
    everybody = [one for chunk in calls.chunks(file) for one in await add(project, chunk)]
    await asyncio.gather(*(invite(project, candidate) for candidate in everybody))


async def main(file: str) -> None:
    async with service:
        service.headers.update(calls.bearer((await ask(calls.TOKEN)).json()))
        await ask(calls.PROBLEMS)
        DBOS(config={"name": "campaign", "system_database_url": "sqlite:///campaign.sqlite"})
        DBOS.launch()
        with SetWorkflowID("campaign"):
            handle = await DBOS.start_workflow_async(campaign, file)
        await handle.get_result()
        DBOS.destroy()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
