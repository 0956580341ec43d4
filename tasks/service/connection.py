"""One request and its answer on a connection of their own: what was written, what came, and when.

On a reused connection, a late or repeated answer can be taken for the answer to the next request,
and nothing in HTTP/1.1 shows the difference. So each connection carries one request; anything that
comes before that request, or is left after its answer, is nobody's answer.
"""

import asyncio
import select
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import h11

from tasks.service.evidence import ENCODED, GLUED, SPOKE_FIRST, TOO_LONG, Last, Phase

# Bytes; a longer answer counts as lost. JSON takes up to thirty times as much in memory, so only a
# list may be that long. Other answers may be a megabyte plus a few times the size of the request.
LARGEST_BODY = 64 * 1024 * 1024
_LARGEST_WORD = 1024 * 1024
_ECHOES = 8  # times the request: each letter may be escaped, and there may be more fields
_LARGEST_HEAD = 100 * 1024
_BEGINNING = 1024  # bytes that are kept of a lost body: enough to recognise a page

Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it is to leave: a target such as b"/api/problems", headers, a body or b""."""

    method: bytes
    target: bytes
    headers: Headers = field(repr=False)
    body: bytes = field(default=b"", repr=False)


class Conversation(asyncio.Protocol):
    """Write one request, read one answer, and record how far both got.

    `layers` are the transports from the socket up, one more for each TLS: what asyncio still holds
    of a request lies in the lowest. `body` is None until the answer ended as it should; otherwise
    `failure` names what ended it. `early`: the answer began before the whole request had left this
    program. `broke_off`: sending began, and the whole of it never left.
    """

    def __init__(self, layers: Sequence[asyncio.Transport] = ()) -> None:
        self.layers = list(layers)
        self.early = False
        self.broke_off = False
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
        self._chunks = bytearray()
        self._size = 0
        self._most = LARGEST_BODY
        self._encoded = False

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
        if await self._may_begin(last):
            self.reach(Phase.SENDING)
            self.layers[-1].write(raw)
            self._note_what_left()
        await self._over

    async def _may_begin(self, last: Last | None) -> bool:
        """See that nothing came, up to the moment in which we write.

        What lies in the socket is read first: TLS has messages of its own, which are no answer.
        Then `last` looks again, so that nothing lies between its look and the first byte.
        """
        while not self._over.done():
            if last is not None:
                await last()
            if not self._something_came():
                return True
            await asyncio.sleep(0)
        return False

    def _something_came(self) -> bool:
        """Whether bytes, or its end, lie in the socket unread."""
        if self._closing():
            return True
        poll = select.poll()
        poll.register(self.layers[0].get_extra_info("socket"), select.POLLIN)
        return bool(poll.poll(0))

    def _closing(self) -> bool:
        return any(layer.is_closing() for layer in self.layers)

    def _unsent(self) -> int:
        """Count the bytes that the kernel has not taken yet; 0 also for a connection that broke."""
        return sum(layer.get_write_buffer_size() for layer in self.layers)

    def _note_what_left(self) -> None:
        if not self._closing() and not self._unsent() and self.reached is Phase.SENDING:
            self.reach(Phase.SENT)

    @property
    def encoded(self) -> bool:
        """Whether an encoding that was not asked for hides the body, or the part that arrived."""
        return self._encoded and self.body is None and self.failure != GLUED

    @property
    def begun(self) -> bytes:
        """The beginning of a body that did not arrive whole."""
        return b"" if self.body is not None else bytes(self._chunks[:_BEGINNING])

    def reach(self, phase: Phase) -> None:
        """Note that the request or its answer got this far."""
        self.reached = phase

    def close(self) -> None:
        """End the connection at once: whatever else it has is for nobody."""
        self._note_what_left()
        if self.reached > Phase.NOTHING and self._unsent():
            self.broke_off = True
        if self.layers:  # a handshake may fail before that
            self.layers[-1].abort()

    # --- called by asyncio ------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Have a connection to the socket, or one more layer over it."""
        self.layers.append(cast("asyncio.Transport", transport))

    def data_received(self, data: bytes) -> None:
        """Read on in the answer; whatever comes before our first byte is no answer to it."""
        if self.reached is Phase.NOTHING:
            self._end(SPOKE_FIRST)
            return
        if self.status is None and not self._http.trailing_data[0]:
            self.early = self._unsent() > 0  # these are the first bytes of an answer
        self._http.receive_data(data)
        self._read()

    def eof_received(self) -> None:
        """End an answer that only the end of the connection delimits; any other one, or an empty
        one, counts as cut off.
        """
        if self._size:
            self._http.receive_data(b"")
            self._read()
        self._end("RemoteProtocolError")

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the connection is gone."""
        if self.reached is Phase.NOTHING:
            self._end("ConnectError")
        self._end("WriteError" if self.reached is Phase.SENDING else "ReadError")

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
            # We asked for identity. A body is never unpacked: a few bytes may become gigabytes.
            self._end(ENCODED)
        else:
            self.body = bytes(self._chunks)
            self._end(None)

    def _end(self, failure: str | None) -> None:
        if not self._over.done():
            self.failure = failure
            self._over.set_result(None)
        self.close()
