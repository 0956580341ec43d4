"""Rates and pauses, which a run shares with all others of its ledger."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from data.sending import pace
from data.sending.pace import SLACK
from data.store.ledger import Ledger

SHARE = 0.25  # seconds that the turns reach which a run takes at a time; at least one turn
LOOKS = 0.25  # seconds between two looks for a pause that another run or a person asked for
LATE = 1.0  # seconds after which an unused turn is given up


@dataclass(frozen=True, slots=True)
class Rate:
    """The rate of invitations of `name`, a service or a campaign: `gap` apart."""

    name: str
    gap: timedelta


class Turns:
    """This run's turns at one rate, taken from the ledger a few at a time."""

    def __init__(self, ledger: Ledger, rate: Rate) -> None:
        self._ledger = ledger
        self._rate = rate
        self._gap = rate.gap.total_seconds()
        self._share = max(1, int(SHARE / self._gap))
        self._left = 0
        self._next = 0.0  # by the event loop's clock

    async def wait(self) -> float:
        """How many seconds until the next turn, which is then the caller's; one asks at a time."""
        now = asyncio.get_running_loop().time()
        if not self._left or now - self._next > LATE:
            first = await asyncio.to_thread(
                self._ledger.write_beside,
                pace.take_turns,
                self._rate.name,
                self._rate.gap,
                self._share,
            )
            now = asyncio.get_running_loop().time()
            self._next = now + first.total_seconds()
            self._left = self._share
        # A caller that is a little late goes at once. After a longer delay all turns move back:
        # missed turns cause no burst.
        turn = self._next if now - self._next < SLACK.total_seconds() else now
        self._next = turn + self._gap
        self._left -= 1
        return max(turn - now, 0.0)

    def give_back(self) -> None:
        """Give back an unused turn: the turns after it move up."""
        self._next -= self._gap
        self._left += 1


async def nobody_stops() -> None:
    """The default for `heeds`."""


class Together:
    """The rates and pauses of one run. `service` is its canonical address, `turns` has one entry
    per rate.

    `heeds` checks whether a person has stopped sending, and then raises CampaignError.
    """

    def __init__(
        self,
        ledger: Ledger,
        service: str,
        rates: Sequence[Rate],
        heeds: Callable[[], Awaitable[None]] = nobody_stops,
    ) -> None:
        self.turns = [Turns(ledger, rate) for rate in rates]
        self._ledger = ledger
        self._service = service
        self._heeds = heeds
        self._looked = float("-inf")
        self._until = 0.0  # of a pause, by the event loop's clock

    async def asked_for(self, pause: float) -> None:
        """Let the other runs know that the service asked for a pause, in seconds."""
        await asyncio.to_thread(
            self._ledger.write_beside, pace.pause_service, self._service, timedelta(seconds=pause)
        )

    async def pause(self) -> float:
        """How many more seconds the service wants no requests, as told to any run.

        Raises what `heeds` raises, whenever that has something new.
        """
        now = asyncio.get_running_loop().time()
        if now - self._looked >= LOOKS:
            self._looked = now  # the other senders of this run go on meanwhile
            await self._heeds()
            left = await asyncio.to_thread(self._ledger.read, pace.service_pause, self._service)
            self._until = asyncio.get_running_loop().time() + left.total_seconds()
        return self._until - asyncio.get_running_loop().time()
