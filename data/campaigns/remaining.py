"""What is left to do: whom to add, whom to invite, and which calls that takes. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from config.definition.model import Definition
from data.campaigns.changes import Fields, Known, fields_of, meant
from data.store.states import Step


@dataclass(frozen=True, slots=True)
class Due:
    """A person whom a run would add, invite, or both, as in the definition.

    `row` is the ledger's row; None for a person who is new to the ledger.
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
    """Return the people that a run would add or invite once a definition is stored, in its order.

    `definition` None: the ledger has it already. `send` is its `invites.send`. A refused person is
    added only if the row has changed since; held people are not left out here.
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
    """Sort people in the order of sending: those in the ledger first, then new people."""
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
    """Return which calls are left, given the steps and how many people are due.

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
