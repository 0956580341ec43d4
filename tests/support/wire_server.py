"""A server of bare sockets for the client's tests: it reads a request, then does as it is told."""

import asyncio
import json
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from typing import Any

from pydantic import SecretStr

from config.settings import ServiceSettings

SECRET = "a-secret-never-shown"


@dataclass
class Received:
    """One request as it came over the wire; `body` holds as much as was read."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Line:
    """One accepted connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def head(self) -> Received:
        """Read a request up to its empty line. Raises IncompleteReadError when the line ends."""
        text = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *rest = text.strip().split("\r\n")
        method, path, _ = first.split(" ")
        headers = {n.lower(): v.strip() for n, _, v in (line.partition(":") for line in rest)}
        return Received(method, path, headers, b"")

    async def request(self) -> Received:
        """Read a whole request."""
        received = await self.head()
        length = int(received.headers.get("content-length", "0"))
        received.body = await self.reader.readexactly(length)
        return received

    async def say(self, raw: bytes) -> None:
        """Write bytes as they are."""
        self.writer.write(raw)
        await self.writer.drain()

    async def answer(
        self, status: int, body: bytes = b"", kind: str = "application/json", **headers: str
    ) -> None:
        """Write a complete answer and keep the connection."""
        lines = [f"HTTP/1.1 {status} Said", f"Content-Length: {len(body)}"]
        lines += [f"Content-Type: {kind}"] if kind else []
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await self.say("\r\n".join([*lines, "", ""]).encode("latin-1") + body)

    def reset(self) -> None:
        """Close with a reset instead of an orderly end."""
        raw = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


@dataclass
class WireServer:
    """Where it listens and what it received whole."""

    port: int
    scheme: str = "http"
    received: list[Received] = field(default_factory=list)
    connections: int = 0

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"


Act = Callable[[WireServer, Line], Awaitable[None]]


@asynccontextmanager
async def listening(act: Act, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[WireServer]:
    """Serve connections with `act`, each in a task; every socket is closed at the end."""
    tasks: set[asyncio.Task[Any]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        here.connections += 1
        try:
            await act(here, Line(reader, writer))
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            tasks.discard(task)

    # A small limit keeps what a server has not read with the client.
    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls, limit=2**16)
    here = WireServer(server.sockets[0].getsockname()[1], "https" if tls else "http")
    try:
        yield here
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def always(reply: Callable[[Line, Received], Awaitable[None]]) -> Act:
    """Read whole requests, one after the other, and reply to each."""

    async def act(here: WireServer, line: Line) -> None:
        while True:
            received = await line.request()
            here.received.append(received)
            await reply(line, received)

    return act


def leading_to(there: WireServer) -> Act:
    """Be a proxy that leads to a server, whatever host it is asked for."""

    async def act(here: WireServer, line: Line) -> None:
        here.received.append(await line.head())
        reader, writer = await asyncio.open_connection("127.0.0.1", there.port)
        await line.say(b"HTTP/1.1 200 Connected\r\n\r\n")
        await asyncio.gather(_pour(line.reader, writer), _pour(reader, line.writer))

    return act


async def _pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass bytes on, one way, until they end."""
    with suppress(ConnectionError), closing(writer):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()


async def give_token(line: Line, received: Received, lifetime: Any = 86400) -> None:
    """Answer as the identity provider does (interface 4.1)."""
    answer = {"access_token": "token-1", "token_type": "Bearer", "expires_in": lifetime}
    await line.answer(200, json.dumps(answer).encode())


def settings_for(auth_url: str, base_url: str) -> ServiceSettings:
    """Settings for two servers of a test."""
    return ServiceSettings(
        _env_file=None,
        auth_url=auth_url,
        base_url=base_url,
        app_url="http://127.0.0.1:1",
        client_id="client-7",
        client_secret=SecretStr(SECRET),
        audience="https://api.example/audience",
    )


async def hang() -> None:
    """Do nothing until the test is over."""
    await asyncio.Event().wait()
