"""What is known of campaigns, of the people in them, and of runs and requests."""

from collections.abc import Iterator, Sequence
from typing import Any, cast

from sqlalchemy import (
    Connection,
    Row,
    Select,
    bindparam,
    exists,
    func,
    literal_column,
    or_,
    select,
    update,
)

from data.campaigns.forgotten import MARK
from data.store import clock
from data.store.ledger import Ledger
from data.store.states import SENT_NOTHING, AttemptState, Operation, Step
from data.store.tables import (
    Campaign,
    attempt,
    campaign,
    candidate,
    runs,
)

AT_ONCE = 5_000  # candidates in one slice


# Of runs beside each other the last is one at work, else the one that ended last: what it says
# is how the campaign stands, whichever of them began first.
LAST_FIRST = (runs.c.ended_at.is_not(None), runs.c.ended_at.desc(), runs.c.id.desc())

# Built once: a run asks for them again and again.
# Built once: a run asks for them again and again.
_CAMPAIGN = select(campaign).where(campaign.c.key == bindparam("wanted"))
_KINDS = (candidate.c.listed, candidate.c.add_state, candidate.c.invite_state)
_COUNTS = (
    select(*_KINDS, func.count())
    .where(candidate.c.campaign_id == bindparam("of"))
    .group_by(*_KINDS)
)
# Emails that went out to people who were withdrawn afterwards.
# Emails that went out to people who were withdrawn afterwards.
_WITHDRAWN_SINCE = select(func.count()).where(
    candidate.c.campaign_id == bindparam("of"),
    candidate.c.invite_state == Step.WITHDRAWN,
    exists().where(
        attempt.c.candidate_row == candidate.c.id,
        # Written out, as only then the index over invitations that stand is known to fit.
        literal_column(
            "attempt.operation = 'invite' AND attempt.state IN ('sending', 'done', 'unsure')"
        ),
        attempt.c.state == AttemptState.DONE,
    ),
)
_INVITED_BY = select(func.count()).where(
    attempt.c.run_id == bindparam("run"),
    attempt.c.operation == Operation.INVITE,
    attempt.c.state == AttemptState.DONE,
)
_LAST_RUN = select(runs).where(runs.c.campaign_id == bindparam("of")).order_by(*LAST_FIRST).limit(1)
_SAW_PROBLEM = (
    update(campaign)
    .where(campaign.c.key == bindparam("wanted"))
    .values(problem_doubt=bindparam("doubt"), problem_seen_at=bindparam("at"))
)


def find_campaign(connection: Connection, key: str) -> Campaign | None:
    row = connection.execute(_CAMPAIGN, {"wanted": key}).first()
    return _campaign(row) if row is not None else None


def every_campaign(connection: Connection) -> list[Campaign]:
    """Every campaign, oldest first."""
    return [_campaign(row) for row in connection.execute(select(campaign))]


def candidates(ledger: Ledger, campaign_row: int) -> Iterator[Row[Any]]:
    """Every candidate's whole row, in the order they came in; read as they are asked for."""
    return _in_slices(ledger, select(candidate), campaign_row)


def whom_to_link(ledger: Ledger, campaign_row: int) -> Iterator[Row[Any]]:
    """Row, first name, last name, address, candidate_id and invitation of everyone, likewise.

    But of whoever was forgotten.
    """
    asked = select(
        candidate.c.id,
        candidate.c.first_name,
        candidate.c.last_name,
        candidate.c.email1,
        candidate.c.candidate_id,
        candidate.c.invite_state,
    )
    return _in_slices(ledger, asked.where(candidate.c.email_key.not_like(f"{MARK}%")), campaign_row)


def _in_slices(ledger: Ledger, asked: Select[Any], campaign_row: int) -> Iterator[Row[Any]]:
    """Each slice is a transaction of its own: 100,000 rows at once would take 100 MB."""
    first, last = ledger.read(_ends, campaign_row)
    # `+ 0`: found by number. By campaign, all of them would be sorted again for each slice.
    asked = asked.where(candidate.c.campaign_id + 0 == campaign_row)
    while first <= last:
        in_slice = candidate.c.id.between(first, last)
        rows = ledger.read(_rows, asked.where(in_slice).order_by(candidate.c.id).limit(AT_ONCE))
        yield from rows
        if len(rows) < AT_ONCE:
            return
        first = rows[-1].id + 1


def _ends(connection: Connection, campaign_row: int) -> tuple[int, int]:
    """The numbers of the first and the last candidate of a campaign; (1, 0): there is none."""
    ends = select(func.min(candidate.c.id), func.max(candidate.c.id))
    numbers = connection.execute(ends.where(candidate.c.campaign_id == campaign_row)).one()
    return (1, 0) if numbers[0] is None else (numbers[0], numbers[1])


def _rows(connection: Connection, asked: Select[Any]) -> Sequence[Row[Any]]:
    return connection.execute(asked).all()


def in_need(connection: Connection, campaign_row: int) -> Sequence[Row[Any]]:
    """The whole row of whoever was refused or is unsure, or waits and is no longer listed.

    In the order they came in.
    """
    need = (Step.REFUSED, Step.UNSURE)
    return connection.execute(
        select(candidate)
        .where(
            candidate.c.campaign_id == campaign_row,
            or_(
                candidate.c.add_state.in_(need),
                candidate.c.invite_state.in_(need),
                ~candidate.c.listed & (candidate.c.invite_state == Step.WAITING),
            ),
        )
        .order_by(candidate.c.id)
    ).all()


def counts(connection: Connection, campaign_row: int) -> dict[tuple[bool, Step, Step], int]:
    """How many candidates stand at each (listed, add, invite)."""
    rows = connection.execute(_COUNTS, {"of": campaign_row})
    return {(bool(r[0]), Step(r[1]), Step(r[2])): int(r[3]) for r in rows}


def withdrawn_since(connection: Connection, campaign_row: int) -> int:
    """How many people were invited and withdrawn, or corrected, afterwards."""
    return int(connection.scalar(_WITHDRAWN_SINCE, {"of": campaign_row}) or 0)


def invited_by(connection: Connection, run: int) -> int:
    """How many invitations of a run the service has received."""
    return int(connection.scalar(_INVITED_BY, {"run": run}) or 0)


def timezones(connection: Connection, campaign_row: int) -> list[str | None]:
    """The clocks of the people who are still to be invited, each once."""
    zones = connection.scalars(
        select(candidate.c.timezone)
        .distinct()
        .where(
            candidate.c.campaign_id == campaign_row,
            candidate.c.invite_state == Step.WAITING,
            candidate.c.listed,
        )
    )
    return list(zones)


def last_run(connection: Connection, campaign_row: int) -> Row[Any] | None:
    return connection.execute(_LAST_RUN, {"of": campaign_row}).first()


def requests_by_state(connection: Connection) -> Sequence[Row[Any]]:
    """How many requests of each campaign (key), operation and state."""
    kinds = (campaign.c.key, attempt.c.operation, attempt.c.state)
    return connection.execute(
        select(*kinds, func.count())
        .join(campaign, attempt.c.campaign_id == campaign.c.id)
        .group_by(*kinds)
        .order_by(*kinds)
    ).all()


def runs_by_ending(connection: Connection) -> Sequence[Row[Any]]:
    """How many runs of each campaign (key) and ending; None where a run has not ended.

    Those that sent nothing are not counted: not each of them is kept (data/sending/idle_runs.py).
    """
    kinds = (campaign.c.key, runs.c.ending)
    return connection.execute(
        select(*kinds, func.count())
        .join(campaign, runs.c.campaign_id == campaign.c.id)
        .where(runs.c.process_start != SENT_NOTHING)
        .group_by(*kinds)
        .order_by(*kinds)
    ).all()


def saw_problem(connection: Connection, key: str, doubt: str | None) -> None:
    """Keep what a look at the service's list said against a campaign's problem, and when."""
    connection.execute(_SAW_PROBLEM, {"wanted": key, "doubt": doubt, "at": clock.now()})


def _campaign(row: Row[Any]) -> Campaign:
    # A row has the table's fields by name and cannot be changed; making a model of it would cost
    # more than reading it, and this is read before every step.
    return cast(Campaign, row)
