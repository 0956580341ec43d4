"""Everything the ledger has about one person, for somebody who asks.

`about` works inside a transaction that its caller opened, and reads only.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, or_, select

from data.campaigns import forgotten
from data.history.records import carries
from data.privacy.forgetting import lineage
from data.store.states import Operation
from data.store.tables import (
    attempt,
    campaign,
    decision,
    do_not_contact,
)
from data.store.tables import forgotten as gone

_PERSON = ("first_name", "last_name", "email1", "source", "notes", "stage_id", "timezone")
_STEPS = ("candidate_id", "add_state", "invite_state", "listed", "why")
_REQUEST = ("operation", "state", "claimed_at", "ended_at", "status", "evidence")
_DECISION = ("verdict", "who", "why", "decided_at")
_ENTRY = ("email1", "who", "why", "listed_at", "lifted_at", "lifted_by", "lifted_why", "file")

Disclosed = dict[str, Any]


def about(connection: Connection, key: str) -> Disclosed:
    """Everything that names the person at this address, or is about that person alone.

    Times are written as ISO 8601. Whoever was corrected from or to the address is the same
    person. `forgotten` is when somebody had the address forgotten, and None otherwise.
    """
    people = lineage(connection, [key])
    keys = {key, *(person.email_key for person in people)}
    listed = connection.execute(select(do_not_contact).where(do_not_contact.c.email_key.in_(keys)))
    number = forgotten.hashes(connection, [key])[key]
    when = connection.scalar(select(gone.c.forgotten_at).where(gone.c.hash == number))
    return {
        "campaigns": [_in_campaign(connection, person) for person in people],
        "do_not_contact": [_fields(entry, _ENTRY) for entry in listed],
        "forgotten": _plain(when),
    }


def _in_campaign(connection: Connection, person: Row[Any]) -> Disclosed:
    of = connection.execute(select(campaign).where(campaign.c.id == person.campaign_id)).one()
    requests = connection.execute(
        select(attempt)
        .where(
            attempt.c.campaign_id == person.campaign_id,
            or_(attempt.c.candidate_row == person.id, attempt.c.operation == Operation.ADD),
        )
        .order_by(attempt.c.id)
    )
    decisions = connection.execute(
        select(decision).where(decision.c.candidate_row == person.id).order_by(decision.c.id)
    )
    return {
        "campaign": of.key,
        "service": of.service,
        "project_id": of.project_id,
        **_fields(person, (*_PERSON, *_STEPS)),
        "requests": [_request(request) for request in requests if carries(request, person.id)],
        "decisions": [_fields(row, _DECISION) for row in decisions],
    }


def _request(request: Row[Any]) -> Disclosed:
    """What the service wrote to a request about several people may name the others: left out."""
    wrote = request.answer or None if request.rows == 1 else None
    return {**_fields(request, _REQUEST), "service_wrote": wrote}


def _fields(row: Row[Any], names: Sequence[str]) -> Disclosed:
    return {name: _plain(row._mapping[name]) for name in names}


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value
