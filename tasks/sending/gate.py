"""May a request leave now? All requests of a run pass one gate.

The gate waits out a pause that an answer asked for, and checks the service after an unsure answer.
The gate also notices when the run is told to stop, and keeps the reason why the run ends.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from enum import StrEnum

from config.errors import CampaignError, command
from data.eligibility.holds import Hold, Kind, Scope
from data.sending.claims import ClaimResult
from data.store.states import State
from data.store.tables import Campaign, Step, now
from tasks.sending.backlog import IN_A_ROW
from tasks.service.verdict import Then, Verdict

Words = tuple[str, ...]
ASKS_AGAIN = timedelta(seconds=5)  # the longest wait until the next claim, if a rate is set
LONG = timedelta(minutes=15)  # no run waits for the end of a longer pause
PAUSES = 10  # a run ends when the service asks for this many pauses in a row


class How(StrEnum):
    """How a run ended before everything was done."""

    STOPPED = "stopped"  # by a rule or an error; a later run goes on
    INTERRUPTED = "interrupted"  # by a person or the system
    HELD = "held"  # something waits for a person, or for its time
    UNSURE = "unsure"  # the project, its problem or a shared id needs a person


class EndedEarly(CampaignError):
    says = "{what} Every answer is recorded, and nobody is sent anything twice."
    then = "{then}"

    def __init__(
        self, how: How, what: str, then: str, hold: Hold | None = None, wrote: Words = ()
    ) -> None:
        self.how, self.what, self.hold, self.service_words = how, what, hold, wrote
        super().__init__(what=what if what.endswith((".", "!", "?")) else f"{what}.", then=then)


class Gate:
    """Lets requests leave. Once `ending` is set, nothing leaves any more.

    `probe` asks for the problem list, and raises CampaignError if it does not get it.
    """

    def __init__(
        self, campaign: Campaign, stop: asyncio.Event, probe: Callable[[], Awaitable[object]]
    ) -> None:
        self.ending: EndedEarly | None = None
        self._key, self._probe = campaign.key, probe
        self._go_on = command("run", campaign.file)
        self._settle = command("settle", campaign.key)
        self._told = stop
        self._ends = asyncio.Event()
        self._doubt = False
        self._unsure = self._pauses = 0
        self._until: datetime | None = None  # the end of a pause that the service asked for
        self._next: datetime | None = None  # when to claim again, with a limited rate
        self._abreast: int | None = None  # most requests at once after a pause: 1, then more
        self._out = 0
        self._one_at_a_time = asyncio.Lock()
        self._somebody_back = asyncio.Event()

    def end(
        self,
        how: How,
        what: str,
        then: str | None = None,
        hold: Hold | None = None,
        wrote: Words = (),
    ) -> None:
        """Let no further request leave. The first reason is kept. `wrote`: the service's words."""
        then = then or (self._settle if how is How.UNSURE else self._go_on)
        self.ending = self.ending or EndedEarly(how, what, then, hold, wrote)
        self._ends.set()

    @contextmanager
    def failing(self, when: str = "") -> Iterator[None]:
        """End the run, and raise nothing, if the block raises a CampaignError."""
        try:
            yield
        except CampaignError as error:
            self.end(How.STOPPED, f"{when}{error}", error.then or None, wrote=error.service_words)

    def raise_its_ending(self) -> None:
        """Raise the ending, if there is one."""
        if self.ending is not None:
            raise self.ending

    def end_for_project(self, step: Step) -> None:
        """End the run: the project was not created, or its problem was not added."""
        how = How.UNSURE if step.state is State.UNSURE else How.STOPPED
        self.end(how, f"To {step.op} the project is {step.state}. {step.why or ''}".strip())

    def waits_for(self, answer: ClaimResult) -> bool:
        """Note why nothing was claimed. True: claim these steps again later; False: drop them."""
        match answer:
            case Hold(kind=Kind.THROTTLED, until=datetime() as until):
                self.throttle(until)
                return True
            case Hold(kind=Kind.RATE, until=datetime() as until):
                # Claim again soon, even before the turn: a person may pause the campaign meanwhile.
                self._next = min(until, now() + ASKS_AGAIN)
                return True
            case Hold():
                self.end(How.HELD, f"{self._key}: {answer.why}", answer.type_this, answer)
        return False

    def is_open(self) -> bool:
        """Whether a request may leave without waiting."""
        room = self._abreast is None or self._out < self._abreast
        return room and not self._doubt and self._left() <= 0 and not self._stopped()

    def recalls(self) -> bool:
        """Whether a request that has passed the gate must not leave after all."""
        return self._stopped() or self._doubt or _seconds_to(self._until) > 0

    async def enter(self) -> bool:
        """Wait until a request may leave. True: the caller must call `leave`. False: none may."""
        while not self._stopped():
            if (left := self._left()) > 0:
                await self.wait(left)
            elif self._doubt:
                await self._ask_the_service()
            elif self._abreast is not None and self._out >= self._abreast:
                await self._somebody_back.wait()
            else:
                self._out += 1
                return True
        return False

    def leave(self) -> None:
        """Say that a request that has passed the gate is answered, or did not leave."""
        self._out -= 1
        self._somebody_back.set()
        self._somebody_back = asyncio.Event()

    def throttle(self, until: datetime) -> None:
        """Let no request leave until this moment. If it is far off, end the run until then."""
        self._until = max(self._until or until, until)
        if until > now() + LONG:
            why = f"the service wants a pause until {until:%Y-%m-%d %H:%M} UTC"
            self.end(How.HELD, why, hold=Hold(Kind.THROTTLED, Scope.CAMPAIGN, why, until))

    def heard(self, judged: Verdict, wrote: Words) -> None:
        """Learn from a verdict, in the order of the answers. `wrote`: the service's words."""
        why = judged.why or ""
        if judged.then is Then.PAUSE:
            self._pauses += 1
            self._abreast = 1
            self.throttle(now() + timedelta(seconds=judged.retry_after or 0))
            if self._pauses >= PAUSES:
                self.end(How.STOPPED, f"The service asked for a pause {PAUSES} times in a row")
        elif judged.state is not State.WAITING:
            self._pauses = 0
            if self._abreast is not None:
                self._abreast += 1
        if judged.state is State.UNSURE:
            self._doubt = True
            self._unsure += 1
        elif judged.state is not State.WAITING:
            self._unsure = 0
        if judged.then is Then.STOP:
            self.end(How.STOPPED, why, wrote=wrote)
        elif self._unsure >= IN_A_ROW:
            why = f"{IN_A_ROW} requests in a row got no clear answer. {why}"
            self.end(How.STOPPED, why, wrote=wrote)

    async def wait(self, seconds: float) -> None:
        """Wait this long, or until the run is told to stop or ends."""
        waiting = [asyncio.ensure_future(each.wait()) for each in (self._told, self._ends)]
        try:
            await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waiting:
                each.cancel()

    def _stopped(self) -> bool:
        if self._told.is_set():
            self.end(How.INTERRUPTED, "The run was stopped")
        return self.ending is not None

    def _left(self) -> float:
        """Seconds until the pause, and the wait because of the rate, are over."""
        return max(_seconds_to(self._until), _seconds_to(self._next))

    async def _ask_the_service(self) -> None:
        """After an unsure answer, check the service before anything leaves (interface 4.2)."""
        async with self._one_at_a_time:
            if not self._doubt or self._stopped():
                return
            with self.failing("After an unclear answer the service was checked. "):
                await self._probe()
                self._doubt = False


def _seconds_to(moment: datetime | None) -> float:
    return (moment - now()).total_seconds() if moment else 0.0
