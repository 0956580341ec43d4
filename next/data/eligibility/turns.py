"""Whose turn it is to be invited: the pilot, then wave after wave, within hours and window."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlmodel import Session

from config.definition import Invites
from config.emails import email_key
from config.timetable import on_the_wall, open_until, span, wave
from data.campaigns.people import invites_of
from data.eligibility.due import DueStep, due
from data.eligibility.holds import Hold, Kind, Scope, campaign_holds
from data.store.states import Op, State
from data.store.tables import PART, PERSON, REQUEST, STEP, Campaign, now


@dataclass(frozen=True, slots=True)
class Turn:
    """Who may be invited now, in this order, until a moment (None: no end).

    `hold` says why others, or all, wait. `again` is when to ask next; None: nobody waits, or only
    a person can change it, or as soon as these are through.
    """

    steps: Sequence[DueStep] = ()
    until: datetime | None = None
    wave: int = 1
    hold: Hold | None = None
    again: datetime | None = None


def turn(session: Session, campaign_id: int, at: datetime | None = None) -> Turn:
    """Say who may be invited now. A claim asks what keeps people back once more."""
    at = at or now()
    waiting = due(session, campaign_id, Op.INVITE)
    if not waiting:
        return Turn()
    invites = invites_of(session.get_one(Campaign, campaign_id))
    until = open_until(invites, at)
    found = campaign_holds(session, campaign_id, at)
    pilot = next((hold for hold in found if hold.kind is Kind.PILOT), None)
    other = next((hold for hold in found if hold.kind not in (Kind.PILOT, Kind.RATE)), None)
    if other is not None:
        return Turn(hold=other, again=other.until)
    if pilot is not None:
        return Turn([step for step in waiting if step.person_id == pilot.but], until, 0, pilot)
    return _in_waves(session, campaign_id, invites, waiting, at, until)


def _in_waves(
    session: Session,
    campaign_id: int,
    invites: Invites,
    waiting: Sequence[DueStep],
    at: datetime,
    until: datetime | None,
) -> Turn:
    if not invites.waves:
        return Turn(waiting, until)
    tried, last = _so_far(session, campaign_id, email_key(invites.pilot or ""))
    stands = wave(invites.waves, tried)
    between = span(invites.between) if stands.follows and invites.between else timedelta()
    begins = last + between if last else at
    if at < begins <= at + 2 * between:  # what is further off was written by a clock ahead of ours
        why = f"wave {stands.number} begins on {on_the_wall(begins, invites.timezone)}"
        hold = Hold(Kind.HOURS, Scope.INVITES, why, until=begins)
        return Turn(wave=stands.number, hold=hold, again=begins)
    return Turn(waiting[: stands.room], until, stands.number)


def _so_far(session: Session, campaign_id: int, pilot: str) -> tuple[int, datetime | None]:
    """How many people, the pilot not counted, have had their turn, and when the last one had it."""
    had = (
        select(func.count(STEP.c.id.distinct()), func.max(REQUEST.c.claimed_at))
        .join(PART, PART.c.step_id == STEP.c.id)
        .join(REQUEST, REQUEST.c.id == PART.c.request_id)
        .join(PERSON, PERSON.c.id == STEP.c.person_id)
        .where(STEP.c.campaign_id == campaign_id, STEP.c.op == Op.INVITE)
        .where(PERSON.c.email_key != pilot, PART.c.state != State.WAITING)
    )
    tried, last = session.execute(had).one()
    return int(tried), last
