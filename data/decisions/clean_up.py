"""What a person must remove by hand in the web application. Pure: derived, never kept as a list.

The service has no delete (interface 4). What it may hold besides the campaign's own records follows
from the journal and from decisions; that somebody has removed a thing is a decision too.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from config.timetable.moments import in_zone
from data.store.states import Operation


class What(StrEnum):
    """The kind of thing that is left over."""

    PROJECT = "project"  # a second one, from a request that was sent again
    PROBLEM = "problem"  # the same one twice, likewise
    DOUBLE = "double"  # a person who was added again
    PERSON = "person"  # somebody who is withdrawn, or an address that was corrected


Mark = tuple[int | None, int | None]
"""What an item is known by: the number of an attempt, the row of a candidate, or both."""


@dataclass(frozen=True, slots=True)
class LeftOver:
    """One thing to look for and remove; `certain` if the service itself said that it is there."""

    what: What
    certain: bool
    said: str
    mark: Mark
    email1: str | None = None
    candidate_id: int | None = None

    def as_json(self) -> dict[str, Any]:
        """Return one object of `clean_up` in the status object."""
        return {
            "what": self.what,
            "certain": self.certain,
            "email1": self.email1,
            "candidate_id": self.candidate_id,
            "why": self.said,
        }


@dataclass(frozen=True, slots=True)
class Place:
    """The project that the campaign uses, with its one problem; None: not known."""

    name: str
    project_id: int | None
    problem_id: int | None
    timezone: str | None = None  # of the campaign

    def __str__(self) -> str:
        return "the project" if self.project_id is None else f"project {self.project_id}"


@dataclass(frozen=True, slots=True)
class SentAgain:
    """A request that was unsure, and that a person had sent again."""

    attempt: int
    operation: Operation
    at: datetime


@dataclass(frozen=True, slots=True)
class AddedAgain:
    """A person whom `attempt` may have added, and whom another attempt was to add as well.

    `candidate_id` is the id in use; `double` is the other id, if it is known. `refused`: the
    service said no to `attempt`, perhaps after it had done a part of it.
    """

    attempt: int
    row: int
    email1: str
    candidate_id: int | None
    double: int | None = None
    refused: bool = False


@dataclass(frozen=True, slots=True)
class SteppedBack:
    """Somebody withdrawn, or an address corrected to `instead`.

    `added`: a request may have added them, even if no id is known.
    """

    row: int
    email1: str
    candidate_id: int | None
    added: bool
    invited: bool
    instead: str | None


def left_over(
    place: Place,
    calls: Iterable[SentAgain],
    doubles: Iterable[AddedAgain],
    people: Iterable[SteppedBack],
    cleaned: Collection[Mark],
) -> list[LeftOver]:
    """List what is to be removed, without what a person has removed (`cleaned`)."""
    items = [*_calls(place, calls), *_doubles(place, doubles), *_people(place, people)]
    return [item for item in items if item.mark not in cleaned]


def _calls(place: Place, calls: Iterable[SentAgain]) -> Iterator[LeftOver]:
    for call in calls:
        when = f"the request of {in_zone(call.at, place.timezone)} was sent again"
        if call.operation is Operation.CREATE:
            used = "" if place.project_id is None else f"; project {place.project_id} is in use"
            evidence = f'there may be a second project "{place.name}": {when}{used}'
            yield LeftOver(What.PROJECT, False, evidence, (call.attempt, None))
        elif call.operation is Operation.ATTACH:
            evidence = f"problem {place.problem_id} may be in {place} twice: {when}"
            yield LeftOver(What.PROBLEM, False, evidence, (call.attempt, None))


def _doubles(place: Place, doubles: Iterable[AddedAgain]) -> Iterator[LeftOver]:
    for added in doubles:
        mark = (added.attempt, added.row)
        used = f"candidate {added.candidate_id} is in use"
        if added.candidate_id is None:
            used = "none of them is in use"
        if added.double is None:
            why = ", because an add was refused and sent again" if added.refused else ""
            evidence = f"may have been added to {place} more than once{why}; {used}"
            yield LeftOver(What.DOUBLE, False, evidence, mark, added.email1, added.candidate_id)
        else:
            evidence = f"candidate {added.double} in {place}, added more than once; {used}"
            yield LeftOver(What.DOUBLE, True, evidence, mark, added.email1, added.double)


def _people(place: Place, people: Iterable[SteppedBack]) -> Iterator[LeftOver]:
    for person in people:
        certain = person.candidate_id is not None
        if not certain and not person.added:
            continue
        there = f"candidate {person.candidate_id} in {place}" if certain else f"perhaps in {place}"
        invited = ", was invited" if person.invited else ""
        why = f"corrected to {person.instead}" if person.instead else "withdrawn"
        evidence = f"{there}, {why}{invited}"
        yield LeftOver(
            What.PERSON, certain, evidence, (None, person.row), person.email1, person.candidate_id
        )
