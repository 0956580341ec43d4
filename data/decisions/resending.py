"""Invite people once more on purpose: the statements, inside a transaction of the ledger."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, exists, select, update

from config.command_line import command
from data.campaigns.queries import people_in
from data.decisions.allowing import LAST_ATTEMPT
from data.decisions.doubt_rows import SEEN, doubts_in
from data.decisions.settling import write_down
from data.decisions.verdicts import Decided, Doubt, Invited, NotDecided, no_resend
from data.holds.reasons import held_rows
from data.holds.rule import Cause
from data.store import clock
from data.store.states import By, Operation, Step, Word
from data.store.tables import Candidate, attempt, candidate, decision

CORRECTED = "was corrected: emails now go to the new address"
LETS_THROUGH = command("allow", "KEY", "EMAIL", "--why", "TEXT")
DO_NOT_CONTACT = f"is on the do-not-contact list; to allow the person first: {LETS_THROUGH}"


def objections(connection: Connection, campaign_row: int, rows: Sequence[int]) -> dict[int, str]:
    """Say who cannot be invited once more now and why, by position in `rows`."""
    at = clock.now()
    people = people_in(connection, campaign_row, rows)
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
    """Let these people be invited once more, or raise NotDecided (by position) and change nothing.

    This begins a new generation of the invitation: a late answer to an earlier one never changes
    it.
    """
    if refused := objections(connection, campaign_row, rows):
        raise NotDecided(refused)
    people = people_in(connection, campaign_row, rows)
    chosen = candidate.c.id.in_(rows)
    connection.execute(
        update(candidate)
        .where(chosen)
        .values(
            generation=candidate.c.generation + 1,
            # A person named them, so what other campaigns have sent until now does not hold them.
            allowed_attempt=LAST_ATTEMPT,
            invite_state=Step.WAITING,
            invite_attempt=None,
            why=None,
        )
    )
    # A person who was withdrawn before the add has to be added first.
    connection.execute(
        update(candidate)
        .where(chosen, candidate.c.add_state == Step.WITHDRAWN)
        .values(add_state=Step.WAITING)
    )
    decided = [Decided(_last_attempt(people[row]), row, Word.RESEND) for row in rows]
    write_down(connection, campaign_row, decided, by)


def _last_attempt(person: Candidate) -> int | None:
    """The request that precedes a new invitation: the last invitation, or the withdrawn add."""
    return person.add_attempt if person.add_state == Step.WITHDRAWN else person.invite_attempt


def _settled(connection: Connection, numbers: Sequence[int | None]) -> dict[int, Doubt]:
    """The requests among these that a person settled, each as the doubt that it was."""
    statement = select(*SEEN).where(
        attempt.c.id.in_([number for number in numbers if number is not None]),
        exists().where(decision.c.attempt_id == attempt.c.id),
    )
    rows = connection.execute(statement).all()
    return {row.attempt: row for row in doubts_in(connection, Operation.INVITE, rows)}


def _invited(person: Candidate, settled: Mapping[int, Doubt]) -> Invited:
    return Invited(
        person.listed,
        Step(person.add_state),
        Step(person.invite_state),
        settled.get(_last_attempt(person) or 0),
    )
