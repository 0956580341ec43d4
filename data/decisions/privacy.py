"""Forget a person everywhere in the ledger, for good, and nobody else.

Rows and counts of campaigns stay, without a name. Only keyed hashes of the address and mailbox are
left, so the same sheet never invites this person again.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy import delete, select, update
from sqlmodel import Session

from config.emails import checked_address, email_key, mailbox
from data.campaigns.people import GONE_KEY, digests, forgotten_among, own_steps
from data.decisions.decisions import UNDER_WAY, By, NotDecided, note, parsed
from data.eligibility import do_not_contact
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
)

STANDS_FOR_THEM = "[forgotten]"  # replaces a name or address in a text
NO_PILOT = "forgotten@forgotten.test"
HOLDS_ANOTHER = "is why somebody of {} is held at another address; decide about that person first"


@dataclass(frozen=True, slots=True)
class InCampaign:
    """What the ledger holds of a person in one campaign.

    `file` and `table` name the person, and can only be changed by hand. The service has no delete
    (interface 4), so the candidate stays in the project until somebody removes it there by hand.
    """

    campaign: str
    file: str
    table: str | None
    email1: str
    fields: dict[str, Any]
    states: Mapping[Op, State]
    project_id: int | None
    candidate_id: int | None


@dataclass(frozen=True, slots=True)
class Known:
    """All that the ledger holds of an address, and which `others` may be the same person's."""

    email: str
    campaigns: list[InCampaign]
    others: list[str]
    blocked: bool
    forgotten: bool

    @property
    def nowhere(self) -> bool:
        """Whether the ledger does not know this address."""
        return not (self.campaigns or self.blocked or self.forgotten)


def held_of(session: Session, emails: Sequence[str]) -> list[Known]:
    """What the ledger holds of these addresses. Nothing is changed.

    Raises NotDecided for an invalid address, unless somebody in a campaign has this address.
    """
    keys = {email: email_key(email) for email in emails}
    parsed((email for email in keys if not _people(session, [keys[email]])), checked_address)
    gone = forgotten_among(session, list(keys.values()))
    listed = do_not_contact.listed_among(session, list(map(mailbox, emails)))
    return [
        Known(
            email,
            [_in_campaign(session, person) for person in _people(session, [key])],
            _others(session, key, list(keys.values())),
            mailbox(email) in listed,
            key in gone,
        )
        for email, key in keys.items()
    ]


def forget(session: Session, emails: Sequence[str], by: By) -> list[Known]:
    """Forget the people at these addresses in every campaign. Returns what was held of them.

    Whoever has another address stays. Raises NotDecided like `held_of`, while a run sends to one of
    these, or while somebody at another address is held because of one.
    """
    keys, boxes = list(map(email_key, emails)), list(map(mailbox, emails))
    people, before = _people(session, keys), held_of(session, emails)
    ids = {person.id for person in people}
    sending = (STEP.c.state == State.SENDING) & STEP.c.person_id.in_(ids)
    if under_way := set(session.scalars(select(STEP.c.person_id).where(sending))):
        raise NotDecided([(p.email1, UNDER_WAY) for p in people if p.id in under_way])
    concerned = [session.get_one(Campaign, of) for of in {each.campaign_id for each in people}]
    held = [holds(session, campaign).keys() - ids for campaign in concerned]
    names, already = _names(people, emails), forgotten_among(session, keys)
    stands_for = digests(session, {*keys, *boxes})
    _empty_requests(session, ids)
    _scrub(session, names)
    for person in people:
        _erase(session, person, stands_for[person.email_key])
    entry, others = DO_NOT_CONTACT.c.email_key, select(PERSON.c.mailbox)
    session.execute(delete(DO_NOT_CONTACT).where(entry.in_(boxes), entry.not_in(others)))
    for key in {*keys} - already:
        session.add(Forgotten(digest=stands_for[key], mailbox_digest=stands_for[mailbox(key)]))
    session.flush()
    for campaign, so_far in zip(concerned, held, strict=True):
        if so_far - holds(session, campaign).keys():
            raise NotDecided([(emails[0], HOLDS_ANOTHER.format(campaign.key))])
    by = replace(by, why=names.sub(STANDS_FOR_THEM, by.why))
    about: list[tuple[int | None, int | None]] = [(p.campaign_id, p.id) for p in people]
    for campaign_id, person_id in about or [(None, None)]:
        note(session, "forget", by, campaign_id, person_id)
    return before


def _people(session: Session, keys: Sequence[str]) -> list[Person]:
    return list(session.scalars(select(Person).where(PERSON.c.email_key.in_(keys))))


def _others(session: Session, key: str, typed: Collection[str]) -> list[str]:
    """Not `typed` addresses: of the same mailbox, or that this one was corrected from or to."""
    them = PERSON.alias()
    own, new = (select(its).where(them.c.email_key == key) for its in (them.c.id, them.c.became))
    one = PERSON.c.became.in_(own) | PERSON.c.id.in_(new) | (PERSON.c.mailbox == mailbox(key))
    named = session.scalars(select(PERSON.c.email1).where(one, PERSON.c.email_key.not_in(typed)))
    return sorted({*named} - {""})


def _in_campaign(session: Session, person: Person) -> InCampaign:
    campaign = session.get_one(Campaign, person.campaign_id)
    steps = own_steps(session, campaign.id, person.id)
    people = (campaign.spec or {}).get("candidates")  # None: the definition itself lists them
    named = people and people.get("file")
    elsewhere = f"what {campaign.file} reads by its url or query" if people else None
    return InCampaign(
        campaign=campaign.key,
        file=campaign.file,
        table=str(Path(campaign.file).parent / named) if named else elsewhere,
        email1=person.email1,
        fields=person.fields,
        states={op: step.state for op, step in steps.items()},
        project_id=own_steps(session, campaign.id)[Op.CREATE].service_id,
        candidate_id=steps[Op.ADD].service_id,
    )


def _erase(session: Session, person: Person, digest: str) -> None:
    """Empty the row of the person, and give up what was still to be sent."""
    own = (STEP.c.campaign_id == person.campaign_id) & (STEP.c.person_id == person.id)
    to_come = STEP.c.state.in_((State.WAITING, State.REFUSED, State.UNSURE))
    session.execute(update(STEP).where(own, to_come).values(state=State.GIVEN_UP))
    session.execute(update(STEP).where(own).values(service_id=None, why=None))
    campaign = session.get_one(Campaign, person.campaign_id)
    invites = (campaign.spec or {}).get("invites", {})
    if email_key(invites.get("pilot") or "") == person.email_key:
        # Without a pilot everybody would be invited, so a made-up address takes its place.
        campaign.spec = {**campaign.spec, "invites": {**invites, "pilot": NO_PILOT}}
        campaign.pilot_id = None
        session.add(campaign)
    person.email_key, person.mailbox, person.email1 = GONE_KEY + digest, "", ""
    person.name_key = ""
    person.fields, person.listed, person.let_through = {}, False, None
    session.add(person)
    session.flush()


def _empty_requests(session: Session, ids: Collection[int]) -> None:
    """Empty what may name these people: what the requests for them say, and their own parts."""
    theirs = PART.c.step_id.in_(select(STEP.c.id).where(STEP.c.person_id.in_(ids)))
    requests = REQUEST.c.id.in_(select(PART.c.request_id).where(theirs))
    session.execute(update(REQUEST).where(requests).values(answer=None, evidence=None))
    session.execute(update(PART).where(theirs).values(service_id=None, mailbox=None))


def _names(people: Sequence[Person], emails: Sequence[str]) -> re.Pattern[str]:
    """A pattern of their addresses and full names, as people type them."""
    wholes = {each.strip() for each in emails}
    for person in people:
        first, last = (str(person.fields.get(n, "")) for n in ("first_name", "last_name"))
        wholes |= {person.email1, f"{first} {last}".strip(), f"{last} {first}".strip()}
    each = sorted((re.escape(it).replace(r"\ ", r",?\s+") for it in wholes if it), key=len)[::-1]
    return re.compile(rf"(?<!\w)(?<![.+-](?=\S+@))(?:{'|'.join(each)})(?!\w)", re.IGNORECASE)


def _scrub(session: Session, names: re.Pattern[str]) -> None:
    """Remove these names from the reasons that people typed, and from what the service wrote."""
    for column in (DECISION.c.why, STEP.c.why, REQUEST.c.answer, REQUEST.c.evidence):
        number = column.table.c.id
        for row in session.execute(select(number, column).where(column.is_not(None))).all():
            if (without := names.sub(STANDS_FOR_THEM, row[1])) != row[1]:
                this = update(column.table).where(number == row[0])
                session.execute(this.values({column.name: without}))
