"""Who is still to be added or invited: plan, run, status and pages all ask here."""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import Row, select
from sqlmodel import Session

from data.campaigns.people import invites_of, own_steps, steps_of
from data.eligibility.holds import Hold, Kind, campaign_holds, holds, room
from data.store.states import OF_PERSON, OPERATIONS, Op, State
from data.store.tables import PERSON, STEP, Campaign, now

CLAIMS_WAIT = (Kind.RATE, Kind.THROTTLED)


def due(session: Session, campaign_id: int, op: Op) -> dict[int, int]:
    """The steps of an operation that may be claimed, and the person of each, oldest first.

    Held people are left out. Holds on the whole campaign (`campaign_holds`) do not matter here:
    people stay due.
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
    """The people, except `held` ones, for whom an operation is due now, or once they are added."""
    waiting = _waiting(session, campaign_id, op, ready=False)
    return (person for _, person in waiting if person not in held)


def next_invitations(
    session: Session, campaign_id: int, at: datetime | None = None
) -> tuple[list[int], Hold | None]:
    """The steps to invite now, in order: the pilot, then wave after wave.

    The Hold says why other due people wait; without a Hold, they wait at most for a later wave.
    Holds of the kinds CLAIMS_WAIT are left to each claim.
    """
    waiting = due(session, campaign_id, Op.INVITE)
    if not waiting:
        return [], None
    at, campaign = at or now(), session.get_one(Campaign, campaign_id)
    found = [h for h in campaign_holds(session, campaign, at) if h.kind not in CLAIMS_WAIT]
    if found:
        free = (s for s, who in waiting.items() if not any(h.covers(Op.INVITE, who) for h in found))
        return list(free), found[0]
    return list(waiting)[: room(session, campaign, at)[0]], None


def _waiting(session: Session, campaign_id: int, op: Op, *, ready: bool) -> Iterable[Row[Any]]:
    """The open steps of people in the file; the steps before are done or (not `ready`) to come."""
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
