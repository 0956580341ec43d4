"""A way to a PostgreSQL server that is cut where a test says: it knows the protocol's messages.

It is told at which question of a client to cut: before the server has heard it, or once the server
has answered it and the client has not.
"""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from tests.support.ledgers.databases import AT_LEISURE

ASKS = b"QS"  # a query, and the end of one that was prepared: the server answers with ready
READY = b"Z"


class Cut(StrEnum):
    """On which side of what a client asks its connection is cut."""

    BEFORE = "before the server heard it"
    AFTER = "before its answer came back"


@dataclass
class CuttingProxy:
    """Listens on 127.0.0.1, and leads to the server in a folder.

    `asked` holds the questions of all conversations since it was armed: what a client said, in
    its words. `closed`: nobody is let through, as if the server were out of reach.
    """

    server: Path
    when: Callable[[int, str], bool] = lambda number, said: False
    side: Cut = Cut.BEFORE
    once: bool = True
    closed: bool = False
    asked: list[str] = field(default_factory=list)
    cuts: int = 0

    def __post_init__(self) -> None:
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port = self._door.getsockname()[1]
        self._lock = threading.Lock()
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._threads = [threading.Thread(target=self._let_in)]
        self._threads[0].start()

    def url(self, database: str) -> str:
        here = f"127.0.0.1:{self.port}"
        return f"postgresql+psycopg://postgres@{here}/{database}?{AT_LEISURE}"

    def arm(self, when: Callable[[int, str], bool], side: Cut, *, once: bool = True) -> None:
        """Count anew, and cut at the question for which `when` (its number, its words) is true."""
        with self._lock:
            self.asked.clear()
            self.when, self.side, self.once = when, side, once

    def cut_all(self) -> None:
        """Cut every conversation."""
        for client, server in list(self._pairs):
            _end(client)
            _end(server)

    def end(self) -> None:
        self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        self.cut_all()
        for thread in self._threads:
            thread.join()

    def _let_in(self) -> None:
        while True:
            try:
                client, _ = self._door.accept()
            except OSError:
                return
            if self.closed:
                client.close()
                continue
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            server = socket.socket(socket.AF_UNIX)
            server.connect(str(self.server / ".s.PGSQL.5432"))
            self._pairs.append((client, server))
            talk = _Conversation(self, client, server)
            for work in (talk.ask, talk.answer):
                thread = threading.Thread(target=work)
                self._threads.append(thread)
                thread.start()

    def question(self, said: bytes) -> bool:
        """Count one question; whether the conversation is to be cut at it."""
        with self._lock:
            self.asked.append(said.decode(errors="replace"))
            if not self.when(len(self.asked), self.asked[-1]):
                return False
            self.cuts += 1
            if self.once:
                self.when = lambda number, said: False
            return True


class _Conversation:
    """One client and the server: a thread each way."""

    def __init__(self, proxy: CuttingProxy, client: socket.socket, server: socket.socket) -> None:
        self._proxy, self._client, self._server = proxy, client, server
        self._silent = threading.Event()  # what the server says now is for nobody

    def ask(self) -> None:
        from_client = self._client.makefile("rb")
        try:
            self._begin(from_client.read)
            said = b""
            while len(head := from_client.read(5)) == 5:
                body = from_client.read(int.from_bytes(head[1:], "big") - 4)
                said += body
                if head[:1] in ASKS:
                    cut, said = self._proxy.question(said), b""
                    if cut and self._proxy.side is Cut.BEFORE:
                        break
                    if cut:
                        self._silent.set()
                self._server.sendall(head + body)
        except OSError:
            pass
        finally:
            from_client.close()
            _end(self._client)
            if not self._silent.is_set():
                _end(self._server)

    def answer(self) -> None:
        from_server = self._server.makefile("rb")
        try:
            while len(head := from_server.read(5)) == 5:
                body = from_server.read(int.from_bytes(head[1:], "big") - 4)
                if not self._silent.is_set():
                    self._client.sendall(head + body)
                elif head[:1] == READY:
                    break
        except OSError:
            pass
        finally:
            from_server.close()
            _end(self._client)
            _end(self._server)

    def _begin(self, read: Callable[[int], bytes]) -> None:
        """The first messages have no letter; the client may ask for ways that there are not."""
        while True:
            length = read(4)
            body = read(int.from_bytes(length, "big") - 4)
            if body[:4] in (b"\x04\xd2\x16\x2f", b"\x04\xd2\x16\x30"):  # TLS, GSS
                self._client.sendall(b"N")
                continue
            self._server.sendall(length + body)
            return


def _end(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()


@contextmanager
def cutting_proxy(server: Path) -> Iterator[CuttingProxy]:
    """Open such a way to a server, by its folder."""
    proxy = CuttingProxy(server)
    try:
        yield proxy
    finally:
        proxy.end()
