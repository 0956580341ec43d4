"""Everything recorded about one campaign, read at one moment.

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
    here = connection.execute(select(campaign).where(campaign.c.id == campaign_row)).one()

    def of(table: Table, column: str, value: object) -> Rows:
        return connection.execute(
            select(table).where(table.c[column] == value).order_by(table.c.id)
        ).all()

    return Records(
        campaign=here,
        people={row.id: row for row in of(candidate, "campaign_id", here.id)},
        runs=of(runs, "campaign_id", here.id),
        attempts=of(attempt, "campaign_id", here.id),
        decisions=of(decision, "campaign_id", here.id),
        approvals=of(approval, "campaign_key", here.key),
        pauses=of(pause, "campaign_key", here.key),
        receipts=of(receipt_doubts, "campaign_key", here.key),
        blocks=connection.execute(_BLOCKS, {"of": here.id}).all(),
        readings=of(reading, "campaign_id", here.id),
        at=clock.now(),
    )


def about(records: Records, person: int) -> Records:
    """Keep what concerns one person, by candidate row: requests, the runs that made them, the
    plans these were made under, decisions about them, and the one that another address led here.
    """
    attempts = [request for request in records.attempts if carries(request, person)]
    made_by = {request.run_id for request in attempts}
    runs_of_them = [run for run in records.runs if run.id in made_by]
    under = {run.approval_id for run in runs_of_them}
    plans = [plan for plan in records.approvals if plan.id in under]
    digests = {plan.digest for plan in plans}
    return replace(
        records,
        runs=runs_of_them,
        attempts=attempts,
        decisions=[
            verdict
            for verdict in records.decisions
            if _concerns(verdict, person)
            or (verdict.verdict in tuple(Answer) and verdict.value in digests)
        ],
        approvals=plans,
        pauses=[],
        receipts=[],
        blocks=[
            block for block in records.blocks if block.email_key == records.people[person].email_key
        ],
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
