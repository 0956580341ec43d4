"""Invite people by name, whatever would hold them back: once more, or although they are held.

The statements behind `campaign resend` and `campaign allow`, inside a transaction of the ledger.
The reasons to hold somebody that exist now no longer hold the person. A later reason (another
invitation, a new entry on the do-not-contact list) holds again, because nobody has looked at that.
"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, exists, func, select, update

from config.command_line import command
from config.timetable.moments import minute_from
from data.campaigns.queries import people_in
from data.decisions.doubt_rows import SEEN, doubts_in
from data.decisions.settling import write_down
from data.decisions.verdicts import Decided, Doubt, NotDecided
from data.holds.reasons import held_rows, on_the_list
from data.holds.second_addresses import held_seconds
from data.store import clock
from data.store.states import By, Operation, Step, Word
from data.store.tables import Candidate, attempt, candidate, decision, do_not_contact

CORRECTED = "was corrected: emails now go to the new address"
LETS_THROUGH = command("allow", "KEY", "EMAIL", "--why", "TEXT")
NOTHING_HOLDS = "is not held: nothing stops this person from being invited"
LAST_ATTEMPT = select(func.coalesce(func.max(attempt.c.id), 0)).scalar_subquery()
LAST_ENTRY = select(func.coalesce(func.max(do_not_contact.c.id), 0)).scalar_subquery()
DO_NOT_CONTACT = f"is on the do-not-contact list; to allow the person first: {LETS_THROUGH}"
_NOT_YET = {
    Step.WAITING: "is not invited yet: the next run sends the invitation",
    Step.SENDING: "is being invited by a run right now",
    Step.UNSURE: "may have been invited: settle that first",
}
_NOT_ADDED = {
    Step.WAITING: "is not added yet: the next run adds and invites this person",
    Step.SENDING: "is being added by a run right now",
    Step.UNSURE: "may have been added: settle that first",
    Step.REFUSED: "was refused when added: fix the row in the definition, then run again; "
    f"{command('status', 'KEY')} says what to type if the row was right",
}


def objections(connection: Connection, campaign_row: int, rows: Sequence[int]) -> dict[int, str]:
    """Say who cannot be invited once more now and why, by position in `rows`."""
    at = clock.now()
    people = people_in(connection, campaign_row, rows)
    settled = _settled(connection, [_last_attempt(person) for person in people.values()])
    listed = on_the_list(connection, rows, at)
    objections_to = {}
    for position, row in enumerate(rows):
        person = people[row]
        objection = no_resend(person, settled.get(_last_attempt(person) or 0), at)
        if row in listed:
            objection = objection or DO_NOT_CONTACT
        if objection is not None:
            objections_to[position] = objection
    return objections_to


def no_resend(person: Candidate, doubt: Doubt | None, at: datetime) -> str | None:
    """Say why a person cannot be invited once more now; None when that is possible.

    `doubt` is set if a person, not an answer, settled the last invitation.
    """
    if person.corrected_to is not None:
        return CORRECTED
    if not person.listed:
        return "is no longer in the definition: put the row back, run, then resend"
    if person.add_state in _NOT_ADDED:
        return _NOT_ADDED[Step(person.add_state)]
    if person.invite_state in _NOT_YET:
        return _NOT_YET[Step(person.invite_state)]
    if doubt is not None and doubt.alive:
        return "was settled while the run that sent it is still in progress: wait until it ends"
    if doubt is not None and at < doubt.again_from:
        # Without this, withdraw and then resend would bypass the wait for `again`.
        return (
            "was settled without an answer from the service, which may still be working on it: "
            f"wait until {minute_from(doubt.again_from, doubt.timezone)}"
        )
    return None


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


def not_held(connection: Connection, campaign_row: int, rows: Sequence[int]) -> dict[int, str]:
    """Say who cannot be let through and why, by position in `rows`."""
    held = held_seconds(connection, campaign_row) | held_rows(connection, rows, clock.now())
    return {n: NOTHING_HOLDS for n, row in enumerate(rows) if row not in held}


def allow(connection: Connection, campaign_row: int, rows: Sequence[int], by: By) -> None:
    """Let these candidates through, or raise NotDecided (by position) and change nothing."""
    if refused := not_held(connection, campaign_row, rows):
        raise NotDecided(refused)
    connection.execute(
        update(candidate)
        .where(candidate.c.id.in_(rows), candidate.c.campaign_id == campaign_row)
        .values(allowed_attempt=LAST_ATTEMPT, allowed_entry=LAST_ENTRY)
    )
    write_down(connection, campaign_row, [Decided(None, row, Word.ALLOW) for row in rows], by)
