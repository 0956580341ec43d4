"""Time that passes only while everybody waits for a timer, with real sockets."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from tests.promise.histories.virtual_time import STEP, StandsStill, VirtualLoop

FOR_EVER = 10.0  # seconds that any byte takes at most
REST = 0.002  # seconds without a byte on any socket after which nobody is at work

T = TypeVar("T")


class SocketClock(selectors.EpollSelector):
    """Real sockets; where nothing comes of waiting, the time asked for is over."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        ready = super().select(0)
        if not ready and timeout != 0:
            ready = super().select(FOR_EVER if timeout is None else REST)
            if not ready and timeout is None:
                raise StandsStill
            if not ready:
                self.now += timeout or 0.0
        self.now += STEP
        return ready


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
    loop.set_exception_handler(lambda _, what: thrown.append(what))
    asyncio.set_event_loop(loop)
    try:
        result = loop.run_until_complete(history)
    finally:
        asyncio.set_event_loop(None)
        loop.close()
    assert not thrown, thrown
    return result
