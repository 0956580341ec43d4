"""Find campaigns and people in the ledger by key, or list them for status and links."""

import hmac
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from functools import lru_cache
from json import dumps, loads
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, exists, func, or_, select, union_all
from sqlmodel import Session, col

from config.definition import Invites, Project
from config.errors import NotAsTyped
from config.sheets.names import comparable
from data.store.states import OF_PERSON, OPERATIONS, Op, State
from data.store.tables import (
    FORGOTTEN,
    PART,
    PERSON,
    STEP,
    Campaign,
    LedgerId,
    Person,
    Step,
    keys,
    one_of,
)

GONE_KEY = "forgotten:"  # the email key of a forgotten person is this and a hash
NAMES = tuple(
    func.coalesce(PERSON.c.fields[name].as_string(), "").label(name)
    for name in ("first_name", "last_name")
)


class NoSuchCampaign(NotAsTyped):
    says = "The ledger has no campaign {key}; the first run writes a campaign into it.{near}"
    then = "campaign status"


@dataclass(frozen=True, slots=True)
class PersonRow:
    """One person of a campaign, as status, links and results show them."""

    states: Mapping[Op, State]
    person_id: int
    email_key: str
    email1: str
    candidate_id: int | None  # the id that the service gave
    why: str | None
    fields: dict[str, Any]
    listed: bool  # false once they are gone from the file
    emailed: bool  # the service has invited them, though one more invitation may wait


def find(session: Session, key: str) -> Campaign:
    """The campaign with this key. Raises NoSuchCampaign with the nearest key."""
    found = known(session, key)
    if found is None:
        close = get_close_matches(key, session.scalars(select(col(Campaign.key))).all(), n=1)
        raise NoSuchCampaign(key=key, near=f" Did you mean {close[0]}?" if close else "")
    return found


def known(session: Session, key: str) -> Campaign | None:
    """The campaign with this key; None if the ledger has none."""
    return session.scalar(select(Campaign).where(col(Campaign.key) == key.strip().lower()))


def known_person(session: Session, campaign_id: int, key: str) -> Person | None:
    """The person with this email key; None if the campaign has nobody with it."""
    them = select(Person).where(PERSON.c.campaign_id == campaign_id, PERSON.c.email_key == key)
    return session.scalar(them)


def rows(
    session: Session, campaign_id: int, held: Collection[int] | None = None
) -> list[PersonRow]:
    """Everybody who is or was in the file, but no forgotten people. An address that was corrected
    before anything was sent to it is left out once it is gone from the file.

    With `held`: only these people, and those who were refused.
    """
    columns = (PERSON.c.id, PERSON.c.email_key, PERSON.c.email1, _their[Op.ADD].c.service_id)
    why = func.coalesce(*(_their[op].c.why for op in reversed(OF_PERSON)))
    them = _everybody(campaign_id, *columns, why, PERSON.c.fields, PERSON.c.listed, _emailed)
    if held is not None:
        refused = (STEP.c.campaign_id == campaign_id) & (STEP.c.state == State.REFUSED)
        theirs = select(STEP.c.person_id).where(refused, STEP.c.op.in_(OF_PERSON))
        them = them.where(PERSON.c.id.in_(union_all(theirs, keys("held", PERSON.c.id.type))))
    found = session.execute(them.order_by(PERSON.c.id), {"held": dict.fromkeys(held or ())})
    return [PersonRow(*row) for row in map(_with_states, found)]


def tally(session: Session, campaign_id: int, held: Collection[int]) -> Iterable[Any]:
    """Count the people of `rows` by the states of their steps, `listed`, who is held, `emailed`."""
    kinds = (PERSON.c.listed, one_of(PERSON.c.id, "held"), _emailed)
    counted = _everybody(campaign_id, *kinds, func.count()).group_by(*_states, *kinds)
    return map(_with_states, session.execute(counted, {"held": dict.fromkeys(held)}))


def _with_states(row: Any) -> tuple[Any, ...]:
    return dict(zip(OF_PERSON, row, strict=False)), *row[len(OF_PERSON) :]


def _everybody(campaign_id: int, *columns: Any) -> Select[Any]:
    them = select(*_states, *columns).select_from(PERSON)
    for op, step in _their.items():
        them = them.join(step, steps_of(step, op))
    return them.where(
        PERSON.c.campaign_id == campaign_id,
        PERSON.c.email1 != "",  # not forgotten
        or_(PERSON.c.listed, PERSON.c.became.is_(None), _their[Op.ADD].c.part_id.is_not(None)),
    )


def steps_of(step: Any, op: Op) -> ColumnElement[bool]:
    """The condition that joins a PERSON with their step, or a STEP with the project's own step."""
    of, person = (STEP, 0) if OPERATIONS[op].own else (PERSON, PERSON.c.id)
    return and_(step.c.campaign_id == of.c.campaign_id, step.c.person_id == person, step.c.op == op)


def own_steps(session: Session, campaign_id: int, person_id: int = 0) -> dict[Op, Step]:
    """The steps of a person, or (0) the project's own: creating it, attaching its problem."""
    return {step.op: step for step in session.scalars(_OWN, {"of": campaign_id, "who": person_id})}


def name_key(fields: Mapping[str, Any]) -> str:
    """Reduce a person's name to the form that is compared: its words without accents, sorted."""
    return comparable(f"{fields.get('first_name') or ''} {fields.get('last_name') or ''}")


def invites_of(campaign: Any) -> Invites:
    """The `invites` of a campaign's definition, from the campaign or its row."""
    return _parts(dumps(campaign.spec))[0]


def ends_of(campaign: Any) -> datetime | None:
    """When the project of a campaign's definition ends, from the campaign or its row."""
    return _parts(dumps(campaign.spec))[1].ends


def hashed(uuid: str, texts: Iterable[str]) -> dict[str, str]:
    """Hash each text with the ledger's uuid as the key."""
    return {text: hmac.digest(uuid.encode(), text.encode(), "sha256").hex() for text in texts}


def digests(session: Session, texts: Iterable[str]) -> dict[str, str]:
    """Hash each text with this ledger's key, as it stores the addresses of forgotten people."""
    return hashed(str(session.scalar(select(col(LedgerId.uuid)))), texts)


def forgotten_among(
    session: Session, texts: Collection[str], digest: Any = FORGOTTEN.c.digest
) -> set[str]:
    """Which of these email keys, or (by `mailbox_digest`) mailboxes, are of forgotten people."""
    gone = set(session.scalars(select(digest)))
    return {text for text, own in digests(session, texts).items() if own in gone} if gone else set()


@lru_cache(maxsize=256)
def _parts(spec: str) -> tuple[Invites, Project]:
    of = {"invites": {}, "project": {}} | (loads(spec) or {})
    return Invites.model_validate(of["invites"]), Project.model_validate(of["project"])


_their = {op: STEP.alias() for op in OF_PERSON}
_states = [step.c.state for step in _their.values()]
_yes = (PART.c.state == State.DONE) | PART.c.said_yes
_emailed = exists().where(PART.c.step_id == _their[Op.INVITE].c.id, _yes)
WITHDRAWN = select(STEP.c.person_id).where(
    STEP.c.campaign_id == bindparam("of"), STEP.c.op == Op.INVITE, STEP.c.state == State.GIVEN_UP
)
_OWN = select(Step).where(
    STEP.c.campaign_id == bindparam("of"), STEP.c.person_id == bindparam("who")
)
