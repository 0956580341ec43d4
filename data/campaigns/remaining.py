"""What is left to do: pure decisions about a definition beside what the ledger knows."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from config.definition.model import Candidate, Definition
from data.store.states import Step

Fields = tuple[str, str, str, str, str, int]  # as sent: first, last, email1, source, notes, stage


@dataclass(frozen=True, slots=True)
class Known:
    """One candidate as the ledger has it.

    `instead` is the email key of the person whose address this was before a correction,
    `timezone` that of the person's clock. `tried` is the number of the latest attempt to invite
    them, `allowed` that of the latest one at all when a person let them through.
    """

    row: int
    key: str
    fields: Fields
    add: Step = Step.WAITING
    invite: Step = Step.WAITING
    listed: bool = True
    instead: str | None = None
    timezone: str | None = None
    tried: int | None = None
    allowed: int = 0


@dataclass(frozen=True, slots=True)
class Changes:
    """How a definition differs from what the ledger knows of the campaign.

    The service has no update and no delete (interface 4): once a person was added, other
    wording (`changed`) and a missing row (`removed`) are reported, never applied. Before
    that, and after a refused add, the new wording is simply what will be sent (`reworded`).
    An address that a person has corrected does not come back (`corrected`: its row in the
    definition, and who it is now). Whose clock shows another time is simply noted (`moved`).
    """

    new: list[Candidate] = field(default_factory=list)
    reworded: list[tuple[Known, Candidate]] = field(default_factory=list)
    changed: list[tuple[Known, Candidate]] = field(default_factory=list)
    removed: list[Known] = field(default_factory=list)
    returned: list[Known] = field(default_factory=list)
    corrected: list[tuple[Candidate, Known]] = field(default_factory=list)
    moved: list[tuple[Known, Candidate]] = field(default_factory=list)


def fields_of(candidate: Candidate) -> Fields:
    """What would be sent for this candidate (interface 4.5)."""
    return (
        candidate.first_name,
        candidate.last_name,
        candidate.email1,
        candidate.source,
        candidate.notes,
        candidate.stage_id,
    )


def compare(definition: Definition, in_ledger: Mapping[str, Known]) -> Changes:
    """Lay the definition's candidates beside the ledger's, by email key, never by row."""
    changes = Changes()
    seen: set[str] = set()
    changes.corrected.extend(corrected(definition, in_ledger))
    for candidate, before in meant(definition, in_ledger):
        seen.add(candidate.key)
        if before is None:
            changes.new.append(candidate)
            continue
        if not before.listed:
            changes.returned.append(before)
        if before.timezone != candidate.timezone:
            changes.moved.append((before, candidate))
        if before.fields != fields_of(candidate):
            open_to_change = before.add in (Step.WAITING, Step.REFUSED)
            (changes.reworded if open_to_change else changes.changed).append((before, candidate))
    changes.removed.extend(
        person for person in in_ledger.values() if person.listed and person.key not in seen
    )
    return changes


def meant(
    definition: Definition, in_ledger: Mapping[str, Known]
) -> Iterator[tuple[Candidate, Known | None]]:
    """Go through whom a definition means, each once: a corrected address means the new one."""
    listed = {candidate.key for candidate in definition.candidates}
    for candidate in definition.candidates:
        before = in_ledger.get(candidate.key)
        if before is None or before.instead is None:
            yield candidate, before
        elif before.instead not in listed:
            now = in_ledger[before.instead]
            listed.add(now.key)
            yield replace(candidate, email1=now.fields[2], key=now.key), now


def corrected(
    definition: Definition, in_ledger: Mapping[str, Known]
) -> Iterator[tuple[Candidate, Known]]:
    """Find the rows of a definition that still have an address from before its correction."""
    for candidate in definition.candidates:
        before = in_ledger.get(candidate.key)
        if before is not None and before.instead is not None:
            yield candidate, in_ledger[before.instead]


@dataclass(frozen=True, slots=True)
class Due:
    """Somebody whom a run would add, invite, or both, as their definition has them.

    `row` is that of the ledger; None: new to it.
    """

    key: str
    first_name: str
    last_name: str
    email1: str
    timezone: str | None
    row: int | None
    add: bool
    invite: bool


def due(
    definition: Definition | None, in_ledger: Mapping[str, Known], *, send: bool
) -> Iterator[Due]:
    """Say whom a run would add or invite once a definition is taken over, in its order.

    `definition` None: the ledger has it already. `send` is its `invites.send`. A refused person
    is added only in other words than those that were refused; who is held is not left out.
    """
    if definition is None:
        people = ((person, person.fields, False) for person in in_ledger.values() if person.listed)
        for person, fields, worded in people:
            yield from _due(person, person.key, fields, person.timezone, worded, send)
        return
    for candidate, before in meant(definition, in_ledger):
        fields = fields_of(candidate)
        worded = before is not None and before.fields != fields
        yield from _due(before, candidate.key, fields, candidate.timezone, worded, send)


def _due(
    before: Known | None, key: str, fields: Fields, zone: str | None, worded: bool, send: bool
) -> Iterator[Due]:
    add, invited = (before.add, before.invite) if before else (Step.WAITING, Step.WAITING)
    adds = add is Step.WAITING or (worded and add is Step.REFUSED)
    invites = send and (adds or add is Step.DONE) and invited is Step.WAITING
    if adds or invites:
        first, last, email1 = fields[:3]
        yield Due(key, first, last, email1, zone, before.row if before else None, adds, invites)


def by_row(people: Iterable[Due]) -> list[Due]:
    """Put people into the order in which they are sent to: the ledger's, then who is new."""
    return sorted(people, key=lambda person: (person.row is None, person.row or 0))


@dataclass(frozen=True, slots=True)
class Remaining:
    """The calls a run would make now. All zero and False: nothing to do, not even a token."""

    create: bool = False
    attach: bool = False
    add: int = 0
    invite: int = 0

    @property
    def nothing(self) -> bool:
        return not (self.create or self.attach or self.add or self.invite)


def remaining(project: Step, problem: Step, add: int, invite: int) -> Remaining:
    """Say which calls are left, given the steps and how many people are due.

    Each call waits for the one before it: while the project is UNSURE nothing else can go,
    while the problem is UNSURE nobody is invited to a project that may be empty.
    """
    create = project in (Step.WAITING, Step.REFUSED)
    if not create and project is not Step.DONE:
        return Remaining()
    attach = problem in (Step.WAITING, Step.REFUSED)
    if not attach and problem is not Step.DONE:
        return Remaining(create=create)
    return Remaining(create, attach, add, invite)
