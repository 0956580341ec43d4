"""A run at work on its campaign. One thread commits outcomes and the next claims together.

Each commit waits for the disk. So all that is asked for during a commit goes into the next one:
outcomes first, then claims. An outcome waits at most 10 ms for others.
"""

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self, TypeVar

from sqlmodel import Session

from config.errors import CampaignError
from data.sending.claims import Claim, ClaimResult, claim
from data.sending.outcomes import Outcome, record, throttle
from data.store.lease import Lease
from data.store.ledger import Ledger
from data.store.receipts import Mark
from data.store.states import Op
from data.store.tables import Campaign

T = TypeVar("T")
LONGEST_WAIT = 0.01  # seconds that an outcome waits for others to share its commit
PATIENCE = 30.0  # seconds during which writing an outcome is tried again


class Running:
    """One run: its claims and outcomes. A context manager, which ends when all is written.

    `ending` is how the run ends, as the ledger stores it.
    """

    def __init__(
        self,
        ledger: Ledger,
        lease: Lease,
        campaign: Campaign,
        run_id: int,
        mark: Mark,
        per_second: float | None,
    ) -> None:
        self.ledger, self.campaign, self.ending = ledger, campaign, "failed"
        self._check_lease, self._run_id, self._mark = lease, run_id, mark
        self._per_second = per_second  # the most invitations
        self._out: set[int] = set()  # claimed requests without an outcome
        self._asked: queue.Queue[_Asked | None] = queue.Queue()  # SimpleQueue misses timeouts
        self._thread = threading.Thread(target=self._work, name="ledger", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._asked.put(None)
        self._thread.join()

    def ask(self, question: Callable[..., T], *of: Any) -> T:
        """Ask the ledger a question about the campaign, such as who is `due`."""
        with self.ledger.reading() as session:
            return question(session, self.campaign.id, *of)

    async def still_ours(self) -> None:
        """Check the lease, just before a request leaves. Raises LeaseLost."""
        if self.ledger.on_a_server:
            await asyncio.to_thread(self._check_lease)
        else:
            self._check_lease()

    async def claim(
        self, op: Op, step_ids: Sequence[int], outcome: Outcome | None = None
    ) -> ClaimResult:
        """Claim one request, in one commit with the `outcome` of the request before.

        Raises LedgerGone, LedgerUnusable, LeaseLost, NoReceipt. The outcome is written down even
        if the claim fails, except in a ledger that stays unusable for PATIENCE seconds.
        """
        answer: ClaimResult = await self._ask(_Asked(outcome, op, step_ids))
        return answer

    async def record(self, outcome: Outcome) -> Sequence[int]:
        """Write down what a request proved (outcomes.py). Raises LedgerUnusable."""
        shared: Sequence[int] = await self._ask(_Asked(outcome))
        return shared

    async def throttle(self, seconds: float) -> datetime:
        """Let nothing leave for this service for some seconds, in any run. Returns until when."""
        until: datetime = await self._ask(_Asked(throttle=seconds))
        return until

    async def _ask(self, asked: "_Asked") -> Any:
        # What was asked for happens even if the caller is cancelled.
        asked.answered.set_running_or_notify_cancel()
        self._asked.put(asked)
        return await asyncio.shield(asyncio.wrap_future(asked.answered))

    def _work(self) -> None:
        more, took = True, 0.0
        while more:
            batch, ends = [self._asked.get()], time.monotonic() + took
            with suppress(queue.Empty):
                while None not in batch and (self._others_come(batch) or not self._asked.empty()):
                    batch.append(self._asked.get(timeout=max(0.0, ends - time.monotonic())))
            more, began = None not in batch, time.monotonic()
            self._commit([each for each in batch if each is not None])
            took = min(time.monotonic() - began, LONGEST_WAIT)

    def _others_come(self, batch: Sequence["_Asked | None"]) -> bool:
        """Whether the batch has an outcome, and outcomes of other requests are still to come."""
        brought = {each.outcome.request for each in batch if each and each.outcome}
        return bool(brought and self._out - brought)

    def _commit(self, asked: Sequence["_Asked"]) -> None:
        """Write all that was asked; if that fails, write at least the outcomes and pauses."""
        failed = lost = None
        try:
            self._together(asked)
        except Exception as error:  # noqa: BLE001 - the caller gets the error
            failed = error
            tell = [each for each in asked if each.outcome or each.throttle is not None]
            lost = self._what_came_alone(tell)
        for each in asked:
            self._out -= {each.outcome.request} if each.outcome else set()
            self._out |= {each.answer.request} if isinstance(each.answer, Claim) else set()
            wrong = lost if each.op is None else failed
            if wrong is not None:
                each.answered.set_exception(wrong)
            else:
                each.answered.set_result(each.answer)

    def _together(self, asked: Sequence["_Asked"]) -> None:
        claims: dict[Op, list[_Asked]] = {}
        for each in asked:
            if each.op is not None:
                claims.setdefault(each.op, []).append(each)
        with ExitStack() as stack:
            if claims:
                self._check_lease()
                self.ledger.refuse_where_gone()
                stack.enter_context(self._mark.claiming(sum(len(each.steps) for each in asked)))
            session = stack.enter_context(self.ledger.recording())
            self._record(session, asked)
            for op, who in claims.items():
                run, requests = (self.campaign.id, self._run_id), [each.steps for each in who]
                granted = claim(session, *run, op, requests, self._per_second, self._mark.last)
                for each, answer in zip(who, granted, strict=True):
                    each.answer = answer

    def _what_came_alone(self, asked: Sequence["_Asked"]) -> Exception | None:
        """Write without claims, trying for PATIENCE seconds. Returns an error if that fails."""
        ends = time.monotonic() + PATIENCE
        while asked:
            try:
                with self.ledger.recording() as session:
                    self._record(session, asked)
                return None
            except Exception as error:  # noqa: BLE001 - the caller gets it
                if not isinstance(error, CampaignError) or time.monotonic() > ends:
                    return error
                time.sleep(0.2)
        return None

    def _record(self, session: Session, asked: Sequence["_Asked"]) -> None:
        shared = record(session, [each.outcome for each in asked if each.outcome is not None])
        for each in asked:
            each.answer = shared
            if each.throttle is not None:
                each.answer = throttle(session, self.campaign.id, each.throttle)


@dataclass(eq=False)
class _Asked:
    outcome: Outcome | None = None
    op: Op | None = None  # claims one request for these steps
    steps: Sequence[int] = ()
    throttle: float | None = None
    answer: Any = None
    answered: Future[Any] = field(default_factory=Future)
