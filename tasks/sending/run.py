"""One run of one campaign: `sending` begins it, and the flow makes its calls.

Each call raises EndedEarly if the run has to end. By then no request is in flight, and each outcome
is recorded, unless the ledger failed.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from config.errors import Bug, CampaignError
from config.settings import Settings
from config.sheets.entries import read_entries
from data.campaigns.people import own_steps
from data.eligibility import do_not_contact
from data.eligibility.due import due, next_invitations
from data.sending.runs import running
from data.sending.writer import Running
from data.store.lease import Lease
from data.store.ledger import Ledger
from data.store.states import Op, State
from tasks.sending.calls import Calls
from tasks.sending.sender import Sender
from tasks.service.client import Service

BATCHES = 4  # at most this many tasks of Prefect add people, so that its pages show progress


@dataclass(frozen=True, slots=True)
class Batch:
    """The people for one call of `add` or `invite`, as steps."""

    number: int
    steps: tuple[int, ...]


@asynccontextmanager
async def sending(
    ledger: Ledger,
    lease: Lease,
    campaign_id: int,
    settings: Settings,
    stop: asyncio.Event,
) -> AsyncIterator["CampaignRun"]:
    """Begin a run under this lease. Raises BadSettings, and what `receipts.check` raises."""
    async with Service(settings) as service:
        with running(ledger, lease, campaign_id, settings.invites_per_second) as at_work:
            run = CampaignRun(at_work, service, settings, stop)
            try:
                yield run
                at_work.ending = "completed"
            finally:
                if (ending := run.gate.ending) is not None:
                    at_work.ending = ending.how


class CampaignRun:
    """One run of one campaign; `sending` makes it."""

    def __init__(
        self, at_work: Running, service: Service, settings: Settings, stop: asyncio.Event
    ) -> None:
        self._running, self._settings = at_work, settings
        project = at_work.ask(own_steps)[Op.CREATE].service_id
        self._calls = Calls(service, at_work.campaign.spec, project)
        self._listed_at: int | None = None
        self._sender = Sender(at_work, self._calls, stop, self._follow_the_list)
        self.gate = self._sender.gate

    async def everything(self) -> None:
        """Make all calls in their order, as the flow does in its tasks."""
        await self.create()
        await self.attach()
        for batch in self.to_add():
            await self.add(batch)
        for batch in self.to_invite():
            await self.invite(batch)

    async def create(self) -> None:
        """Create the project, unless it exists (interface 4.3)."""
        await self._project_step(Op.CREATE)
        self._calls.project = self._running.ask(own_steps)[Op.CREATE].service_id

    async def attach(self) -> None:
        """Add the problem to the project, unless that is done (interface 4.4)."""
        await self._project_step(Op.ATTACH)

    def to_add(self) -> Iterator[Batch]:
        """Cut the people to add into a few batches."""
        steps = list(self._running.ask(due, Op.ADD))
        size = max(self._settings.candidates_per_request, -(-len(steps) // BATCHES))
        for number, batch in enumerate(_cut(steps, size), 1):
            yield Batch(number, batch)

    async def add(self, batch: Batch) -> None:
        """Add people, one request at a time (interface 4.5)."""
        await self._send(Op.ADD, _cut(batch.steps, self._settings.candidates_per_request))

    def to_invite(self) -> Iterator[Batch]:
        """The people to invite, batch by batch: the pilot, then wave after wave.

        Raises EndedEarly if whoever is left waits for a person, or for their time.
        """
        before: tuple[int, ...] = ()
        for number in count(1):
            steps, hold = self._running.ask(next_invitations)
            if not steps and hold is not None:
                self.gate.waits_for(hold)
                self.gate.raise_its_ending()
            if not steps or tuple(steps) == before:  # nobody is left, or nothing was sent
                return
            yield Batch(number, tuple(steps))
            before = tuple(steps)

    async def invite(self, batch: Batch) -> None:
        """Have the service send its email to each person (interface 4.6)."""
        at_once = self._settings.invites_in_flight
        await self._send(Op.INVITE, _cut(batch.steps, 1), at_once)

    def _follow_the_list(self) -> None:
        """Read CAMPAIGN_DO_NOT_CONTACT again if it has changed. End the run if reading fails."""
        if (file := self._settings.do_not_contact) is None:
            return
        changed = None
        with suppress(OSError):  # `read_entries` says what is wrong
            changed = Path(file).stat().st_mtime_ns
        if changed is None or changed != self._listed_at:
            with self.gate.failing():
                try:
                    entries = read_entries(file)
                    with self._running.ledger.writing() as session:
                        do_not_contact.follow(session, entries)
                except CampaignError:
                    raise
                except Exception as error:  # the sender still has an outcome to record
                    raise Bug(error, "Nothing more is sent.") from error
            self._listed_at = changed

    async def _project_step(self, op: Op) -> None:
        await self._send(op, _cut(list(self._running.ask(due, op)), 1))
        step = self._running.ask(own_steps)[op]
        if step.state is not State.DONE:
            self.gate.end_for_project(step)
        self.gate.raise_its_ending()

    async def _send(self, op: Op, requests: Sequence[tuple[int, ...]], at_once: int = 1) -> None:
        self.gate.raise_its_ending()
        await self._sender.send(op, requests, at_once)
        self.gate.raise_its_ending()


def _cut(steps: Sequence[int], size: int) -> list[tuple[int, ...]]:
    return [tuple(steps[at : at + size]) for at in range(0, len(steps), size)]
