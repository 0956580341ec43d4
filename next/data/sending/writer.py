"""The writer: one thread, in which outcomes and the next claims of a run share a commit.

Each commit waits for the disk. So whatever was asked for while one was on its way goes into the
next: outcomes first, then the claims.
"""

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self, TypeVar

from sqlmodel import Session

from config.errors import CampaignError
from data.sending import pace
from data.sending.claims import Answer, claim_each
from data.sending.outcomes import Outcome, record_each
from data.store.lease import Lease
from data.store.ledger import Ledger
from data.store.receipts import Mark
from data.store.states import Op

PATIENCE = 30.0  # seconds for which an answer that cannot be written down is tried again
PART = 100  # steps that may be claimed by one mark
T = TypeVar("T")


class Writer:
    """Claims and outcomes of one run. Use it as a context manager: it ends when all is written."""

    def __init__(
        self,
        ledger: Ledger,
        run_id: int,
        lease: Lease,
        mark: Mark,
        per_second: float | None = None,
    ) -> None:
        self._ledger, self._run_id, self._lease, self._mark = ledger, run_id, lease, mark
        self._per_second = per_second  # the most invitations
        self.claimed = 0  # steps for which a claim was asked
        self._left = 0  # of them, how many the mark still stands for
        self._asked: queue.SimpleQueue[_Asked | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="ledger", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._asked.put(None)
        self._thread.join()

    async def claim(
        self, op: Op, step_ids: Sequence[int], outcome: Outcome | None = None
    ) -> Answer:
        """Claim one request, in one commit with the `outcome` of the one before.

        Raises LedgerGone, LedgerUnusable, LeaseLost, NoReceipt; the outcome is written down all the
        same.
        """
        return (await self._ask(_Asked(outcome=outcome, claim=(op, step_ids)))).granted

    async def record(self, outcome: Outcome) -> Sequence[int]:
        """Write down what a request proved; see `record_each`. Raises LedgerUnusable."""
        return (await self._ask(_Asked(outcome=outcome))).shared

    async def pause(self, seconds: float) -> datetime:
        """Let nothing leave for this service, in any run, and say until when."""
        return await self.do(lambda session: pace.pause(session, self._run_id, seconds))

    async def do(self, work: Callable[[Session], T]) -> T:
        """Do something else in a transaction of its own, after what was asked for before."""
        done: T = (await self._ask(_Asked(work=work))).done
        return done

    async def _ask(self, asked: "_Asked") -> "_Asked":
        self._asked.put(asked)
        # What was asked for happens, whatever becomes of the caller.
        await asyncio.shield(asked.answered)
        return asked

    def _work(self) -> None:
        more = True
        while more:
            batch = [self._asked.get()]
            while not self._asked.empty():
                batch.append(self._asked.get())
            more = None not in batch
            asked = [each for each in batch if each is not None]
            self._commit([each for each in asked if each.work is None])
            for each in asked:
                if each.work is not None:
                    self._alone(each)
            _answer(asked)

    def _commit(self, asked: Sequence["_Asked"]) -> None:
        try:
            self._together(asked)
        except Exception as error:  # noqa: BLE001 - it is theirs who asked
            for each in asked:
                each.error = error
            self._outcomes_alone([each for each in asked if each.outcome is not None])

    def _together(self, asked: Sequence["_Asked"]) -> None:
        claims: dict[Op, list[_Asked]] = {}
        for each in asked:
            if each.claim is not None:
                claims.setdefault(each.claim[0], []).append(each)
        if claims:
            self._lease.check()
            self._ledger.refuse_where_gone()
            self._grow(sum(len(each.claim[1]) for each in asked if each.claim is not None))
        with self._ledger.recording() as session:
            self._record(session, asked)
            for op, who in claims.items():
                requests = [each.claim[1] for each in who if each.claim is not None]
                granted = claim_each(session, self._run_id, op, requests, self._per_second)
                for each, answer in zip(who, granted, strict=True):
                    each.granted = answer

    def _grow(self, steps: int) -> None:
        """Have the mark grown for so many more steps: here, so that no claim comes in between."""
        if self._left < steps:
            self._mark.grow()
            self._left = max(PART, steps)
        self._left -= steps
        self.claimed += steps

    def _outcomes_alone(self, asked: Sequence["_Asked"]) -> None:
        """What was answered is not lost because something else failed: try until it is written."""
        ends = time.monotonic() + PATIENCE
        while asked:
            try:
                with self._ledger.recording() as session:
                    self._record(session, asked)
            except Exception as error:  # noqa: BLE001 - as above
                if not isinstance(error, CampaignError) or time.monotonic() > ends:
                    for each in asked:
                        each.error = error
                    return
                time.sleep(0.2)
            else:
                for each in asked:
                    each.error = each.error if each.claim is not None else None
                return

    def _record(self, session: Session, asked: Sequence["_Asked"]) -> None:
        shared = record_each(session, [each.outcome for each in asked if each.outcome is not None])
        for each in asked:
            each.shared = shared

    def _alone(self, asked: "_Asked") -> None:
        try:
            with self._ledger.writing() as session:
                asked.done = asked.work(session) if asked.work else None
        except Exception as error:  # noqa: BLE001 - as above
            asked.error = error


@dataclass(eq=False)
class _Asked:
    outcome: Outcome | None = None
    claim: tuple[Op, Sequence[int]] | None = None
    work: Callable[[Session], Any] | None = None
    shared: Sequence[int] = ()
    granted: Answer = None
    done: Any = None
    error: Exception | None = None
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    answered: asyncio.Future[None] = field(init=False)

    def __post_init__(self) -> None:
        self.answered = self.loop.create_future()

    def answer(self) -> None:
        if self.answered.cancelled():
            return
        if self.error is not None:
            self.answered.set_exception(self.error)
        else:
            self.answered.set_result(None)


def _answer(asked: Sequence[_Asked]) -> None:
    def all_of_them() -> None:
        for each in asked:
            each.answer()

    for loop in {each.loop for each in asked}:
        loop.call_soon_threadsafe(all_of_them)
