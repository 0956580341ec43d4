"""Group commit: what is granted is on the disk, and nothing is claimed after a failure."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import Executor, Future

import pytest

from data.sending import runs
from data.sending.claims import Claim, Claimed
from data.sending.group_commit import GroupCommit
from data.sending.outcomes import Outcome
from data.store.opening import LedgerUnusable
from data.store.states import AttemptState, Operation, Step
from tests.support.ledgers.small_ledger import NOON


class Disk:
    """Stands for the ledger: takes commits as they come, and may be full for some of them."""

    def __init__(self, *full: int) -> None:
        self.full = full
        self.commits: list[tuple[list[int], list[int]]] = []

    def gone(self) -> None: ...

    def write_beside(
        self, change: object, outcomes: Sequence[Outcome], claims: Sequence[Claim], gone: object
    ) -> list[Claimed | None]:
        assert change is runs.commit
        self.commits.append(([o.attempt for o in outcomes], [c.rows[0] for c in claims]))
        if len(self.commits) in self.full:
            raise LedgerUnusable("no room")
        return [Claimed(claim.rows[0], claim.rows) for claim in claims]


class ByHand(Executor):
    """A thread that works when it is told to: commits take as long as the test wants."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Future[object], object]] = []

    def submit(self, work, /, *args, **more):  # type: ignore[no-untyped-def, override]
        future: Future[object] = Future()
        self.waiting.append((future, lambda: work(*args, **more)))
        return future

    def work(self) -> None:
        future, job = self.waiting.pop(0)
        try:
            future.set_result(job())  # type: ignore[operator]
        except LedgerUnusable as error:
            future.set_exception(error)


def wish(row: int) -> Claim:
    return Claim(Operation.INVITE, 1, 1, NOON, (row,))


def done(attempt: int) -> Outcome:
    return Outcome(attempt, Operation.INVITE, AttemptState.DONE, Step.DONE, NOON, (attempt,))


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def test_what_comes_while_a_commit_is_on_its_way_travels_together() -> None:
    """One durable commit serves all who waited; nobody waits for a commit of their own."""

    async def story() -> None:
        disk, thread = Disk(), ByHand()
        journal = GroupCommit(disk, thread)  # type: ignore[arg-type]
        claims = [asyncio.create_task(journal.claim(wish(1)))]
        await settled()
        claims += [asyncio.create_task(journal.claim(wish(row))) for row in (2, 3, 4)]
        journal.record(done(9))
        await settled()
        thread.work()
        await settled()
        assert [claim.done() for claim in claims] == [True, False, False, False]
        thread.work()
        assert [(await claim).attempt for claim in claims] == [1, 2, 3, 4]
        assert disk.commits == [([], [1]), ([9], [2, 3, 4])]
        await journal.close()

    asyncio.run(story())


def test_a_claim_is_granted_only_once_its_commit_returned() -> None:
    """Before the commit is on the disk, whoever claims keeps waiting."""

    async def story() -> None:
        thread = ByHand()
        journal = GroupCommit(Disk(), thread)  # type: ignore[arg-type]
        claim = asyncio.create_task(journal.claim(wish(1)))
        await settled()
        assert not claim.done()
        thread.work()
        assert (await claim).attempt == 1
        await journal.close()

    asyncio.run(story())


def test_a_flush_waits_for_what_was_handed_over_and_for_nothing_later() -> None:
    """The end of one wave is not put off by the claims of the next."""

    async def story() -> None:
        disk, thread = Disk(), ByHand()
        journal = GroupCommit(disk, thread)  # type: ignore[arg-type]
        journal.record(done(1))
        await settled()
        journal.record(done(2))
        flushed = asyncio.create_task(journal.flush())
        await settled()
        thread.work()
        await settled()
        later = asyncio.create_task(journal.claim(wish(3)))
        assert not flushed.done()
        thread.work()
        await settled()
        assert (flushed.done(), later.done()) == (True, False)
        thread.work()
        await asyncio.gather(flushed, later)
        assert disk.commits == [([1], []), ([2], []), ([], [3])]
        await journal.flush()  # nothing is on its way
        await journal.close()

    asyncio.run(story())


def test_after_a_failed_commit_nothing_is_claimed_any_more() -> None:
    """Without a durable claim nothing may be sent, now or later in this run."""

    async def story() -> None:
        disk = Disk(1)
        journal = GroupCommit(disk)  # type: ignore[arg-type]
        for _ in range(2):
            with pytest.raises(LedgerUnusable):
                await journal.claim(wish(1))
        with pytest.raises(LedgerUnusable):
            await journal.flush()
        assert disk.commits == [([], [1])]
        await journal.close()

    asyncio.run(story())


def test_outcomes_that_could_not_be_written_are_offered_once_more_at_the_end() -> None:
    """A disk that has room again by then gets every answer that came."""

    async def story() -> None:
        disk = Disk(1)
        journal = GroupCommit(disk)  # type: ignore[arg-type]
        journal.record(done(1))
        with pytest.raises(LedgerUnusable):
            await journal.flush()
        journal.record(done(2))
        await journal.close()
        assert disk.commits == [([1], []), ([2], []), ([1], [])]

    asyncio.run(story())


def test_outcomes_that_stay_unwritten_are_said_to_be(tmp_path: object) -> None:
    """A disk that stays full is an error at the end, never silence."""

    async def story() -> None:
        journal = GroupCommit(Disk(1, 2))  # type: ignore[arg-type]
        journal.record(done(1))
        with pytest.raises(LedgerUnusable):
            await journal.close()

    asyncio.run(story())


def test_an_outcome_is_written_before_any_claim_that_comes_after_it() -> None:
    """In one commit or an earlier one, never in a later one."""

    async def story() -> None:
        disk = Disk()
        journal = GroupCommit(disk)  # type: ignore[arg-type]
        first = await journal.claim(wish(1))
        journal.record(done(first.attempt))
        await journal.claim(wish(2))
        written = [attempt for outcomes, _ in disk.commits for attempt in outcomes]
        assert written == [1]
        await journal.close()

    asyncio.run(story())
