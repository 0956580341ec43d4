"""Refusals of requests that may be sent again: how often the service refused the same thing.

The interface names no status for failures, so such an answer may have come after the work. Each
repetition is therefore counted over all runs, from the journal (tasks/service/verdict.py decides).
"""

from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, select

from data.sending.row_ranges import read as rows_in
from data.store.states import AttemptState, Operation, Word
from data.store.tables import attempt, candidate, decision

# For a bulk add these blame no single row: its rows are sent again in smaller requests, until one
# is alone.
OF_SOME_ROW = (400, 413, 422)

_OWN = select(attempt).where(attempt.c.id == bindparam("number"))
_REFUSALS = (
    select(attempt)
    .where(
        attempt.c.campaign_id == bindparam("of"),
        attempt.c.operation == bindparam("operation"),
        attempt.c.status.is_not(None),
        attempt.c.state.in_((AttemptState.NOT_SENT, AttemptState.REFUSED)),
    )
    .order_by(attempt.c.id)
)
_AGAIN = select(decision.c.candidate_row, decision.c.attempt_id).where(
    decision.c.campaign_id == bindparam("of"),
    decision.c.verdict == Word.AGAIN,
    decision.c.attempt_id.is_not(None),
)


def before(connection: Connection, number: int) -> tuple[int, ...]:
    """The statuses that answered earlier requests for the same thing as this attempt.

    Oldest first, and only since a person last decided to send it again. For an add, those of the
    person in it who has the most.
    """
    own = connection.execute(_OWN, {"number": number}).one()
    earlier = _REFUSALS.where(attempt.c.id < number, attempt.c.generation == own.generation)
    about = _people(own)
    refusals = _by_person(connection, own.campaign_id, earlier, Operation(own.operation))
    return max((refusals[row] for row in about & refusals.keys()), key=len, default=())


def of_people(connection: Connection, campaign_row: int) -> dict[int | None, tuple[int, ...]]:
    """The same for every invitation in its current generation, by candidate row."""
    present = _REFUSALS.join(candidate, candidate.c.id == attempt.c.candidate_row).where(
        candidate.c.generation == attempt.c.generation
    )
    return _by_person(connection, campaign_row, present, Operation.INVITE)


def _by_person(
    connection: Connection, campaign_row: int, asked: Select[Any], operation: Operation
) -> dict[int | None, tuple[int, ...]]:
    """The statuses in question by candidate row; None stands for the project and its problem."""
    answers = connection.execute(asked, {"of": campaign_row, "operation": operation}).all()
    again: dict[int | None, int] = {}
    for row, number in connection.execute(_AGAIN, {"of": campaign_row}) if answers else ():
        again[row] = max(again.get(row, 0), number)
    refusals: dict[int | None, tuple[int, ...]] = {}
    for each in answers:
        if operation is Operation.ADD and each.rows > 1 and each.status in OF_SOME_ROW:
            continue
        for row in _people(each):
            if each.id > again.get(row, 0):
                refusals[row] = (*refusals.get(row, ()), each.status)
    return refusals


def _people(request: Row[Any]) -> set[int | None]:
    """The candidate rows that a request was about."""
    if request.operation != Operation.ADD:
        return {request.candidate_row}
    return {row for span in rows_in(request.carried) for row in span}
