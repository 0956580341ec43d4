"""Who is next: whom a run still has to add and invite, and in which order.

Held people are left out here, so that nobody waits for them; the claim checks again
(data/sending/claims.py).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, select

from data.campaigns import forgotten
from data.holds import reasons
from data.sending import refusals
from data.store.states import AttemptState, Step
from data.store.tables import attempt, candidate


@dataclass(frozen=True, slots=True)
class ToInvite:
    """One person who is in the project and not yet invited."""

    row: int
    candidate_id: int
    timezone: str | None = None
    pilot: bool = False
    refusals: tuple[int, ...] = ()  # the statuses of earlier refusals of this invitation


# Built once: a run asks for them again and again.
_TO_ADD = (
    select(candidate.c.id)
    .where(
        candidate.c.campaign_id == bindparam("of"),
        candidate.c.add_state == Step.WAITING,
        candidate.c.listed,
    )
    .order_by(candidate.c.id)
)
_TO_INVITE = (
    select(
        candidate.c.id,
        candidate.c.candidate_id,
        candidate.c.timezone,
        (candidate.c.email_key == bindparam("of_pilot")).label("pilot"),
    )
    .where(
        candidate.c.campaign_id == bindparam("of"),
        candidate.c.add_state == Step.DONE,
        candidate.c.invite_state == Step.WAITING,
        candidate.c.candidate_id.is_not(None),
        candidate.c.listed,
    )
    .order_by(candidate.c.id)
)
_STILL_WAITING = select(candidate.c.id).where(
    candidate.c.id.in_(bindparam("rows", expanding=True)), candidate.c.invite_state == Step.WAITING
)
_CAMPAIGN_OF = select(candidate.c.campaign_id).where(candidate.c.id == bindparam("row"))
_OF_CAMPAIGN = select(candidate.c.email_key, candidate.c.candidate_id).where(
    candidate.c.campaign_id == _CAMPAIGN_OF.scalar_subquery(),
    candidate.c.email_key.in_(bindparam("keys", expanding=True)),
)
_SENT_BESIDE = (
    select(attempt.c.id)
    .where(
        attempt.c.campaign_id == bindparam("of"),
        attempt.c.run_id != bindparam("run"),
        attempt.c.state == AttemptState.SENDING,
    )
    .order_by(attempt.c.id.desc())
    .limit(1)
)


def to_add(connection: Connection, campaign_row: int) -> list[int]:
    """Rows of candidates to add, in the definition's order, without held people."""
    held = reasons.held_in(connection, campaign_row)
    rows = connection.scalars(_TO_ADD, {"of": campaign_row})
    return [row for row in rows if row not in held]


def to_invite(
    connection: Connection, campaign_row: int, pilot: str | None = None
) -> list[ToInvite]:
    """Candidates in the project to invite, in the same order, without held people.

    People who were refused before come last, so that a service that still refuses first gets
    somebody whom it has not refused. `pilot` is the pilot's email key; the pilot is marked in the
    result.
    """
    held = reasons.held_in(connection, campaign_row)
    rows = connection.execute(_TO_INVITE, {"of": campaign_row, "of_pilot": pilot or ""}).all()
    before = refusals.of_people(connection, campaign_row) if rows else {}
    people = [
        ToInvite(row.id, row.candidate_id, row.timezone, row.pilot, before.get(row.id, ()))
        for row in rows
        if row.id not in held
    ]
    return sorted(people, key=lambda person: len(person.refusals))


def still_waiting(connection: Connection, rows: Sequence[int]) -> set[int]:
    """The candidates among these ledger rows whose invitation has not been claimed yet."""
    return set(connection.scalars(_STILL_WAITING, {"rows": rows}))


def sent_beside(connection: Connection, campaign_row: int, run: int) -> int | None:
    """The newest attempt of this campaign that another run is sending now."""
    return connection.scalar(_SENT_BESIDE, {"of": campaign_row, "run": run})


def strangers(connection: Connection, row: int, answered: Mapping[str, Collection[int]]) -> int:
    """How many of these people, by email key, are not in this candidate's campaign under one of
    these ids. People without an id, and forgotten people, may well be in the project.
    """
    people = connection.execute(_OF_CAMPAIGN, {"row": row, "keys": list(answered)}).all()
    strange = answered.keys() - {
        person.email_key
        for person in people
        if person.candidate_id is None or person.candidate_id in answered[person.email_key]
    }
    if strange:
        campaign_row = connection.scalar(_CAMPAIGN_OF, {"row": row})
        strange -= forgotten.among(connection, strange, campaign_row)
    return len(strange)
