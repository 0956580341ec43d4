"""Reasons in the ledger not to invite somebody: the statements behind data/holds/rule.py.

Each runs inside a transaction that its caller opened. In a transaction that grants claims the
answer is exact: everything that another campaign has sent or claimed is already there.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Connection,
    Row,
    bindparam,
    exists,
    literal,
    literal_column,
    or_,
    select,
    union_all,
)

from data.campaigns.timetables import timetable
from data.holds.edited_addresses import TO_COME, held_seconds
from data.holds.rule import Allowed, Assessment, Earlier, Entry, Held, ListFile, Terms, held
from data.store import clock
from data.store.states import AttemptState, Step
from data.store.tables import (
    attempt,
    campaign,
    candidate,
    do_not_contact,
)

AT_ONCE = 500  # addresses in one statement

other = candidate.alias("other")
_ENTRY = "listed"  # beside the states of attempts, in the same column


def _evidence(keys: Any) -> CompoundSelect[Any]:
    """Invitations that count in any campaign, and entries on the list, for these email keys."""
    # Written out, because only then does the database use the index over invitations.
    stands: ColumnElement[bool] = literal_column(
        "attempt.operation = 'invite' AND attempt.state IN ('sending', 'done', 'unsure')"
    )
    seen = (
        other.c.email_key,
        attempt.c.id.label("number"),
        attempt.c.claimed_at.label("at"),
        attempt.c.state,
        other.c.campaign_id.label("of"),
    )
    standing = (
        select(*seen)
        .join(other, attempt.c.candidate_row == other.c.id)
        .where(other.c.email_key.in_(keys), stands)
    )
    # Withdrawn while it was unsure: nobody ever said that it did not arrive.
    given_up = (
        select(*seen)
        .join(other, attempt.c.id == other.c.invite_attempt)
        .where(
            other.c.email_key.in_(keys),
            other.c.invite_state == Step.WITHDRAWN,
            attempt.c.state == AttemptState.OVERRULED,
        )
    )
    listed = select(
        do_not_contact.c.email_key,
        do_not_contact.c.id,
        do_not_contact.c.listed_at,
        literal(_ENTRY),
        literal(0),
    ).where(do_not_contact.c.email_key.in_(keys), do_not_contact.c.lifted_at.is_(None))
    return union_all(standing, given_up, listed)


# Built once: it runs with every group commit that grants a claim.
_OF_ROWS = _evidence(
    select(candidate.c.email_key).where(candidate.c.id.in_(bindparam("rows", expanding=True)))
)
_OF_KEYS = _evidence(bindparam("keys", expanding=True))
_PERSON = (
    candidate.c.id,
    candidate.c.email_key,
    candidate.c.campaign_id,
    candidate.c.allowed_attempt,
    candidate.c.allowed_entry,
)

_WAITING = select(*_PERSON).where(*TO_COME)
_OF_WAITING = _evidence(select(candidate.c.email_key).where(*TO_COME))


# Whether anything can hold a candidate at all, for statements that have just read the rows. It is
# seldom true; if it is, `held_rows` says more.
MAY_BE_HELD: ColumnElement[bool] = or_(
    exists().where(other.c.email_key == candidate.c.email_key, other.c.id != candidate.c.id),
    exists().where(
        do_not_contact.c.email_key == candidate.c.email_key, do_not_contact.c.lifted_at.is_(None)
    ),
)


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What was found, by email key."""

    earlier: Mapping[str, list[tuple[int, Earlier]]] = field(default_factory=dict)
    entries: Mapping[str, list[Entry]] = field(default_factory=dict)

    def against(
        self,
        key: str,
        own: int | None,
        terms: Terms,
        allowed: Allowed,
        at: datetime,
        listed: ListFile | None = None,
    ) -> Held | None:
        """Judge one person of a campaign (`own`, its row); its own invitations do not count."""
        seen = () if key == terms.pilot else self.earlier.get(key, ())
        others = [invitation for of, invitation in seen if of != own]
        entries = self.entries.get(key, ())
        return held(terms, others, listed.amend(key, entries) if listed else entries, at, allowed)


def held_rows(connection: Connection, rows: Collection[int], at: datetime) -> dict[int, Held]:
    """Which of these candidates are held at this moment, in whatever state they are, and why."""
    if not rows:
        return {}
    evidence = connection.execute(_OF_ROWS, {"rows": list(rows)}).all()
    if not evidence:
        return {}
    keys = {row.email_key for row in evidence}
    people = select(*_PERSON).where(candidate.c.id.in_(rows), candidate.c.email_key.in_(keys))
    return _judged(connection, connection.execute(people).all(), _read(connection, evidence), at)


def held_in(connection: Connection, campaign_row: int) -> dict[int, Held]:
    """Which of the people that a campaign still has to add or invite are held, by ledger row."""
    # If there are two reasons, show the one from outside this campaign.
    return held_seconds(connection, campaign_row) | _held_from_outside(connection, campaign_row)


def _held_from_outside(connection: Connection, campaign_row: int) -> dict[int, Held]:
    """Which of them the list or another campaign holds."""
    if not _anything(connection, campaign_row):
        return {}
    evidence = connection.execute(_OF_WAITING, {"row": campaign_row}).all()
    if not evidence:
        return {}
    met = {row.email_key for row in evidence}
    everyone = connection.execute(_WAITING, {"row": campaign_row})
    people = [person for person in everyone if person.email_key in met]
    return _judged(connection, people, _read(connection, evidence), clock.now())


def held_people(
    connection: Connection,
    own: int | None,
    terms: Terms,
    keys: Iterable[str],
    listed: ListFile | None = None,
) -> dict[str, Held]:
    """Which of these people a campaign with these `terms` holds; `own` is its row, if it has one.

    For a definition that the ledger has not stored yet, and a do-not-contact file that it has not
    read yet.
    """
    if not _anything(connection, own) and listed is None:
        return {}
    held_by_key: dict[str, Held] = {}
    at = clock.now()
    for part in _in_parts(keys):
        rows = connection.execute(_OF_KEYS, {"keys": part}).all()
        if not rows and listed is None:
            continue
        evidence = _read(connection, rows)
        statement = select(*_PERSON).where(
            candidate.c.campaign_id == own, candidate.c.email_key.in_(part)
        )
        allowed = {person.email_key: _allowed(person) for person in connection.execute(statement)}
        for key in part:
            why = evidence.against(key, own, terms, allowed.get(key, Allowed()), at, listed)
            if why is not None:
                held_by_key[key] = why
    return held_by_key


def terms_of(row: Any) -> Terms:
    """The terms of a campaign as the ledger has it."""
    cooldown = None if row.cooldown is None else timedelta(seconds=row.cooldown)
    return Terms(assessment_of(row), cooldown, timetable(row.timetable).pilot, row.timezone)


def assessment_of(row: Any) -> Assessment:
    """What a campaign in the ledger invites to."""
    return Assessment(row.service, row.problem_id, row.project_id, row.problem_title)


def _anything(connection: Connection, own: int | None) -> bool:
    """Whether anybody can be held at all: only if there is another campaign, or the list has
    entries.
    """
    return bool(connection.scalar(_ANYTHING, {"own": own or 0}))


_ANYTHING = select(
    or_(
        exists().where(campaign.c.id != bindparam("own")),
        exists().where(do_not_contact.c.lifted_at.is_(None)),
    )
)


def _judged(
    connection: Connection, people: Sequence[Row[Any]], evidence: _Evidence, at: datetime
) -> dict[int, Held]:
    own = {person.campaign_id for person in people}
    terms = {
        row.id: terms_of(row)
        for row in connection.execute(select(campaign).where(campaign.c.id.in_(own)))
    }
    judged = {
        person.id: evidence.against(
            person.email_key, person.campaign_id, terms[person.campaign_id], _allowed(person), at
        )
        for person in people
    }
    return {row: why for row, why in judged.items() if why is not None}


def _allowed(person: Row[Any]) -> Allowed:
    return Allowed(person.allowed_attempt, person.allowed_entry)


def _read(connection: Connection, rows: Sequence[Row[Any]]) -> _Evidence:
    """Look up what the evidence is about: which campaigns, and who wrote the list's entries."""
    about = {
        row.id: (row.key, assessment_of(row))
        for row in connection.execute(
            select(campaign).where(campaign.c.id.in_({row.of for row in rows}))
        )
    }
    numbers = [row.number for row in rows if row.state == _ENTRY]
    written = {
        row.id: Entry(row.id, row.listed_at, row.who, row.why, row.file)
        for part in _in_parts(numbers)
        for row in connection.execute(select(do_not_contact).where(do_not_contact.c.id.in_(part)))
    }
    earlier: dict[str, list[tuple[int, Earlier]]] = {}
    entries: dict[str, list[Entry]] = {}
    for row in rows:
        if row.state == _ENTRY:
            entries.setdefault(row.email_key, []).append(written[row.number])
        else:
            invitation = Earlier.of(*about[row.of], row.number, row.at, AttemptState(row.state))
            earlier.setdefault(row.email_key, []).append((row.of, invitation))
    return _Evidence(earlier, entries)


def _in_parts(whole: Iterable[Any]) -> Iterator[list[Any]]:
    rest = iter(whole)
    while part := list(islice(rest, AT_ONCE)):
        yield part
