"""Claim, send and record. Every request that may change something is sent from here.

A claim is durable before the first byte leaves. A sender records each outcome before its next
claim, or, for invitations, in the same commit as the next claim.
"""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from data.sending.claims import Claim, ClaimResult
from data.sending.outcomes import SHARED_ID, Outcome
from data.sending.writer import Running
from data.store.states import OPERATIONS, Op, State
from tasks.sending.backlog import IN_A_ROW, Backlog, StepIds
from tasks.sending.calls import Calls, Made
from tasks.sending.gate import Gate, How
from tasks.service.auth import Unreachable
from tasks.service.verdict import Then

TRIES = 4  # of a request that provably did nothing
FIRST_WAIT = 0.5  # seconds between two tries, doubled with each
LATEST = 15.0  # seconds after its claim in which a request may leave; connecting takes up to ten
CLOCK_WITH_SUSPEND = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
GRACE = 60.0  # seconds that answers still get when a run is cancelled


class Sender:
    """Sends the requests of one run through one gate."""

    def __init__(
        self, running: Running, calls: Calls, stop: asyncio.Event, before_claim: Callable[[], None]
    ) -> None:
        """`before_claim` is called before each claim; if it fails, it ends the run by the gate."""
        self._before_claim = before_claim
        self._running, self._calls = running, calls
        self.gate = Gate(running.campaign, stop, self._probe)
        self._alike: list[Outcome] = []  # people in a row who were refused for the same reason

    async def send(self, op: Op, requests: Sequence[StepIds], at_once: int = 1) -> None:
        """Send these requests, `at_once` at a time, until all are sent or the gate has an ending.

        If the caller is cancelled, requests in flight have GRACE seconds to get their answers.
        """
        backlog = Backlog(requests)
        senders = [self._work(op, backlog) for _ in range(at_once)]
        working = asyncio.gather(*senders, return_exceptions=True)
        try:
            ended = await asyncio.shield(working)
        except asyncio.CancelledError:
            self.gate.end(How.INTERRUPTED, "The run was cancelled")
            with suppress(asyncio.CancelledError):  # a second cancellation ends the wait
                await asyncio.wait({working}, timeout=GRACE)
            working.cancel()
            while not working.done():  # no sender may outlive the ledger's writer
                with suppress(asyncio.CancelledError):
                    await asyncio.wait({working})
            raise
        for error in filter(None, ended):
            raise error

    async def _work(self, op: Op, backlog: Backlog) -> None:
        """Claim, send and record one request after another, while there is one that may leave."""
        try:
            await self._one_after_another(op, backlog)
        except BaseException:
            self.gate.end(How.STOPPED, "The run failed")
            raise

    async def _one_after_another(self, op: Op, backlog: Backlog) -> None:
        outcome: Outcome | None = None
        while True:
            self._before_claim()
            if outcome is not None and not (OPERATIONS[op].emails and self.gate.is_open()):
                await self._record(outcome)
                outcome = None
            if not await self.gate.enter():
                return
            try:
                if (steps := backlog.take()) is None:
                    break
                claim = await self._claim(op, steps, outcome)
                outcome = None
                if isinstance(claim, Claim):
                    outcome = await self._exchange(claim, backlog)
                elif self.gate.waits_for(claim):
                    backlog.first(steps)
            finally:
                self.gate.leave()
        if outcome is not None:
            await self._record(outcome)

    async def _claim(self, op: Op, steps: StepIds, outcome: Outcome | None) -> ClaimResult:
        with self.gate.failing():
            return await self._running.claim(op, steps, outcome)
        return None

    async def _exchange(self, claim: Claim, backlog: Backlog) -> Outcome | None:
        """Send one request and judge its answer. Returns the outcome if it is not recorded yet."""
        look = _LastLook(self._running, self.gate)
        try:
            made = await self._calls.make(claim, look)
        except BaseException:
            await self._record(Outcome(claim.request, State.UNSURE, why="The run was cut short."))
            raise
        outcome = made.outcome
        if not look.recalled:
            self.gate.heard(made.verdict, made.wrote)
            if made.verdict.then is Then.PAUSE:  # the ledger tells other runs to wait, too
                await self._throttle(made.verdict.retry_after or 0.0)
            outcome = await self._not_their_fault(claim, made, backlog)
        if not look.recalled and made.verdict.then in (Then.GO_ON, Then.STOP):
            return outcome
        await self._record(outcome)  # before anybody claims these steps again
        if look.recalled:
            backlog.first(tuple(step.step_id for step in claim.steps))
        else:
            await self._what_next(claim, made, backlog)
        return None

    async def _probe(self) -> None:
        try:
            await self._calls.service.problems()
        except Unreachable as error:
            if seconds := error.fields.get("pause"):
                await self._throttle(seconds)
            raise

    async def _throttle(self, seconds: float) -> None:
        with self.gate.failing():
            self.gate.throttle(await self._running.throttle(seconds))

    async def _what_next(self, claim: Claim, made: Made, backlog: Backlog) -> None:
        steps = tuple(step.step_id for step in claim.steps)
        with self.gate.failing():
            match made.verdict.then:
                case Then.SPLIT:
                    backlog.split(steps)
                case Then.PAUSE:
                    backlog.last(steps)
                case Then.RENEW:
                    backlog.first(steps)
                    await self._calls.service.renew_token(made.token)
                case Then.RETRY if (tries := backlog.tried(steps)) < TRIES:
                    backlog.first(steps)
                    # Jitter keeps senders from coming back all at the same moment.
                    jitter = random.uniform(0.5, 1.5)  # noqa: S311
                    await self.gate.wait(FIRST_WAIT * 2 ** (tries - 1) * jitter)
                case Then.RETRY:
                    self.gate.end(How.STOPPED, f"{made.verdict.why} It was tried {TRIES} times")

    async def _not_their_fault(self, claim: Claim, made: Made, backlog: Backlog) -> Outcome:
        """Count people refused alike. At IN_A_ROW, end the run, and let these people wait."""
        outcome = made.outcome
        if outcome.ids or outcome.state is State.DONE:
            self._alike.clear()
        if outcome.state is not State.REFUSED or OPERATIONS[claim.op].own:
            return outcome
        if self._alike and self._alike[-1].why != outcome.why:
            self._alike.clear()
        self._alike.append(outcome)
        everybody = tuple(self._alike)
        if len(everybody) < IN_A_ROW:
            if OPERATIONS[claim.op].many:
                backlog.probe_next()
            return outcome
        alike = f"{len(everybody)} people in a row were refused alike, so it is not because of"
        why = f"{alike} their rows, and everybody waits. {made.verdict.why or ''}"
        self.gate.end(How.STOPPED, why, wrote=made.wrote)
        for each in everybody[:-1]:
            await self._record(replace(each, state=State.WAITING, why=None))
        return replace(outcome, state=State.WAITING, why=None)

    async def _record(self, outcome: Outcome) -> None:
        with self.gate.failing():
            if await self._running.record(outcome):
                self.gate.end(How.UNSURE, SHARED_ID)


class _LastLook:
    """Stops a request before its first byte if the lease is lost, the gate recalls it, or the claim
    is so old that a person may have decided otherwise since."""

    def __init__(self, running: Running, gate: Gate) -> None:
        self._running, self._gate = running, gate
        self._claimed, self.recalled = self._clocks(), False

    async def __call__(self) -> None:
        with self._gate.failing():
            await self._running.still_ours()
        pairs = zip(self._clocks(), self._claimed, strict=True)
        old = any(clock - then > LATEST for clock, then in pairs)
        self.recalled = old or self._gate.recalls()
        if self.recalled:
            raise ConnectionAbortedError

    @staticmethod
    def _clocks() -> tuple[float, float]:
        """Two clocks: the loop's, which stops while the machine is suspended, and one that goes on,
        if the system has it."""
        return asyncio.get_running_loop().time(), time.clock_gettime(CLOCK_WITH_SUSPEND)
