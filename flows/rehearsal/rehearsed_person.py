"""The person of a rehearsal: checks the sandbox, and settles accordingly."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from config.email_key import email_key
from data.campaigns import queries
from data.decisions import settling
from data.decisions.verdicts import Decided, Doubt, Doubts
from data.store.ledger import Ledger
from data.store.states import By, Operation, Word
from data.store.tables import Campaign
from sandbox.service.record import Record


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of the unsure calls of a kind: `happened` of them, out of `of`, had happened.

    `project_id` is set if the call was to create the project, and the project exists.
    """

    operation: Operation
    happened: int
    of: int
    project_id: int | None = None


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
