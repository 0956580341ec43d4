"""May a request leave now? One gate for all senders of a run.

It holds the pause a 429 asked for, the rate a person set, the breaker's doubt, and the stop.
"""

import asyncio
from collections.abc import Awaitable, Callable

from aiolimiter import AsyncLimiter

from config.errors import CampaignError
from data.states import Operation
from tasks.breaker import Breaker
from tasks.service.verdict import Verdict


class Gate:
    """`probe` asks the service for something harmless and raises CampaignError when it cannot.

    `per_second` bounds invitations (None: no limit), evenly: a bucket that fills while nothing
    is sent would let a burst through. `over` says why the time of invitations is over, and is
    asked before each: a pause or a machine asleep may last until the night.
    """

    def __init__(
        self,
        probe: Callable[[], Awaitable[object]],
        *,
        per_second: float | None = None,
        over: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._probe = probe
        self._over = over
        self._breaker = Breaker()
        self._limiter = AsyncLimiter(1, 1 / per_second) if per_second else None
        self._paused_until = 0.0
        self._probing = asyncio.Lock()
        self._stopping = asyncio.Event()

    @property
    def stopped(self) -> str | None:
        """Why nothing may leave any more; None while sending goes on."""
        return self._breaker.stop

    def stop(self, reason: str) -> None:
        """End all sending; what is in flight is still recorded. The first reason stays."""
        self._breaker.stop = self._breaker.stop or reason
        self._stopping.set()

    def heard(self, operation: Operation, judged: Verdict) -> None:
        """Learn from one finished exchange."""
        self._breaker.heard(operation, judged)
        if self._breaker.stop:
            self._stopping.set()
        if judged.pause is not None:
            resume = asyncio.get_running_loop().time() + judged.pause
            self._paused_until = max(self._paused_until, resume)

    async def opens(self, operation: Operation) -> bool:
        """Wait until a request may leave; False when none may any more."""
        if self._limiter is not None and operation is Operation.INVITE and not self.stopped:
            await self._turn_at(self._limiter)
        while not self.stopped:
            if self._breaker.doubt:
                await self._ask_the_service()
                continue
            pause = self._paused_until - asyncio.get_running_loop().time()
            if pause > 0:
                await self.wait(pause)
            elif operation is Operation.INVITE and (over := self._over()) is not None:
                self.stop(over)
            else:
                return True
        return False

    async def wait(self, seconds: float) -> None:
        """Wait, or be woken by the stop."""
        try:
            await asyncio.wait_for(self._stopping.wait(), seconds)
        except TimeoutError:
            return

    async def _turn_at(self, limiter: AsyncLimiter) -> None:
        """Wait for a turn at the set rate, or for the stop: at a low rate a turn is far off."""
        turn = asyncio.ensure_future(limiter.acquire())
        stop = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({turn, stop}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            turn.cancel()
            stop.cancel()

    async def _ask_the_service(self) -> None:
        async with self._probing:
            if not self._breaker.doubt or self.stopped:
                return
            try:
                await self._probe()
            except CampaignError as error:
                self.stop(f"After an unclear answer the service was asked again. {error}")
            else:
                self._breaker.probed()
