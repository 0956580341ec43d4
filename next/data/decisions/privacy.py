"""Forgetting somebody: that person and nobody else, everywhere in the ledger, for good.

Rows and counts of campaigns stay, without a name. Keyed hashes of address and mailbox are all that
is left, so that the same sheet never invites them again.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Table, delete, select, update
from sqlmodel import Session

from config.emails import email_key, mailbox
from data.campaigns.people import ERASED, forgotten_among, hashed, own_steps
from data.decisions.decisions import UNDER_WAY, By, NotDecided, note
from data.eligibility.holds import holds
from data.store.states import Op, State
from data.store.tables import (
    DECISION,
    DO_NOT_CONTACT,
    PART,
    PERSON,
    REQUEST,
    STEP,
    Campaign,
    Forgotten,
    Person,
    now,
)

GONE = "[forgotten]"
KEEPS_BACK = "is why somebody of {} is held at another address; decide about that person first"


@dataclass(frozen=True, slots=True)
class Held:
    """What the ledger has of somebody in one campaign, and what is left elsewhere.

    `file` and `table` named them: nobody but a person changes these. The service has no
    delete (interface 4), so `candidate_id` in `project_id` stays there until a person removes it.
    """

    campaign: str
    file: str
    table: str | None
    email1: str
    fields: dict[str, Any]
    add: str
    invite: str
    project_id: int | None
    candidate_id: int | None


@dataclass(frozen=True, slots=True)
class Known:
    """All that the ledger has of one address."""

    email: str
    campaigns: list[Held]
    blocked: bool
    forgotten: bool


def shown(session: Session, emails: Sequence[str]) -> list[Known]:
    """What is held of these addresses; nothing is changed."""
    gone = forgotten_among(session, list(map(email_key, emails)))
    listed = DO_NOT_CONTACT.c.email_key
    return [
        Known(
            email,
            [_held(session, person) for person in _people(session, [email_key(email)])],
            session.scalar(select(listed).where(listed == mailbox(email))) is not None,
            email_key(email) in gone,
        )
        for email in emails
    ]


def forget(session: Session, emails: Sequence[str], by: By) -> list[Known]:
    """Forget the people at these addresses in every campaign. Returns what was held of them.

    A person corrected from or to one of these addresses is another person and stays. Raises
    NotDecided while a run is sending to one of them, or while one of them is why somebody at
    another address is held: nobody could tell any more whether that is the same person.
    """
    keys = list(map(email_key, emails))
    people, before = _people(session, keys), shown(session, emails)
    ids = [person.id for person in people]
    sending = select(STEP.c.person_id).where(
        STEP.c.person_id.in_(ids), STEP.c.state == State.SENDING
    )
    under_way = set(session.scalars(sending))
    if under_way:
        raise NotDecided([(p.email1, UNDER_WAY) for p in people if p.id in under_way])
    concerned = {person.campaign_id for person in people}
    held = {of: set(holds(session, of)) - set(ids) for of in concerned}
    names = _names(people, emails)
    _empty_requests(session, ids)
    _scrub(session, names)
    signs = hashed(session, {*keys, *map(mailbox, keys)})
    for person in people:
        _erase(session, person, signs[person.email_key])
    session.execute(
        delete(DO_NOT_CONTACT).where(DO_NOT_CONTACT.c.email_key.in_(map(mailbox, keys)))
    )
    already = forgotten_among(session, keys)
    for key in dict.fromkeys(keys):
        if key not in already:
            box = signs[mailbox(key)]
            session.add(Forgotten(digest=signs[key], mailbox_digest=box, at=now()))
    session.flush()
    for of in concerned:
        if held[of] - set(holds(session, of)):
            why_not = KEEPS_BACK.format(session.get_one(Campaign, of).key)
            raise NotDecided([(emails[0], why_not)])
    by = replace(by, why=names.sub(GONE, by.why) if names else by.why)
    for person in people:
        note(session, "forget", by, person.campaign_id, person.id)
    if not people:
        note(session, "forget", by)
    return before


def _people(session: Session, keys: Sequence[str]) -> list[Person]:
    return list(session.scalars(select(Person).where(PERSON.c.email_key.in_(keys))))


def _held(session: Session, person: Person) -> Held:
    campaign = session.get_one(Campaign, person.campaign_id)
    steps = select(STEP).where(STEP.c.campaign_id == campaign.id, STEP.c.person_id == person.id)
    by_op = {row.op: row for row in session.execute(steps)}
    add, invite = by_op[Op.ADD], by_op[Op.INVITE]
    project = own_steps(session, campaign.id)[Op.CREATE].service_id
    states = str(add.state), str(invite.state)
    named = ((campaign.spec or {}).get("candidates") or {}).get("file")
    table = str(Path(campaign.file).parent / named) if named else None
    who = campaign.key, campaign.file, table, person.email1, dict(person.fields)
    return Held(*who, *states, project, add.service_id)


def _erase(session: Session, person: Person, sign: str) -> None:
    """Leave the row without the person; whatever was still to be sent is given up."""
    own = (STEP.c.campaign_id == person.campaign_id) & (STEP.c.person_id == person.id)
    to_come = STEP.c.state.in_((State.WAITING, State.REFUSED, State.UNSURE))
    session.execute(update(STEP).where(own, to_come).values(state=State.GIVEN_UP))
    session.execute(update(STEP).where(own).values(service_id=None, why=None))
    campaign = session.get_one(Campaign, person.campaign_id)
    invites = (campaign.spec or {}).get("invites", {})
    if email_key(invites.get("pilot") or "") == person.email_key:
        # Another address would be the pilot's; none would let everybody through.
        campaign.spec = {**campaign.spec, "invites": {**invites, "pilot": NOBODY}}
        session.add(campaign)
    person.email_key, person.mailbox, person.email1 = ERASED + sign, "", ""
    person.fields, person.listed, person.let_through = {}, False, None
    session.add(person)
    session.flush()


def _empty_requests(session: Session, ids: Sequence[int]) -> None:
    """Delete what the service wrote about requests for these people: it may name anybody."""
    parts = (
        select(PART.c.id).join(STEP, STEP.c.id == PART.c.step_id).where(STEP.c.person_id.in_(ids))
    )
    of_them = select(PART.c.request_id).where(PART.c.id.in_(parts))
    gone = update(REQUEST).where(REQUEST.c.id.in_(of_them)).values(answer=None, evidence=None)
    session.execute(gone)
    session.execute(update(PART).where(PART.c.id.in_(parts)).values(service_id=None))


def _names(people: Sequence[Person], emails: Sequence[str]) -> re.Pattern[str] | None:
    """Their addresses and whole names, as somebody may have typed them."""
    wholes = {each.strip() for each in emails}
    for person in people:
        first, last = (str(person.fields.get(n, "")) for n in ("first_name", "last_name"))
        wholes |= {person.email1, f"{first} {last}".strip(), f"{last}, {first}".strip(", ")}
    words = "|".join(re.escape(each) for each in sorted(wholes, key=len, reverse=True) if each)
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE) if words else None


def _scrub(session: Session, names: re.Pattern[str] | None) -> None:
    """Take them out of every text that a person typed, or the service wrote about others."""
    texts: tuple[tuple[Table, str], ...] = (
        (DECISION, "why"),
        (STEP, "why"),
        (REQUEST, "answer"),
        (REQUEST, "evidence"),
    )
    for table, column in texts if names else ():
        found = select(table.c.id, table.c[column]).where(table.c[column].is_not(None))
        for number, text in session.execute(found).all():
            if names is not None and (without := names.sub(GONE, text)) != text:
                this = update(table).where(table.c.id == number)
                session.execute(this.values({column: without}))


NOBODY = "forgotten@forgotten.test"
