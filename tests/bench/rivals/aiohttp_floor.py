"""The second floor: the same bare loop with aiohttp, which parses in C. FILE IN_FLIGHT"""

import asyncio
import sys
from typing import Any

import aiohttp
import calls


async def main(file: str, in_flight: int) -> None:
    base, headers = calls.SETTINGS["base_url"], dict(calls.SETTINGS["headers"])
    limits = aiohttp.TCPConnector(limit=in_flight)
    async with aiohttp.ClientSession(connector=limits, raise_for_status=True) as service:

        async def ask(call: calls.Call) -> Any:
            url = call["url"] if call is calls.TOKEN else base + call["url"]
            asked = service.request(call["method"], url, json=call.get("json"), headers=headers)
            async with asked as answer:
                return await answer.json() if await answer.read() else None

        headers.update(calls.bearer(await ask(calls.TOKEN)))
        await calls.send(ask, file, in_flight)


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
