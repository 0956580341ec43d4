"""The sandbox on a real socket, in a thread of its own: `with Sandbox() as service`."""

import asyncio
import shutil
import socket
import tempfile
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import uvicorn

from sandbox.api import AUDIENCE, CLIENT_ID, CLIENT_SECRET, Api
from sandbox.asgi import ServiceApp
from sandbox.embedded import Embedded
from sandbox.outbox import Outbox
from sandbox.pages import WebApplication, application
from sandbox.record import Entry, Record
from sandbox.state import ServiceState
from sandbox.switchboard import Setting, Switchboard


class Sandbox:
    """The assessment service, which serves during the `with` block.

    `record`: the file of JSON lines, by default a temporary one; a sandbox that starts with an
    older record knows all that is in it. `outbox`: a folder for `.eml` files. `token_lifetime` is
    in seconds; with 0, tokens are expired from the start. `faults` are by operation: token,
    problems, create, attach, add, invite.

    Raises OSError if the port is taken, or the record or the outbox cannot be written.
    """

    def __init__(
        self,
        record: Path | None = None,
        port: int = 0,
        token_lifetime: int = 86400,
        *,
        host: str = "127.0.0.1",
        outbox: Path | None = None,
        **faults: Setting,
    ) -> None:
        self.faults = Switchboard(faults)
        self._address = (host, port)
        self._token_lifetime = token_lifetime
        self._folder = outbox
        if record is None:
            folder = tempfile.mkdtemp(prefix="sandbox-")
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            record = Path(folder) / "record.jsonl"
        self._path = record

    def __enter__(self) -> Self:
        self._listener = _listen(*self._address)
        try:
            host, port = self._listener.getsockname()[:2]
            self.url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
            self._record = Record(self._path)
            state = ServiceState()
            for entry in self._record.entries():
                state.do_again(entry)
            outbox = Outbox(state, self._folder, self.url)
            api = Api(state, outbox, self._token_lifetime)
            routes = WebApplication(state, outbox).routes() + Embedded(state).routes()
            pages = application(routes, self._address[0])
            service = ServiceApp(api, pages, state, self._record, self.faults)
        except BaseException:
            self._listener.close()
            raise
        self._server = _Server(service)
        self._server.start(self._listener)
        return self

    def __exit__(self, *raised: object) -> None:
        self._server.stop()
        self._record.close()

    @property
    def settings(self) -> dict[str, str]:
        """The six settings with which a campaign uses this sandbox."""
        return {
            "ASSESSMENT_AUTH_URL": self.url,
            "ASSESSMENT_BASE_URL": self.url,
            "ASSESSMENT_APP_URL": self.url,
            "ASSESSMENT_CLIENT_ID": CLIENT_ID,
            "ASSESSMENT_CLIENT_SECRET": CLIENT_SECRET,
            "ASSESSMENT_AUDIENCE": AUDIENCE,
        }

    def entries(self) -> list[Entry]:
        """The record so far, read from its file."""
        return self._record.entries()

    def wait_for(self, condition: Callable[[list[Entry]], Any], seconds: float = 30) -> list[Entry]:
        """Wait until the record is as wanted, and return it. Raises TimeoutError."""
        return self._record.wait_for(condition, seconds)


def _listen(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    # With protocol 0 instead of TCP, asyncio would leave Nagle's delay of 40 ms on.
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(1024)
    except OSError:
        listener.close()
        raise
    return listener


class _Server(uvicorn.Server):
    """uvicorn in a thread, started and stopped without its fixed waits."""

    def __init__(self, service: ServiceApp) -> None:
        super().__init__(
            uvicorn.Config(
                service,
                http="h11",
                loop="asyncio",
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
            )
        )
        self._service = service
        self._ready = threading.Event()
        self._stopping = asyncio.Event()

    def start(self, listener: socket.socket) -> None:
        self._thread = threading.Thread(target=self.run, args=([listener],), daemon=True)
        self._thread.start()
        self._ready.wait()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()

    async def main_loop(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ready.set()
        while not self._stopping.is_set():
            await self.on_tick(0)  # renews the Date header
            try:
                await asyncio.wait_for(self._stopping.wait(), 1)
            except TimeoutError:
                continue

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drop all connections: those that wait for a late answer get none."""
        for server in self.servers:
            server.close()
        self._service.stopping.set()
        await asyncio.sleep(0)  # requests at work may still be answered
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        if self.server_state.tasks:
            await asyncio.wait(set(self.server_state.tasks), timeout=1)
