"""What the service answered to the last request of each step that is not done; only for people.

Each function works inside a transaction that its caller opened, and reads only.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, case, or_, select
from sqlmodel import col
from sqlmodel import select as whole

from data.store.states import AttemptState, Operation, Step
from data.store.tables import Attempt, Candidate, attempt, campaign, candidate, rows_of

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


@dataclass(frozen=True, slots=True)
class Answers:
    """The service's words by candidate row, and how many requests got each of these answers."""

    by_row: Mapping[int, str]
    requests: Mapping[str, int]


def of(connection: Connection, campaign_row: int) -> Answers:
    """Read them for one campaign."""
    people = connection.execute(_TO_PEOPLE, {"of": campaign_row}).all()
    calls = connection.execute(_TO_CALLS, {"of": campaign_row}).all()
    by_request = {row.id: row.answer for row in (*calls, *people)}
    return Answers({row.row: row.answer for row in people}, Counter(by_request.values()))


def refused_credentials(connection: Connection) -> list[Attempt]:
    """The last answered attempt of each operation, if it refused the credentials.

    Only campaigns in which somebody is still waiting count.
    """
    # Asked once and not for each attempt: where all is done, that would look at every person.
    somebody_waits = select(col(Candidate.campaign_id)).where(
        col(Candidate.listed),
        or_(col(Candidate.add_state).in_(_OPEN), col(Candidate.invite_state).in_(_OPEN)),
    )
    answered = whole(Attempt).where(
        col(Attempt.status).is_not(None), col(Attempt.campaign_id).in_(somebody_waits)
    )
    newest = answered.order_by(col(Attempt.id).desc()).limit(1)
    last = [rows_of(connection, newest.where(Attempt.operation == each)) for each in Operation]
    return [row for rows in last for row in rows if row.status in _OF_CREDENTIALS]
