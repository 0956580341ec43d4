"""The floor: a bare asyncio loop with httpx. It remembers nothing. FILE IN_FLIGHT"""

import asyncio
import sys

import calls
import httpx


async def main(file: str, in_flight: int) -> None:
    limits = httpx.Limits(max_connections=in_flight)
    async with httpx.AsyncClient(**calls.SETTINGS, limits=limits) as service:

        async def ask(call: calls.Call) -> httpx.Response:
            return (await service.request(**call)).raise_for_status()

        service.headers.update(calls.bearer((await ask(calls.TOKEN)).json()))
        await ask(calls.PROBLEMS)
        project = (await ask(calls.PROJECT)).json()["id"]
        await ask(calls.problem(project))
        everybody: list[int] = []
        for chunk in calls.chunks(file):
            everybody += calls.ids((await ask(calls.add(project, chunk))).json())
        left = iter(everybody)

        async def one_after_another() -> None:
            for candidate in left:
                await ask(calls.invite(project, candidate))

        await asyncio.gather(*(one_after_another() for _ in range(in_flight)))


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
