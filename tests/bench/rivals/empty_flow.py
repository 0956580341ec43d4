"""An empty asynchronous flow: what Prefect itself costs, with its default settings."""

import asyncio

from prefect import flow


@flow
async def nothing() -> None:
    """Do nothing, under Prefect's eyes."""


asyncio.run(nothing())
