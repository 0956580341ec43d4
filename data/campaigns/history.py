"""Every request and decision about a campaign or a person, in order, with who and why."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from sqlalchemy import and_, or_, select
from sqlmodel import Session

from config.emails import email_key
from config.errors import NotAsTyped
from data.campaigns.people import known_person
from data.store.receipts import ACCEPT
from data.store.states import OPERATIONS, State
from data.store.tables import DECISION, DO_NOT_CONTACT, PART, PERSON, REQUEST, RUN, STEP, Campaign


class NotInCampaign(NotAsTyped):
    says = "Nobody of {key} has this address. If somebody had it, they were forgotten."
    then = "campaign status {key}"


@dataclass(frozen=True, slots=True)
class Event:
    """One request (`word` is its operation) or one decision of a person (`who` is set).

    `about` names its subject: an address, a number of people, or the project. `came` is a
    request's result; `words` are the service's, else what was seen, or the reason somebody typed.
    """

    at: datetime
    word: str
    about: str
    came: str = ""
    who: str = ""
    words: str = ""
    status: int | None = None


def events_of(session: Session, campaign_id: int, email: str | None = None) -> list[Event]:
    """All events, oldest first. Raises NotInCampaign for an address that the campaign never had."""
    person_id = None
    if email is not None:
        person = known_person(session, campaign_id, email_key(email))
        if person is None:
            raise NotInCampaign(key=session.get_one(Campaign, campaign_id).key)
        person_id = person.id
    asked = session, campaign_id, person_id
    return sorted([*_requests(*asked), *_decisions(*asked)], key=lambda event: event.at)


def _requests(session: Session, campaign_id: int, person_id: int | None) -> Iterator[Event]:
    parts = (
        select(REQUEST, PART.c.state, PART.c.said_yes, PERSON.c.email1)
        .join(RUN, RUN.c.id == REQUEST.c.run_id)
        .join(PART, PART.c.request_id == REQUEST.c.id)
        .join(STEP, STEP.c.id == PART.c.step_id)
        .outerjoin(PERSON, PERSON.c.id == STEP.c.person_id)
        .where(RUN.c.campaign_id == campaign_id)
        .order_by(REQUEST.c.id, PART.c.id)
    )
    if person_id is not None:
        parts = parts.where(STEP.c.person_id == person_id)
    for _, of_it in groupby(session.execute(parts), key=lambda row: row.id):
        rows = list(of_it)
        states = (State.DONE if row.said_yes else row.state for row in rows)
        counts = Counter(_CAME.get(state, str(state)) for state in states)
        came = ", ".join(f"{n} {word}" if len(counts) > 1 else word for word, n in counts.items())
        sent = rows[0]
        people = f"{len(rows):,} people" if rows[1:] else sent.email1 or "somebody forgotten"
        about = OPERATIONS[sent.op].what if OPERATIONS[sent.op].own else people
        words = sent.answer or sent.evidence or ""
        yield Event(sent.claimed_at, str(sent.op), about, came, "", words, sent.status)


def _decisions(session: Session, campaign_id: int, person_id: int | None) -> Iterator[Event]:
    """Decisions about the campaign, or about a person and their do-not-contact entries."""
    listed: dict[int, str] = {}
    # ACCEPT names the campaign by its key, because the ledger may not have had the campaign.
    key = session.get_one(Campaign, campaign_id).key
    accepted = and_(DECISION.c.word == ACCEPT, DECISION.c.value["campaign"].as_string() == key)
    theirs = or_(DECISION.c.campaign_id == campaign_id, accepted)
    if person_id is not None:
        box = str(session.scalar(select(PERSON.c.mailbox).where(PERSON.c.id == person_id)))
        entries = DO_NOT_CONTACT.c.email_key.in_([box, box.rpartition("@")[2]])
        rows = session.execute(select(DO_NOT_CONTACT).where(entries))
        listed = {row.id: row.email_key for row in rows}
        corrected = select(PERSON.c.id).where(PERSON.c.became == person_id)
        to_them = (DECISION.c.word == "correct") & DECISION.c.person_id.in_(corrected)
        of_the_list = DECISION.c.word.in_(_OF_THE_LIST)
        theirs = or_(DECISION.c.person_id == person_id, to_them, of_the_list)
    for row in session.execute(select(DECISION).where(theirs).order_by(DECISION.c.id)).all():
        about = _whom(session, row.person_id) if row.person_id else ""
        if row.word in _OF_THE_LIST:
            if row.value not in listed:
                continue
            about = listed[row.value]
        if row.word == "correct":
            about = f"{about}, now {_whom(session, row.value)}"
        value = f" ({row.value})" if row.word in _WITH_VALUE and row.value else ""
        yield Event(row.at, f"{row.word}{value}", about, who=row.who, words=row.why or "")


def _whom(session: Session, person_id: int) -> str:
    email1 = session.scalar(select(PERSON.c.email1).where(PERSON.c.id == person_id))
    return email1 or "somebody forgotten"


_CAME = {
    State.WAITING: "not sent",
    State.SENDING: "being sent",
    State.GIVEN_UP: "overruled",
}
_OF_THE_LIST = ("block", "lift")
_WITH_VALUE = ("sent", "approve", "reject", "shown")
