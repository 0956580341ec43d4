"""Inviting people when it is their turn: waves, hours, rates, the pilot, the hold."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from config.timetable.timetable import Timetable
from data.campaigns import pauses
from data.campaigns import send_progress as progress
from data.campaigns.pauses import HOLD_ON, Paused
from data.campaigns.whose_turn import SendProgress, Wait, timetable
from data.sending import queue, runs
from data.sending.queue import ToInvite
from data.store.errors import LedgerUnusable
from data.store.states import By
from flows.run.context import (
    ActiveRun,
    check_stop,
    flush,
    paused_by,
    stopping_on,
)
from flows.run.sibling_runs import SiblingRuns
from flows.run.steps import around, at_once, may_go_on, name_of
from tasks.plan.pilot import explained
from tasks.plan.timing import later, over, whose_turn
from tasks.sending.invitations import Slots, invite
from tasks.sending.sender import Sent
from tasks.service.verdict import Proof

PART = 100  # invitations between two looks at whether a person wants the run to stop
STEPS = 10  # of one turn: each costs Prefect's server as much as it costs to invite fifty people


async def invite_people(work: ActiveRun) -> None:
    """Take turn after turn, as long as there is one; `work.early` says why others wait."""
    ledger, campaign = work.context.ledger, work.campaign()
    row, table, project = work.begun.campaign, timetable(campaign.timetable), campaign.project_id
    if project is None:
        raise LookupError(work.key)
    slots = Slots.of(work.context.local.invites_in_flight)
    others = SiblingRuns(work.context, row, partial(_stays, work), work.begun.run)
    seen: set[int] = set()  # by this run: nobody is looked at twice
    begun = False
    while work.gate.stopped is None:
        people = [
            person
            for person in await asyncio.to_thread(ledger.read, queue.to_invite, row, table.pilot)
            if person.row not in seen
        ]
        if not people:
            if await others.wait_for_siblings():
                continue
            return
        so_far = await asyncio.to_thread(_so_far, work, table)
        at = work.context.clock()
        answer, chosen = whose_turn(table, people, so_far, at)
        if answer.wait is Wait.HELD:
            await _hold(work, answer.why or "")
            return
        if (late := over(table, at)) is not None:
            work.gate.stop(late)
            return
        if not chosen:
            answer = await asyncio.to_thread(explained, answer, ledger, campaign, table)
            work.early = later(answer, table, campaign.timezone)
            return
        if not begun:
            begun = True
            await work.context.shares(work.key, len(chosen))
        name = _name(table, answer.wave)
        turn = _Turn(work, project, table, slots, so_far, dict(answer.now), name)
        seen |= await turn.take(chosen)


async def _stays(work: ActiveRun, seconds: float) -> bool:
    """Wait a moment for other runs; False if this run was stopped meanwhile."""
    await work.gate.wait(seconds)
    await check_stop(work)
    return work.gate.stopped is None


def _so_far(work: ActiveRun, table: Timetable) -> SendProgress:
    """Nothing is counted for a campaign without rules: it would cost with every thousand people."""
    if table == Timetable():
        return SendProgress()
    return work.context.ledger.read(
        progress.send_progress, work.begun.campaign, work.key, table.pilot
    )


async def _hold(work: ActiveRun, why: str) -> None:
    paused, *_ = await asyncio.to_thread(
        work.context.ledger.write, pauses.pause, work.key, By(HOLD_ON, why)
    )
    work.gate.stop(paused_by(work.key, paused))


@dataclass(slots=True)
class _Turn:
    """The people whose turn it is: each until their time is over, all until too much goes wrong."""

    _work: ActiveRun
    _project: int
    _table: Timetable
    _slots: Slots
    _so_far: SendProgress
    _until: dict[int, datetime | None]
    _name: str
    _held: str | None = None

    async def take(self, people: Sequence[ToInvite]) -> set[int]:
        """Invite them in steps. Returns the ledger rows of the people whom this run came to: not of
        those whom other runs had already invited.
        """
        came_to: set[int] = set()
        async with at_once() as steps:
            for parts in await self._steps(len(people)):
                if not await self._anybody(people, parts):
                    continue
                if not await may_go_on(self._work):
                    break
                almost_out = asyncio.Event()
                step = partial(self._step, people, parts, came_to, almost_out)
                start = min(parts) * PART
                name = name_of(self._name, start, len(parts) * PART, len(people))
                steps.create_task(self._work.context.perform(name, step))
                await almost_out.wait()
        if self._held is not None:
            await _hold(self._work, self._held)
        return came_to

    async def _steps(self, people: int) -> list[range]:
        """Which parts belong to each step, in the order in which this run takes them."""
        begun, parts = self._work.begun, -(-people // PART)
        before = await asyncio.to_thread(
            self._work.context.ledger.read, runs.at_work_before, begun.campaign, begun.run
        )
        size = -(-parts // STEPS)
        return [
            order[at : at + size]
            for order in around(parts, before)
            for at in range(0, len(order), size)
        ]

    async def _step(
        self,
        people: Sequence[ToInvite],
        parts: range,
        came_to: set[int],
        almost_out: asyncio.Event,
    ) -> None:
        """Make each part ready while the previous one is being sent: the service never waits.

        A stop ends both parts, so that no more than a part is sent after it. `almost_out` is set
        once half of the last part has left, so that the next step can begin.
        """
        async with at_once() as under_way:
            for number in parts:
                if not (part := await self._left(people, number)):
                    continue
                if number != parts[0] and not await may_go_on(self._work):
                    break
                came_to.update(person.row for person in part)
                half_out = asyncio.Event()
                under_way.create_task(self._invite(part, half_out))
                await half_out.wait()
            almost_out.set()

    async def _anybody(self, people: Sequence[ToInvite], parts: range) -> bool:
        for number in parts:
            if await self._left(people, number):
                return True
        return False

    async def _left(self, people: Sequence[ToInvite], number: int) -> Sequence[ToInvite]:
        """Those of a part whom no other run has invited meanwhile; nobody once this run stops."""
        part = people[number * PART : (number + 1) * PART]
        rows, waiting = [person.row for person in part], set[int]()
        if self._work.gate.stopped is None:
            # An error would break off what other parts have in flight.
            with stopping_on(LedgerUnusable, self._work.gate):
                read = self._work.context.ledger.read
                waiting = await asyncio.to_thread(read, queue.still_waiting, rows)
        return [person for person in part if person.row in waiting]

    async def _invite(self, part: Sequence[ToInvite], half_out: asyncio.Event) -> None:
        work = self._work
        await invite(
            work.sender,
            self._project,
            part,
            self._slots,
            each=self._hears,
            still=self._in_time,
            half_out=half_out.set,
        )
        await flush(work)

    def _in_time(self, person: ToInvite) -> bool:
        until = self._until[person.row]
        return until is None or self._work.context.clock() <= until

    def _hears(self, sent: Sent) -> None:
        self._work.context.observer.on_sent(sent)
        hold_on, before = self._table.hold_on, self._so_far
        if hold_on is None:
            return
        proof = sent.judged.proof
        self._so_far = now = replace(
            before,
            judged=before.judged + 1,
            refused=before.refused + (proof is Proof.REFUSED),
            unsure=before.unsure + (proof is Proof.UNSURE),
        )
        self._held = self._held or hold_on.reached(now.judged, now.refused, now.unsure)
        if self._held is not None:
            paused = Paused(HOLD_ON, self._held, self._work.context.clock())
            self._work.gate.stop(paused_by(self._work.key, paused))


def _name(table: Timetable, wave: int) -> str:
    """Name the parts of a turn for people."""
    if wave == 0:
        return "the pilot's invitation"
    return f"wave {wave}, invitations" if table.waves else "invitations"
