"""The order of the steps of a campaign, free of Prefect: read, look, check, create, add, invite.

`perform` runs each named step: plainly here and in tests, as a Prefect task in a flow.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from data.campaigns import approvals, pauses, queries
from data.campaigns.approvals import Standing
from data.campaigns.changes import Changes
from data.campaigns.pauses import HOLD_ON
from data.campaigns.whose_turn import Wait
from data.decisions import adding_again, settling
from data.own_files import CannotWrite
from data.receipts.receipt_file import places
from data.sending import runs
from data.store.ledger import Ledger
from data.store.states import By, Ending
from data.store.tables import Approval
from flows.run.adding import add_candidates, attach_problem, create_project
from flows.run.context import (
    ActiveRun,
    RunContext,
    to_go_on,
    working,
)
from flows.run.ending import Finish, finish
from flows.run.inviting import invite_people
from flows.run.sibling_runs import SiblingRuns
from tasks.outputs.links import see_where_links_go, write_links
from tasks.plan.asking_approval import held_back, in_words
from tasks.plan.holds import follow_the_list
from tasks.plan.plan import Cause, Plan, Stop, make_plan, pause_of
from tasks.plan.preflight import preflight
from tasks.plan.receipts import Receipts
from tasks.plan.target import CampaignSource, Target, intent_of, left_out, look_up
from tasks.plan.timing import Later
from tasks.service.client import Service

__all__ = ["CampaignSource", "RunContext", "conduct"]

MEND_LINKS = (
    "What was sent is recorded. Fix it, or name another folder in CAMPAIGN_OUTPUT_DIR, then run "
    "again: that writes the links."
)
CHECK_SERVICE = "check the service and the problem"  # a step's name


async def conduct(source: CampaignSource, context: RunContext) -> Finish:
    """See one campaign through, as far as it can go now. Safe to call again at any time.

    Raises CampaignError for what stops it before anything is sent: bad input, an unreachable
    service, refused credentials, a ledger that cannot be written, a receipt of another ledger.
    """
    plan = await _look(source, context)
    key = plan.target.key
    if plan.stop is not None and plan.stop.cause is not Cause.PAUSED:
        end = await asyncio.to_thread(finish, context.ledger, key, _why(key, plan.stop))
        return replace(end, mend=True)
    receipts = _receipts(source, plan.target, context)
    ahead = await asyncio.to_thread(_asks_ahead, plan, context.ledger)
    if ahead or not plan.calls.nothing:
        await context.perform("check the receipt", partial(asyncio.to_thread, receipts.check))
    context.observer.on_plan(plan.calls)
    if plan.calls.nothing and not ahead:
        return await _close_up(
            plan, context, None, plan.early, await _take_over(plan, source, context)
        )
    if plan.stop is not None:
        return await _not_begun(plan, source, context, (Ending.STOPPED, _why(key, plan.stop)))
    await asyncio.to_thread(see_where_links_go, context.local.output_dir, key)
    async with _service(context) as service:
        plan = await _ask_the_service(plan, source, context, service)
        approved, why_not = await asyncio.to_thread(_approval, plan, source, context.ledger)
        if why_not is not None:
            end = await _not_begun(plan, source, context, why_not)
            await _note_the_problem(plan, context)
            return replace(end, plan=approved)
        async with working(plan, context, service, receipts, approved) as run:
            await _note_the_problem(plan, context)
            if await create_project(run) and await attach_problem(run):
                await add_candidates(run)
                await invite(run)
    end = await _close_up(plan, context, run.gate.stopped, run.early, run.begun.changes)
    invited = await asyncio.to_thread(context.ledger.read, queries.invited_by, run.begun.run)
    return replace(end, receipt=receipts.trouble, invited=invited)


async def _look(source: CampaignSource, context: RunContext) -> Plan:
    """Read the definition and plan what is left; if nothing is, wait for runs that are sending."""
    ledger, observer = context.ledger, context.observer
    target = await context.perform(
        "read the definition", partial(asyncio.to_thread, look_up, source, ledger, context.service)
    )
    observer.on_start(target.key, target.timezone)
    if target.forgotten:
        observer.on_warning(left_out(target.forgotten))
    if target.doubtful:
        observer.on_doubtful(source, target.doubtful)
    await asyncio.to_thread(follow_the_list, ledger, context.local)
    plan = await asyncio.to_thread(_plan, target, context)
    if target.known is not None:
        siblings = SiblingRuns(context, target.known.id, _stays(context))
        while plan.left.nothing and await siblings.wait_for_siblings():
            plan = await asyncio.to_thread(_plan, target, context)
    observer.on_reading(target.digest, plan.left)
    return await asyncio.to_thread(_decided, plan, context)


def _plan(target: Target, context: RunContext) -> Plan:
    """Plan what is left, after what dead runs left behind became unsure."""
    ledger, campaign, definition = context.ledger, target.known, target.definition
    wanted = definition.add_again if definition else None
    if campaign is not None and adding_again.recover(ledger, campaign.id, wanted):
        target = replace(target, known=ledger.read(queries.find_campaign, target.key))
    named = campaign is not None and campaign.ask_first
    accepted = context.accept_removed is not None
    return make_plan(target, ledger, context.clock(), accepted=accepted, named=named)


def _decided(plan: Plan, context: RunContext) -> Plan:
    """Write down what a person accepted, and the pause that the definition itself asks for."""
    ledger, campaign = context.ledger, plan.target.known
    if plan.stop is None or plan.stop.cause is Cause.PAUSED:
        if context.accept_removed is not None and plan.gone is not None and campaign is not None:
            by = By(context.accept_removed, plan.gone)
            ledger.write(settling.accept_removed, campaign.id, by)
        if plan.early is not None and plan.early.wait is Wait.HELD:
            ledger.write(pauses.pause, plan.target.key, By(HOLD_ON, plan.early.reason))
            return replace(plan, early=None, stop=pause_of(plan.target.key, ledger))
    return plan


def _why(key: str, stop: Stop) -> str:
    """Say why nothing is sent, and what lets it go on."""
    match stop.cause:
        case Cause.GUARD:
            return (
                f"{stop.why}, so nothing was sent or changed. If they were removed on purpose: "
                "run again with  --accept-removed"
            )
        case Cause.PAUSED:
            return to_go_on(key, stop.why)
        case Cause.OVER:
            return stop.why


async def _ask_the_service(
    plan: Plan, source: CampaignSource, context: RunContext, service: Service
) -> Plan:
    """Check the credentials and the problem, which may have been known by its title alone."""
    look = await context.perform(CHECK_SERVICE, partial(preflight, service, plan))
    if look.doubt:
        context.observer.on_warning(look.doubt)
    intent = None
    if plan.target.definition is not None:
        intent = intent_of(plan.target, source, context.service, look.problem)
    return replace(plan, intent=intent, doubt=look.doubt)


async def _note_the_problem(plan: Plan, context: RunContext) -> None:
    await asyncio.to_thread(context.ledger.write, queries.saw_problem, plan.target.key, plan.doubt)


@asynccontextmanager
async def _service(context: RunContext) -> AsyncIterator[Service]:
    async with Service(
        context.service, deadline=context.local.request_deadline, ca_file=context.local.ca_file
    ) as service:
        try:
            yield service
        finally:
            if service.wrote:
                context.observer.on_words(service.wrote)


def _receipts(source: CampaignSource, target: Target, context: RunContext) -> Receipts:
    service = context.service.base_url
    where = context.receipts or places(source.definition or source.file, target.key, service)
    return Receipts(context.ledger, where, target.key, service, target.timezone)


def _stays(context: RunContext) -> Callable[[float], Awaitable[bool]]:
    async def wait(seconds: float) -> bool:
        await asyncio.sleep(seconds)
        return await context.stopped() is None

    return wait


def _approval(
    plan: Plan, source: CampaignSource, ledger: Ledger
) -> tuple[Approval | None, tuple[Ending, str] | None]:
    """Find the approved plan that this run carries out, and why it may not begin, if so."""
    terms = plan.intent.campaign if plan.intent else plan.target.known
    if terms is None or not terms.ask_first:
        return None, None
    shown, stood = ledger.write(approvals.seek, in_words(plan, source, terms))
    return shown, held_back(shown, stood)


def _asks_ahead(plan: Plan, ledger: Ledger) -> bool:
    """Whether what waits for its time is to be approved: not only once that time has come."""
    target = plan.target
    if target.definition is not None:
        asks = target.definition.invites.approval is not None
    else:
        asks = target.known is not None and target.known.ask_first
    if not (asks and plan.calls.nothing and plan.left.invite) or plan.stop is not None:
        return False
    _, stands = ledger.read(approvals.look, target.key, target.digest)
    return stands is not Standing.APPROVED


async def _not_begun(
    plan: Plan, source: CampaignSource, context: RunContext, held: tuple[Ending, str]
) -> Finish:
    """Say why no run was begun; nobody is forgotten meanwhile: the ledger has the definition."""
    ending, reason = held
    changes = await _take_over(plan, source, context)
    end = await asyncio.to_thread(finish, context.ledger, plan.target.key, reason)
    return _with_changes(replace(end, ending=ending), changes)


async def _take_over(plan: Plan, source: CampaignSource, context: RunContext) -> Changes | None:
    """Take a changed definition over without a run."""
    target = plan.target
    if target.definition is None:
        return None
    intent = plan.intent or intent_of(target, source, context.service, None)
    return await asyncio.to_thread(
        context.ledger.write_beside, runs.take_over, target.definition, intent
    )


async def invite(run: ActiveRun) -> None:
    """Invite whoever is in the project (interface 4.6), where the definition sends invitations."""
    if run.campaign().send_invites:
        await invite_people(run)


async def _close_up(
    plan: Plan,
    context: RunContext,
    stopped: str | None,
    early: Later | None,
    changes: Changes | None,
) -> Finish:
    """Write the links and say how it ended."""
    key = plan.target.key
    await context.perform(
        "write the links",
        partial(asyncio.to_thread, _links, context.ledger, key, context.local.output_dir),
    )
    end = await asyncio.to_thread(finish, context.ledger, key, stopped, early)
    return _with_changes(end, changes)


def _with_changes(end: Finish, changes: Changes | None) -> Finish:
    if changes is None:
        return end
    return replace(
        end,
        changed=len(changes.changed),
        removed=len(changes.removed),
        corrected=len(changes.corrected),
    )


def _links(ledger: Ledger, key: str, output: Path) -> None:
    campaign = ledger.read(queries.find_campaign, key)
    if campaign is not None:
        try:
            write_links(ledger, campaign, output)
        except CannotWrite as error:
            raise CannotWrite(error.path, error.why, MEND_LINKS) from None
