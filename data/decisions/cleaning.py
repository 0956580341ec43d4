"""What a person must remove by hand in the web application: derived, never kept as a list.

The service has no delete (interface 4). What it may hold besides the campaign's own records follows
from the journal and from decisions; that somebody has removed a thing is a decision too.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import Any

from sqlalchemy import Connection, bindparam, exists, or_, select
from sqlmodel import col
from sqlmodel import select as whole

from config.timetable.moments import in_zone
from data.campaigns.forgotten import MARK
from data.decisions.settling import write_down
from data.decisions.verdicts import Decided, Place
from data.sending.refusals import OF_SOME_ROW
from data.sending.row_ranges import read as rows_in
from data.store.states import MAY_HAVE_HAPPENED, AttemptState, By, Operation, Step, Word
from data.store.tables import Attempt, Campaign, Candidate, Decision, attempt, candidate, rows_of

# Composed once: every run ends with this list.
_ATTEMPTS = (
    whole(Attempt)
    .where(
        Attempt.campaign_id == bindparam("here"),
        col(Attempt.operation) != Operation.INVITE,
        col(Attempt.state).in_((*MAY_HAVE_HAPPENED, AttemptState.REFUSED)),
    )
    .order_by(col(Attempt.id))
)
_DECISIONS = whole(Decision).where(
    Decision.campaign_id == bindparam("here"),
    col(Decision.verdict).in_((Word.CLEANED, Word.DOUBLE)),
)
# Whoever is refused or withdrawn: for them, an earlier add may have been the only one that took
# effect. And those who were added, between the first and the last of these rows.
_ASIDE_OR_AMONG = (
    whole(Candidate)
    .where(
        Candidate.campaign_id == bindparam("here"),
        or_(
            col(Candidate.add_state).in_((Step.REFUSED, Step.WITHDRAWN)),
            (col(Candidate.add_state) == Step.DONE)
            & col(Candidate.id).between(bindparam("first"), bindparam("last")),
        ),
        col(Candidate.email_key).not_like(f"{MARK}%"),
    )
    .order_by(col(Candidate.id))
)
# After such an add, nobody can say that the person is not there.
_PERHAPS = (AttemptState.DONE, AttemptState.UNSURE, AttemptState.OVERRULED)
_ADDING, _NEW = attempt.alias("adding"), candidate.alias("new")
_STEPPED_BACK = (
    select(
        candidate.c.id,
        candidate.c.email1,
        candidate.c.candidate_id,
        _ADDING.c.state,
        _ADDING.c.status,
        _ADDING.c.rows,
        exists()
        .where(
            attempt.c.candidate_row == candidate.c.id,
            attempt.c.operation == Operation.INVITE,
            attempt.c.state == AttemptState.DONE,
        )
        .label("was_invited"),
        # Withdrawn while it was unsure: nobody ever said that it did not arrive.
        exists()
        .where(
            attempt.c.id == candidate.c.invite_attempt,
            attempt.c.state == AttemptState.OVERRULED,
            candidate.c.invite_state == Step.WITHDRAWN,
        )
        .label("perhaps_invited"),
        _NEW.c.email1.label("instead"),
    )
    .outerjoin(_ADDING, _ADDING.c.id == candidate.c.add_attempt)
    .outerjoin(_NEW, _NEW.c.id == candidate.c.corrected_to)
    .where(
        candidate.c.campaign_id == bindparam("here"),
        # What the service has of them was shown when they were forgotten; nobody knows it now.
        candidate.c.email_key.not_like(f"{MARK}%"),
        or_(
            candidate.c.invite_state == Step.WITHDRAWN,
            candidate.c.add_state == Step.WITHDRAWN,
            candidate.c.corrected_to.is_not(None),
        ),
    )
    .order_by(candidate.c.id)
)


class What(StrEnum):
    """The kind of thing that is left over."""

    PROJECT = "project"  # a second one, from a request that was sent again
    PROBLEM = "problem"  # the same one twice, likewise
    DOUBLE = "double"  # a person who was added again
    PERSON = "person"  # somebody who is withdrawn, or an address that was corrected


@dataclass(frozen=True, slots=True)
class LeftOver:
    """One thing to look for and remove; `certain` if the service itself said that it is there.

    `mark` is what it is known by: the number of an attempt, the row of a candidate, or both.
    """

    what: What
    certain: bool
    said: str
    mark: Place
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


def find(connection: Connection, campaign_row: int) -> list[LeftOver]:
    """List what is to be removed, without what a person has removed."""
    [here] = rows_of(connection, whole(Campaign).where(Campaign.id == campaign_row))
    attempts = rows_of(connection, _ATTEMPTS, here=here.id)
    decisions = rows_of(connection, _DECISIONS, here=here.id)
    refused = _first_refusals(attempts)
    items = [
        *_calls(here, attempts),
        *_doubles(connection, here, attempts, _doubles_read(decisions), refused),
        *_stepped_back(connection, here, refused),
    ]
    cleaned = {
        (decision.attempt_id, decision.candidate_row)
        for decision in decisions
        if decision.verdict == Word.CLEANED
    }
    return [item for item in items if item.mark not in cleaned]


def write_cleaned(
    connection: Connection, campaign_row: int, items: Sequence[LeftOver], by: By
) -> None:
    """Record that a person has removed these, or has looked and found nothing."""
    decided = [Decided(*item.mark, Word.CLEANED) for item in items]
    write_down(connection, campaign_row, decided, by)


def _calls(here: Campaign, attempts: Iterable[Attempt]) -> Iterator[LeftOver]:
    """Only if the step has been sent again: until then nothing is there twice."""
    for call in attempts:
        if call.state != AttemptState.OVERRULED:
            continue
        when = f"the request of {in_zone(call.claimed_at, here.timezone)} was sent again"
        mark = (call.id, None)
        if call.operation == Operation.CREATE and call.id != here.project_attempt:
            used = "" if here.project_id is None else f"; project {here.project_id} is in use"
            evidence = f'there may be a second project "{here.name}": {when}{used}'
            yield LeftOver(What.PROJECT, False, evidence, mark)
        elif call.operation == Operation.ATTACH and call.id != here.problem_attempt:
            evidence = f"problem {here.problem_id} may be in {_project(here)} twice: {when}"
            yield LeftOver(What.PROBLEM, False, evidence, mark)


def _doubles(
    connection: Connection,
    here: Campaign,
    attempts: Iterable[Attempt],
    doubles_read: Mapping[tuple[int, int], Sequence[int]],
    refused: Mapping[int, int],
) -> Iterator[LeftOver]:
    """People in more than one add, if an earlier add may have had an effect.

    Until the last add has an outcome, a person is still asked about it.
    """
    adds = {
        add.id: rows_in(add.carried)
        for add in attempts
        if add.operation == Operation.ADD and add.state in MAY_HAVE_HAPPENED
    }
    several = _in_several(adds.values()) | {row for _, row in doubles_read}
    among = several | refused.keys()
    bounds = {"first": min(among, default=0), "last": max(among, default=0)}
    for person in rows_of(connection, _ASIDE_OR_AMONG, here=here.id, **bounds):
        used = f"candidate {person.candidate_id} is in use"
        if person.candidate_id is None:
            used = "none of them is in use"
        doubles: list[tuple[int, int | None]] = []
        if person.id in several or person.add_state != Step.DONE:
            doubles = list(_doubles_of(person, adds, doubles_read))
        why = ""
        if not doubles and (first := _refused_before(person, refused)) is not None:
            doubles, why = [(first, None)], ", because an add was refused and sent again"
        for number, double in doubles:
            evidence = f"may have been added to {_project(here)} more than once{why}; {used}"
            if double is not None:
                evidence = f"candidate {double} in {_project(here)}, added more than once; {used}"
            there = person.candidate_id if double is None else double
            mark = (number, person.id)
            yield LeftOver(What.DOUBLE, double is not None, evidence, mark, person.email1, there)


def _first_refusals(attempts: Iterable[Attempt]) -> dict[int, int]:
    """The first add that was refused because of a row, by each row in it.

    A service that meets a bad row may have kept the rows before it, whatever it answers.
    """
    first: dict[int, int] = {}
    for add in attempts:
        over_a_row = add.state == AttemptState.REFUSED and add.status in OF_SOME_ROW
        if add.operation == Operation.ADD and over_a_row:
            for row in chain.from_iterable(rows_in(add.carried)):
                first.setdefault(row, add.id)
    return first


def _refused_before(person: Candidate, refused: Mapping[int, int]) -> int | None:
    """The first refused add of a person who was added in the end; one line, however many there
    were. A person who was refused to the end is the bad row itself, and counts as not there.
    """
    first = refused.get(person.id)
    if person.add_state == Step.DONE and first is not None and first < (person.add_attempt or 0):
        return first
    return None


def _doubles_of(
    person: Candidate,
    adds: Mapping[int, Sequence[range]],
    doubles_read: Mapping[tuple[int, int], Sequence[int]],
) -> Iterator[tuple[int, int | None]]:
    """A person's records that may be there besides the one in use: by their adds, oldest first.

    Yields the add and, if it is known, the record's id.
    """
    carried = [n for n, spans in adds.items() if any(person.id in span for span in spans)]
    # An id that was typed to replace a wrong one is in use, whatever it was recorded as before.
    unused = {
        number: [
            double_id
            for double_id in doubles_read.get((number, person.id), ())
            if double_id != person.candidate_id
        ]
        for number in carried
    }
    # Ids from a list: nobody knows which of the earlier adds created each of them.
    unplaced = len(unused.get(person.add_attempt or 0, ()))
    for number in carried:
        yield from ((number, double) for double in unused[number])
        if not unused[number] and number != person.add_attempt:
            if unplaced > 0:
                unplaced -= 1
            else:
                yield number, None


def _in_several(adds: Iterable[Sequence[range]]) -> set[int]:
    """The rows that more than one of these adds carried."""
    several: set[int] = set()
    end = 0
    for span in sorted((span for spans in adds for span in spans), key=lambda span: span.start):
        several.update(range(span.start, min(span.stop, end)))
        end = max(end, span.stop)
    return several


def _doubles_read(decisions: Iterable[Decision]) -> dict[tuple[int, int], list[int]]:
    """The ids that are not in use, by attempt and row: from late answers, or typed by a person."""
    doubles: dict[tuple[int, int], list[int]] = {}
    for row in decisions:
        if row.verdict != Word.DOUBLE:
            continue
        if row.value is not None and row.attempt_id and row.candidate_row:  # else: forgotten
            doubles.setdefault((row.attempt_id, row.candidate_row), []).append(int(row.value))
    return doubles


def _stepped_back(
    connection: Connection, here: Campaign, refused: Mapping[int, int]
) -> Iterator[LeftOver]:
    """Somebody withdrawn, or an address that was corrected: they may be in the project."""
    for person in connection.execute(_STEPPED_BACK, {"here": here.id}):
        certain = person.candidate_id is not None
        bad_row = (
            person.rows == 1
            and person.state == AttemptState.REFUSED
            and person.status in OF_SOME_ROW
        )
        perhaps = person.state in _PERHAPS or (person.id in refused and not bad_row)
        if not certain and not perhaps:
            continue
        there = f"perhaps in {_project(here)}"
        if certain:
            there = f"candidate {person.candidate_id} in {_project(here)}"
        why = f"corrected to {person.instead}" if person.instead else "withdrawn"
        evidence = f"{there}, {why}"
        if person.was_invited or person.perhaps_invited:
            evidence += f", {'was' if person.was_invited else 'perhaps'} invited"
        who = (person.email1, person.candidate_id)
        yield LeftOver(What.PERSON, certain, evidence, (None, person.id), *who)


def _project(here: Campaign) -> str:
    """The project that the campaign uses."""
    return "the project" if here.project_id is None else f"project {here.project_id}"
