"""Who is still to be added or invited: plan, run, status and pages all ask here."""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, func, select
from sqlmodel import Session

from config.errors import command
from config.timetable import on_the_wall, span, wave
from data.campaigns.people import ends_of, invites_of, own_steps, steps_of
from data.eligibility.holds import Hold, Kind, Scope, campaign_holds, holds
from data.store.states import OF_PERSON, OPERATIONS, Op, State
from data.store.tables import PART, PERSON, REQUEST, STEP, Campaign, now

CLAIMS_WAIT = (Kind.RATE, Kind.THROTTLED)


def due(session: Session, campaign_id: int, op: Op) -> dict[int, int]:
    """The steps of an operation that may be claimed, and the person of each, in file order.

    Held people are left out. A hold on the whole campaign (`campaign_holds`) leaves all of them
    due.
    """
    own, its = own_steps(session, campaign_id), OPERATIONS[op]
    ready = all(own[each].state is State.DONE for each in its.needs if each in own)
    if not ready or (its.own and own[op].state not in its.open):
        return {}
    held = holds(session, session.get_one(Campaign, campaign_id))
    if its.own:  # nothing is created if nobody is to be added or invited
        anybody = any(any(to_come(session, campaign_id, each, held)) for each in OF_PERSON)
        return {own[op].id: 0} if anybody else {}
    waiting = _waiting(session, campaign_id, op, ready=True)
    return {step: person for step, person in waiting if person not in held}


def to_come(session: Session, campaign_id: int, op: Op, held: Collection[int]) -> Iterator[int]:
    """People for whom this is due, now or after they are added, and who are not `held`."""
    waiting = _waiting(session, campaign_id, op, ready=False)
    return (person for _, person in waiting if person not in held)


def turn(
    session: Session, campaign_id: int, at: datetime | None = None
) -> tuple[list[int], Hold | None]:
    """The steps to invite now, in order: the pilot, then wave after wave.

    The hold says why the others wait. Each claim itself asks about those of CLAIMS_WAIT.
    """
    at = at or now()
    waiting = due(session, campaign_id, Op.INVITE)
    if not waiting:
        return [], None
    campaign = session.get_one(Campaign, campaign_id)
    found = [h for h in campaign_holds(session, campaign, at) if h.kind not in CLAIMS_WAIT]
    if found:
        free = (s for s, who in waiting.items() if not any(h.covers(Op.INVITE, who) for h in found))
        return list(free), found[0]
    invites = invites_of(campaign)
    if not invites.waves:
        return list(waiting), None
    tried, last = _so_far(session, campaign_id, campaign.pilot_id or 0)
    current = wave(invites.waves, tried)
    between = span(invites.between) if current.follows and invites.between else timedelta()
    begins, ends = last + between if last else at, ends_of(campaign)
    if ends is not None and begins >= ends:
        why = f"wave {current.number} would begin after the project's end"
        return [], Hold(Kind.WINDOW, Scope.INVITES, why, type_this=command("check", campaign.file))
    if at < begins <= at + 2 * between:  # a later time comes from a wrong clock
        why = f"wave {current.number} begins on {on_the_wall(begins, invites.timezone)}"
        return [], Hold(Kind.HOURS, Scope.INVITES, why, until=begins)
    return list(waiting)[: current.room], None


def _waiting(session: Session, campaign_id: int, op: Op, *, ready: bool) -> Iterable[Row[Any]]:
    """People whose step is open; with `ready`, only if the steps it needs are done."""
    its = OPERATIONS[op]
    if its.emails and not invites_of(session.get_one(Campaign, campaign_id)).send:
        return ()
    waiting = (
        select(STEP.c.id, STEP.c.person_id)
        .join(PERSON, steps_of(STEP, op))
        .where(STEP.c.campaign_id == campaign_id, PERSON.c.listed, STEP.c.state.in_(its.open))
        .order_by(STEP.c.id)
    )
    for before in (each for each in its.needs if each in OF_PERSON):
        step, coming = STEP.alias(), () if ready else (State.SENDING, *OPERATIONS[before].open)
        stands = step.c.state.in_((State.DONE, *coming))
        waiting = waiting.join(step, steps_of(step, before)).where(stands)
    return session.execute(waiting)


def _so_far(session: Session, campaign_id: int, pilot: int) -> tuple[int, datetime | None]:
    """How many people were invited or tried, without the pilot, and when the last one was."""
    had = (
        select(func.count(STEP.c.id.distinct()), func.max(REQUEST.c.claimed_at))
        .join(PART, PART.c.step_id == STEP.c.id)
        .join(REQUEST, REQUEST.c.id == PART.c.request_id)
        .where(STEP.c.campaign_id == campaign_id, STEP.c.op == Op.INVITE)
        .where(STEP.c.person_id != pilot, PART.c.state != State.WAITING)
    )
    tried, last = session.execute(had).one()
    return int(tried), last
