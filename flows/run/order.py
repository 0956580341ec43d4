"""The order of the steps of a campaign, free of Prefect: read, look, check, create, add, invite.

`perform` runs each named step: plainly here and in tests, as a Prefect task in a flow.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from config.errors import CampaignError
from data.campaigns import approvals, intake, pauses, queries
from data.campaigns.approvals import ShownPlan
from data.campaigns.guard import too_many_gone
from data.campaigns.intake import Intent
from data.campaigns.remaining import Changes, Remaining, compare
from data.campaigns.turns import Wait
from data.decisions import adding_again, settling
from data.own_files import CannotWrite
from data.receipts.receipt_file import places
from data.sending import queue, runs
from data.store.ledger import Ledger
from data.store.states import By, Ending, Step
from data.store.tables import Campaign
from flows.run.context import (
    ActiveRun,
    RunContext,
    check_stop,
    check_stop_beside,
    check_stop_in_ledger,
    paused_by,
    working,
)
from flows.run.ending import Finish, finish
from flows.run.inviting import HOLD_ON, invite_people
from flows.run.parts import in_parts
from flows.run.sibling_runs import SiblingRuns
from tasks.outputs.links import see_where_links_go, write_links
from tasks.plan.approval import held_back, plan_of
from tasks.plan.asked import CampaignSource, Target, intent_of, left_out, look_up, what_is_left
from tasks.plan.held import follow_the_list
from tasks.plan.preflight import preflight
from tasks.plan.receipts import Receipts
from tasks.plan.timing import Later, before_it_begins, over, timetable_of
from tasks.sending.candidates import Refusals, add
from tasks.sending.project import AttachProblem, CreateProject
from tasks.sending.sender import Order
from tasks.service.client import Service

__all__ = ["CampaignSource", "RunContext", "conduct"]

MEND_LINKS = (
    "What was sent is recorded. Mend it, or name another folder in CAMPAIGN_OUTPUT_DIR, then type "
    "the same command again: it writes the links."
)
ADDS = 10  # bulk adds in one step

T = TypeVar("T")


class ProblemChanged(CampaignError):
    """The problem this run had looked up is not the one that the definition names now."""


async def conduct(asked: CampaignSource, context: RunContext) -> Finish:
    """See one campaign through, as far as it can go now. Safe to call again at any time.

    Raises CampaignError for what stops it before anything is sent: bad input, an unreachable
    service, refused credentials, a ledger that cannot be written, a receipt of another ledger.
    """
    perform, ledger = context.perform, context.ledger
    wanted = await perform(
        "read the definition", partial(asyncio.to_thread, look_up, asked, ledger, context.service)
    )
    context.observer.on_start(wanted.key, wanted.timezone)
    if wanted.forgotten:
        context.observer.on_warning(left_out(wanted.forgotten))
    await asyncio.to_thread(follow_the_list, ledger, context.local)
    whole = await asyncio.to_thread(what_is_left, wanted, ledger)
    if wanted.known is not None:
        others = SiblingRuns(context, wanted.known.id, _stays(context))
        while whole.nothing and await others.wait_for_siblings():
            whole = await asyncio.to_thread(what_is_left, wanted, ledger)
    context.observer.on_reading(wanted.digest, whole)
    if (gone := await asyncio.to_thread(_gone, wanted, ledger, context)) is not None:
        return await asyncio.to_thread(finish, ledger, wanted.key, gone)
    at = context.clock()
    if whole.invite and (late := over(timetable_of(wanted), at)) is not None:
        return await asyncio.to_thread(finish, ledger, wanted.key, late)
    early = None
    if whole.invite:
        early = await asyncio.to_thread(before_it_begins, wanted, ledger, at)
        if early is not None and early.wait is Wait.HELD:
            await asyncio.to_thread(
                ledger.write, pauses.pause, wanted.key, By(HOLD_ON, early.reason)
            )
            early = None
    left = whole if early is None else replace(whole, invite=0)
    receipts = _receipts(asked, wanted, context)
    if not left.nothing:
        await perform("look at the receipt", partial(asyncio.to_thread, receipts.check))
    context.observer.on_plan(left)
    if left.nothing:
        return await _nothing_to_send(wanted, asked, context, early)
    if (paused := await asyncio.to_thread(ledger.read, pauses.standing, wanted.key)) is not None:
        held = (Ending.STOPPED, paused_by(wanted.key, paused))
        return await _not_begun(wanted, asked, context, held)
    await asyncio.to_thread(see_where_links_go, context.local.output_dir, wanted.key)
    async with _service(context) as service:
        look = await perform(
            "check the service and the problem", partial(preflight, service, wanted, left)
        )
        if look.doubt:
            context.observer.on_warning(look.doubt)
        intent = (
            intent_of(wanted, asked, context.service, look.problem) if wanted.definition else None
        )
        plan, why_not = await asyncio.to_thread(
            _approval, wanted, asked, whole, intent, ledger, look.doubt
        )
        if why_not is not None:
            end = await _not_begun(wanted, asked, context, why_not, intent)
            await asyncio.to_thread(ledger.write, queries.saw_problem, wanted.key, look.doubt)
            return replace(end, plan=plan)
        number = plan.id if plan else None
        async with working(wanted, intent, context, service, receipts, number) as work:
            await asyncio.to_thread(ledger.write, queries.saw_problem, wanted.key, look.doubt)
            await _send_what_is_left(work)
    end = await _close_up(wanted.key, context, work.gate.stopped, work.early, work.begun.changes)
    invited = await asyncio.to_thread(ledger.read, queries.invited_by, work.begun.run)
    return replace(end, receipt=receipts.trouble, invited=invited)


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


def _receipts(asked: CampaignSource, wanted: Target, context: RunContext) -> Receipts:
    service = context.service.base_url
    where = context.receipts or places(asked.definition or asked.file, wanted.key, service)
    return Receipts(context.ledger, where, wanted.key, service, wanted.timezone)


def _stays(context: RunContext) -> Callable[[float], Awaitable[bool]]:
    async def wait(seconds: float) -> bool:
        await asyncio.sleep(seconds)
        return await context.stopped() is None

    return wait


def _gone(wanted: Target, ledger: Ledger, context: RunContext) -> str | None:
    """Say that the guard of a changed definition stops it before it is taken over."""
    definition, known = wanted.definition, wanted.known
    if definition is None or known is None:
        return None
    people = ledger.read(intake.known, known.id)
    gone = too_many_gone(definition.guard, compare(definition, people), people)
    if gone is None:
        return None
    if context.accept_removed is not None:
        ledger.write(settling.accept_removed, known.id, By(context.accept_removed, gone))
        return None
    return (
        f"{gone}, so nothing was sent and nothing taken over. If they are rightly gone: the same "
        "command with  --accept-removed"
    )


def _approval(
    wanted: Target,
    asked: CampaignSource,
    left: Remaining,
    intent: Intent | None,
    ledger: Ledger,
    doubt: str | None,
) -> tuple[ShownPlan | None, tuple[Ending, str] | None]:
    """Find the approved plan that this run carries out, and why it may not begin, if so."""
    terms = intent or wanted.known
    if terms is None or not terms.ask_first:
        return None, None
    shown, stood = ledger.write(approvals.seek, plan_of(wanted, asked, left, terms, ledger, doubt))
    return shown, held_back(shown, stood)


async def _not_begun(
    wanted: Target,
    asked: CampaignSource,
    context: RunContext,
    held: tuple[Ending, str],
    intent: Intent | None = None,
) -> Finish:
    """Say why no run was begun; nobody is forgotten meanwhile: the ledger has the definition."""
    ending, reason = held
    changes = await _take_over(wanted, asked, context, intent)
    end = await asyncio.to_thread(finish, context.ledger, wanted.key, reason)
    return _with_changes(replace(end, ending=ending), changes)


async def _nothing_to_send(
    wanted: Target, asked: CampaignSource, context: RunContext, early: Later | None
) -> Finish:
    changes = await _take_over(wanted, asked, context)
    return await _close_up(wanted.key, context, None, early, changes)


async def _take_over(
    wanted: Target, asked: CampaignSource, context: RunContext, intent: Intent | None = None
) -> Changes | None:
    """Take a changed definition over without a run; `intent` as it is known after a look."""
    if wanted.definition is None:
        return None
    intent = intent or intent_of(wanted, asked, context.service, None)
    return await asyncio.to_thread(
        context.ledger.write_beside, runs.take_over, wanted.definition, intent
    )


async def _send_what_is_left(work: ActiveRun) -> None:
    """Project, problem, people, invitations: each only when the one before it is done."""
    if await _single(work, "project", "create the project", _create) and await _single(
        work, "problem", "add the problem", _attach
    ):
        await _add_people(work)
        if work.campaign().send_invites:
            await invite_people(work)


def _create(campaign: Campaign) -> Order:
    return CreateProject(campaign)


def _attach(campaign: Campaign) -> Order:
    if campaign.project_id is None or campaign.problem_id is None:
        # A run of another version of the definition came in between.
        raise ProblemChanged(
            "Which problem the project gets was changed while this run was under way. "
            "Nothing more was sent; the same command goes on from there."
        )
    return AttachProblem(campaign.project_id, campaign.problem_id)


async def _single(
    work: ActiveRun, what: str, name: str, order: Callable[[Campaign], Order]
) -> bool:
    """Make one of the two single calls unless it was made; True once it is done."""
    current = work.campaign()
    if Step(getattr(current, f"{what}_state")) in (Step.WAITING, Step.REFUSED):
        await check_stop(work)
        await work.context.perform(name, partial(_send_one, work, order(current)))
        current = work.campaign()
    patience = work.context.local.request_deadline
    # Another run may be at it: its answer is waited for, never made twice.
    while getattr(current, f"{what}_state") == Step.SENDING and patience > 0:
        await work.gate.wait(0.25)
        patience -= 0.25
        current = work.campaign()
        if work.gate.stopped:
            break
    return bool(getattr(current, f"{what}_state") == Step.DONE)


async def _send_one(work: ActiveRun, order: Order) -> None:
    await work.sender.run_to_end(work.sender.send(order))
    await work.group_commit.flush()


async def _add_people(work: ActiveRun) -> None:
    ledger, project = work.context.ledger, work.campaign().project_id
    size = work.context.local.candidates_per_request
    refusals = Refusals()

    async def some(part: Sequence[int]) -> None:
        for start in range(0, len(part), size):
            await check_stop_in_ledger(work)
            if project is None or work.gate.stopped:
                return
            batch = part[start : start + size]
            adding = add(
                work.sender, ledger, project, batch, refusals, each=work.context.observer.on_sent
            )
            # Others are asked while the request is under way: whoever says no stops the next one.
            await asyncio.gather(adding, check_stop_beside(work))
            if refusals.everybody:
                await work.group_commit.flush()
                await asyncio.to_thread(ledger.write, adding_again.wait_again, refusals.rows)
                work.gate.stop(refusals.why)
        await work.group_commit.flush()

    again = True
    while again:
        rows = await asyncio.to_thread(ledger.read, queue.to_add, work.begun.campaign)
        await in_parts(work, "add candidates", rows, size * ADDS, some)
        # Whom an answer left in doubt: a definition may have them added once more.
        again = bool(await asyncio.to_thread(adding_again.add_again, ledger, work.begun.campaign))
        again = again and work.gate.stopped is None


async def _close_up(
    key: str, context: RunContext, stopped: str | None, early: Later | None, changes: Changes | None
) -> Finish:
    """Write the links and say how it ended."""
    await context.perform(
        "write the links",
        partial(asyncio.to_thread, _links, context.ledger, key, context.local.output_dir),
    )
    end = await asyncio.to_thread(finish, context.ledger, key, stopped, early)
    return _with_changes(end, changes)


def _with_changes(end: Finish, changes: Changes | None) -> Finish:
    if changes is None:
        return end
    told = (len(changes.changed), len(changes.removed), len(changes.corrected))
    return replace(end, changed=told[0], removed=told[1], corrected=told[2])


def _links(ledger: Ledger, key: str, output: Path) -> None:
    campaign = ledger.read(queries.find_campaign, key)
    if campaign is not None:
        try:
            write_links(ledger, campaign, output)
        except CannotWrite as error:
            raise CannotWrite(error.path, error.why, MEND_LINKS) from None
