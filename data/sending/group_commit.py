"""Group commit: what many senders claim and record at about the same moment is one commit.

A sender does not wait for its outcome alone: the outcome and the next claim are committed together,
and while one commit is being written, the next batch is collected.
"""

import asyncio
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field

from config.errors import CampaignError
from data.sending import refusals, runs
from data.sending.claims import Claim, Claimed, Granted
from data.sending.outcomes import Outcome
from data.store.ledger import Ledger


@dataclass(slots=True)
class _Batch:
    outcomes: list[Outcome] = field(default_factory=list)
    claims: list[tuple[Claim, asyncio.Future[Claimed | None]]] = field(default_factory=list)
    flushes: list[asyncio.Future[None]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.outcomes or self.claims or self.flushes)


class GroupCommit:
    """Claims and outcomes of one run, in group commits on a thread of its own.

    Once a commit has failed every later claim fails with the same error: without a durable
    claim nothing may be sent. Outcomes are offered to the ledger again on `close`.
    """

    def __init__(self, ledger: Ledger, writer: Executor | None = None) -> None:
        self._ledger = ledger
        self._thread = writer or ThreadPoolExecutor(1, thread_name_prefix="group_commit")
        self._waiting = _Batch()
        self._writer: asyncio.Task[None] | None = None
        self._unwritten: list[Outcome] = []
        self._broken: Exception | None = None

    async def claim(self, claim: Claim) -> Claimed | None:
        """Claim durably; None if the step is no longer free.

        Raises LedgerUnusable, TakenOver, ReadAnew.
        """
        if self._broken is not None:
            raise self._broken
        granted: asyncio.Future[Claimed | None] = asyncio.get_running_loop().create_future()
        self._waiting.claims.append((claim, granted))
        self._wake()
        return await granted

    async def see_that_it_stands(self, run: int) -> None:
        """Check whether a run may still send what it has claimed. Raises LedgerUnusable, TakenOver.

        This does not wait for what is being written. A file answers sooner than a thread begins,
        and then nothing else happens between the answer and what is sent.
        """
        if self._ledger.on_a_server:
            await asyncio.to_thread(runs.see_that_it_stands, self._ledger, run)
        else:
            runs.see_that_it_stands(self._ledger, run)

    async def refusals_before(self, attempt: int) -> tuple[int, ...]:
        """The statuses of earlier refusals of the same request. Raises LedgerUnusable.

        They are durable: each was recorded before the claim that followed it.
        """
        return await asyncio.to_thread(self._ledger.read, refusals.before, attempt)

    def record(self, outcome: Outcome) -> None:
        """Record an outcome; it is durable before any later claim is granted."""
        self._waiting.outcomes.append(outcome)
        self._wake()

    async def flush(self) -> None:
        """Wait until everything recorded so far is durable. Raises LedgerUnusable.

        Others may go on claiming meanwhile; this does not wait for what they record later.
        """
        if self._writer is not None and not self._writer.done():
            written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.flushes.append(written)
            await written
        if self._broken is not None:
            raise self._broken

    async def close(self) -> None:
        """Write what is left, with a second try if need be. Raises LedgerUnusable if it is lost."""
        try:
            while self._writer is not None and not self._writer.done():
                await asyncio.shield(self._writer)
            if self._unwritten:
                await self._commit(self._unwritten, [])
                self._unwritten = []
        finally:
            self._thread.shutdown()

    def _wake(self) -> None:
        if self._writer is None or self._writer.done():
            self._writer = asyncio.get_running_loop().create_task(self._write())

    async def _write(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, _Batch()
            wishes = [] if self._broken else [claim for claim, _ in batch.claims]
            granted: list[Granted] = []
            try:
                if batch.outcomes or wishes:
                    granted = await self._commit(batch.outcomes, wishes)
            except Exception as error:  # noqa: BLE001 - whoever waits for a claim must hear of it
                self._broken = error
                self._unwritten += batch.outcomes
            self._answer(batch, granted)

    def _answer(self, batch: _Batch, granted: list[Granted]) -> None:
        """Give everybody who waits for a batch its result, unless they were cancelled meanwhile."""
        for written in batch.flushes:
            if not written.done():
                written.set_result(None)
        if self._broken is not None:
            for _, answer in batch.claims:
                if not answer.done():
                    answer.set_exception(self._broken)
            return
        for (_, answer), claimed in zip(batch.claims, granted, strict=True):
            if answer.done():
                continue
            if isinstance(claimed, CampaignError):
                answer.set_exception(claimed)
            else:
                answer.set_result(claimed)

    async def _commit(self, outcomes: list[Outcome], wishes: list[Claim]) -> list[Granted]:
        loop = asyncio.get_running_loop()
        ledger = self._ledger
        return await loop.run_in_executor(
            self._thread, ledger.write_beside, runs.commit, outcomes, wishes, ledger.gone
        )
