"""The pilot: the one who is invited before anybody has seen and approved the email."""

from sqlmodel import Session

from config.emails import email_key
from config.errors import command
from data.campaigns.people import invites_of, known_person, own_steps
from data.eligibility.evidence import Hold, Kind, Scope
from data.eligibility.still_approved import APPROVE, REJECT, last_answer
from data.store.states import Op, State
from data.store.tables import Campaign


def pilot_hold(session: Session, campaign: Campaign) -> Hold | None:
    """Until a person approved the pilot's email, nobody else is invited."""
    address, key = invites_of(campaign).pilot, campaign.key
    if address is None:
        return None
    person = known_person(session, campaign.id, email_key(address))
    if person is None:
        why = "the pilot was forgotten; name another address as invites.pilot"
        return Hold(Kind.PILOT, Scope.INVITES, why)
    by_op = own_steps(session, campaign.id, person.id)
    invite = by_op[Op.INVITE]
    answer = last_answer(session, campaign.id, person.id)
    said = answer.word if answer is not None and answer.value == invite.generation else None
    if said == APPROVE:
        return None
    step = invite if by_op[Op.ADD].state is State.DONE else by_op[Op.ADD]
    why, typed = {
        State.DONE: ("the pilot has an email that nobody has approved", command("approve", key)),
        State.UNSURE: ("it is not known whether the pilot was invited", command("settle", key)),
        State.REFUSED: ("the service refused the pilot", command("status", key)),
        State.GIVEN_UP: ("the pilot was withdrawn", command("status", key)),
    }.get(step.state, ("the pilot is invited first", None))
    if said == REJECT:
        why, typed = "the pilot's email was rejected", command("history", key)
    return Hold(Kind.PILOT, Scope.INVITES, why, type_this=typed, except_person=person.id)
