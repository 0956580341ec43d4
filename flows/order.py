"""The order of the steps of a campaign, free of Prefect: read, look, check, create, add, invite.

`perform` runs each named step: plainly here and in tests, as a Prefect task in a flow.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from config.definition import ProblemById, ProblemByTitle
from config.errors import CampaignError
from config.places import Place
from config.settings import LocalSettings, ServiceSettings
from data.journal import Journal
from data.ledger import Begun, Ledger, ToInvite
from data.processes import HEARTBEAT_EVERY
from data.remaining import Changes, Remaining, after, compare, remaining
from data.states import Step
from data.tables import Campaign
from flows.ending import Finish, finish
from flows.interrupts import stopping_on_signals
from tasks.asked import Asked, Wanted, intent_of, look_up
from tasks.candidates import add
from tasks.gate import Gate
from tasks.invitations import invite
from tasks.links import write_links
from tasks.preflight import find_problem
from tasks.project import AttachProblem, CreateProject
from tasks.receipts import Receipts
from tasks.sending import Order, Sender, Sent
from tasks.service.client import Service

WAVE = 100  # invitations in one step: what a person watches, and pauses between
ADDS = 10  # bulk adds in one step

T = TypeVar("T")


class Perform(Protocol):
    """Runs one step under a name for people."""

    async def __call__(self, name: str, step: Callable[[], Awaitable[T]], /) -> T: ...


async def plainly(name: str, step: Callable[[], Awaitable[T]], /) -> T:
    """Run a step as what it is."""
    return await step()


@dataclass(frozen=True, slots=True)
class Desk:
    """What a run works with: the ledger, the settings, and who watches it."""

    ledger: Ledger
    service: ServiceSettings
    local: LocalSettings
    perform: Perform = plainly
    expects: Callable[[Remaining], None] = lambda _: None
    hears: Callable[[Sent], None] = lambda _: None


@dataclass(slots=True)
class Work:
    """One run under way."""

    desk: Desk
    key: str
    begun: Begun
    gate: Gate
    journal: Journal
    sender: Sender
    receipts: Receipts
    links: Path | None = field(default=None)

    def campaign(self) -> Campaign:
        """The campaign as the ledger has it now."""
        found = self.desk.ledger.campaign(self.key)
        if found is None:
            raise LookupError(self.key)
        return found


async def conduct(asked: Asked, desk: Desk) -> Finish:
    """See one campaign through, as far as it can go now. Safe to call again at any time.

    Raises CampaignError for what stops it before anything is sent: bad input, an unreachable
    service, refused credentials, a ledger that cannot be written, a receipt of another ledger.
    """
    perform, ledger = desk.perform, desk.ledger
    wanted = await perform(
        "read the definition", partial(asyncio.to_thread, look_up, asked, ledger, desk.service)
    )
    left = await asyncio.to_thread(_what_is_left, wanted, ledger)
    desk.expects(left)
    if left.nothing:
        return await _nothing_to_send(wanted, asked, desk)
    receipts = Receipts(ledger, asked.definition or asked.file, wanted.key, desk.service.base_url)
    await perform("look at the receipt", partial(asyncio.to_thread, receipts.check))
    async with Service(
        desk.service,
        in_flight=desk.local.invites_in_flight,
        deadline=desk.local.request_deadline,
    ) as service:
        problem = await perform(
            "check the service and the problem", partial(_preflight, service, wanted, left)
        )
        async with _working(wanted, asked, desk, service, problem, receipts) as work:
            await _send_what_is_left(work)
    end = await _close_up(wanted.key, desk, work.gate.stopped, work.begun.changes)
    return replace(end, receipt=receipts.elsewhere)


def _what_is_left(wanted: Wanted, ledger: Ledger) -> Remaining:
    """Lay the definition beside the ledger; what dead runs left behind becomes unsure first."""
    definition, known = wanted.definition, wanted.known
    if known is None:
        assert definition is not None  # noqa: S101 - only a known campaign can be unchanged
        project = Step.WAITING if definition.project.id is None else Step.DONE
        problem = Step.WAITING if definition.problem is not None else Step.DONE
        people = [(Step.WAITING, Step.WAITING)] * len(definition.candidates)
        return remaining(project, problem, people, send=definition.invites.send)
    if ledger.recover(known.id):
        known = ledger.campaign(wanted.key) or known
    send = known.send_invites if definition is None else definition.invites.send
    if definition is None:
        steps = [
            (add, invited)
            for (listed, add, invited), number in ledger.counts(known.id).items()
            for _ in range(number)
            if listed
        ]
    else:
        people_now = ledger.known(known.id)
        steps = after(compare(definition, people_now), people_now.values())
    return remaining(Step(known.project_state), Step(known.problem_state), steps, send=send)


async def _nothing_to_send(wanted: Wanted, asked: Asked, desk: Desk) -> Finish:
    changes = None
    if wanted.definition is not None:
        intent = intent_of(wanted, asked, desk.service, None)
        changes = await asyncio.to_thread(desk.ledger.take_over, wanted.definition, intent)
    return await _close_up(wanted.key, desk, None, changes)


async def _preflight(service: Service, wanted: Wanted, left: Remaining) -> int | None:
    """See that the token and the API work (interface 4.2) and which problem is meant."""
    listed = await service.problems()
    if not left.attach:
        return None
    definition, known = wanted.definition, wanted.known
    if definition is not None and definition.problem is not None:
        return find_problem(listed, definition.problem, definition.place)
    if known is not None and known.problem_title is not None:
        return find_problem(listed, ProblemByTitle(known.problem_title), Place(known.definition))
    if known is not None and known.problem_id is not None:
        return find_problem(listed, ProblemById(known.problem_id), Place(known.definition))
    return None


@asynccontextmanager
async def _working(
    wanted: Wanted,
    asked: Asked,
    desk: Desk,
    service: Service,
    problem: int | None,
    receipts: Receipts,
) -> AsyncIterator[Work]:
    """Open a run in the ledger, and close it whatever happens."""
    ledger = desk.ledger
    await asyncio.to_thread(receipts.keep)
    intent = intent_of(wanted, asked, desk.service, problem) if wanted.definition else None
    begun = await asyncio.to_thread(ledger.begin, wanted.key, wanted.definition, intent)
    gate = Gate(service.problems, per_second=desk.local.invites_per_second)
    journal = Journal(ledger)
    sender = Sender(service, journal, gate, campaign=begun.campaign, run=begun.run)
    work = Work(desk, wanted.key, begun, gate, journal, sender, receipts)
    heartbeat = asyncio.create_task(_beat(ledger, begun.run, gate))
    try:
        with stopping_on_signals(gate):
            yield work
    except BaseException as error:
        gate.stop(f"The run broke off ({type(error).__name__}).")
        raise
    finally:
        heartbeat.cancel()
        await _end(work)


async def _beat(ledger: Ledger, run: int, gate: Gate) -> None:
    while True:
        await asyncio.sleep(HEARTBEAT_EVERY.total_seconds())
        try:
            await asyncio.to_thread(ledger.heartbeat, run)
        except CampaignError as error:
            gate.stop(str(error))


async def _end(work: Work) -> None:
    try:
        await work.journal.close()
    except CampaignError as error:
        work.gate.stop(str(error))
    await _keep_receipt(work)
    ledger = work.desk.ledger
    ended = await asyncio.to_thread(finish, ledger, work.key, work.gate.stopped)
    await asyncio.to_thread(ledger.end, work.begun.run, ended.ending, ended.reason)


async def _send_what_is_left(work: Work) -> None:
    """Project, problem, people, invitations: each only when the one before it is done."""
    if await _single(work, "project", "create the project", _create) and await _single(
        work, "problem", "add the problem", _attach
    ):
        await _add_people(work)
        if work.campaign().send_invites:
            await _invite_people(work)


def _create(campaign: Campaign) -> Order:
    return CreateProject(campaign)


def _attach(campaign: Campaign) -> Order:
    if campaign.project_id is None or campaign.problem_id is None:
        raise LookupError("a problem is attached only when both ids are known")
    return AttachProblem(campaign.project_id, campaign.problem_id)


async def _single(work: Work, what: str, name: str, order: Callable[[Campaign], Order]) -> bool:
    """Make one of the two single calls unless it was made; True once it is done."""
    current = work.campaign()
    if Step(getattr(current, f"{what}_state")) in (Step.WAITING, Step.REFUSED):
        await work.desk.perform(name, partial(_send_one, work, order(current)))
    patience = work.desk.local.request_deadline
    # Another run may be at it: its answer is waited for, never made twice.
    while getattr(work.campaign(), f"{what}_state") == Step.SENDING and patience > 0:
        await work.gate.wait(0.25)
        patience -= 0.25
        if work.gate.stopped:
            break
    return bool(getattr(work.campaign(), f"{what}_state") == Step.DONE)


async def _send_one(work: Work, order: Order) -> None:
    await work.sender.send(order)
    await work.journal.flush()


async def _add_people(work: Work) -> None:
    ledger, project = work.desk.ledger, work.campaign().project_id
    rows = await asyncio.to_thread(ledger.to_add, work.begun.campaign)
    size = work.desk.local.candidates_per_request

    async def some(part: Sequence[int]) -> None:
        for start in range(0, len(part), size):
            if project is None or work.gate.stopped:
                return
            batch = part[start : start + size]
            await add(work.sender, ledger, project, batch, each=work.desk.hears)
        await work.journal.flush()

    await _in_parts(work, "add candidates", rows, size * ADDS, some)


async def _invite_people(work: Work) -> None:
    ledger, project = work.desk.ledger, work.campaign().project_id
    people = await asyncio.to_thread(ledger.to_invite, work.begun.campaign)

    async def wave(part: Sequence[ToInvite]) -> None:
        if project is None:
            return
        await invite(
            work.sender,
            project,
            part,
            in_flight=work.desk.local.invites_in_flight,
            each=work.desk.hears,
        )
        await work.journal.flush()

    await _in_parts(work, "invitations", people, WAVE, wave)


async def _in_parts(
    work: Work,
    what: str,
    whole: Sequence[T],
    size: int,
    step: Callable[[Sequence[T]], Awaitable[None]],
) -> None:
    for start in range(0, len(whole), size):
        await _keep_receipt(work)
        if work.gate.stopped:
            return
        part = whole[start : start + size]
        # A hyphen: Prefect's graph has no dash and would show "1–7" as "17".
        name = f"{what} {start + 1:,}-{start + len(part):,} of {len(whole):,}"
        await work.desk.perform(name, partial(step, part))


async def _keep_receipt(work: Work) -> None:
    """Without a receipt that says how far this ledger has got, nothing more is sent."""
    try:
        await asyncio.to_thread(work.receipts.keep)
    except CampaignError as error:
        work.gate.stop(str(error))


async def _close_up(key: str, desk: Desk, stopped: str | None, changes: Changes | None) -> Finish:
    """Write the links and say how it ended."""
    await desk.perform(
        "write the links",
        partial(asyncio.to_thread, _links, desk.ledger, key, desk.local.output_dir),
    )
    end = await asyncio.to_thread(finish, desk.ledger, key, stopped)
    if changes is None:
        return end
    return replace(end, changed=len(changes.changed), removed=len(changes.removed))


def _links(ledger: Ledger, key: str, output: Path) -> None:
    campaign = ledger.campaign(key)
    if campaign is not None:
        write_links(ledger, campaign, output)
