"""Time that passes only while everybody waits for a timer, with real sockets."""

import asyncio
import os
import selectors
import socket
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from tests.promise.histories.virtual_time import STEP, StandsStill, VirtualLoop

REST = 0.002  # seconds without a byte on any socket, before it is looked whether one is on its way

T = TypeVar("T")


class SocketClock(selectors.EpollSelector):
    """Real sockets; where nothing comes of waiting, the time asked for is over."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        with socket.create_server(("127.0.0.1", 0)) as server:
            self._near = socket.create_connection(server.getsockname())
            self._far, _ = server.accept()
        self._near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self) -> None:
        """Close what only the clock used as well."""
        super().close()
        self._near.close()
        self._far.close()

    def select(self, timeout: float | None = None) -> list[Any]:
        ready = super().select(0)
        if not ready and timeout != 0:
            ready = super().select(REST) or self._what_was_on_its_way()
            if not ready and timeout is None:
                raise StandsStill
            if not ready:
                self.now += timeout or 0.0
        self.now += STEP
        return ready

    def _what_was_on_its_way(self) -> list[Any]:
        """A busy kernel may hand bytes on late, but on one processor in the order in which they
        were sent: when ours has come, all others have."""
        self._near.sendall(b".")
        self._far.recv(1)
        return super().select(0)


class SocketLoop(VirtualLoop):
    """Waits for sockets and for nothing else; what is handed to a thread is done at once."""

    def __init__(self) -> None:
        super().__init__(SocketClock())

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., T], *args: Any
    ) -> asyncio.Future[T]:
        done: asyncio.Future[T] = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - it belongs to whoever waits
            done.set_exception(error)
        return done


def in_socket_time(history: Coroutine[Any, Any, T]) -> T:
    """Let something happen in such a loop, to its end; nothing may be thrown about in it."""
    loop, thrown = SocketLoop(), list[dict[str, Any]]()
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {sorted(processors)[os.getpid() % len(processors)]})
    loop.set_exception_handler(lambda _, what: thrown.append(what))
    asyncio.set_event_loop(loop)
    try:
        result = loop.run_until_complete(history)
    finally:
        asyncio.set_event_loop(None)
        loop.close()
        os.sched_setaffinity(0, processors)
    assert not thrown, thrown
    return result
