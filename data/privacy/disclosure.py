"""Everything the ledger has about one person, for a person who asks for it.

`about` works inside a transaction that its caller opened, and reads only.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, or_
from sqlmodel import SQLModel, col, select

from data.campaigns import forgotten
from data.history.records import carries
from data.privacy.forgetting import lineage
from data.store.states import Operation
from data.store.tables import (
    Attempt,
    Campaign,
    Candidate,
    Decision,
    DoNotContact,
    Forgotten,
    rows_of,
)

_PERSON = ("first_name", "last_name", "email1", "source", "notes", "stage_id", "timezone")
_STEPS = ("candidate_id", "add_state", "invite_state", "listed", "why")
_REQUEST = ("operation", "state", "claimed_at", "ended_at", "status", "evidence")
_DECISION = ("verdict", "who", "why", "decided_at")
_ENTRY = ("email1", "who", "why", "listed_at", "lifted_at", "lifted_by", "lifted_why", "file")

Disclosed = dict[str, Any]


def about(connection: Connection, key: str) -> Disclosed:
    """Everything that names the person at this address, or is about that person alone.

    Times are written as ISO 8601. An address that was corrected from or to this one is the same
    person. `forgotten` is when the address was forgotten, or None.
    """
    people = lineage(connection, [key])
    keys = {key, *(person.email_key for person in people)}
    listed = rows_of(connection, select(DoNotContact).where(col(DoNotContact.email_key).in_(keys)))
    number = forgotten.hashes(connection, [key])[key]
    when = connection.scalar(select(Forgotten.forgotten_at).where(Forgotten.hash == number))
    return {
        "campaigns": [_in_campaign(connection, person) for person in people],
        "do_not_contact": [_fields(entry, _ENTRY) for entry in listed],
        "forgotten": _plain(when),
    }


def _in_campaign(connection: Connection, person: Candidate) -> Disclosed:
    [of] = rows_of(connection, select(Campaign).where(Campaign.id == person.campaign_id))
    may_carry = or_(
        col(Attempt.candidate_row) == person.id, col(Attempt.operation) == Operation.ADD
    )
    requests = rows_of(
        connection,
        select(Attempt)
        .where(Attempt.campaign_id == person.campaign_id, may_carry)
        .order_by(col(Attempt.id)),
    )
    decisions = rows_of(
        connection,
        select(Decision).where(Decision.candidate_row == person.id).order_by(col(Decision.id)),
    )
    return {
        "campaign": of.key,
        "service": of.service,
        "project_id": of.project_id,
        **_fields(person, (*_PERSON, *_STEPS)),
        "requests": [_request(request) for request in requests if carries(request, person.id)],
        "decisions": [_fields(row, _DECISION) for row in decisions],
    }


def _request(request: Attempt) -> Disclosed:
    """Leave out what the service wrote about a request for several people: it may name others."""
    wrote = request.answer or None if request.rows == 1 else None
    return {**_fields(request, _REQUEST), "service_wrote": wrote}


def _fields(row: SQLModel, names: Sequence[str]) -> Disclosed:
    return {name: _plain(getattr(row, name)) for name in names}


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value
