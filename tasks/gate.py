"""May a request leave now? One gate for all senders of a run.

It holds the pause a 429 asked for, the rate a person set, the breaker's doubt, and the stop. Pause
and rate are those of all runs together (tasks/pace.py), where a person's pause is seen as well.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from config.errors import CampaignError
from data.states import Operation
from tasks.breaker import Breaker
from tasks.pace import Together
from tasks.service.verdict import Verdict

T = TypeVar("T")


class Gate:
    """`probe` asks the service for something harmless and raises CampaignError when it cannot.

    `over` says why the time of invitations is over, and is asked before each: a pause or a machine
    asleep may last until the night.
    """

    def __init__(
        self,
        probe: Callable[[], Awaitable[object]],
        together: Together,
        *,
        over: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._probe = probe
        self._over = over
        self._breaker = Breaker()
        self._together = together
        self._turning = asyncio.Lock()
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

    async def pauses(self, judged: Verdict) -> None:
        """Let all runs make the pause that an answer asked for."""
        if judged.pause is not None:
            await self._unless_it_fails(self._together.asked_for(judged.pause))

    async def opens(self, operation: Operation) -> bool:
        """Wait until a request may leave; False when none may any more."""
        if operation is Operation.INVITE:
            await self._its_turn()
        while not self.stopped:
            if self._breaker.doubt:
                await self._ask_the_service()
                continue
            pause = self._paused_until - asyncio.get_running_loop().time()
            if pause <= 0:
                pause = await self._unless_it_fails(self._together.pause()) or 0.0
            if self.stopped:
                break
            if pause > 0:
                await self.wait(pause)
            elif operation is Operation.INVITE and (over := self._over()) is not None:
                self.stop(over)
            else:
                return True
        return False

    def nothing_left(self, operation: Operation) -> None:
        """Hear that what was let through did not leave, as when another run has claimed it."""
        if operation is Operation.INVITE:
            for turns in self._together.turns:
                turns.give_back()

    async def wait(self, seconds: float) -> None:
        """Wait, or be woken by the stop."""
        try:
            await asyncio.wait_for(self._stopping.wait(), seconds)
        except TimeoutError:
            return

    async def _its_turn(self) -> None:
        """Wait for a turn at every rate that is set, or for the stop: a turn may be far off."""
        async with self._turning:  # no turn is taken before the one before it has come
            for turns in self._together.turns:
                if not self.stopped and (wait := await self._unless_it_fails(turns.wait())):
                    await self.wait(wait)

    async def _unless_it_fails(self, asked: Awaitable[T]) -> T | None:
        """Nothing more leaves where a person wants that, nor without the ledger: nobody would know
        what the other runs are up to."""
        try:
            return await asked
        except CampaignError as error:
            self.stop(str(error))
            return None

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
