"""One request and its answer on a connection of their own: what was written, what came, and when.

A connection that is used again can hand the next request the last one's answer, late or repeated,
and nothing in HTTP/1.1 tells the two apart. So each connection carries one request; what comes
before that request, or is left after its answer, is nobody's answer.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

import h11

from tasks.service.exchange import ENCODED, GLUED, SPOKE_FIRST, TOO_LONG, Last, Phase

# Bytes; a longer answer counts as lost. JSON takes up to thirty times as much in memory, so only a
# list may be that long: other answers are a megabyte, and a few times what was sent.
LARGEST_BODY = 64 * 1024 * 1024
_LARGEST_WORD = 1024 * 1024
_ECHOES = 8  # times, as with each letter escaped and other fields besides
_LARGEST_HEAD = 100 * 1024
_BEGINNING = 1024  # bytes that are kept of a body that was lost: enough to know a page

Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it is to leave: a target such as b"/api/problems", headers, a body or b""."""

    method: bytes
    target: bytes
    headers: Headers = field(repr=False)
    body: bytes = field(default=b"", repr=False)


class Conversation(asyncio.Protocol):
    """Write one request, read one answer, and keep count of how far both got.

    `body` is None until the answer ended as it should; `failure` names what ended it otherwise.
    """

    def __init__(self) -> None:
        self.reached = Phase.NOTHING
        self.status: int | None = None
        self.content_type = ""
        self.retry_after: str | None = None
        self.date: str | None = None
        self.link = ""
        self.body: bytes | None = None
        self.failure: str | None = None
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_LARGEST_HEAD)
        self._over = asyncio.get_running_loop().create_future()
        self._transport: asyncio.Transport  # from connection_made on
        self._abort: Callable[[], None] = lambda: None  # a handshake may fail before that
        self._chunks = bytearray()
        self._size = 0
        self._most = LARGEST_BODY
        self._encoded = False
        self._written = False

    @property
    def broke_off(self) -> bool:
        """Whether sending began and the whole of the request never left this program."""
        return self.reached > Phase.NOTHING and not self._written

    async def ask(self, asked: Asked, last: Last | None = None) -> None:
        """Send the request in one piece and wait for the end of its answer, or of the connection.

        `last` may hold it back. Raises HeldBack, h11.LocalProtocolError: not one byte left.
        """
        request = h11.Request(method=asked.method, target=asked.target, headers=asked.headers)
        raw = self._http.send(request) or b""
        if asked.body:
            raw += self._http.send(h11.Data(data=asked.body)) or b""
        self._http.send(h11.EndOfMessage())
        if asked.method != b"GET":
            self._most = min(LARGEST_BODY, _LARGEST_WORD + _ECHOES * len(asked.body))
        await asyncio.sleep(0)  # so that what already lies in the socket is seen before we write
        if last is not None:
            await last()
        if not self._over.done():
            self.reach(Phase.SENDING)
            self._transport.write(raw)
            if not (self._transport.get_write_buffer_size() or self._transport.is_closing()):
                self.resume_writing()
        await self._over

    @property
    def encoded(self) -> bool:
        """Whether an encoding that was not asked for hides the body, or what came of it."""
        return self._encoded and self.body is None and self.failure != GLUED

    @property
    def begun(self) -> bytes:
        """The beginning of a body that did not come whole."""
        return b"" if self.body is not None else bytes(self._chunks[:_BEGINNING])

    def reach(self, phase: Phase) -> None:
        """Note that the request or its answer got this far."""
        self.reached = phase

    def close(self) -> None:
        """End the connection at once: nothing more of it is for anybody."""
        self._abort()

    # --- called by asyncio ------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Have a connection. One byte fills its buffer, so that we learn when the last has left."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=1, low=0)
        self._abort = self._transport.abort

    def resume_writing(self) -> None:
        """Note that the last byte of the request has left this program."""
        if self.reached is Phase.NOTHING:
            return  # it was the handshake's
        self._written = True
        if self.reached is Phase.SENDING:
            self.reach(Phase.SENT)

    def data_received(self, data: bytes) -> None:
        """Read on in the answer; whatever comes before our first byte is no answer to it."""
        if self.reached is Phase.NOTHING:
            self._end(SPOKE_FIRST)
            return
        self._http.receive_data(data)
        self._read()

    def eof_received(self) -> None:
        """End an answer that only this end delimits; any other, and one of no bytes, is cut off."""
        if self._size:
            self._http.receive_data(b"")
            self._read()
        self._end("RemoteProtocolError")

    def connection_lost(self, exc: Exception | None) -> None:
        """Take note that nothing more comes or goes."""
        if self.reached is Phase.NOTHING:
            self._end("ConnectError")
        self._end("WriteError" if self.broke_off else "ReadError")

    # --- the answer -------------------------------------------------------------------------------

    def _read(self) -> None:
        while not self._over.done():
            try:
                event = self._http.next_event()
            except h11.RemoteProtocolError:
                self._end("RemoteProtocolError")
                return
            match event:
                case h11.Response():
                    self._answered(event)
                case h11.Data():
                    self._keep(event.data)
                case h11.EndOfMessage():
                    self._finish()
                case h11.InformationalResponse():
                    continue
                case _:  # the rest has not arrived yet
                    return

    def _answered(self, answer: h11.Response) -> None:
        self.reach(Phase.ANSWERED)
        self.status = answer.status_code
        for name, value in answer.headers:
            text = value.decode("latin-1")
            match name:
                case b"content-type":
                    self.content_type = text
                case b"retry-after":
                    self.retry_after = text
                case b"date":
                    self.date = text
                case b"link":
                    self.link = text
                case b"content-encoding" if text.strip().lower() not in {"", "identity"}:
                    self._encoded = True

    def _keep(self, data: bytes | bytearray) -> None:
        self._size += len(data)
        if self._size > self._most:
            del self._chunks[_BEGINNING:]
            self._end(TOO_LONG)
        elif not self._encoded:
            self._chunks += data

    def _finish(self) -> None:
        if self._http.trailing_data[0].strip():
            self._end(GLUED)
        elif self._encoded and self._size:
            # identity was asked for. It is never unpacked: a few bytes may stand for gigabytes.
            self._end(ENCODED)
        else:
            self.body = bytes(self._chunks)
            self._end(None)

    def _end(self, failure: str | None) -> None:
        if not self._over.done():
            self.failure = failure
            self._over.set_result(None)
        self.close()
