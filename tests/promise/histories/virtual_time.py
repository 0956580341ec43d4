"""Time that passes only while everybody waits, and programs that die without a last word."""

import asyncio
import selectors
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, TypeVar

T = TypeVar("T")

EPOCH = datetime(2026, 12, 1, 9, tzinfo=UTC)


STEP = 1e-6  # seconds: doing something takes time, and rounding never holds a timer up


class StandsStill(AssertionError):
    """Everybody waits for something that nobody will do."""


class _Clock(selectors.SelectSelector):
    """Takes the place of waiting for sockets: the time asked for is over at once."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise StandsStill
        self.now += max(timeout, STEP)
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose time is its own, and whose threads are steps of a simulated program.

    What is handed to a thread (every statement of the ledger) is done between two points of
    the program, at each of which it may die or be stopped for a while.
    """

    def __init__(self, clock: Any = None) -> None:
        self._clock = clock or _Clock()
        super().__init__(self._clock)
        self.set_task_factory(_owned)
        self.skew = timedelta()  # by how much somebody moved the clock on the wall

    def time(self) -> float:
        return self._clock.now

    def wall(self) -> datetime:
        return EPOCH + timedelta(seconds=self.time()) + self.skew

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., T], *args: Any
    ) -> asyncio.Future[T]:
        return self.create_task(_done_by(HERE.get(), func, *args))


class WallClock:
    """Takes the place of `datetime` where only the time of day is asked for."""

    @staticmethod
    def now(_: object = UTC) -> datetime:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # the world is not turning yet
            return EPOCH
        return loop.wall() if isinstance(loop, VirtualLoop) else datetime.now(UTC)


class Program:
    """One simulated process on a host: alive, stopped for a while, or gone.

    `fuse` is the number of points it passes before it dies (None: it lives as long as it likes).
    """

    def __init__(
        self, world: Any, host: str, pid: int, dice: Random, fuse: int | None = None
    ) -> None:
        self.world, self.host, self.pid, self.start = world, host, pid, f"{host}/{pid}"
        self.host_name = host  # two machines may have one
        self.dice = dice
        self.fuse = fuse
        self.alive = True
        self.stopped_until = 0.0
        self.stop_for: dict[int, float] = {}  # seconds it is stopped, by the point it happens at
        self.stop_claimed: dict[int, float] = {}  # likewise, by the number of the request it is
        self.points = self.requests = 0
        self.place = ""  # where it is: at the last point that it came to
        self.bad_disk: dict[int, str] = {}  # its commits that fail, "before" or "after" the disk
        self.commits = 0
        self.tasks: list[asyncio.Task[Any]] = []
        self.died = asyncio.Event()
        self.gates: list[Any] = []  # what a signal would stop
        self.disk_failed = False
        self.lost_sight_of = False  # others may have taken it for dead

    async def point(self, place: str = "beside the ledger") -> None:
        """Something may happen to the program here; a dead one never gets beyond."""
        self.points += 1
        self.place = place
        loop = asyncio.get_running_loop()
        if self.points in self.stop_for:
            self.world.situations[f"a program that stands still {place}"] += 1
            self.stopped_until = loop.time() + self.stop_for[self.points]
        if (rest := self.stopped_until - loop.time()) > 0:
            await asyncio.sleep(rest)
        if self.fuse is not None and self.points >= self.fuse:
            self.die()
        if not self.alive:
            await loop.create_future()

    async def claimed(self) -> None:
        """A point between a claim and its request."""
        self.requests += 1
        if self.requests in self.stop_claimed:
            self.stop_for[self.points + 1] = self.stop_claimed[self.requests]
        await self.point("between its claim and its request")

    def die(self) -> None:
        """From now on nothing it does reaches the disk or the wire."""
        if self.alive:
            self.alive = False
            self.died.set()

    async def clear_away(self) -> None:
        """Take apart what a dead program left in memory; it has no effects any more."""
        for _ in range(1000):
            left = [task for task in self.tasks if not task.done()]
            if not left:
                break
            for task in left:
                task.cancel()
            await asyncio.sleep(0)
        else:
            raise AssertionError("a dead program could not be taken apart")
        for task in self.tasks:
            if not task.cancelled():
                task.exception()


HERE: ContextVar[Program] = ContextVar("the program that is at work")


def _owned(loop: asyncio.AbstractEventLoop, work: Any, **more: Any) -> asyncio.Task[Any]:
    task = asyncio.Task(work, loop=loop, **more)
    if (program := HERE.get(None)) is not None:
        program.tasks.append(task)
    return task


async def _done_by(program: Program, func: Callable[..., T], *args: Any) -> T:
    await program.point()
    await asyncio.sleep(program.dice.choice((0.0, 0.0, 0.001, 0.02)))
    if not program.alive:
        await asyncio.get_running_loop().create_future()
    result = func(*args)
    await asyncio.sleep(program.dice.choice((0.0, 0.0, 0.001, 0.02)))
    await program.point()
    return result
