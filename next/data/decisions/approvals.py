"""Approvals: a plan is shown with its code, and a person says yes or no to exactly that.

The same word approves the pilot's email, once the pilot has it. What makes an approval void is in
eligibility/approved.py.
"""

from dataclasses import dataclass

from sqlalchemy import select
from sqlmodel import Session

from config.emails import email_key
from config.errors import CampaignError
from data.campaigns.people import invites_of, known_person, own_steps
from data.decisions.decisions import By, ReasonMissing, note
from data.eligibility import approved
from data.eligibility.holds import Hold, holds
from data.store.states import Op, State
from data.store.tables import PERSON, STEP, Campaign


class NothingToApprove(CampaignError):
    """{key}: nothing waits for an approval{why}. Nothing was changed.

    campaign status {key}"""

    exit_code = 2


class PlanChanged(CampaignError):
    """The plan of {key} has changed since it was shown, so it was neither approved nor rejected.
    Run it again to see the plan as it is now.

    campaign run {file}"""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Answered:
    """What was approved or rejected: the plan of this code, or (None) the pilot's email."""

    code: str | None
    new: bool = True


def code_now(session: Session, campaign_id: int, held: dict[int, Hold] | None = None) -> str:
    """The code of what a run would do now."""
    held = holds(session, campaign_id) if held is None else held
    withdrawn = select(STEP.c.person_id).where(
        STEP.c.campaign_id == campaign_id, STEP.c.op == Op.INVITE, STEP.c.state == State.GIVEN_UP
    )
    everybody = select(PERSON.c.id, PERSON.c.email_key).where(
        PERSON.c.campaign_id == campaign_id, PERSON.c.listed
    )
    out = {*held, *session.scalars(withdrawn)}
    keys = (key for number, key in session.execute(everybody) if number in out) if out else ()
    return approved.plan_code(session, session.get_one(Campaign, campaign_id), keys)


def show(session: Session, campaign_id: int, code: str, who: str) -> None:
    """Note that the plan of this code was shown, for a person to answer."""
    if approved.shown_last(session, campaign_id) != code:
        note(session, approved.SHOWN, By(who), campaign_id, value=code)


def is_approved(session: Session, campaign_id: int, code: str) -> bool:
    """Whether the last answer to exactly this plan was yes."""
    return bool(approved.last_answer(session, campaign_id) == (approved.APPROVE, code))


def approve(session: Session, campaign_id: int, by: By, *, reject: bool = False) -> Answered:
    """Say yes or no to what waits: the plan that was shown, or the email that the pilot has.

    A no is never refused because the plan has changed. To approve what somebody rejected needs a
    reason. Raises NothingToApprove, PlanChanged.
    """
    campaign = session.get_one(Campaign, campaign_id)
    word = approved.REJECT if reject else approved.APPROVE
    if not approved.needs_approval(campaign) or (
        approved.is_approved(session, campaign) and not reject
    ):
        return _pilot(session, campaign, word, by)
    shown = approved.shown_last(session, campaign_id)
    if shown is None:
        raise NothingToApprove(key=campaign.key, why="; run it first to see the plan")
    if not reject and shown != code_now(session, campaign_id):
        raise PlanChanged(key=campaign.key, file=campaign.file)
    before = approved.last_answer(session, campaign_id)
    if before == (word, shown):
        return Answered(shown, new=False)
    if before == (approved.REJECT, shown) and not by.why.strip():
        raise ReasonMissing
    note(session, word, by, campaign_id, value=shown)
    return Answered(shown)


def _pilot(session: Session, campaign: Campaign, word: str, by: By) -> Answered:
    address = invites_of(campaign).pilot
    person = known_person(session, campaign.id, email_key(address)) if address else None
    if person is None:
        already = "; the plan is approved" if approved.needs_approval(campaign) else ""
        raise NothingToApprove(key=campaign.key, why=already)
    invite = own_steps(session, campaign.id, person.id)[Op.INVITE]
    if invite.state is not State.DONE:
        raise NothingToApprove(key=campaign.key, why="; the pilot was not invited yet")
    if approved.last_answer(session, campaign.id, person.id) == (word, invite.generation):
        return Answered(None, new=False)
    note(session, word, by, campaign.id, person.id, invite.part_id, invite.generation)
    return Answered(None)
