"""A rehearsal: real definitions against a sandbox, with a ledger that is thrown away afterwards,
and a person who checks that sandbox and settles accordingly.

The order of the steps is run plainly, not through Prefect: it is the same order, it begins at
once instead of after Prefect's start, and it leaves nothing in anybody's Prefect database.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from config.definition.model import Definition, ProblemById, ProblemByTitle
from config.email_key import email_key
from config.settings import LocalSettings, ServiceSettings
from data.campaigns import queries
from data.campaigns.approvals import Answer
from data.decisions import settling
from data.decisions.verdicts import Decided, Doubt, Doubts
from data.receipts.receipt_file import Places
from data.store.clock import now
from data.store.ledger import Ledger
from data.store.states import By, Ending, Operation, Step, Word
from data.store.tables import Campaign
from flows.run.context import RunContext
from flows.run.ending import Finish
from flows.run.observer import RunObserver
from flows.run.order import conduct
from sandbox.server import Sandbox
from sandbox.service.problems import Problem, problem
from sandbox.service.record import Record
from sandbox.visitor import Visitor
from tasks.outputs.exports import Link
from tasks.outputs.links import links_of
from tasks.plan.asking_approval import decide
from tasks.plan.pilot import confirm
from tasks.plan.target import CampaignSource

BY = ("rehearsal", "a rehearsal")
FIRST_STAND_IN = 1001
"""Ids of problems that a definition names by their titles, or not at all."""


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of the unsure calls of a kind: `happened` of them, out of `of`, had happened.

    `project_id` is set if the call was to create the project, and the project exists.
    """

    operation: Operation
    happened: int
    of: int
    project_id: int | None = None


@dataclass(frozen=True)
class Stage:
    """Where a rehearsal happens: a sandbox, a ledger and settings of its own, in one folder.

    `clocks` has, for each campaign with not_before or not_after, the time at which it is rehearsed.
    """

    folder: Path
    service: Sandbox
    local: LocalSettings
    clocks: Mapping[str, datetime]

    def run(self, asked: CampaignSource, observer: RunObserver) -> Finish:
        """See one campaign through, as far as it can go. Raises what `conduct` raises.

        Approvals and confirmations are given at once, and nothing waits for its time: this ledger
        is only for the rehearsal.
        """
        at = self.clocks.get(asked.campaign or "")
        with Ledger.open(self.local.database_url) as ledger:
            context = RunContext(
                ledger,
                ServiceSettings.model_validate(self.service.environment()),
                self.local,
                observer=observer,
                receipts=Places(self.folder / "own.receipt", self.folder / "copy.receipt"),
                clock=lambda: at or now(),
                paced=False,
            )
            end = asyncio.run(conduct(asked, context))
            while end.again is not None or end.ending is Ending.AWAITS_APPROVAL:
                if end.again is not None:
                    at = end.again
                else:
                    _answer(ledger, end)
                end = asyncio.run(conduct(asked, context))
            return end

    def settle(self, key: str) -> list[Settled]:
        """Have a person look into the service, and settle what is unsure."""
        with Ledger.open(self.local.database_url) as ledger:
            return settle(ledger, key, self.service.record)

    def links(self, key: str) -> list[Link]:
        """The links of a campaign that ran here."""
        with Ledger.open(self.local.database_url) as ledger:
            campaign = ledger.read(queries.find_campaign, key)
            return links_of(ledger, campaign) if campaign else []


def _answer(ledger: Ledger, end: Finish) -> None:
    """Answer as a person would who finds everything in order."""
    campaign = ledger.read(queries.find_campaign, end.campaign)
    if end.plan is None and campaign is not None:
        confirm(ledger, campaign, *BY)
    else:
        decide(ledger, end.campaign, Answer.APPROVED, None, *BY)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the web application shows of one campaign; the ids of its candidates by email key."""

    project_id: int | None
    attached: bool
    candidates: Mapping[str, int]
    invited: frozenset[int]


def settle(ledger: Ledger, key: str, record: Record) -> list[Settled]:
    """Settle everything that is unsure in a campaign; returns what was found, in order sent.

    The service has come to rest, so nobody waits a quarter of an hour before sending again.
    """
    campaign = ledger.read(queries.find_campaign, key)
    doubts = ledger.read(settling.find, campaign.id) if campaign else Doubts(())
    if campaign is None or not doubts.steps:
        return []
    seen = _look(campaign, doubts, record)
    decided = [_verdict(doubt, seen) for doubt in doubts.steps]
    ledger.write(
        settling.settle, campaign.id, decided, By("rehearsal", "checked in the sandbox"), soon=True
    )
    of = Counter(doubt.operation for doubt in doubts.steps)
    happened = Counter(
        doubt.operation
        for doubt, verdict in zip(doubts.steps, decided, strict=True)
        if verdict.word is not Word.AGAIN
    )
    project_id = seen.project_id if happened[Operation.CREATE] else None
    return [
        Settled(operation, happened[operation], number, project_id)
        for operation, number in of.items()
    ]


def _look(campaign: Campaign, doubts: Doubts, record: Record) -> _Seen:
    project = record.project(campaign.project_id)
    if project is None:
        named = [project for project in record.projects if project.name == campaign.name]
        project = next(
            (project for project in named[::-1] if project.id not in doubts.projects), None
        )
    return _Seen(
        project_id=project.id if project else None,
        attached=bool(project and project.problem_ids),
        candidates={
            email_key(person.email1): person.candidate_id
            for person in record.candidates
            if project and person.project_id == project.id
        },
        invited=frozenset(invitation.candidate_id for invitation in record.invitations),
    )


def _verdict(doubt: Doubt, seen: _Seen) -> Decided:
    word, value = Word.AGAIN, None
    match doubt.operation:
        case Operation.CREATE if seen.project_id is not None:
            word, value = Word.ID, seen.project_id
        case Operation.ATTACH if seen.attached:
            word = Word.ATTACHED
        case Operation.ADD if (number := seen.candidates.get(email_key(doubt.email1))) is not None:
            word, value = Word.ID, number
        case Operation.INVITE if doubt.candidate_id in seen.invited:
            word = Word.SENT
    return Decided(doubt.attempt, doubt.row, word, value)


@contextmanager
def stage(folder: Path, definitions: Sequence[Definition], local: LocalSettings) -> Iterator[Stage]:
    """Set up a service that has what these definitions expect of it, for as long as the block.

    The settings in `local` for the size of requests and the number in flight apply; its rate limit
    does not, because the sandbox needs none.
    """
    own = {
        "database_url": f"sqlite:///{folder / 'ledger.db'}",
        "output_dir": folder / "out",
        "invites_per_second": None,
    }
    problems = stand_ins(definitions)
    with Sandbox(folder / "sandbox", problems=list(problems.values())) as service:
        for definition in definitions:
            project = definition.project
            if project.id is None or service.record.project(project.id):
                continue
            has = () if definition.problem else (problems[definition.campaign]["id"],)
            name = project.name or f"Project {project.id}"
            service.create_interview(name, *has, project_id=project.id)
        yield Stage(folder, service, local.model_copy(update=own), clocks(definitions))


def clocks(definitions: Sequence[Definition]) -> dict[str, datetime]:
    """A moment at which invitations may go out, for each campaign that says when they may."""
    windows = {each.campaign: each.invites.timetable.window for each in definitions}
    return {
        key: moment
        for key, window in windows.items()
        if window and (moment := window.not_before or window.not_after)
    }


def stand_ins(definitions: Sequence[Definition]) -> dict[str, Problem]:
    """A problem for each campaign, in place of the service's own, by campaign key."""
    by_name: dict[int | str, Problem] = {}
    problems = {}
    for number, definition in enumerate(definitions, FIRST_STAND_IN):
        match definition.problem:
            case ProblemById(id=name):
                made = problem(name, f"Problem {name}")
            case ProblemByTitle(title=name):
                made = problem(number, name)
            case None:
                name = f"The problem of project {definition.project.id}"
                made = problem(number, name)
        made["description"] = "A rehearsal does not know the real text of this problem."
        problems[definition.campaign] = by_name.setdefault(name, made)
    return problems


@dataclass(frozen=True)
class Truth:
    """What the service itself has of one campaign, beside what the ledger says of it."""

    invitations: int
    twice: int
    missing: int

    @property
    def promise_kept(self) -> bool:
        """Nobody was invited twice, and whoever the ledger calls invited was."""
        return not (self.twice or self.missing)


def truth(service: Sandbox, links: Sequence[Link]) -> Truth:
    """Hold the ledger's word against the service's own record."""
    candidates = {link.candidate_id for link in links}
    sent: Counter[int | None] = Counter(
        invitation.candidate_id
        for invitation in service.record.invitations
        if invitation.candidate_id in candidates
    )
    return Truth(
        invitations=sent.total(),
        twice=sum(number > 1 for number in sent.values()),
        missing=sum(link.invite == Step.DONE and not sent[link.candidate_id] for link in links),
    )


def kept_out(service: Sandbox, links: Sequence[Link]) -> list[str]:
    """Follow every link into the arena as its candidate; returns why, for each that failed."""
    with Visitor(service.app_url) as visitor:
        tried = (visitor.kept_out(link.embed_url, link.email1) for link in links if link.embed_url)
        return [why for why in tried if why is not None]
