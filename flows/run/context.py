"""One run under way: what it works with, how it is opened in the ledger, and how it is closed."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol, TypeVar

from config.command_line import command
from config.errors import CampaignError
from config.service_address import canonical
from config.settings import LocalSettings, ServiceSettings
from config.timetable.moments import on_the_wall
from config.timetable.timetable import Timetable
from data.campaigns import intake, queries
from data.campaigns import pauses as pauses_of_campaigns
from data.campaigns.pauses import Paused
from data.decisions import adding_again
from data.holds.do_not_contact import ListFile
from data.receipts.receipt_file import Places
from data.sending import runs
from data.sending.group_commit import GroupCommit
from data.sending.processes import HEARTBEAT_EVERY
from data.sending.recovery import OWN_RUNS
from data.sending.runs import Begun
from data.store.clock import now
from data.store.errors import LedgerUnusable
from data.store.ledger import Ledger
from data.store.tables import Approval, Campaign
from flows.run.ending import finish
from flows.run.interrupts import stopping_on_signals
from flows.run.observer import RunObserver
from tasks.plan.holds import follow_on
from tasks.plan.plan import Plan, in_words
from tasks.plan.receipts import Receipts
from tasks.plan.target import Target
from tasks.plan.timing import Later, over, over_for, timetable_of
from tasks.sending.gate import Gate
from tasks.sending.pace import Rate, Together
from tasks.sending.sender import Sender
from tasks.service.client import Service
from tasks.status import logs

T = TypeVar("T")


async def nobody_shares(key: str, people: int) -> None:
    """The default for `shares`: no other run shares the invitations."""


async def nobody_stops() -> str | None:
    """The default for `stopped`: nobody outside the ledger stops the run."""
    return None


class StoppedByAPerson(CampaignError):
    """Somebody paused the campaign, or stopped its run, while it was being sent."""


class Perform(Protocol):
    """Runs one step under a name for people."""

    async def __call__(self, name: str, step: Callable[[], Awaitable[T]], /) -> T: ...


async def plainly(name: str, step: Callable[[], Awaitable[T]], /) -> T:
    return await step()


@dataclass(frozen=True, slots=True)
class RunContext:
    """What a run works with: the ledger, the settings, and who observes or stops it.

    `stopped` is asked again and again: it returns why somebody outside the ledger stops the run,
    such as a cancel in Prefect. `receipts` is where a rehearsal keeps its own; None: the usual
    places. `clock` returns aware times, by which invitations go out. `accept_removed`: who said
    that people were removed from the definition on purpose. `paced`: keep to the definition's
    rates. `shares` is called with the key and the number of people who can be invited now, before
    the first of them is invited, and may start other runs to share them. When nobody is left to
    invite, a run waits while others are sending, but only for `patience` seconds if their requests
    do not go on.
    """

    ledger: Ledger
    service: ServiceSettings
    local: LocalSettings
    perform: Perform = plainly
    observer: RunObserver = field(default_factory=RunObserver)
    stopped: Callable[[], Awaitable[str | None]] = nobody_stops
    receipts: Places | None = None
    clock: Callable[[], datetime] = now
    accept_removed: str | None = None
    paced: bool = True
    shares: Callable[[str, int], Awaitable[None]] = nobody_shares
    patience: float = 0


@dataclass(slots=True)
class ActiveRun:
    """One run under way."""

    context: RunContext
    key: str
    digest: str  # of the version that this run carries out
    begun: Begun
    gate: Gate
    group_commit: GroupCommit
    sender: Sender
    receipts: Receipts
    listed: ListFile | None = None  # the do-not-contact list in a file, as last looked at
    early: Later | None = None  # why invitations wait, if some had to when it was their turn

    def campaign(self) -> Campaign:
        """The campaign as the ledger has it now."""
        return self.context.ledger.read(queries.the_campaign, self.key)


@asynccontextmanager
async def working(
    plan: Plan,
    context: RunContext,
    service: Service,
    receipts: Receipts,
    approved: Approval | None,
) -> AsyncIterator[ActiveRun]:
    """Open a run in the ledger that carries out a plan, and close it whatever happens.

    `approved` is the plan as a person approved it, where that was needed.
    """
    ledger, target = context.ledger, plan.target
    approval = approved.id if approved else None
    await asyncio.to_thread(receipts.keep)
    begun = await asyncio.to_thread(
        runs.begin, ledger, target.key, target.definition, plan.intent, approval, target.digest
    )
    gate, group_commit = _gate(target, context, service), GroupCommit(ledger)
    sender = Sender(service, group_commit, gate, begun)
    work = ActiveRun(
        context, target.key, target.digest, begun, gate, group_commit, sender, receipts
    )
    heartbeat = asyncio.create_task(_beat(ledger, begun.run, gate))
    try:
        await keep_receipt(work)
        with stopping_on_signals(gate), logs.about(campaign=target.key, run=begun.run):
            logs.say("the run began")
            with stopping_on(LedgerUnusable, gate):
                yield work
    except BaseException as error:
        gate.stop(f"The run failed ({type(error).__name__}).")
        raise
    finally:
        heartbeat.cancel()
        try:
            await _end(work)
        finally:
            # Even if its end could not be recorded: nothing of it leaves any more, and the next run
            # in this process may take what it has SENDING for unsure.
            OWN_RUNS.discard(begun.run)


@contextmanager
def stopping_on(kind: type[CampaignError], gate: Gate) -> Iterator[None]:
    """After such an error nothing more leaves; what is in flight comes to its end all the same."""
    try:
        yield
    except kind as error:
        gate.stop(str(error))


async def flush(work: ActiveRun) -> None:
    """Wait until all that was recorded so far is durable."""
    with stopping_on(LedgerUnusable, work.gate):
        await work.group_commit.flush()


def _gate(target: Target, context: RunContext, service: Service) -> Gate:
    """What every request of this run waits for: its rates, a pause, and the time to send."""
    table = timetable_of(target)
    # By its address all runs at one service are paced together.
    address = canonical(context.service.base_url)
    heeds = partial(_heed_everybody, context, target.key, target.digest)
    together = Together(context.ledger, address, list(_rates(context, target.key, table)), heeds)
    return Gate(
        service.problems,
        together,
        over=lambda: over(table, context.clock()),
        pauses=lambda seconds: context.observer.on_pause(
            on_the_wall(now() + timedelta(seconds=seconds), target.timezone)
        ),
    )


def _rates(context: RunContext, key: str, table: Timetable) -> Iterator[Rate]:
    """The rate that this machine sets for the service, and the campaign's own."""
    if context.local.invites_per_second:
        yield Rate(
            canonical(context.service.base_url),
            timedelta(seconds=1 / context.local.invites_per_second),
        )
    if context.paced and table.gap:
        yield Rate(f"campaign {key}", table.gap)


async def _beat(ledger: Ledger, run: int, gate: Gate) -> None:
    while True:
        await asyncio.sleep(HEARTBEAT_EVERY.total_seconds())
        with stopping_on(CampaignError, gate):
            await asyncio.to_thread(runs.heartbeat, ledger, run)


async def _end(work: ActiveRun) -> None:
    with stopping_on(CampaignError, work.gate):
        await work.group_commit.close()
    await keep_receipt(work)
    ledger = work.context.ledger
    with stopping_on(CampaignError, work.gate):
        # If another run died meanwhile, what it was sending becomes unsure now.
        await asyncio.to_thread(adding_again.recover, ledger, work.begun.campaign)
    ended = await asyncio.to_thread(finish, ledger, work.key, work.gate.stopped, work.early)
    await asyncio.to_thread(runs.end, ledger, work.begun.run, ended.ending, ended.reason)
    with logs.about(campaign=work.key, run=work.begun.run):
        # Not the reason: a person may have typed it, with a candidate's name in it.
        logs.say("the run ended", ending=ended.ending, counts=ended.counts)


async def check_stop(work: ActiveRun) -> None:
    """Before each wave and bulk add: stop if a person paused or stopped it, or it is too late."""
    await check_stop_in_ledger(work)
    if work.gate.stopped is None:
        await check_stop_beside(work)


async def check_stop_in_ledger(work: ActiveRun) -> None:
    """Stop for a pause, for a newer version of the definition, after not_after, or if the
    do-not-contact list cannot be read.
    """
    if (why := await asyncio.to_thread(_objection, work)) is not None:
        work.gate.stop(why)


async def check_stop_beside(work: ActiveRun) -> None:
    """Stop if somebody outside the ledger stopped the run; to ask takes longer than to read."""
    if (why := await work.context.stopped()) is not None:
        work.gate.stop(why)


def _objection(work: ActiveRun) -> str | None:
    context = work.context
    try:
        work.listed = follow_on(context.ledger, context.local, work.listed)
        _heed_people(context.ledger, work.key, work.digest)
        return over_for(work.campaign(), context.clock())
    except CampaignError as error:
        return str(error)


async def _heed_everybody(context: RunContext, key: str, digest: str) -> None:
    """The same for whoever stops a run outside the ledger. Raises CampaignError."""
    await asyncio.to_thread(_heed_people, context.ledger, key, digest)
    if (why := await context.stopped()) is not None:
        raise StoppedByAPerson(why)


def _heed_people(ledger: Ledger, key: str, digest: str) -> None:
    """Raise what a person did that stops a run: paused the campaign, or changed its definition.

    Looked at during a wave too: at a low rate, the rest of it may take an hour.
    """
    if (paused := ledger.read(pauses_of_campaigns.standing, key)) is not None:
        raise StoppedByAPerson(paused_by(key, paused))
    ledger.read(intake.carries_out, key, digest)


def paused_by(key: str, paused: Paused) -> str:
    """Say who paused a campaign, and what lets it go on."""
    return to_go_on(key, in_words(paused))


def to_go_on(key: str, paused: str) -> str:
    """Say how to continue a campaign; `paused` is such as `paused by Grace since …`."""
    return f"It was {paused}. To continue: {command('resume', key)}, then the same run again."


async def keep_receipt(work: ActiveRun) -> None:
    """Without a receipt that says how far this ledger has got, nothing more is sent.

    The ledger counts one step first, so that a copy made a moment ago is behind the receipt.
    """
    with stopping_on(CampaignError, work.gate):
        await asyncio.to_thread(
            work.context.ledger.write_beside, runs.begin_part, work.begun.campaign
        )
        await asyncio.to_thread(work.receipts.keep)
