"""Inviting people once more on purpose: the statements, inside a transaction of the ledger."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, exists, select, update

from data.doubts import By, Decided, Invited, NotDecided, Word, no_resend
from data.settling import SEEN, doubts_in, write_down
from data.states import Operation, Step
from data.tables import Attempt, Candidate, Decision

candidate = Candidate.__table__  # type: ignore[attr-defined]
attempt = Attempt.__table__  # type: ignore[attr-defined]
decision = Decision.__table__  # type: ignore[attr-defined]


def objections(
    connection: Connection, campaign_row: int, rows: Sequence[int], at: datetime
) -> dict[int, str]:
    """Say who cannot be invited once more now and why, by position in `rows`."""
    people = {row.id: row for row in connection.execute(_candidates(campaign_row, rows))}
    found = {}
    for position, row in enumerate(rows):
        objection = no_resend(_invited(connection, people[row], at), at)
        if objection is not None:
            found[position] = objection
    return found


def resend(connection: Connection, campaign_row: int, rows: Sequence[int], by: By) -> None:
    """Have these people invited once more, or raise NotDecided (by position) and change nothing.

    A new generation of the invitation, which a late answer to an earlier one never touches.
    """
    if refused := objections(connection, campaign_row, rows, by.at):
        raise NotDecided(refused)
    people = {row.id: row for row in connection.execute(_candidates(campaign_row, rows))}
    chosen = candidate.c.id.in_(rows)
    connection.execute(
        update(candidate)
        .where(chosen)
        .values(
            generation=candidate.c.generation + 1,
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


def _candidates(campaign_row: int, rows: Sequence[int]) -> Select[Any]:
    return select(candidate).where(
        candidate.c.campaign_id == campaign_row, candidate.c.id.in_(rows)
    )


def _last_attempt(person: Row[Any]) -> int | None:
    """The request that a new invitation comes after: the last invitation, or the withdrawn add."""
    found: int | None = person.invite_attempt
    return person.add_attempt if person.add_state == Step.WITHDRAWN else found


def _invited(connection: Connection, person: Row[Any], at: datetime) -> Invited:
    settled = select(*SEEN).where(
        attempt.c.id == _last_attempt(person),
        exists().where(decision.c.attempt_id == attempt.c.id),
    )
    doubt = next(iter(doubts_in(connection, Operation.INVITE, settled, at)), None)
    return Invited(
        person.id, bool(person.listed), Step(person.add_state), Step(person.invite_state), doubt
    )
