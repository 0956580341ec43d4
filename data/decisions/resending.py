"""Inviting people once more on purpose: the statements, inside a transaction of the ledger."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, exists, select, update

from config.command_line import command
from data.decisions.allowing import LAST_ATTEMPT
from data.decisions.doubt_rows import SEEN, doubts_in
from data.decisions.settling import write_down
from data.decisions.verdicts import Decided, Doubt, Invited, NotDecided, no_resend
from data.holds.reasons import held_rows
from data.holds.rule import Cause
from data.store import clock
from data.store.states import By, Operation, Step, Word
from data.store.tables import attempt, candidate, decision

CORRECTED = "was corrected: emails now go to the new address"
LETS_THROUGH = command("allow", "KEY", "EMAIL", "--why", "TEXT")
DO_NOT_CONTACT = f"is on the do-not-contact list: first let the person through: {LETS_THROUGH}"


def objections(connection: Connection, campaign_row: int, rows: Sequence[int]) -> dict[int, str]:
    """Say who cannot be invited once more now and why, by position in `rows`."""
    at = clock.now()
    people = _people(connection, campaign_row, rows)
    settled = _settled(connection, [_last_attempt(person) for person in people.values()])
    listed = {
        row for row, hold in held_rows(connection, rows, at).items() if hold.cause is Cause.LISTED
    }
    objections_to = {}
    for position, row in enumerate(rows):
        objection = no_resend(_invited(people[row], settled), at)
        if people[row].corrected_to is not None:
            objection = CORRECTED
        elif row in listed:
            objection = objection or DO_NOT_CONTACT
        if objection is not None:
            objections_to[position] = objection
    return objections_to


def resend(connection: Connection, campaign_row: int, rows: Sequence[int], by: By) -> None:
    """Have these people invited once more, or raise NotDecided (by position) and change nothing.

    A new generation of the invitation, which a late answer to an earlier one never touches.
    """
    if refused := objections(connection, campaign_row, rows):
        raise NotDecided(refused)
    people = _people(connection, campaign_row, rows)
    chosen = candidate.c.id.in_(rows)
    connection.execute(
        update(candidate)
        .where(chosen)
        .values(
            generation=candidate.c.generation + 1,
            # Named by a person: what other campaigns have sent until now holds nobody.
            allowed_attempt=LAST_ATTEMPT,
            invite_state=Step.WAITING,
            invite_attempt=None,
            why=None,
        )
    )
    # Who was withdrawn before being added needs that first.
    connection.execute(
        update(candidate)
        .where(chosen, candidate.c.add_state == Step.WITHDRAWN)
        .values(add_state=Step.WAITING)
    )
    decided = [Decided(_last_attempt(people[row]), row, Word.RESEND) for row in rows]
    write_down(connection, campaign_row, decided, by)


def _people(connection: Connection, campaign_row: int, rows: Sequence[int]) -> dict[int, Row[Any]]:
    people = connection.execute(
        select(candidate).where(candidate.c.campaign_id == campaign_row, candidate.c.id.in_(rows))
    )
    return {person.id: person for person in people}


def _last_attempt(person: Row[Any]) -> int | None:
    """The request that a new invitation comes after: the last invitation, or the withdrawn add."""
    last: int | None = person.invite_attempt
    return person.add_attempt if person.add_state == Step.WITHDRAWN else last


def _settled(connection: Connection, numbers: Sequence[int | None]) -> dict[int, Doubt]:
    """Of these requests those that a person settled, each as the doubt it was."""
    statement = select(*SEEN).where(
        attempt.c.id.in_([number for number in numbers if number is not None]),
        exists().where(decision.c.attempt_id == attempt.c.id),
    )
    rows = connection.execute(statement).all()
    return {row.attempt: row for row in doubts_in(connection, Operation.INVITE, rows)}


def _invited(person: Row[Any], settled: Mapping[int, Doubt]) -> Invited:
    return Invited(
        bool(person.listed),
        Step(person.add_state),
        Step(person.invite_state),
        settled.get(_last_attempt(person) or 0),
    )
