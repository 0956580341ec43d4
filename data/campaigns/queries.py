"""What is known of campaigns, of the people in them, and of runs and requests."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, cast

from sqlalchemy import (
    Connection,
    Row,
    Select,
    bindparam,
    exists,
    func,
    or_,
    select,
    update,
)
from sqlmodel import col
from sqlmodel import select as whole

from data.campaigns.forgotten import MARK
from data.store import clock
from data.store.ledger import Ledger
from data.store.states import SENT_NOTHING, AttemptState, Operation, Step
from data.store.tables import (
    INVITATION_STANDS,
    Attempt,
    Campaign,
    Candidate,
    Run,
    attempt,
    campaign,
    candidate,
    rows_of,
    runs,
)

AT_ONCE = 5_000  # candidates in one slice


# Of several runs at the same time, the last run is one at work, or else the one that ended last: it
# says how the campaign stands, whichever of them began first.
LAST_FIRST = (runs.c.ended_at.is_not(None), runs.c.ended_at.desc(), runs.c.id.desc())

# Built once: a run asks for them again and again.
_CAMPAIGN = select(campaign).where(campaign.c.key == bindparam("wanted"))
_KINDS = (candidate.c.listed, candidate.c.add_state, candidate.c.invite_state)
_COUNTS = (
    select(*_KINDS, func.count())
    .where(candidate.c.campaign_id == bindparam("of"))
    .group_by(*_KINDS)
)
# Emails that went out to people who were withdrawn afterwards.
_WITHDRAWN_SINCE = select(func.count()).where(
    candidate.c.campaign_id == bindparam("of"),
    candidate.c.invite_state == Step.WITHDRAWN,
    exists().where(
        attempt.c.candidate_row == candidate.c.id,
        INVITATION_STANDS,
        attempt.c.state == AttemptState.DONE,
    ),
)
_INVITED_BY = select(func.count()).where(
    attempt.c.run_id == bindparam("run"),
    attempt.c.operation == Operation.INVITE,
    attempt.c.state == AttemptState.DONE,
)
_LAST_RUN = select(runs).where(runs.c.campaign_id == bindparam("of")).order_by(*LAST_FIRST).limit(1)


def find_campaign(connection: Connection, key: str) -> Campaign | None:
    return cast(Campaign | None, connection.execute(_CAMPAIGN, {"wanted": key}).first())


def the_campaign(connection: Connection, key: str) -> Campaign:
    """The campaign that a run is about: the ledger has it."""
    return cast(Campaign, connection.execute(_CAMPAIGN, {"wanted": key}).one())


def every_campaign(connection: Connection) -> Sequence[Campaign]:
    """Every campaign, oldest first."""
    return rows_of(connection, whole(Campaign).order_by(col(Campaign.id)))


def candidates(ledger: Ledger, campaign_row: int) -> Iterator[Candidate]:
    """Every candidate's whole row, in the order in which they were stored; read lazily."""
    return cast(Iterator[Candidate], _in_slices(ledger, select(candidate), campaign_row))


def people_in(
    connection: Connection, campaign_row: int, rows: Collection[int]
) -> dict[int, Candidate]:
    """These candidates of a campaign, by row."""
    mine = whole(Candidate).where(Candidate.campaign_id == campaign_row)
    people = rows_of(connection, mine.where(col(Candidate.id).in_(rows)))
    return {person.id: person for person in people}


def whom_to_link(ledger: Ledger, campaign_row: int) -> Iterator[Row[Any]]:
    """Row, first name, last name, address, candidate_id and invitation of everyone, read lazily.

    People who were forgotten are left out.
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
    # `+ 0` makes the database search by number; by campaign it would sort all rows for each slice.
    asked = asked.where(candidate.c.campaign_id + 0 == campaign_row)
    while first <= last:
        in_slice = candidate.c.id.between(first, last)
        rows = ledger.read(_rows, asked.where(in_slice).order_by(candidate.c.id).limit(AT_ONCE))
        yield from rows
        if len(rows) < AT_ONCE:
            return
        first = rows[-1].id + 1


def _ends(connection: Connection, campaign_row: int) -> tuple[int, int]:
    """The numbers of a campaign's first and last candidate; (1, 0) if there are none."""
    ends = select(func.min(candidate.c.id), func.max(candidate.c.id))
    numbers = connection.execute(ends.where(candidate.c.campaign_id == campaign_row)).one()
    return (1, 0) if numbers[0] is None else (numbers[0], numbers[1])


def _rows(connection: Connection, asked: Select[Any]) -> Sequence[Row[Any]]:
    return connection.execute(asked).all()


def in_need(connection: Connection, campaign_row: int) -> Sequence[Candidate]:
    """The whole row of everybody who was refused or is unsure, or waits but is no longer listed.

    In the order in which they were stored.
    """
    need = (Step.REFUSED, Step.UNSURE)
    left = col(Candidate.listed).is_(False) & (col(Candidate.invite_state) == Step.WAITING)
    theirs = or_(col(Candidate.add_state).in_(need), col(Candidate.invite_state).in_(need), left)
    mine = whole(Candidate).where(Candidate.campaign_id == campaign_row)
    return rows_of(connection, mine.where(theirs).order_by(col(Candidate.id)))


def counts(connection: Connection, campaign_row: int) -> dict[tuple[bool, Step, Step], int]:
    """How many candidates there are in each state (listed, add, invite)."""
    rows = connection.execute(_COUNTS, {"of": campaign_row})
    return {(bool(r[0]), Step(r[1]), Step(r[2])): int(r[3]) for r in rows}


def withdrawn_since(connection: Connection, campaign_row: int) -> int:
    """How many people were invited and withdrawn, or corrected, afterwards."""
    return int(connection.scalar(_WITHDRAWN_SINCE, {"of": campaign_row}) or 0)


def invited_by(connection: Connection, run: int) -> int:
    """How many invitations of a run the service has received."""
    return int(connection.scalar(_INVITED_BY, {"run": run}) or 0)


def timezones(connection: Connection, campaign_row: int) -> list[str | None]:
    """The timezones of the people who are still to be invited, each once."""
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


def last_run(connection: Connection, campaign_row: int) -> Run | None:
    return cast(Run | None, connection.execute(_LAST_RUN, {"of": campaign_row}).first())


def requests_by_state(connection: Connection) -> Sequence[tuple[str, str, str, int]]:
    """How many requests of each campaign (key), operation and state."""
    kinds = (col(Campaign.key), col(Attempt.operation), col(Attempt.state))
    wanted = select(*kinds, func.count()).join(Campaign, col(Attempt.campaign_id) == Campaign.id)
    return connection.execute(wanted.group_by(*kinds).order_by(*kinds)).tuples().all()


def runs_by_ending(connection: Connection) -> Sequence[tuple[str, str | None, int]]:
    """How many runs of each campaign (key) and ending; None if a run has not ended.

    Those that sent nothing are not counted: not each of them is kept (data/sending/idle_runs.py).
    """
    kinds = (col(Campaign.key), col(Run.ending))
    wanted = select(*kinds, func.count()).join(Campaign, col(Run.campaign_id) == Campaign.id)
    sent = wanted.where(col(Run.process_start) != SENT_NOTHING)
    return connection.execute(sent.group_by(*kinds).order_by(*kinds)).tuples().all()


def saw_problem(connection: Connection, key: str, doubt: str | None) -> None:
    """Record what now speaks against a campaign's problem in the service's list."""
    values = {"problem_doubt": doubt, "problem_seen_at": clock.now()}
    connection.execute(update(campaign).where(campaign.c.key == key).values(values))
