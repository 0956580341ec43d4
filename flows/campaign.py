"""The flow that sends one campaign: `send` has its steps in order."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run

from config.definition import ORDERS
from config.errors import CampaignError, command
from config.reading import key_of, named_table
from config.settings import service_settings, settings
from config.sheets.entries import BadList, read_entries
from data.campaigns.intake import Allowed
from data.eligibility.holds import Kind
from data.sending.runs import recover
from data.store import receipts
from data.store.lease import AtWork, Lease, lease
from data.store.ledger import Ledger
from data.store.tables import now
from flows.ending import End, Ending, broken_off, ended, note_guard
from flows.gently import happens_within
from flows.notices import is_bad, note_situation, tell
from flows.page import publish_page
from flows.steps import add_batch, attach_problem, create_project, invite_batch, preflight, scrubbed
from flows.this_run import CAMPAIGN, begin_another, go_on_later, is_typed, named, stopping_gently
from tasks.plan import make_plan, refreshed
from tasks.sending.gate import LONG, EndedEarly
from tasks.sending.run import sending
from tasks.sources.reading import fetch_campaign

typed_endings: list[Ending] = []  # for the command `run`; Prefect must not keep `service_words`
LOOKS_AGAIN = 1.0  # seconds between two tries to take a lease that another process holds
A_WHILE = timedelta(minutes=1)  # the wait of a run that may not send yet
WAITS = f"{End.BAD_INPUT}: correct this file, or the other of its key; then it goes on."
# Seconds that a run waits for another order, and after which it ends though orders still come.
COLLECTS, STAYS = 10.0, 300.0


@flow(
    name=CAMPAIGN,
    flow_run_name=lambda: named(flow_run.parameters, flow_run.scheduled_start_time),
    on_failure=[tell],
)
async def run_campaign(
    file: Path,
    campaign: str | None = None,
    digest: str | None = None,
    accept_removed: bool = False,
    keep_project: bool = False,
) -> State[Any]:
    """Send one campaign: project, problem, people, invitations. Safe to repeat at any time.

    Args:
        file: The definition, as the worker finds it.
        campaign: The key that the file must have.
        digest: Only if the file still has these bytes.
        accept_removed: Go on although many people are gone from the file.
        keep_project: It is the same campaign, although the file names another project.
    """
    who = settings().who if is_typed() else "a run in Prefect"
    allowed, waits = Allowed(who, accept_removed, keep_project), False
    async with stopping_gently() as stop:
        try:
            with scrubbed():
                ending = await send_what_comes(file, campaign, digest, allowed, stop)
        except CampaignError as error:
            ending = broken_off(campaign or file.stem, file, error)
            waits = isinstance(error, BadList)  # until that list is mended
    with suppress(CampaignError):  # if the ledger cannot be used, there is no notice
        note_situation(ending, typed=is_typed())  # `tell` sends it later
    if waits and not is_typed():
        await go_on_later(str(ending), now() + A_WHILE)
    await publish_page(ending)
    if is_typed():
        typed_endings.append(ending)
        return ending.state()
    if ending.kind is End.INTERRUPTED:  # with its own time, the run comes before later runs
        await go_on_later(str(ending), flow_run.scheduled_start_time)
    if ending.kind is End.ELSEWHERE:
        await go_on_later(str(ending), now() + A_WHILE)
    if ending.until is not None:
        await begin_another(ending.until)  # this run ends, and its state says what is waited for
    return ending.state()


async def send_what_comes(
    file: Path, campaign: str | None, digest: str | None, allowed: Allowed, stop: asyncio.Event
) -> Ending:
    """Send a file, and again while orders come in: a new run for them would take much longer.

    Orders after STAYS seconds wait for a new run, behind other campaigns. Raises CampaignError.
    """
    ends = time.monotonic() + STAYS
    while True:
        before = _ordered(file)
        ending = await send(file, campaign, digest, allowed, stop)
        if ending.kind in (End.STOPPED, End.INTERRUPTED) or digest or time.monotonic() > ends:
            return ending
        if before is None or await happens_within(COLLECTS, stop) or _ordered(file) == before:
            return ending


def _ordered(file: Path) -> int | None:
    """When a definition's file of orders last changed, in nanoseconds; None: there is no file."""
    table = named_table(file)
    if table is not None and table.name.endswith(ORDERS):
        with suppress(OSError):
            return table.stat().st_mtime_ns
    return None


async def send(
    file: Path, campaign: str | None, digest: str | None, allowed: Allowed, stop: asyncio.Event
) -> Ending:
    """Send what is due of a file, and return how that ended. Raises CampaignError."""
    settings = service_settings()
    with Ledger.open(settings.database_url, migrate=is_typed()) as ledger:
        if not is_typed() and is_bad(ledger, file):
            await go_on_later(f"{WAITS}\n{command('check', file.parent)}", now() + A_WHILE)
        key = key_of(file)
        async with holding_lease(ledger, key, stop) as ours:
            receipts.check(ledger, key, settings.base_url, file)
            with ledger.writing() as session:
                recover(session, key)  # requests of a dead run become unsure
            read = await asyncio.to_thread(fetch_campaign, file, campaign or key, kept=bool(digest))
            plan = make_plan(read, ledger, settings, digest=digest, allowed=allowed)
            note_guard(ledger, plan)
            by_title = plan.unresolved and not plan.nothing_due
            pauses = [h.until or now() for h in plan.waits if h.kind is Kind.THROTTLED]
            left = max(pauses, default=now()) - now()
            asks = by_title or not (plan.holds or plan.nothing_due)
            if left <= LONG and asks and not await happens_within(left.total_seconds(), stop):
                await preflight(plan.key, ledger, settings)
                plan = refreshed(plan, read, ledger, allowed) if by_title else plan
            if plan.holds or plan.nothing_due or left > LONG:
                return ended(ledger, plan)  # nothing may be sent, or nothing is left
            try:
                async with sending(ledger, ours, plan.intake.campaign_id, settings, stop) as run:
                    await create_project(run)
                    await attach_problem(run)
                    for batch in run.to_add():
                        await add_batch(run, batch)
                    for batch in run.to_invite():  # the pilot, then wave after wave
                        await invite_batch(run, batch)
                    run.gate.raise_its_ending()
            except EndedEarly as early:
                if settings.do_not_contact is not None and not is_typed():
                    read_entries(settings.do_not_contact)  # raises BadList: this run waits
                if early.hold is not None and early.hold.kind is Kind.APPROVAL:  # approval is void
                    return ended(ledger, refreshed(plan, read, ledger, allowed))
                return ended(ledger, plan, early)
            return ended(ledger, plan)


@asynccontextmanager
async def holding_lease(ledger: Ledger, key: str, stop: asyncio.Event) -> AsyncIterator[Lease]:
    """Hold a campaign's lease. A typed run waits for it; stopped and other runs raise AtWork."""
    ours, waits = None, False
    with ExitStack() as stack:
        while ours is None:
            try:
                ours = stack.enter_context(lease(ledger, key))
            except AtWork as busy:
                if not is_typed() or stop.is_set():
                    raise
                if not waits:
                    print(f"{busy} Waiting for it.", file=sys.stderr, flush=True)
                    waits = True
                await happens_within(LOOKS_AGAIN, stop)
        yield ours
