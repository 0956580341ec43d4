"""The floor: a bare asyncio loop with httpx. It remembers nothing. FILE IN_FLIGHT"""

import asyncio
import sys
from typing import Any

import calls
import httpx


async def main(file: str, in_flight: int) -> None:
    limits = httpx.Limits(max_connections=in_flight)
    async with httpx.AsyncClient(**calls.SETTINGS, limits=limits) as service:

        async def ask(call: calls.Call) -> Any:
            answer = (await service.request(**call)).raise_for_status()
            return answer.json() if answer.content else None

        service.headers.update(calls.bearer(await ask(calls.TOKEN)))
        await calls.send(ask, file, in_flight)


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
