"""What must be removed in the web application, according to the journal and the decisions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Row,
    Select,
    bindparam,
    exists,
    or_,
    select,
)

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
from data.sending.refusals import OF_SOME_ROW
from data.sending.row_ranges import read as rows_in
from data.store.states import MAY_HAVE_HAPPENED, AttemptState, By, Operation, Step, Word
from data.store.tables import (
    attempt,
    campaign,
    candidate,
    decision,
)

# After such an add, nobody can say that the person is not there.
_PERHAPS = (AttemptState.DONE, AttemptState.UNSURE, AttemptState.OVERRULED)

_HERE: BindParameter[int] = bindparam("here")


def _adds_that(went: ColumnElement[bool]) -> Select[Any]:
    return (
        select(attempt.c.id, attempt.c.carried)
        .where(attempt.c.campaign_id == _HERE, attempt.c.operation == Operation.ADD, went)
        .order_by(attempt.c.id)
    )


# Composed once: every run asks, at its end. Each is about one campaign, `here`.
_CAMPAIGN = select(campaign).where(campaign.c.id == _HERE)
_SINGLE = (Operation.CREATE, Operation.ATTACH)
_OVERRULED_CALLS = (
    select(attempt.c.id, attempt.c.operation, attempt.c.claimed_at)
    .where(
        attempt.c.campaign_id == _HERE,
        attempt.c.operation.in_(_SINGLE),
        attempt.c.state == AttemptState.OVERRULED,
    )
    .order_by(attempt.c.id)
)
_ADDS_THAT_MAY_HAVE_HAPPENED = _adds_that(attempt.c.state.in_(MAY_HAVE_HAPPENED))
_ADDS_REFUSED_OVER_A_ROW = _adds_that(
    (attempt.c.state == AttemptState.REFUSED) & attempt.c.status.in_(OF_SOME_ROW)
)
# For refused and withdrawn people, an earlier add may have been the only one that took effect.
_ASIDE_OR_BETWEEN = (
    select(candidate)
    .where(
        candidate.c.campaign_id == _HERE,
        candidate.c.add_state.in_((Step.REFUSED, Step.WITHDRAWN))
        | (
            (candidate.c.add_state == Step.DONE)
            & candidate.c.id.between(bindparam("first"), bindparam("last"))
        ),
        candidate.c.email_key.not_like(f"{MARK}%"),
    )
    .order_by(candidate.c.id)
)
_DOUBLES_READ = select(decision.c.attempt_id, decision.c.candidate_row, decision.c.value).where(
    decision.c.campaign_id == _HERE,
    decision.c.verdict == Word.DOUBLE,
    decision.c.value.is_not(None),  # removed with the person
)
_CLEANED = select(decision.c.attempt_id, decision.c.candidate_row).where(
    decision.c.campaign_id == _HERE, decision.c.verdict == Word.CLEANED
)
_ADDING, _NEW = attempt.alias("adding"), candidate.alias("new")
_STEPPED_BACK = (
    select(
        candidate.c.id,
        candidate.c.email1,
        candidate.c.candidate_id,
        _ADDING.c.state,
        _ADDING.c.status,
        _ADDING.c.rows,
        exists().where(
            attempt.c.candidate_row == candidate.c.id,
            attempt.c.operation == Operation.INVITE,
            attempt.c.state == AttemptState.DONE,
        ),
        _NEW.c.email1,
    )
    .outerjoin(_ADDING, _ADDING.c.id == candidate.c.add_attempt)
    .outerjoin(_NEW, _NEW.c.id == candidate.c.corrected_to)
    .where(
        candidate.c.campaign_id == _HERE,
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


def find(connection: Connection, campaign_row: int) -> list[LeftOver]:
    """List what a person must remove by hand."""
    here = connection.execute(_CAMPAIGN, {"here": campaign_row}).one()
    refused = _first_refusals(connection, campaign_row)
    return left_over(
        Place(here.name, here.project_id, here.problem_id, here.timezone),
        _calls(connection, here),
        _doubles(connection, campaign_row, refused),
        list(_stepped_back(connection, campaign_row, refused)),
        _cleaned(connection, campaign_row),
    )


def write_cleaned(
    connection: Connection, campaign_row: int, items: Sequence[LeftOver], by: By
) -> None:
    """Record that a person has removed these, or has looked and found nothing."""
    decided = [Decided(*item.mark, Word.CLEANED) for item in items]
    write_down(connection, campaign_row, decided, by)


def _calls(connection: Connection, here: Row[Any]) -> list[SentAgain]:
    """Only if the step has been sent again: until then nothing is there twice."""
    lasts = {Operation.CREATE: here.project_attempt, Operation.ATTACH: here.problem_attempt}
    calls = connection.execute(_OVERRULED_CALLS, {"here": here.id})
    return [
        SentAgain(call.id, operation, call.claimed_at)
        for call in calls
        if lasts[operation := Operation(call.operation)] != call.id
    ]


def _doubles(
    connection: Connection, campaign_row: int, refused: Mapping[int, int]
) -> list[AddedAgain]:
    """People in more than one add, if an earlier add may have had an effect.

    Until the last add has an outcome, a person is still asked about it.
    """
    adds = _adds(connection, campaign_row, _ADDS_THAT_MAY_HAVE_HAPPENED)
    doubles_read = _doubles_read(connection, campaign_row)
    several = _in_several(adds.values()) | {row for _, row in doubles_read}
    rows = several | refused.keys()
    between = {"first": min(rows, default=0), "last": max(rows, default=0)}
    people = connection.execute(_ASIDE_OR_BETWEEN, {"here": campaign_row, **between})
    doubles: list[AddedAgain] = []
    for person in people:
        own: list[AddedAgain] = []
        if person.id in several or person.add_state != Step.DONE:
            own = list(_doubles_of(person, adds, doubles_read))
        doubles += own or _after_a_refusal(person, refused.get(person.id))
    return doubles


def _adds(connection: Connection, campaign_row: int, which: Select[Any]) -> dict[int, list[range]]:
    """The people in these adds, by attempt, oldest first."""
    rows = connection.execute(which, {"here": campaign_row})
    return {number: rows_in(carried) for number, carried in rows}


def _first_refusals(connection: Connection, campaign_row: int) -> dict[int, int]:
    """The first add that was refused because of a row, by each row in it.

    A service that meets a bad row may have kept the rows before it, whatever it answers.
    """
    first: dict[int, int] = {}
    for number, spans in _adds(connection, campaign_row, _ADDS_REFUSED_OVER_A_ROW).items():
        for span in spans:
            for row in span:
                first.setdefault(row, number)
    return first


def _after_a_refusal(person: Row[Any], first: int | None) -> Iterator[AddedAgain]:
    """One line for a person who was added in the end, however often the add was refused before.

    A person who was refused to the end is the bad row itself, and counts as not there.
    """
    if person.add_state == Step.DONE and first is not None and first < (person.add_attempt or 0):
        who = (person.id, person.email1, person.candidate_id)
        yield AddedAgain(first, *who, refused=True)


def _doubles_of(
    person: Row[Any],
    adds: Mapping[int, Sequence[range]],
    doubles_read: Mapping[tuple[int, int], Sequence[int]],
) -> Iterator[AddedAgain]:
    """A person's records that may be there besides the one in use: by their adds, oldest first."""
    carried = [n for n, spans in adds.items() if any(person.id in span for span in spans)]
    who = (person.id, person.email1, person.candidate_id)
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
    """The ids that are not in use, by attempt and row: from late answers, or typed by a person."""
    doubles: dict[tuple[int, int], list[int]] = {}
    for row in connection.execute(_DOUBLES_READ, {"here": campaign_row}):
        doubles.setdefault((row.attempt_id, row.candidate_row), []).append(int(row.value))
    return doubles


def _stepped_back(
    connection: Connection, campaign_row: int, refused: Mapping[int, int]
) -> Iterator[SteppedBack]:
    people = connection.execute(_STEPPED_BACK, {"here": campaign_row})
    for row, email1, number, state, status, rows, was_invited, instead in people:
        bad_row = rows == 1 and state == AttemptState.REFUSED and status in OF_SOME_ROW
        perhaps = state in _PERHAPS or (row in refused and not bad_row)
        yield SteppedBack(row, email1, number, perhaps, bool(was_invited), instead)


def _cleaned(connection: Connection, campaign_row: int) -> set[Mark]:
    rows = connection.execute(_CLEANED, {"here": campaign_row})
    return {(row.attempt_id, row.candidate_row) for row in rows}
