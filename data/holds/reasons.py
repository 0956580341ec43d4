"""Reasons in the ledger not to invite somebody: the statements behind data/holds/rule.py.

Each runs inside a transaction that its caller opened. In a transaction that grants claims the
answer is exact: everything that another campaign has sent or claimed is already there.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, cast

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Connection,
    Row,
    Select,
    bindparam,
    exists,
    or_,
    select,
    union_all,
)
from sqlmodel import col
from sqlmodel import select as whole

from data.campaigns import forgotten
from data.campaigns.whose_turn import timetable
from data.holds.do_not_contact import NEW_ENTRY, ListFile
from data.holds.rule import Allowed, Assessment, Cause, Earlier, Held, Terms, held
from data.holds.second_addresses import TO_COME, held_seconds
from data.store import clock
from data.store.states import AttemptState, Step
from data.store.tables import (
    INVITATION_STANDS,
    Campaign,
    DoNotContact,
    attempt,
    box_of,
    campaign,
    candidate,
    do_not_contact,
    rows_of,
)

AT_ONCE = 500  # addresses in one statement

other = candidate.alias("other")


def _evidence(boxes: Any) -> tuple[CompoundSelect[Any], Select[Any]]:
    """For these mailboxes: invitations that count in any campaign, and entries on the list."""
    seen = (
        other.c.email_key,
        other.c.mailbox,
        other.c.email1,
        attempt.c.id.label("number"),
        attempt.c.claimed_at.label("at"),
        attempt.c.state,
        other.c.campaign_id.label("of"),
    )
    standing = (
        select(*seen)
        .join(other, attempt.c.candidate_row == other.c.id)
        .where(other.c.mailbox.in_(boxes), INVITATION_STANDS)
    )
    # Withdrawn while it was unsure: nobody ever said that it did not arrive.
    given_up = (
        select(*seen)
        .join(other, attempt.c.id == other.c.invite_attempt)
        .where(
            other.c.mailbox.in_(boxes),
            other.c.invite_state == Step.WITHDRAWN,
            attempt.c.state == AttemptState.OVERRULED,
        )
    )
    listed = select(do_not_contact).where(
        do_not_contact.c.mailbox.in_(boxes), do_not_contact.c.lifted_at.is_(None)
    )
    return union_all(standing, given_up), listed.order_by(do_not_contact.c.id)


# Built once: it runs with every group commit that grants a claim.
_THESE = candidate.c.id.in_(bindparam("rows", expanding=True))
_OF_ROWS = _evidence(select(candidate.c.mailbox).where(_THESE))
_OF_WAITING = _evidence(select(candidate.c.mailbox).where(*TO_COME))
_OF_KEYS = _evidence(bindparam("boxes", expanding=True))
_PERSON = (
    candidate.c.id,
    candidate.c.email_key,
    candidate.c.mailbox,
    candidate.c.campaign_id,
    candidate.c.allowed_attempt,
    candidate.c.allowed_entry,
)
_ROWS = select(*_PERSON).where(_THESE)
_WAITING = select(*_PERSON).where(*TO_COME)


# Whether anything can hold a candidate at all, for statements that have just read the rows. It is
# seldom true; if it is, `held_rows` says more.
MAY_BE_HELD: ColumnElement[bool] = or_(
    exists().where(other.c.mailbox == candidate.c.mailbox, other.c.id != candidate.c.id),
    exists().where(
        do_not_contact.c.mailbox == candidate.c.mailbox, do_not_contact.c.lifted_at.is_(None)
    ),
)


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What the ledger has against people, by mailbox; an invitation with its campaign's row."""

    earlier: Mapping[str, list[tuple[int, Earlier]]]
    entries: Mapping[str, list[DoNotContact]]

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
        box = box_of(key)
        seen = () if key == terms.pilot else self.earlier.get(box, ())
        others = [invitation for of, invitation in seen if of != own]
        entries = self.entries.get(box, ())
        entries = listed.amend(key, entries) if listed else entries
        return held(key, terms, others, entries, at, allowed)


def held_rows(connection: Connection, rows: Collection[int], at: datetime) -> dict[int, Held]:
    """Which of these candidates are held at this moment, in whatever state they are, and why."""
    return _judged(connection, _OF_ROWS, _ROWS, at, rows=list(rows)) if rows else {}


def on_the_list(connection: Connection, rows: Collection[int], at: datetime) -> set[int]:
    """Which of these candidates the do-not-contact list holds: they are not invited once more."""
    held = held_rows(connection, rows, at)
    return {row for row, hold in held.items() if hold.cause in (Cause.LISTED, Cause.FORGOTTEN)}


def held_in(connection: Connection, campaign_row: int) -> dict[int, Held]:
    """Which of the people that a campaign still has to add or invite are held, by ledger row."""
    seconds = held_seconds(connection, campaign_row)
    if not _anything(connection, campaign_row):
        return seconds
    # If there are two reasons, show the one from outside this campaign.
    return seconds | _judged(connection, _OF_WAITING, _WAITING, clock.now(), row=campaign_row)


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
    keys = list(keys)
    new = forgotten.spellings(connection, {key: key for key in keys})
    if not _anything(connection, own) and listed is None and not new:
        return {}
    held_by_key: dict[str, Held] = {}
    at = clock.now()
    for part in _in_parts(keys):
        evidence = _read(connection, _OF_KEYS, boxes=[*map(box_of, part)])
        if listed is None and not (evidence.earlier or evidence.entries or new):
            continue
        statement = select(*_PERSON).where(
            candidate.c.campaign_id == own, candidate.c.email_key.in_(part)
        )
        allowed = {person.email_key: _allowed(person) for person in connection.execute(statement)}
        for key in new.keys() & part - allowed.keys():
            entry = DoNotContact(id=NEW_ENTRY, listed_at=at, **new[key])
            evidence.entries[box_of(key)].append(entry)
        for key in part:
            why = evidence.against(key, own, terms, allowed.get(key, Allowed()), at, listed)
            if why is not None:
                held_by_key[key] = why
    return held_by_key


def terms_of(row: Campaign) -> Terms:
    """The terms of a campaign as the ledger has it."""
    cooldown = None if row.cooldown is None else timedelta(seconds=row.cooldown)
    return Terms(assessment_of(row), cooldown, timetable(row.timetable).pilot, row.timezone)


def assessment_of(row: Campaign) -> Assessment:
    """What a campaign in the ledger invites to."""
    return Assessment(row.service, row.problem_id, row.project_id, row.problem_title)


def _anything(connection: Connection, own: int | None) -> bool:
    """Whether anybody can be held at all: by another campaign, or by the list."""
    return bool(connection.scalar(_ANYTHING, {"own": own or 0}))


_ANYTHING = select(
    or_(
        exists().where(campaign.c.id != bindparam("own")),
        exists().where(do_not_contact.c.lifted_at.is_(None)),
    )
)


def _judged(
    connection: Connection,
    evidence_of: tuple[CompoundSelect[Any], Select[Any]],
    these: Select[Any],
    at: datetime,
    **values: Any,
) -> dict[int, Held]:
    """Which people that the last query finds are held, by the evidence that the others find."""
    evidence = _read(connection, evidence_of, **values)
    if not (evidence.earlier or evidence.entries):
        return {}
    people = [
        person
        for person in connection.execute(these, values)
        if person.mailbox in evidence.earlier or person.mailbox in evidence.entries
    ]
    own = _campaigns(connection, {person.campaign_id for person in people})
    terms = {row: terms_of(campaign) for row, campaign in own.items()}
    judged = {
        person.id: evidence.against(
            person.email_key, person.campaign_id, terms[person.campaign_id], _allowed(person), at
        )
        for person in people
    }
    return {row: why for row, why in judged.items() if why is not None}


def _read(
    connection: Connection, evidence_of: tuple[CompoundSelect[Any], Select[Any]], **values: Any
) -> _Evidence:
    invitations, entries = (connection.execute(wanted, values).all() for wanted in evidence_of)
    evidence = _Evidence(defaultdict(list), defaultdict(list))
    for entry in cast(Sequence[DoNotContact], entries):
        evidence.entries[entry.mailbox].append(entry)
    about = _campaigns(connection, {row.of for row in invitations})
    for row in invitations:
        campaign, sent = about[row.of], row.state == AttemptState.DONE
        to = row.email_key, row.email1
        invitation = Earlier(campaign.key, *to, assessment_of(campaign), row.number, row.at, sent)
        evidence.earlier[row.mailbox].append((row.of, invitation))
    return evidence


def _campaigns(connection: Connection, rows: Collection[int]) -> dict[int, Campaign]:
    these = whole(Campaign).where(col(Campaign.id).in_(rows))
    return {campaign.id: campaign for campaign in rows_of(connection, these)} if rows else {}


def _allowed(person: Row[Any]) -> Allowed:
    return Allowed(person.allowed_attempt, person.allowed_entry)


def _in_parts(whole: Iterable[Any]) -> Iterator[list[Any]]:
    rest = iter(whole)
    while part := list(islice(rest, AT_ONCE)):
        yield part
