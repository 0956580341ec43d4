"""A service that speaks first, byte by byte, in a thread of its own: the client stands still."""

import socket
import ssl
import struct
import threading
from collections.abc import Callable, Sequence
from enum import Enum
from types import TracebackType
from typing import Self

from tests.support.session import PATIENCE


class End(Enum):
    """When the service ends the connection."""

    LATER = "when the client does"
    CLOSE = "instead of listening"
    RESET = "the same, without grace"


class EarlyService:
    """Take one connection, say `early` when `speak` is set, then read to the connection's end.

    Within TLS each piece is a record, and all leave in one segment. In TLS 1.3 they leave together
    with the tickets that a server sends when the handshake is over. Without any `early`, the
    tickets are all that comes; then a request is answered with `answer`.
    """

    def __init__(
        self,
        tls: ssl.SSLContext | None,
        early: Sequence[bytes] = (),
        *,
        answer: bytes = b"",
        ends: End = End.LATER,
    ) -> None:
        self._tls, self._early, self._answer, self._ends = tls, early, answer, ends
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(PATIENCE)
        self._thread = threading.Thread(target=self._serve)
        self.port = self._listener.getsockname()[1]
        self.speak, self.spoken = threading.Event(), threading.Event()
        self.heard = b""

    def __enter__(self) -> Self:
        """Begin to listen."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wait until the connection has ended."""
        self.speak.set()
        self._thread.join()
        self._listener.close()

    def _serve(self) -> None:
        self._line, _ = self._listener.accept()
        self._line.settimeout(PATIENCE)
        with self._line:
            if self._tls is None:
                self.speak.wait(PATIENCE)
                self._line.sendall(b"".join(self._early))
                self._listen(lambda raw: raw, lambda raw: raw)
            else:
                self._serve_within(self._tls)

    def _serve_within(self, context: ssl.SSLContext) -> None:
        came, goes = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = context.wrap_bio(came, goes, server_side=True)
        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                flight = goes.read()
                self._line.sendall(flight)
                if flight and tls.version() == "TLSv1.3":  # the client may begin; tickets follow
                    self.speak.wait(PATIENCE)
                came.write(self._line.recv(65536))
        if tls.version() != "TLSv1.3":
            self._line.sendall(goes.read())
            self.speak.wait(PATIENCE)
        for piece in self._early:
            tls.write(piece)
        self._line.sendall(goes.read())

        def opened(raw: bytes) -> bytes:
            came.write(raw)
            return tls.read(65536)

        def sealed(plain: bytes) -> bytes:
            tls.write(plain)
            return goes.read()

        self._listen(opened, sealed)

    def _listen(self, opened: Callable[[bytes], bytes], sealed: Callable[[bytes], bytes]) -> None:
        """Keep what is heard; answer a request where nothing was said before it."""
        if self._ends is End.RESET:
            self._line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if self._ends is not End.LATER:
            self._line.close()
        self.spoken.set()
        try:
            while self._ends is End.LATER and (raw := self._line.recv(65536)):
                self.heard += opened(raw)
                if not self._early and self.heard.endswith(b"\r\n\r\n"):
                    self._line.sendall(sealed(self._answer))
        except (ConnectionError, ssl.SSLWantReadError):
            pass  # hung up
