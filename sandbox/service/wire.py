"""How an answer is sent or withheld: the connection of one request.

Goes below the web server's own interface where it must, to the transport of the connection, so
that clients meet real closes, resets and half answers. Served by uvicorn only.
"""

import asyncio
import http
import socket
import struct
from typing import Any

from starlette.types import Receive, Send

from sandbox.protocol.answers import Answer

_RESET_ON_CLOSE = struct.pack("ii", 1, 0)
_LENGTH = b"content-length"
_CORK: int | None = getattr(socket, "TCP_CORK", None)  # Linux alone has it


class Wire:
    """The connection that one request came on."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send

    async def answer(self, answer: Answer) -> None:
        await answer({"type": "http"}, self._receive, self._send)

    async def close(self) -> None:
        """Close the connection; the client sees its orderly end."""
        self._transport.close()
        await self._gone()

    async def reset(self) -> None:
        """Reset the connection; the client sees an error instead of an end."""
        connection: socket.socket = self._transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self._transport.abort()
        await self._gone()

    async def half(self, answer: Answer) -> None:
        """Announce the whole length, send half the body, close."""
        body = answer.body
        self._transport.write(_head(answer, len(body)) + body[: len(body) // 2])
        await self.close()

    async def cut(self, answer: Answer) -> None:
        """Announce no length, so that only closing ends the body; close half way."""
        body = answer.body
        self._transport.write(_head(answer, None) + body[: len(body) // 2])
        await self.close()

    def headers_only(self, answer: Answer) -> None:
        """Send the status line and the headers, and leave the body open."""
        self._transport.write(_head(answer, len(answer.body) or 1))

    async def answer_and_close(self, answer: Answer) -> None:
        """Send the whole answer as if the connection stayed open, and close it."""
        if _CORK is not None:
            # Both leave together: else a client that is quick sends its next request in between.
            connection: socket.socket = self._transport.get_extra_info("socket")
            connection.setsockopt(socket.IPPROTO_TCP, _CORK, 1)
        self._transport.write(_head(answer, len(answer.body)) + answer.body)
        await self.close()

    @property
    def _transport(self) -> asyncio.Transport:
        cycle: Any = getattr(self._receive, "__self__", None)
        transport: asyncio.Transport = cycle.transport
        return transport

    async def _gone(self) -> None:
        # uvicorn takes a request without an answer for an error unless it knows the client left.
        while (await self._receive())["type"] != "http.disconnect":
            pass


def _head(answer: Answer, length: int | None) -> bytes:
    """The status line and headers as bytes; without a length when it is None."""
    status = http.HTTPStatus(answer.status_code)
    lines = [f"HTTP/1.1 {status.value} {status.phrase}".encode()]
    lines += [name + b": " + value for name, value in answer.raw_headers if name != _LENGTH]
    if length is not None:
        lines.append(_LENGTH + f": {length}".encode())
    return b"\r\n".join(lines) + b"\r\n\r\n"
