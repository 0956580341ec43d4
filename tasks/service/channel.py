"""One request over the wire, watched phase by phase; whatever happens, an Exchange says how far.

The phases come from httpcore's trace events, not from exceptions: the same ReadError can mean that
nothing left (a proxy hung up) or that an answer was lost.
"""

import asyncio
import ssl
import time
from functools import cache
from pathlib import Path
from typing import Any

import httpx

from tasks.service.exchange import Exchange, Last, Phase

# Requests per httpx client. At the begin and end of each request its pool looks at every idle
# connection, with a system call each: with one connection there is none to look at.
IN_FLIGHT = 1
LARGEST_BODY = 64 * 1024 * 1024  # bytes; a longer answer counts as lost
_IDLE_SECONDS = 2.0  # an idle connection kept longer may be closed just as we use it
_CONNECT_SECONDS = 10.0
_HERE = ("localhost", "127.0.0.1", "[::1]")


class Watch:
    """How far one request got, told by httpcore's `trace` extension.

    `last` is asked before anything leaves; of a request with a body, between the two parts as well,
    where the service cannot begin before the rest has come.
    """

    __slots__ = (
        "_last",
        "_ours",
        "content_type",
        "date",
        "reached",
        "retry_after",
        "status",
        "write_failed",
    )

    def __init__(self, last: Last | None = None) -> None:
        self._last = last
        self.reached = Phase.NOTHING
        self.status: int | None = None
        self.content_type = ""
        self.retry_after: str | None = None
        self.date: str | None = None
        self.write_failed = False
        self._ours = False

    async def __call__(self, event: str, info: dict[str, Any]) -> None:
        """Take note of one event; httpcore awaits this between the steps of a request."""
        match event:
            case "http11.send_request_headers.started":
                # To open a tunnel, a proxy is first sent a CONNECT that carries nothing of ours.
                self._ours = info["request"].method != b"CONNECT"
                if self._ours:
                    await self._look_once_more()
                    self.reached = Phase.SENDING
            case "http11.send_request_body.started" if self._ours:
                if any(name.lower() == b"content-type" for name, _ in info["request"].headers):
                    await self._look_once_more()
            case "http11.send_request_body.complete" if self._ours:
                self.reached = Phase.SENT
            case "http11.receive_response_headers.complete" if self._ours:
                self._answered(*info["return_value"])
            case "http11.send_request_headers.failed" if self._ours:
                self.write_failed = True
                if type(info["exception"]).__name__ == "LocalProtocolError":
                    # Raised while the bytes are composed; writing them is the step after.
                    self.reached = Phase.NOTHING
            case "http11.send_request_body.failed" if self._ours:
                # httpcore swallows a WriteError and reads the answer: this is the only witness.
                self.write_failed = True

    async def _look_once_more(self) -> None:
        if self._last is not None:
            await self._last()

    def _answered(
        self, _version: bytes, status: int, _reason: bytes, headers: list[tuple[bytes, bytes]]
    ) -> None:
        self.reached = Phase.ANSWERED
        self.status = status
        for name, value in headers:
            match name.lower():
                case b"content-type":
                    self.content_type = value.decode("latin-1")
                case b"retry-after":
                    self.retry_after = value.decode("latin-1")
                case b"date":
                    self.date = value.decode("latin-1")


class Lane:
    """One httpx client and how many requests are on it."""

    __slots__ = ("busy", "client")

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client
        self.busy = 0

    def load(self) -> int:
        """Give the number of requests on it now."""
        return self.busy


@cache
def trust(ca_file: Path | None = None) -> ssl.SSLContext:
    """Give the certificates this program trusts, read once: reading them takes 30 ms.

    `ca_file` is trusted beside the usual ones. Raises OSError.
    """
    trusted = httpx.create_ssl_context()
    if ca_file is not None:
        trusted.load_verify_locations(ca_file)
    return trusted


def open_client(*, deadline: float, ca_file: Path | None = None) -> httpx.AsyncClient:
    """Open a client that sends what it is told, once: no redirects, no retries, HTTP/1.1 only.

    Proxies come from the environment, except to this machine. Raises ValueError or ImportError
    when the environment names a proxy that cannot be used. `deadline` is in seconds.
    """
    # Given up well before the deadline: httpcore closes the socket of a handshake that timed out,
    # and forgets the one of a handshake that was cancelled.
    connect = min(_CONNECT_SECONDS, deadline / 2)
    return httpx.AsyncClient(
        verify=trust(ca_file),
        http1=True,
        http2=False,
        follow_redirects=False,
        timeout=httpx.Timeout(None, connect=connect),
        limits=httpx.Limits(
            max_connections=IN_FLIGHT,
            max_keepalive_connections=IN_FLIGHT,
            keepalive_expiry=_IDLE_SECONDS,
        ),
        mounts={f"all://{host}": None for host in _HERE},
    )


async def exchange(
    client: httpx.AsyncClient,
    request: httpx.Request,
    *,
    ends: float,
    token: int = 0,
    last: Last | None = None,
) -> Exchange:
    """Send one request once and say what came of it. Only cancellation passes.

    `ends` is when it must be over, in the event loop's time; `token` the number to put on record;
    `last` may hold it back when it could leave.
    """
    began = time.monotonic()
    watch = Watch(last)
    request.extensions = {**request.extensions, "trace": watch}
    body: bytes | None = None
    failure: str | None = None
    try:
        async with asyncio.timeout_at(ends):
            answer = await client.send(request, stream=True)
            try:
                body = await _read(answer)
            finally:
                await answer.aclose()
                # The two hold each other, and with them all that belongs to the exchange.
                answer.stream = httpx.ByteStream(b"")
    except Exception as error:  # noqa: BLE001 - what it proves depends on the phase, not its class
        failure = type(error).__name__
    return Exchange(
        reached=watch.reached,
        status=watch.status,
        content_type=watch.content_type,
        body=body,
        body_failed=watch.write_failed and watch.reached > Phase.NOTHING,
        retry_after=watch.retry_after,
        failure=failure,
        token=token,
        seconds=time.monotonic() - began,
        date=watch.date,
    )


async def _read(answer: httpx.Response) -> bytes | None:
    """Read a whole body; None when it is longer than any answer of the service can be."""
    chunks: list[bytes] = []
    size = 0
    async for chunk in answer.aiter_bytes():
        size += len(chunk)
        if size > LARGEST_BODY:
            return None
        chunks.append(chunk)
    return b"".join(chunks)
