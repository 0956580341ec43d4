"""The promise, checked: a ledger laid beside the service's own record.

    nobody is invited twice, nobody is forgotten, any doubt is small and shown to a person

`check_promise` holds at every moment, also right after a crash and while requests are under way.
`check_rest` holds besides once a run has ended, `check_finished` once nothing more can be done
without a person, `check_times` wherever ledger and service read the same clock. Each raises
BrokenPromise with every violation at once. The record must be of this one campaign.

A person may be wrong: what a decision settled is not held against the record.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from sqlalchemy import bindparam, select

from config.email_key import email_key
from data.decisions import cleaning
from data.decisions.adding_again import ADDS
from data.decisions.cleaning import LeftOver, What
from data.holds import reasons
from data.sending.row_ranges import read as rows_in
from data.store import tables
from data.store.ledger import Ledger
from data.store.states import AttemptState, Operation, Step
from data.store.tables import Campaign
from sandbox.service.record import Record, Request

# Composed once: the books are opened ten thousand times.
_CAMPAIGN = select(tables.campaign).where(tables.campaign.c.key == bindparam("key"))
_ROWS = [
    select(table).where(table.c.campaign_id == bindparam("of")).order_by(table.c.id)
    for table in (tables.candidate, tables.attempt, tables.decision)
]

POSSIBLE = (
    AttemptState.SENDING,
    AttemptState.DONE,
    AttemptState.UNSURE,
    AttemptState.OVERRULED,
)
"""States of an attempt that may have had an effect; in the others it provably had none."""

BY_ITSELF = ("add-again", "double")
"""Decisions that no person made: they say nothing of what the service did."""

UNTOUCHED = (Step.WAITING, Step.REFUSED)
"""Steps that the service provably has not done."""

TOUCHED = (Step.SENDING, Step.DONE, Step.UNSURE)
"""Steps that the service may have done."""


class BrokenPromise(AssertionError):
    """What the ledger says and what the service did do not go together."""


@dataclass(frozen=True)
class Books:
    """All that the ledger says of one campaign."""

    campaign: Campaign
    people: Sequence[Any]  # rows of `candidate`
    attempts: Sequence[Any]  # the journal, oldest first
    decisions: Sequence[Any]

    def of(self, operation: Operation) -> list[Any]:
        """The attempts of one operation, oldest first."""
        return [one for one in self.attempts if one.operation == operation]

    def decided(self, row: int) -> int:
        """How many decisions a person made about one candidate."""
        return self._decided[row]

    @cached_property
    def _decided(self) -> Counter[int | None]:
        """The same by candidate row, of those about the project itself under None."""
        about: dict[int | None, set[int | None]] = {}
        for one in self.attempts:
            about.setdefault(one.id, set()).add(one.candidate_row)
        for one in self.people:
            about.setdefault(one.add_attempt, set()).add(one.id)
        return Counter(
            row
            for one in self.decisions
            if one.verdict not in BY_ITSELF
            for row in {one.candidate_row, *about.get(one.attempt_id, ())}
        )

    def added_again(self, row: int) -> int:
        """How many times the definition had one candidate added once more."""
        again = [one for one in self.decisions if one.verdict == "add-again"]
        return sum(1 for one in again if one.candidate_row == row)

    def proven(self, attempts: Iterable[Any]) -> int:
        """How many of these attempts are done by the service's own answer."""
        settled = {one.attempt_id for one in self.decisions}
        return sum(1 for a in attempts if a.state == AttemptState.DONE and a.id not in settled)


def open_books(ledger: Ledger, campaign_key: str) -> Books | None:
    """Read everything about a campaign; None when the ledger has never heard of it."""
    with ledger._transactions.reading() as connection:
        campaign = connection.execute(_CAMPAIGN, {"key": campaign_key}).first()
        if campaign is None:
            return None
        of = {"of": campaign.id}
        people, attempts, decisions = (connection.execute(rows, of).all() for rows in _ROWS)
    return Books(cast(Campaign, campaign), people, attempts, decisions)


def check_promise(
    ledger: Ledger, campaign_key: str, record: Record, input_keys: Collection[str]
) -> Books | None:
    """Hold the ledger against the record, at any moment; answers the books. Raises BrokenPromise.

    `input_keys` are the email keys of the definition as it was last taken over.
    """
    books = open_books(ledger, campaign_key)
    if books is None:
        _demand(sent_without_a_campaign(record))
        return None
    _demand(
        [
            *invited_twice(books, record),
            *forgotten(books, input_keys),
            *done_but_not_there(books, record),
            *there_but_not_done(books, record),
            *effects_beyond_attempts(books, record),
            *sent_without_a_claim(books, record),
            *made_twice(books, record),
            *added_twice_unlisted(books, record, ledger.read(cleaning.find, books.campaign.id)),
        ]
    )
    return books


def check_rest(ledger: Ledger, campaign_key: str) -> None:
    """Hold that no run is at work: nothing stands on SENDING. Raises BrokenPromise."""
    books = open_books(ledger, campaign_key)
    _demand([] if books is None else still_sending(books))


def check_finished(ledger: Ledger, campaign_key: str) -> Books:
    """Hold that all that a program may do is done; only people can go on. Raises BrokenPromise."""
    books = open_books(ledger, campaign_key)
    if books is None:
        raise BrokenPromise("the campaign is not in the ledger")
    _demand(still_sending(books))
    _demand(left_waiting(books, ledger.read(reasons.held_in, books.campaign.id)))
    return books


def check_nobody_asked(ledger: Ledger, campaign_key: str) -> None:
    """Hold that no add waits for a person, where the definition has it made once more.

    But of whoever was added as often as it does that by itself. Raises BrokenPromise.
    """
    books = open_books(ledger, campaign_key)
    _demand([] if books is None else asked_too_soon(books))


def check_times(ledger: Ledger, campaign_key: str, record: Record) -> None:
    """Hold that each request came in after a claim of its own. Raises BrokenPromise."""
    books = open_books(ledger, campaign_key)
    _demand([] if books is None else sent_before_its_claim(books, record))


def doubts(ledger: Ledger, campaign_key: str) -> int:
    """How many requests may or may not have had an effect; a bulk add is one request."""
    books = open_books(ledger, campaign_key)
    open_states = (AttemptState.SENDING, AttemptState.UNSURE)
    return sum(1 for one in books.attempts if one.state in open_states) if books else 0


# -- the rules, each a list of what breaks it -------------------------------------------------


def sent_without_a_campaign(record: Record) -> Iterator[str]:
    """Nothing is sent for a campaign that the ledger does not hold."""
    for operation in Operation:
        if count := len(record.of(operation)):
            yield f"{count} x {operation} was sent for a campaign that is not in the ledger"


def invited_twice(books: Books, record: Record) -> Iterator[str]:
    """At most one invitation per email, and one more for each decision about it."""
    allowed = {one.email_key: 1 + books.decided(one.id) for one in books.people}
    for key, count in Counter(email_key(one.email) for one in record.invitations).items():
        if count > allowed.get(key, 0):
            yield f"{key} got {count} invitations, {allowed.get(key, 0)} allowed"


def forgotten(books: Books, input_keys: Collection[str]) -> Iterator[str]:
    """Everyone in the definition is in the ledger, in states that it knows."""
    for key in set(input_keys) - {one.email_key for one in books.people}:
        yield f"{key} is in the definition and not in the ledger"
    for one in books.people:
        for state in (one.add_state, one.invite_state):
            if state not in tuple(Step):
                yield f"{one.email_key} stands on {state!r}"
        if one.invite_state in TOUCHED and one.add_state == Step.WAITING:
            yield f"{one.email_key}: the invitation is {one.invite_state}, the add still waits"


def done_but_not_there(books: Books, record: Record) -> Iterator[str]:
    """`done` means that the service has it, under this id and for this person."""
    project = record.project(books.campaign.project_id)
    decided = any(one.candidate_row is None for one in books.decisions)
    if books.campaign.project_state == Step.DONE and project is None and not decided:
        yield f"project {books.campaign.project_id} is done, the service has none of this id"
    if books.campaign.problem_state == Step.DONE and not decided:
        wanted = books.campaign.problem_id
        if wanted is not None and (project is None or wanted not in project.problem_ids):
            yield f"problem {wanted} is done, the service has it not in the project"
    invited = Counter(email_key(one.email) for one in record.invitations)
    for one in books.people:
        if books.decided(one.id):
            continue
        if one.add_state == Step.DONE:
            there = record.candidate(books.campaign.project_id, one.candidate_id)
            if there is None or email_key(there.email1) != one.email_key:
                yield f"{one.email_key} is added as {one.candidate_id}, who is somebody else"
        if one.invite_state == Step.DONE and not invited[one.email_key]:
            yield f"{one.email_key} is invited, the service sent no invitation"


def there_but_not_done(books: Books, record: Record) -> Iterator[str]:
    """What waits or was refused, the service has not done."""
    added = {email_key(one.email1) for one in record.candidates}
    invited = {email_key(one.email) for one in record.invitations}
    for one in books.people:
        if books.decided(one.id):
            continue
        again = books.added_again(one.id)
        if one.add_state in UNTOUCHED and one.email_key in added and not again:
            yield f"the add of {one.email_key} is {one.add_state}, the service has done it"
        if one.invite_state in UNTOUCHED and one.email_key in invited:
            yield f"the invitation of {one.email_key} is {one.invite_state}, it was sent"


def effects_beyond_attempts(books: Books, record: Record) -> Iterator[str]:
    """Each attempt that is done had its effect; those not sent or refused had none."""
    for what, attempts, requests in _targets(books, record):
        effects = sum(1 for one in requests if one.effect)
        least = books.proven(attempts)
        most = sum(1 for one in attempts if one.state in POSSIBLE)
        if not least <= effects <= most:
            yield f"{what}: {effects} effects, the journal allows {least} to {most}"


def sent_without_a_claim(books: Books, record: Record) -> Iterator[str]:
    """Each changing request that came in has a durable claim, for as many rows as it carried."""
    for what, attempts, requests in _targets(books, record):
        if len(requests) > len(attempts):
            yield f"{what}: {len(requests)} requests came in, {len(attempts)} were claimed"
    claimed = Counter(one.rows for one in books.of(Operation.ADD))
    carried = Counter(
        len(one.body) for one in record.of(Operation.ADD) if isinstance(one.body, list)
    )
    for rows, count in carried.items():
        if count > claimed[rows]:
            yield f"{count} adds of {rows} came in, {claimed[rows]} were claimed"


def sent_before_its_claim(books: Books, record: Record) -> Iterator[str]:
    """The k-th request about something comes in after k claims of it."""
    for what, attempts, requests in _targets(books, record):
        claims = sorted(one.claimed_at for one in attempts)
        for claimed_at, request in zip(claims, requests, strict=False):
            if request.at < claimed_at:
                yield f"{what}: request {request.number} came in before its claim"


def made_twice(books: Books, record: Record) -> Iterator[str]:
    """One project, one problem in it, one candidate per email, unless a person said again."""
    again = sum(1 for one in books.decisions if one.candidate_row is None)
    for operation in (Operation.CREATE, Operation.ATTACH):
        count = sum(1 for one in record.of(operation) if one.effect)
        if count > 1 + again:
            yield f"{operation} took effect {count} times"
    rows = {one.email_key: one.id for one in books.people}
    for key, count in Counter(email_key(one.email1) for one in record.candidates).items():
        if key not in rows:
            yield f"{key} was added and is not in the ledger"
        elif count > 1 + again + books.decided(rows[key]) + books.added_again(rows[key]):
            yield f"{key} was added {count} times"


def added_twice_unlisted(books: Books, record: Record, items: Sequence[LeftOver]) -> Iterator[str]:
    """Whatever the service has of somebody besides the one in use is listed for a person's hands.

    Who removed what a list named is a person's matter: what they decided is not held against it.
    """
    cleaned = {one.candidate_row for one in books.decisions if one.verdict == "cleaned"}
    added: dict[str, set[int]] = {}
    for each in record.candidates:
        added.setdefault(email_key(each.email1), set()).add(each.candidate_id)
    for one in books.people:
        if one.add_state != Step.DONE or one.id in cleaned:
            continue
        there = added.get(one.email_key, set())
        others = there - {one.candidate_id}
        listed = [each for each in items if each.what is What.DOUBLE and each.mark[1] == one.id]
        if len(others) > len(listed):
            yield f"{one.email_key} is there {len(there)} times, clean-up lists {len(listed)} more"
        certain = {each.candidate_id for each in listed if each.certain}
        if not certain <= others:
            yield f"clean-up lists {certain - others} for {one.email_key}, which is not there"


def asked_too_soon(books: Books) -> Iterator[str]:
    """Whose add is unsure was added as often as the definition may have it done by itself."""
    possible = [one for one in books.of(Operation.ADD) if one.state in POSSIBLE]
    for one in books.people:
        made = sum(any(one.id in span for span in rows_in(each.carried)) for each in possible)
        if one.add_state == Step.UNSURE and one.listed and made < ADDS:
            yield f"{one.email_key} waits for a person after {made} adds"


def still_sending(books: Books) -> Iterator[str]:
    """When no run is at work nothing is under way."""
    for one in books.attempts:
        if one.state == AttemptState.SENDING:
            yield f"attempt {one.id} ({one.operation}) still stands on sending"
    for one in books.people:
        if Step.SENDING in (one.add_state, one.invite_state):
            yield f"{one.email_key} still stands on sending"
    if Step.SENDING in (books.campaign.project_state, books.campaign.problem_state):
        yield "the project or its problem still stands on sending"


def left_waiting(books: Books, held: Collection[int]) -> Iterator[str]:
    """Nobody waits whose turn it is: what comes before is done, and still nothing was sent.

    `held` are the rows of those who are left out.
    """
    campaign = books.campaign
    if campaign.project_state in UNTOUCHED:
        yield f"the project is {campaign.project_state}"
    if campaign.project_state != Step.DONE:
        return
    if campaign.problem_state in UNTOUCHED:
        yield f"the problem is {campaign.problem_state}"
    if campaign.problem_state != Step.DONE:
        return
    for one in books.people:
        if not one.listed or one.id in held:
            continue
        if one.add_state == Step.WAITING:
            yield f"the add of {one.email_key} still waits"
        if campaign.send_invites and (one.add_state, one.invite_state) == (Step.DONE, Step.WAITING):
            yield f"the invitation of {one.email_key} still waits"


def _targets(books: Books, record: Record) -> Iterator[tuple[str, list[Any], list[Request]]]:
    """What was asked for: (about what, its attempts, the requests that came in about it)."""
    for operation in (Operation.CREATE, Operation.ATTACH, Operation.ADD):
        yield operation, books.of(operation), record.of(operation)
    rows = {one.candidate_id: one.id for one in books.people if one.candidate_id is not None}
    claimed: dict[int | None, list[Any]] = {}
    for attempt in books.of(Operation.INVITE):
        claimed.setdefault(attempt.candidate_row, []).append(attempt)
    came: dict[int | None, list[Request]] = {row: [] for row in claimed}
    for request in record.of(Operation.INVITE):
        came.setdefault(rows.get(request.candidate_id or 0), []).append(request)
    for row, requests in came.items():
        yield f"{Operation.INVITE} of row {row}", claimed.get(row, []), requests


def _demand(broken: Iterable[str]) -> None:
    if found := list(broken):
        raise BrokenPromise("\n".join(found))
