"""Everything recorded about one campaign, read at one moment.

`read` works inside a transaction that its caller opened.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from sys import intern
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, select
from sqlmodel import col
from sqlmodel import select as whole

from data.campaigns.approvals import Answer
from data.history.events import Request
from data.history.requests import journal_of, requests_of
from data.sending.row_ranges import read as rows_in
from data.store import clock
from data.store.states import Operation, Word
from data.store.tables import (
    Approval,
    Attempt,
    Campaign,
    Decision,
    DoNotContact,
    Model,
    Pause,
    Reading,
    ReceiptDoubt,
    Run,
    candidate,
    rows_of,
)


class Person(NamedTuple):
    """A candidate, as far as the story tells of them: whole rows would take twice the memory."""

    email_key: str
    first_name: str
    last_name: str
    email1: str
    source: str
    listed: bool
    candidate_id: int | None
    add_state: str
    invite_state: str
    why: str | None


_PERSON = (candidate.c.id, *(candidate.c[name] for name in Person._fields))


@dataclass(frozen=True, slots=True)
class Records:
    """Whole rows of the tables, each oldest first; `people` are candidates by their row, with what
    the story tells of them.

    The journal has the most rows by far: of it there are only the `requests` of the story.
    `receipts` are receipts that did not fit this ledger, `blocks` the entries that the
    do-not-contact list ever had for these people, `at` is when all this was read.
    """

    campaign: Campaign
    people: Mapping[int, Person]
    runs: Sequence[Run]
    requests: Sequence[Request]
    decisions: Sequence[Decision]
    approvals: Sequence[Approval]
    pauses: Sequence[Pause]
    receipts: Sequence[ReceiptDoubt]
    blocks: Sequence[DoNotContact]
    readings: Sequence[Reading]
    at: datetime


def read(connection: Connection, campaign_row: int, person: int | None = None) -> Records:
    """Everything that was recorded about a campaign, or about one `person` in it, by candidate row:
    as of one moment.
    """

    def of(model: type[Model], which: bool | ColumnElement[bool]) -> Sequence[Model]:
        return rows_of(connection, whole(model).where(which).order_by("id"))

    [here] = of(Campaign, Campaign.id == campaign_row)
    decisions = of(Decision, Decision.campaign_id == here.id)
    people = _people(connection, here.id)
    journal = journal_of(connection, here.id, person)
    if person is None:
        requests = requests_of(journal, people, decisions)
    else:
        of_them = [verdict for verdict in decisions if _concerns(verdict, person)]
        carrying = (request for request in journal if carries(request, person))
        requests = requests_of(carrying, {person}, of_them)
    keys = select(candidate.c.email_key).where(candidate.c.campaign_id == here.id)
    records = Records(
        campaign=here,
        people=people,
        runs=of(Run, Run.campaign_id == here.id),
        requests=requests,
        decisions=decisions,
        approvals=of(Approval, Approval.campaign_key == here.key),
        pauses=of(Pause, Pause.campaign_key == here.key),
        receipts=of(ReceiptDoubt, ReceiptDoubt.campaign_key == here.key),
        blocks=of(DoNotContact, col(DoNotContact.email_key).in_(keys)),
        readings=of(Reading, Reading.campaign_id == here.id),
        at=clock.now(),
    )
    return records if person is None else _about(records, person)


def _people(connection: Connection, campaign_row: int) -> dict[int, Person]:
    wanted = select(*_PERSON).where(candidate.c.campaign_id == campaign_row)
    rows = connection.execute(
        wanted.order_by(candidate.c.id), execution_options={"yield_per": 1_000}
    )
    people = {}
    for row, key, first, last, email1, source, listed, number, add, invite, why in rows:
        # Texts that are the same for many, or twice in a row, are stored once.
        typed = key if key == email1 else email1
        steps = intern(add), intern(invite)
        people[row] = Person(key, first, last, typed, intern(source), listed, number, *steps, why)
    return people


def _about(records: Records, person: int) -> Records:
    """Keep what concerns this person: the runs that made these requests, the plans of those runs,
    decisions about the person, and the correction that led to this address.
    """
    made_by = {request.run for request in records.requests}
    runs_of_them = [run for run in records.runs if run.id in made_by]
    under = {run.approval_id for run in runs_of_them}
    plans = [plan for plan in records.approvals if plan.id in under]
    digests = {plan.digest for plan in plans}
    return replace(
        records,
        runs=runs_of_them,
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
    )


def _concerns(decision: Decision, person: int) -> bool:
    corrected_to = decision.value if decision.verdict == Word.CORRECT else None
    return bool(decision.candidate_row == person or corrected_to == str(person))


def carries(request: Attempt | Row[Any], person: int) -> bool:
    """Whether a request of the journal was about this candidate row."""
    if request.operation == Operation.INVITE:
        return bool(request.candidate_row == person)
    return any(person in span for span in rows_in(request.carried))
