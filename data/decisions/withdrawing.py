"""Withdrawing a person or replacing a wrong address: nothing more is sent there.

The statements behind `campaign withdraw` and `campaign correct`, inside a transaction of the
ledger. What was sent stays sent: the service has no delete (interface 4), so what is left over
there is on the list for a person's hands (data/decisions/clean_up.py).
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, case, exists, insert, select, update

from config.command_line import command
from data.campaigns import forgotten
from data.campaigns.intake import SENT
from data.decisions.settling import find, reason, settle, write_down
from data.decisions.verdicts import Decided, NotDecided
from data.store.states import AttemptState, By, Operation, Step, Word
from data.store.tables import attempt, candidate

UNDER_WAY = "is being added or invited by a run right now: wait until it ends"
WITHDRAWN = "is already withdrawn"
UNLISTED = "is no longer in the definition: put the right address into it, then run it"
KNOWN = "is already a candidate of this campaign"
CORRECTED = "was corrected before"
LIFTS = command("forget", "EMAIL", "--lift", "--why", "TEXT")
FORGOTTEN = f"was forgotten on request; to allow it again: {LIFTS}"


def against_withdrawing(
    connection: Connection, campaign_row: int, rows: Sequence[int]
) -> dict[int, str]:
    """Say who cannot be withdrawn now and why, by position in `rows`."""
    people = _people(connection, campaign_row, rows)
    objections_to = {n: _against_withdrawing(people[row]) for n, row in enumerate(rows)}
    return {n: why for n, why in objections_to.items() if why is not None}


def _against_withdrawing(person: Row[Any]) -> str | None:
    if Step.SENDING in (person.add_state, person.invite_state):
        return UNDER_WAY
    if person.corrected_to is not None:
        return CORRECTED
    return WITHDRAWN if person.invite_state == Step.WITHDRAWN else None


def withdraw(connection: Connection, campaign_row: int, rows: Sequence[int], by: By) -> None:
    """Withdraw these candidates, or raise NotDecided (by position) and change nothing."""
    if refused := against_withdrawing(connection, campaign_row, rows):
        raise NotDecided(refused)
    settled = _step_back(connection, campaign_row, rows, by)
    others = [Decided(None, row, Word.WITHDRAW) for row in rows if row not in settled]
    write_down(connection, campaign_row, others, by)


def _step_back(connection: Connection, campaign_row: int, rows: Sequence[int], by: By) -> set[int]:
    """Send nothing more to these candidates; answers those of them who were unsure.

    A doubt about them is settled by that, as `campaign settle` would do it.
    """
    doubts = [d for d in find(connection, campaign_row).steps if d.row in rows]
    verdicts = [Decided(doubt.attempt, doubt.row, Word.WITHDRAW) for doubt in doubts]
    if verdicts:
        settle(connection, campaign_row, verdicts, by, soon=False)
    never_added = candidate.c.add_state.in_((Step.WAITING, Step.REFUSED))
    connection.execute(
        update(candidate)
        .where(candidate.c.id.in_(rows))
        .values(
            add_state=case((never_added, Step.WITHDRAWN), else_=candidate.c.add_state),
            invite_state=Step.WITHDRAWN,
            why=reason(Word.WITHDRAW, by),
        )
    )
    return {doubt.row for doubt in doubts if doubt.row is not None}


def against_correcting(
    connection: Connection, campaign_row: int, row: int, key: str
) -> dict[int, str]:
    """Say why a candidate's address cannot become that of `key` now: 0 the old one, 1 the new."""
    old = _people(connection, campaign_row, [row])[row]
    if old.corrected_to is not None:
        return {0: CORRECTED}
    if Step.SENDING in (old.add_state, old.invite_state):
        return {0: UNDER_WAY}
    if forgotten.among(connection, [key], campaign_row):
        return {1: FORGOTTEN}
    new = _person(connection, campaign_row, key)
    if not old.listed:
        # The definition may have the right address already: whoever stands there is held.
        return {} if _waits_uninvited(new) else {0: UNLISTED}
    if new is None or new.corrected_to is not None:
        return {}
    return {1: "is the same address" if new.id == row else KNOWN}


def _waits_uninvited(person: Row[Any] | None) -> bool:
    return (
        person is not None
        and person.listed
        and person.invite_attempt is None
        and person.invite_state == Step.WAITING
        and person.add_state in (Step.WAITING, Step.DONE)
    )


def correct(
    connection: Connection, campaign_row: int, row: int, address: tuple[str, str], by: By
) -> None:
    """Have the person at `row` be reached at another address, as typed and as its email key.

    A new candidate with the names as they were, to be added and invited; the old one is sent
    nothing more, and stays as where the new one came from. Going back to an address from before
    an earlier correction takes that one up again, as far as it had got. Raises NotDecided.
    """
    email1, key = address
    if refused := against_correcting(connection, campaign_row, row, key):
        raise NotDecided(refused)
    _step_back(connection, campaign_row, [row], by)
    before = _person(connection, campaign_row, key)
    if before is None:
        number = _insert(connection, campaign_row, row, email1, key)
    else:
        number = before.id
        _take_up_again(connection, before)
    connection.execute(
        update(candidate)
        .where(candidate.c.id == row)
        .values(
            corrected_to=number, listed=False, why=f"corrected to {email1} by {by.who}: {by.why}"
        )
    )
    write_down(connection, campaign_row, [Decided(None, row, Word.CORRECT, number)], by)


def _insert(connection: Connection, campaign_row: int, row: int, email1: str, key: str) -> int:
    old = connection.execute(select(candidate).where(candidate.c.id == row)).one()._mapping
    values = {name: old[name] for name in SENT} | {
        "campaign_id": campaign_row,
        "email_key": key,
        "email1": email1,
        "listed": True,
        "add_state": Step.WAITING,
        "invite_state": Step.WAITING,
        "generation": 1,
    }
    statement = insert(candidate).values(values).returning(candidate.c.id)
    return int(connection.execute(statement).scalar_one())


def _take_up_again(connection: Connection, person: Row[Any]) -> None:
    """What was never sent waits again; what was sent is done again; the rest stays withdrawn."""
    invited = exists().where(
        attempt.c.candidate_row == person.id,
        attempt.c.operation == Operation.INVITE,
        attempt.c.generation == person.generation,
        attempt.c.state == AttemptState.DONE,
    )
    never_added = candidate.c.add_attempt.is_(None)
    never_invited = candidate.c.invite_attempt.is_(None) & (never_added | _THERE)
    connection.execute(
        update(candidate)
        .where(candidate.c.id == person.id)
        .values(
            corrected_to=None,
            listed=True,
            why=None,
            add_state=case(
                (_THERE, Step.DONE), (never_added, Step.WAITING), else_=candidate.c.add_state
            ),
            invite_state=case(
                (invited, Step.DONE),
                (never_invited, Step.WAITING),
                else_=candidate.c.invite_state,
            ),
        )
    )


_THERE = candidate.c.candidate_id.is_not(None)


def _people(connection: Connection, campaign_row: int, rows: Sequence[int]) -> dict[int, Row[Any]]:
    people = connection.execute(
        select(candidate).where(candidate.c.campaign_id == campaign_row, candidate.c.id.in_(rows))
    )
    return {person.id: person for person in people}


def _person(connection: Connection, campaign_row: int, key: str) -> Row[Any] | None:
    return connection.execute(
        select(candidate).where(
            candidate.c.campaign_id == campaign_row, candidate.c.email_key == key
        )
    ).first()
