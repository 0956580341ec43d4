"""Prefect's server as a process: `python -m flows.engine.prefect_server [PORT]`. It ends by
SIGTERM.

With a port it is the one of `campaign up`, with its pages. Without a port it is a temporary one: it
first prints where it will answer, or that a person named another server, and prints a second line
when it answers. Prefect would start a server itself, but only after its own import, at a port that
it hopes is free, and would ask ten times a second whether it answers.

Both answer to their own names alone. A page elsewhere may lead its own name to this machine, and
then counts as of the same origin as the server.
"""

import asyncio
import gc
import socket
import sys
from contextlib import ExitStack

import uvicorn
from prefect.settings import get_current_settings
from starlette.middleware.trustedhost import TrustedHostMiddleware

from flows.engine.login import HOSTS
from flows.engine.temporary_server import ANSWERS, NOT_NEEDED

HOST = "127.0.0.1"
BETWEEN_COLLECTIONS = 50_000  # new objects, once it serves


class _Server(uvicorn.Server):
    """uvicorn, which lets other servers make tables once it answers, and may say that it does."""

    def __init__(self, config: uvicorn.Config, alone: ExitStack, *, says: bool) -> None:
        super().__init__(config)
        self._alone, self._says = alone, says

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._alone.close()
        if self._says and self.started:
            _say(ANSWERS)


def main() -> None:
    if len(sys.argv) > 1:
        with socket.create_server((HOST, int(sys.argv[1]))) as listener:
            _serve(listener, temporary=False)
    else:
        _temporary()


def _temporary() -> None:
    """Serve at a free port, unless a person named a server or wants no temporary one."""
    settings = get_current_settings()
    if settings.api.url is not None or not settings.server.ephemeral.enabled:
        _say(NOT_NEEDED)
        return
    with socket.create_server((HOST, 0)) as listener:
        # Else the body of each answer waits 40 ms for the receipt of its headers: asyncio sets this
        # only for sockets that it made itself.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _say(f"http://{HOST}:{listener.getsockname()[1]}/api")
        _serve(listener, temporary=True)


def _serve(listener: socket.socket, *, temporary: bool) -> None:
    # After the address is said: it is slow to import.
    from prefect.server.api.server import create_app  # noqa: PLC0415

    from flows.engine.prefect_database import make_tables_alone, write_in_turn  # noqa: PLC0415

    write_in_turn()
    # All that was imported stays, and is not looked through for garbage again: not once for a
    # `final` application, which needs it no more, and not while it serves.
    gc.freeze()
    gc.set_threshold(BETWEEN_COLLECTIONS)
    app = TrustedHostMiddleware(create_app(ephemeral=temporary), list(HOSTS))
    level = get_current_settings().server.logging_level.lower()
    config = uvicorn.Config(app, log_level="error" if temporary else level, lifespan="on")
    server = _Server(config, make_tables_alone(), says=temporary)
    asyncio.run(server.serve([listener]))


def _say(word: str) -> None:
    print(word, file=sys.__stdout__, flush=True)


if __name__ == "__main__":
    main()
