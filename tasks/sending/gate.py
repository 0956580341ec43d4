"""May a request leave now? One gate for all senders of a run.

It enforces the pause that a 429 asked for, the rate that a person set, the breaker's doubt, and the
stop. Pause and rate apply to all runs together (tasks/sending/pace.py), which also notices a
person's pause.
"""

import asyncio
from collections.abc import Awaitable, Callable
from math import inf
from typing import TypeVar

from config.errors import CampaignError
from data.store.states import Operation
from tasks.sending.breaker import Breaker
from tasks.sending.pace import Together
from tasks.sending.throttle import Throttle
from tasks.service.verdict import Proof, Verdict

PAUSES = 10  # pauses in a row that a service may ask for before the run ends
LEAST_TOLD = 1.0  # seconds; a shorter pause is not reported

T = TypeVar("T")


class Gate:
    """`probe` asks the service for its list of problems, and raises CampaignError if that fails.

    `over` says why the time for invitations is over, and is called before each one: a pause, or a
    sleeping machine, may last until the night. `pauses` is called with the seconds of a pause.
    """

    def __init__(
        self,
        probe: Callable[[], Awaitable[object]],
        together: Together,
        *,
        over: Callable[[], str | None] = lambda: None,
        pauses: Callable[[float], None] = lambda _: None,
    ) -> None:
        self._probe = probe
        self._over = over
        self._pauses = pauses
        self._breaker = Breaker()
        self._together = together
        self._turning = asyncio.Lock()
        self._throttle = Throttle()
        self._told_until = 0.0
        self._probing = asyncio.Lock()
        self._stopping = asyncio.Event()
        self._back = asyncio.Event()

    @property
    def stopped(self) -> str | None:
        """Why nothing may leave any more; None while sending goes on."""
        return self._breaker.stop

    def stop(self, reason: str) -> None:
        """End all sending; what is in flight is still recorded. The first reason stays."""
        self._breaker.stop = self._breaker.stop or reason
        self._wake()

    def heard(self, operation: Operation, judged: Verdict) -> None:
        """Learn from one finished exchange."""
        self._breaker.heard(operation, judged)
        if self._breaker.stop:
            self._wake()
        if judged.pause is not None:
            self._throttle.paused(judged.pause, asyncio.get_running_loop().time())
            if self._throttle.in_a_row >= PAUSES:
                self.stop(f"The service asked for a pause {PAUSES} times in a row.")
        elif self._throttle.until and judged.proof is not Proof.NOT_SENT:
            self._throttle.answered(asyncio.get_running_loop().time())

    async def let_all_pause(self) -> None:
        """Make all runs pause, as an answer asked."""
        left = self._throttle.until - asyncio.get_running_loop().time()
        if left > 0:
            await self._unless_it_fails(self._together.asked_for(left))

    async def opens(self, operation: Operation, *, alone: bool = False) -> bool:
        """Wait until a request may leave; the caller calls `back` afterwards. False if none may
        leave any more.

        `alone`: wait until no other request is on the wire, and keep a distance from the one
        before.
        """
        if operation is Operation.INVITE:
            await self._its_turn()
        while not self.stopped:
            if self._breaker.doubt:
                await self._ask_the_service()
                continue
            others = await self._unless_it_fails(self._together.pause()) or 0.0
            if self.stopped:
                break
            at = asyncio.get_running_loop().time()
            if others > 0:
                self._throttle.held_until(at + others)
            if (wait := self._throttle.wait(at, alone=alone)) > 0:
                self._tell(self._throttle.until - at)
                await self._wait_for_another(wait)
            elif operation is Operation.INVITE and (over := self._over()) is not None:
                self.stop(over)
            else:
                self._throttle.leaves(at)
                return True
        return False

    def back(self) -> None:
        """Note that a request that was let through has finished, or did not leave."""
        self._throttle.back()
        self._wake_those_behind()

    def _tell(self, seconds: float) -> None:
        """Report a pause once; one that differs by a second is the same pause."""
        until = asyncio.get_running_loop().time() + seconds
        if seconds >= LEAST_TOLD and until > self._told_until + LEAST_TOLD:
            self._told_until = until
            self._pauses(seconds)

    async def _wait_for_another(self, seconds: float) -> None:
        """Wait this long, or if the time is not known, until a request comes back."""
        if seconds == inf:
            await self._back.wait()
        else:
            await self.wait(seconds)

    def _wake(self) -> None:
        self._stopping.set()
        self._wake_those_behind()

    def _wake_those_behind(self) -> None:
        self._back.set()
        self._back = asyncio.Event()

    def nothing_left(self, operation: Operation) -> None:
        """Note that a request let through did not leave: perhaps another run claimed it."""
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
        """Wait for a turn at every rate that is set, or for the stop: a turn may be far away."""
        async with self._turning:  # no turn is taken before the one before it has come
            for turns in self._together.turns:
                if not self.stopped and (wait := await self._unless_it_fails(turns.wait())):
                    await self.wait(wait)

    async def _unless_it_fails(self, asked: Awaitable[T]) -> T | None:
        """Stop sending if a person wants that, or if the ledger fails: nobody would know what the
        other runs are doing.
        """
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
                self.stop(f"After an unclear answer the service was checked. {error}")
            else:
                self._breaker.probed()
