"""What the service answered to the last request of each step that is not done: for people alone.

Each function works inside a transaction that its caller opened, and reads only.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, bindparam, case, exists, or_, select

from data.store.states import AttemptState, Operation, Step
from data.store.tables import attempt, campaign, candidate

_OPEN = (Step.WAITING, Step.REFUSED, Step.UNSURE)
_WROTE = (attempt.c.answer != "", attempt.c.state != AttemptState.OVERRULED)
_TO_PEOPLE = (
    select(candidate.c.id.label("row"), attempt.c.id, attempt.c.answer)
    .join(
        attempt,
        attempt.c.id
        == case(
            (candidate.c.add_state == Step.DONE, candidate.c.invite_attempt),
            else_=candidate.c.add_attempt,
        ),
    )
    .where(
        candidate.c.campaign_id == bindparam("of"),
        or_(candidate.c.add_state.in_(_OPEN), candidate.c.invite_state.in_(_OPEN)),
        *_WROTE,
    )
)
_TO_CALLS = (
    select(attempt.c.id, attempt.c.answer)
    .join(
        campaign,
        or_(
            (campaign.c.project_attempt == attempt.c.id) & campaign.c.project_state.in_(_OPEN),
            (campaign.c.problem_attempt == attempt.c.id) & campaign.c.problem_state.in_(_OPEN),
        ),
    )
    .where(campaign.c.id == bindparam("of"), *_WROTE)
)
_OF_CREDENTIALS = (401, 403)
_LAST_ANSWER = (
    select(attempt, campaign.c.key)
    .join(campaign, campaign.c.id == attempt.c.campaign_id)
    .where(
        attempt.c.operation == bindparam("operation"),
        attempt.c.status.is_not(None),
        exists().where(
            candidate.c.campaign_id == campaign.c.id,
            candidate.c.listed,
            or_(candidate.c.add_state.in_(_OPEN), candidate.c.invite_state.in_(_OPEN)),
        ),
    )
    .order_by(attempt.c.id.desc())
    .limit(1)
)


@dataclass(frozen=True, slots=True)
class Answers:
    """The service's words by candidate row, and how many requests each of them came back to."""

    by_row: Mapping[int, str]
    requests: Mapping[str, int]


def of(connection: Connection, campaign_row: int) -> Answers:
    """Read them for one campaign."""
    people = connection.execute(_TO_PEOPLE, {"of": campaign_row}).all()
    calls = connection.execute(_TO_CALLS, {"of": campaign_row}).all()
    by_request = {row.id: row.answer for row in (*calls, *people)}
    return Answers({row.row: row.answer for row in people}, Counter(by_request.values()))


def refused_credentials(connection: Connection) -> list[Row[Any]]:
    """The last answered attempt of each operation, with its campaign's key, where that refused the
    credentials. Only campaigns count in which somebody still waits."""
    last = [
        connection.execute(_LAST_ANSWER, {"operation": operation}).first()
        for operation in Operation
    ]
    return [row for row in last if row is not None and row.status in _OF_CREDENTIALS]
