"""Who is still to be added or invited: the only answer, for plan, run, status, history, forget."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, false, select
from sqlmodel import Session

from data.campaigns.people import invites_of, own_steps, steps_of
from data.eligibility.holds import Hold, holds
from data.store.states import NEEDS, OF_PROJECT, OPEN, Op, State
from data.store.tables import PERSON, STEP, Campaign


@dataclass(frozen=True, slots=True)
class DueStep:
    """One step that a run may claim; the claim reads what is sent (data/sending/claims.py)."""

    step_id: int
    person_id: int


def due(session: Session, campaign_id: int, op: Op) -> list[DueStep]:
    """What may be claimed of an operation, without those whom a hold keeps back, in file order.

    What keeps back the whole campaign for a while (`campaign_holds`) leaves it due.
    """
    needed = NEEDS.get(op)
    if needed in OF_PROJECT and own_steps(session, campaign_id)[needed].state is not State.DONE:
        return []
    held = holds(session, campaign_id)
    if op in OF_PROJECT:
        return _of_the_project(session, campaign_id, op, held)
    waiting = session.execute(_waiting(session, campaign_id, op, ready=True))
    return [DueStep(step, person) for step, person in waiting if person not in held]


def to_come(
    session: Session, campaign_id: int, op: Op, held: dict[int, Hold] | None = None
) -> list[int]:
    """Who is due for this, now or once they are added (ids of people): what a plan announces."""
    held = holds(session, campaign_id) if held is None else held
    waiting = _waiting(session, campaign_id, op, ready=False)
    return [person for _, person in session.execute(waiting) if person not in held]


def _of_the_project(
    session: Session, campaign_id: int, op: Op, held: dict[int, Hold]
) -> list[DueStep]:
    """A project is made, and its problem attached, only if somebody is to be added to it."""
    step = own_steps(session, campaign_id)[op]
    if step.state not in OPEN[op]:
        return []
    if not to_come(session, campaign_id, Op.ADD, held) and not to_come(
        session, campaign_id, Op.INVITE, held
    ):
        return []
    return [DueStep(step.id, 0)]


def _waiting(session: Session, campaign_id: int, op: Op, *, ready: bool) -> Select[Any]:
    """People whose step is open. `ready`: what it needs is done, so it can be claimed now."""
    waiting = (
        select(STEP.c.id, STEP.c.person_id)
        .join(PERSON, steps_of(STEP, op))
        .where(STEP.c.campaign_id == campaign_id, PERSON.c.listed, STEP.c.state.in_(OPEN[op]))
        .order_by(STEP.c.id)
    )
    if op is not Op.INVITE:
        return waiting
    if not invites_of(session.get_one(Campaign, campaign_id)).send:
        return waiting.where(false())
    add = STEP.alias()
    added = (State.DONE,) if ready else (State.DONE, State.SENDING, *OPEN[Op.ADD])
    return waiting.join(add, steps_of(add, Op.ADD)).where(add.c.state.in_(added))
