"""Withdraw a person or replace a wrong address: nothing more is sent there.

The statements behind `campaign withdraw` and `campaign correct`, inside a transaction of the
ledger. What was sent stays sent. The service has no delete (interface 4), so what remains there is
listed for a person to remove (data/decisions/cleaning.py).
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, case, exists, insert, update
from sqlmodel import select

from config.command_line import command
from config.definition.sent_fields import FIELDS
from data.campaigns import forgotten
from data.campaigns.intake import KEPT
from data.campaigns.queries import people_in
from data.decisions.settling import find, reason, settle, write_down
from data.decisions.verdicts import Decided, NotDecided
from data.store.states import MAY_HAVE_HAPPENED, AttemptState, By, Operation, Step, Word
from data.store.tables import Candidate, attempt, candidate, decision, rows_of

UNDER_WAY = "is being added or invited by a run right now: wait until it ends"
WITHDRAWN = "is already withdrawn"
UNLISTED = "is no longer in the definition: put the right address into it, then run it"
KNOWN = "is already a candidate of this campaign"
OTHERS = "was the address of another candidate of this campaign before it was corrected"
SAME = "is the same address"
CORRECTED = "was corrected before: name the new address"
FOR_GOOD = "was forgotten by this campaign, for good: to invite the person, use another campaign"


def against_withdrawing(
    connection: Connection, campaign_row: int, rows: Sequence[int]
) -> dict[int, str]:
    """Say who cannot be withdrawn now and why, by position in `rows`."""
    people = people_in(connection, campaign_row, rows)
    objections_to = {n: _against_withdrawing(people[row]) for n, row in enumerate(rows)}
    return {n: why for n, why in objections_to.items() if why is not None}


def _against_withdrawing(person: Candidate) -> str | None:
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
    """Send nothing more to these candidates; returns those who were unsure.

    This also settles a doubt about them, as `campaign settle` would.
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
    connection: Connection, campaign_row: int, row: int, address: tuple[str, str]
) -> dict[int, str]:
    """Say why an address cannot become another: by 0 for the old one, 1 for the new."""
    email1, key = address
    old = people_in(connection, campaign_row, [row])[row]
    if old.corrected_to is not None:
        return {0: CORRECTED}
    if Step.SENDING in (old.add_state, old.invite_state):
        return {0: UNDER_WAY}
    if forgotten.for_good(connection, [key], campaign_row):
        return {1: FOR_GOOD}
    if forgotten.among(connection, [key]):
        lifts = command("forget", email1, "--allow-again", "--why", "TEXT")
        return {1: f"was forgotten on request; to allow it again: {lifts}"}
    new = _person(connection, campaign_row, key)
    if not old.listed:
        # The definition may have the right address already: its row is held.
        return {} if _waits_uninvited(new) else {0: UNLISTED}
    if new is None:
        return {}
    if new.corrected_to is not None:
        return {} if _now(connection, campaign_row, new) == row else {1: OTHERS}
    return {1: SAME if new.id == row else KNOWN}


def _now(connection: Connection, campaign_row: int, person: Candidate) -> int:
    """The row of whoever this person is, after all corrections."""
    while person.corrected_to is not None:
        person = people_in(connection, campaign_row, [person.corrected_to])[person.corrected_to]
    return person.id


def _waits_uninvited(person: Candidate | None) -> bool:
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
    """Replace the address of the person at `row` by another, given as typed and as its email key.

    This makes a new candidate with the same names, to be added and invited. Nothing more is sent to
    the old one, which stays as the origin of the new one. A correction back to an earlier address
    of the same person revives the earlier candidate, as far as it had got. Raises NotDecided.
    """
    email1, key = address
    if refused := against_correcting(connection, campaign_row, row, address):
        raise NotDecided(refused, "address", "addresses")
    _step_back(connection, campaign_row, [row], by)
    before = _person(connection, campaign_row, key)
    if before is None:
        number = _insert(connection, campaign_row, row, email1, key)
        forgotten.hold_spellings(connection, {key: email1})
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
    old = people_in(connection, campaign_row, [row])[row]
    values = {name: getattr(old, name) for name in (*FIELDS, *KEPT)} | {
        "campaign_id": campaign_row,
        "email_key": key,
        "email1": email1,
    }
    statement = insert(candidate).values(values).returning(candidate.c.id)
    return int(connection.execute(statement).scalar_one())


def _take_up_again(connection: Connection, person: Candidate) -> None:
    """What provably had no effect is waiting again; what was sent counts as done again; what nobody
    knows is unsure again, as no person has said anything of it.
    """
    invited = exists().where(
        attempt.c.candidate_row == person.id,
        attempt.c.operation == Operation.INVITE,
        attempt.c.generation == person.generation,
        attempt.c.state == AttemptState.DONE,
    )
    never_added = ~_may_have_happened(candidate.c.add_attempt)
    never_invited = ~_may_have_happened(candidate.c.invite_attempt)
    connection.execute(
        update(candidate)
        .where(candidate.c.id == person.id)
        .values(
            corrected_to=None,
            listed=True,
            why=None,
            add_state=case((_THERE, Step.DONE), (never_added, Step.WAITING), else_=Step.UNSURE),
            invite_state=case(
                (invited, Step.DONE), (never_invited, Step.WAITING), else_=Step.UNSURE
            ),
        )
    )
    now = people_in(connection, person.campaign_id, [person.id])[person.id]
    last = [
        number
        for number, state in (
            (now.add_attempt, now.add_state),
            (now.invite_attempt, now.invite_state),
        )
        if state == Step.UNSURE
    ]
    if last:
        doubted = update(attempt).where(attempt.c.id.in_(last)).values(state=AttemptState.UNSURE)
        connection.execute(doubted)
        evidence = select(attempt.c.evidence).where(attempt.c.id == last[-1]).scalar_subquery()
        connection.execute(
            update(candidate).where(candidate.c.id == person.id).values(why=evidence)
        )


def _may_have_happened(last: ColumnElement[Any]) -> ColumnElement[bool]:
    """Whether a candidate's last request may have had its effect, and nobody decided `again`."""
    sent_again = exists().where(
        decision.c.attempt_id == attempt.c.id,
        decision.c.candidate_row == candidate.c.id,
        decision.c.verdict.in_((Word.AGAIN, Word.ADD_AGAIN)),
    )
    return exists().where(attempt.c.id == last, attempt.c.state.in_(MAY_HAVE_HAPPENED), ~sent_again)


_THERE = candidate.c.candidate_id.is_not(None)


def _person(connection: Connection, campaign_row: int, key: str) -> Candidate | None:
    mine = select(Candidate).where(Candidate.campaign_id == campaign_row)
    return next(iter(rows_of(connection, mine.where(Candidate.email_key == key))), None)
