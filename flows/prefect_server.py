"""Prefect's temporary server as a process: `python -m flows.prefect_server`.

It says on standard output where it will answer, or that a person named another server; and a
second time once it answers. It ends by SIGTERM. Prefect would start one of its own, but only once
it is imported itself, at a port that it hopes is free, and would ask ten times a second whether
it answers.
"""

import asyncio
import gc
import socket
import sys

import uvicorn
from prefect.settings import get_current_settings

from flows.temporary_server import ANSWERS, NOT_NEEDED

BETWEEN_COLLECTIONS = 50_000  # new objects; most of them are modules, and stay


class _Server(uvicorn.Server):
    """uvicorn, saying when it answers."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            _say(ANSWERS)


def main() -> None:
    """Serve until SIGTERM, unless a person named a server or wants no temporary one."""
    gc.set_threshold(BETWEEN_COLLECTIONS)
    settings = get_current_settings()
    if settings.api.url is not None or not settings.server.ephemeral.enabled:
        _say(NOT_NEEDED)
        return
    with socket.create_server(("127.0.0.1", 0)) as listener:
        # Else the body of each answer waits 40 ms for the receipt of its headers: asyncio sets this
        # only for sockets that it made itself.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _say(f"http://127.0.0.1:{listener.getsockname()[1]}/api")
        # After the address is said: it is slow to import.
        from prefect.server.api.server import create_app  # noqa: PLC0415

        app = create_app(ephemeral=True, final=True)
        server = _Server(uvicorn.Config(app, log_level="error", lifespan="on"))
        asyncio.run(server.serve([listener]))


def _say(word: str) -> None:
    print(word, file=sys.__stdout__, flush=True)


if __name__ == "__main__":
    main()
