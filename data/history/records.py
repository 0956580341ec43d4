"""Everything that was written down about one campaign, read at one moment.

`read` works inside a transaction that its caller opened.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Table, bindparam, select

from data.campaigns.approvals import Answer
from data.sending.row_ranges import read as rows_in
from data.store import clock
from data.store.states import Operation
from data.store.tables import approvals as approval
from data.store.tables import (
    attempt,
    campaign,
    candidate,
    decision,
    do_not_contact,
    receipt_doubts,
    runs,
)
from data.store.tables import pauses as pause
from data.store.tables import readings as reading

CORRECTED = "correct"  # a decision's verdict whose value is the row of the right address
Rows = Sequence[Row[Any]]


@dataclass(frozen=True, slots=True)
class Records:
    """Whole rows of the tables, each oldest first; `people` are candidates by their row.

    `receipts` are receipts that did not fit this ledger, `blocks` what the do-not-contact list had
    of these people at any time, `at` is when all this was read. `person` is the candidate row
    whom alone it is about; None: everybody.
    """

    campaign: Row[Any]
    people: Mapping[int, Row[Any]]
    runs: Rows
    attempts: Rows
    decisions: Rows
    approvals: Rows
    pauses: Rows
    receipts: Rows
    blocks: Rows
    readings: Rows
    at: datetime
    person: int | None = None


_BLOCKS = (
    select(do_not_contact)
    .where(
        do_not_contact.c.email_key.in_(
            select(candidate.c.email_key).where(candidate.c.campaign_id == bindparam("of"))
        )
    )
    .order_by(do_not_contact.c.id)
)


def read(connection: Connection, campaign_row: int) -> Records:
    """Everything that was written down about a campaign, as of one moment."""
    known = connection.execute(select(campaign).where(campaign.c.id == campaign_row)).one()

    def of(table: Table, column: str, value: object) -> Rows:
        return connection.execute(
            select(table).where(table.c[column] == value).order_by(table.c.id)
        ).all()

    return Records(
        campaign=known,
        people={row.id: row for row in of(candidate, "campaign_id", known.id)},
        runs=of(runs, "campaign_id", known.id),
        attempts=of(attempt, "campaign_id", known.id),
        decisions=of(decision, "campaign_id", known.id),
        approvals=of(approval, "campaign_key", known.key),
        pauses=of(pause, "campaign_key", known.key),
        receipts=of(receipt_doubts, "campaign_key", known.key),
        blocks=connection.execute(_BLOCKS, {"of": known.id}).all(),
        readings=of(reading, "campaign_id", known.id),
        at=clock.now(),
    )


def about(records: Records, person: int) -> Records:
    """Keep what concerns one person, by candidate row: requests, the runs that made them, the
    plans these were made under, decisions about them, and the one that another address led here.
    """
    attempts = [one for one in records.attempts if carries(one, person)]
    made_by = {one.run_id for one in attempts}
    runs_of_them = [one for one in records.runs if one.id in made_by]
    under = {one.approval_id for one in runs_of_them}
    plans = [one for one in records.approvals if one.id in under]
    digests = {one.digest for one in plans}
    return replace(
        records,
        runs=runs_of_them,
        attempts=attempts,
        decisions=[
            one
            for one in records.decisions
            if _concerns(one, person) or (one.verdict in tuple(Answer) and one.value in digests)
        ],
        approvals=plans,
        pauses=[],
        receipts=[],
        blocks=[one for one in records.blocks if one.email_key == records.people[person].email_key],
        person=person,
    )


def _concerns(decision: Row[Any], person: int) -> bool:
    corrected_to = decision.value if decision.verdict == CORRECTED else None
    return bool(decision.candidate_row == person or corrected_to == str(person))


def carries(request: Row[Any], person: int) -> bool:
    """Whether a request of the journal was about this candidate row."""
    if request.operation == Operation.INVITE:
        return bool(request.candidate_row == person)
    return any(person in span for span in rows_in(request.carried))
