"""What is left over in the web application, according to the journal and the decisions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, exists, or_, select

from data.campaigns.forgotten import MARK
from data.decisions.clean_up import (
    AddedAgain,
    LeftOver,
    Mark,
    Place,
    SentAgain,
    SteppedBack,
    left_over,
)
from data.decisions.settling import write_down
from data.decisions.verdicts import Decided
from data.sending.noes import OF_SOME_ROW
from data.sending.row_ranges import read as rows_in
from data.store.states import MAY_HAVE_HAPPENED, AttemptState, By, Operation, Step, Word
from data.store.tables import (
    attempt,
    campaign,
    candidate,
    decision,
)

# Of an add that went so, nobody can say that the person is not there.
_PERHAPS = (AttemptState.DONE, AttemptState.UNSURE, AttemptState.OVERRULED)


def find(connection: Connection, campaign_row: int) -> list[LeftOver]:
    """List what a person must remove by hand."""
    here = connection.execute(select(campaign).where(campaign.c.id == campaign_row)).one()
    return left_over(
        Place(here.name, here.project_id, here.problem_id, here.timezone),
        _calls(connection, here),
        _doubles(connection, campaign_row),
        list(_stepped_back(connection, campaign_row)),
        _cleaned(connection, campaign_row),
    )


def write_cleaned(
    connection: Connection, campaign_row: int, items: Sequence[LeftOver], by: By
) -> None:
    """Keep that a person has removed these, or has looked and found nothing."""
    decided = [Decided(*item.mark, Word.CLEANED) for item in items]
    write_down(connection, campaign_row, decided, by)


def _calls(connection: Connection, here: Row[Any]) -> list[SentAgain]:
    """Only where the step has been sent anew: until then nothing is there twice."""
    lasts = {Operation.CREATE: here.project_attempt, Operation.ATTACH: here.problem_attempt}
    calls = connection.execute(
        select(attempt.c.id, attempt.c.operation, attempt.c.claimed_at)
        .where(
            attempt.c.campaign_id == here.id,
            attempt.c.operation.in_(tuple(lasts)),
            attempt.c.state == AttemptState.OVERRULED,
        )
        .order_by(attempt.c.id)
    )
    return [
        SentAgain(call.id, operation, call.claimed_at)
        for call in calls
        if lasts[operation := Operation(call.operation)] != call.id
    ]


def _doubles(connection: Connection, campaign_row: int) -> list[AddedAgain]:
    """Whom more than one add carried, of which an earlier one may have taken effect.

    Until the last of them came to something, somebody is still asked about it.
    """
    adds = _adds(connection, campaign_row, attempt.c.state.in_(MAY_HAVE_HAPPENED))
    refused = _first_refusals(connection, campaign_row)
    doubles_read = _doubles_read(connection, campaign_row)
    several = _in_several(adds.values()) | {row for _, row in doubles_read}
    rows = several | refused.keys()
    among = candidate.c.id.between(min(rows, default=0), max(rows, default=0))
    # Of the refused and the withdrawn an earlier add may have been the only one that was taken.
    aside = candidate.c.add_state.in_((Step.REFUSED, Step.WITHDRAWN))
    people = connection.execute(
        select(candidate)
        .where(
            candidate.c.campaign_id == campaign_row,
            aside | ((candidate.c.add_state == Step.DONE) & among),
            candidate.c.email_key.not_like(f"{MARK}%"),
        )
        .order_by(candidate.c.id)
    )
    doubles: list[AddedAgain] = []
    for person in people:
        own: list[AddedAgain] = []
        if person.id in several or person.add_state != Step.DONE:
            own = list(_doubles_of(person, adds, doubles_read))
        doubles += own or _after_a_refusal(person, refused.get(person.id))
    return doubles


def _adds(
    connection: Connection, campaign_row: int, which: ColumnElement[bool]
) -> dict[int, list[range]]:
    """Whom these adds carried, by attempt, oldest first."""
    rows = connection.execute(
        select(attempt.c.id, attempt.c.carried)
        .where(attempt.c.campaign_id == campaign_row, attempt.c.operation == Operation.ADD, which)
        .order_by(attempt.c.id)
    )
    return {number: rows_in(carried) for number, carried in rows}


def _first_refusals(connection: Connection, campaign_row: int) -> dict[int, int]:
    """The first add that was refused over some row, by each row that it carried.

    A service that comes to a bad row may have kept those before it, whatever it says.
    """
    over_a_row = (attempt.c.state == AttemptState.REFUSED) & attempt.c.status.in_(OF_SOME_ROW)
    first: dict[int, int] = {}
    for number, spans in _adds(connection, campaign_row, over_a_row).items():
        for span in spans:
            for row in span:
                first.setdefault(row, number)
    return first


def _after_a_refusal(person: Row[Any], first: int | None) -> Iterator[AddedAgain]:
    """One line for somebody who was added in the end, however often that was refused before.

    Whoever was refused to the end is the bad row itself, and believed not to be there.
    """
    if person.add_state == Step.DONE and first is not None and first < (person.add_attempt or 0):
        who = (person.id, person.email1, person.candidate_id)
        yield AddedAgain(first, *who, refused=True)


def _doubles_of(
    person: Row[Any],
    adds: Mapping[int, Sequence[range]],
    doubles_read: Mapping[tuple[int, int], Sequence[int]],
) -> Iterator[AddedAgain]:
    """What may be there of one person besides the one in use: by their adds, oldest first."""
    carried = [n for n, spans in adds.items() if any(person.id in span for span in spans)]
    who = (person.id, person.email1, person.candidate_id)
    # An id that was typed in the place of a wrong one is in use, whatever it was taken for before.
    unused = {
        number: [
            double_id
            for double_id in doubles_read.get((number, person.id), ())
            if double_id != person.candidate_id
        ]
        for number in carried
    }
    # Read in a list: nobody knows which of the earlier adds brought each of them.
    unplaced = len(unused.get(person.add_attempt, ()))
    for number in carried:
        for double in unused[number]:
            yield AddedAgain(number, *who, double)
        if not unused[number] and number != person.add_attempt:
            if unplaced > 0:
                unplaced -= 1
            else:
                yield AddedAgain(number, *who)


def _in_several(adds: Iterable[Sequence[range]]) -> set[int]:
    """The rows that more than one of these adds carried."""
    several: set[int] = set()
    end = 0
    for span in sorted((span for spans in adds for span in spans), key=lambda span: span.start):
        several.update(range(span.start, min(span.stop, end)))
        end = max(end, span.stop)
    return several


def _doubles_read(connection: Connection, campaign_row: int) -> dict[tuple[int, int], list[int]]:
    """The ids that are not in use, by attempt and row: from late answers, or read by a person."""
    doubles: dict[tuple[int, int], list[int]] = {}
    for row in connection.execute(
        select(decision.c.attempt_id, decision.c.candidate_row, decision.c.value).where(
            decision.c.campaign_id == campaign_row,
            decision.c.verdict == Word.DOUBLE,
            decision.c.value.is_not(None),  # taken out with the person
        )
    ):
        doubles.setdefault((row.attempt_id, row.candidate_row), []).append(int(row.value))
    return doubles


def _stepped_back(connection: Connection, campaign_row: int) -> Iterator[SteppedBack]:
    new = candidate.alias("new")
    invited = exists().where(
        attempt.c.candidate_row == candidate.c.id,
        attempt.c.operation == Operation.INVITE,
        attempt.c.state == AttemptState.DONE,
    )
    adding = attempt.alias("adding")
    refused = _first_refusals(connection, campaign_row)
    people = connection.execute(
        select(
            candidate.c.id,
            candidate.c.email1,
            candidate.c.candidate_id,
            adding.c.state,
            adding.c.status,
            adding.c.rows,
            invited,
            new.c.email1,
        )
        .outerjoin(adding, adding.c.id == candidate.c.add_attempt)
        .outerjoin(new, new.c.id == candidate.c.corrected_to)
        .where(
            candidate.c.campaign_id == campaign_row,
            # What the service has of them was told when they were forgotten: nobody knows it now.
            candidate.c.email_key.not_like(f"{MARK}%"),
            or_(
                candidate.c.invite_state == Step.WITHDRAWN,
                candidate.c.add_state == Step.WITHDRAWN,
                candidate.c.corrected_to.is_not(None),
            ),
        )
        .order_by(candidate.c.id)
    )
    for row, email1, number, state, status, rows, was_invited, instead in people:
        bad_row = rows == 1 and state == AttemptState.REFUSED and status in OF_SOME_ROW
        perhaps = state in _PERHAPS or (row in refused and not bad_row)
        yield SteppedBack(row, email1, number, perhaps, bool(was_invited), instead)


def _cleaned(connection: Connection, campaign_row: int) -> set[Mark]:
    rows = connection.execute(
        select(decision.c.attempt_id, decision.c.candidate_row).where(
            decision.c.campaign_id == campaign_row, decision.c.verdict == Word.CLEANED
        )
    )
    return {(row.attempt_id, row.candidate_row) for row in rows}
