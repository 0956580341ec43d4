"""Waiting for other runs of a campaign: what they are sending belongs to how it ends."""

import asyncio
from collections.abc import Awaitable, Callable

from data.decisions import adding_again
from data.sending import queue
from flows.run.context import RunContext

AGAIN = 1.0  # seconds between two looks


class SiblingRuns:
    """The other runs of a campaign, seen by `run`, which has nothing to send at the moment.

    `wait` waits some seconds, and returns False if the run should wait no longer.
    """

    def __init__(
        self,
        context: RunContext,
        campaign_row: int,
        wait: Callable[[float], Awaitable[bool]],
        run: int = 0,
    ) -> None:
        self._context = context
        self._campaign = campaign_row
        self._wait = wait
        self._run = run
        self._newest: int | None = None  # of their requests under way, as last seen
        self._patience = context.patience
        self._announced = False

    async def wait_for_siblings(self) -> bool:
        """Wait a moment for their answers; True: there may be something to send now.

        This run can send what they could not, and invite the people whom they add. It waits as long
        as they make progress, and then for `context.patience` seconds. If one of them dies, what it
        was sending becomes unsure as soon as that is known.
        """
        ledger = self._context.ledger
        before = self._newest
        self._newest = await asyncio.to_thread(
            ledger.read, queue.sent_beside, self._campaign, self._run
        )
        if self._newest is None:
            return before is not None  # their last answers are to be looked at as well
        if self._newest != before:
            self._patience = self._context.patience
        if self._patience <= 0:
            return False
        if not self._announced:
            self._announced = True
            self._context.observer.on_waiting()
        self._patience -= AGAIN
        if not await self._wait(AGAIN):
            return False
        await asyncio.to_thread(adding_again.recover, ledger, self._campaign)
        return True
