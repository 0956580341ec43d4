"""What is left to do: pure decisions about a definition beside what the ledger knows."""

from collections.abc import Collection, Iterable, Iterator, Mapping
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


def compare(definition: Definition, known: Mapping[str, Known]) -> Changes:
    """Lay the definition's candidates beside the ledger's, by email key, never by row."""
    changes = Changes()
    seen: set[str] = set()
    changes.corrected.extend(corrected(definition, known))
    for candidate, before in meant(definition, known):
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
        person for person in known.values() if person.listed and person.key not in seen
    )
    return changes


def meant(
    definition: Definition, known: Mapping[str, Known]
) -> Iterator[tuple[Candidate, Known | None]]:
    """Go through whom a definition means, each once: a corrected address means the new one."""
    listed = {candidate.key for candidate in definition.candidates}
    for candidate in definition.candidates:
        before = known.get(candidate.key)
        if before is None or before.instead is None:
            yield candidate, before
        elif before.instead not in listed:
            now = known[before.instead]
            listed.add(now.key)
            yield replace(candidate, email1=now.fields[2], key=now.key), now


def corrected(
    definition: Definition, known: Mapping[str, Known]
) -> Iterator[tuple[Candidate, Known]]:
    """Find the rows of a definition that still have an address from before its correction."""
    for candidate in definition.candidates:
        before = known.get(candidate.key)
        if before is not None and before.instead is not None:
            yield candidate, known[before.instead]


def after(
    changes: Changes, known: Iterable[Known], held: Collection[str] = ()
) -> list[tuple[Step, Step]]:
    """The (add, invite) steps of everyone the definition lists, once `changes` are taken over.

    `held` are the email keys of those who are left out for now.
    """
    removed = {person.row for person in changes.removed}
    returned = {person.row for person in changes.returned}
    reworded = {person.row for person, _ in changes.reworded}
    steps = [
        (Step.WAITING if person.row in reworded else person.add, person.invite)
        for person in known
        if ((person.listed and person.row not in removed) or person.row in returned)
        and person.key not in held
    ]
    new = sum(1 for person in changes.new if person.key not in held)
    return steps + [(Step.WAITING, Step.WAITING)] * new


def waiting(
    definition: Definition, changes: Changes, known: Mapping[str, Known], held: Collection[str] = ()
) -> list[tuple[str, str | None]]:
    """Whom a run would invite in the end: email key and timezone, in the order of the ledger.

    Whoever is new comes behind those whom the ledger knows.
    """
    clocks = {candidate.key: candidate.timezone for candidate in definition.candidates}
    removed = {person.row for person in changes.removed}
    returned = {person.row for person in changes.returned}
    reworded = {person.row for person, _ in changes.reworded}
    stay = [
        (person.key, clocks.get(person.key, person.timezone))
        for person in known.values()
        if ((person.listed and person.row not in removed) or person.row in returned)
        and (person.add in (Step.WAITING, Step.DONE) or person.row in reworded)
        and person.invite is Step.WAITING
    ]
    new = [(candidate.key, candidate.timezone) for candidate in changes.new]
    return [one for one in stay + new if one[0] not in held]


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


def remaining(
    project: Step, problem: Step, people: Iterable[tuple[Step, Step]], *, send: bool
) -> Remaining:
    """Say which calls are left, given the steps; `send` is the definition's `invites.send`.

    Each call waits for the one before it: while the project is UNSURE nothing else can go,
    while the problem is UNSURE nobody is invited to a project that may be empty.
    """
    create = project in (Step.WAITING, Step.REFUSED)
    if not create and project is not Step.DONE:
        return Remaining()
    attach = problem in (Step.WAITING, Step.REFUSED)
    if not attach and problem is not Step.DONE:
        return Remaining(create=create)
    steps = list(people)
    add = sum(1 for added, _ in steps if added is Step.WAITING)
    invite = sum(
        1
        for added, invited in steps
        if added in (Step.WAITING, Step.DONE) and invited is Step.WAITING
    )
    return Remaining(create, attach, add, invite if send else 0)
