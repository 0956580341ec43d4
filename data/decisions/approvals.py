"""Approvals: a person says yes or no to exactly the plan that was shown, by its code.

The same word approves the pilot's email, once it was sent. What voids an approval is in
eligibility/holds.py.
"""

from dataclasses import dataclass, replace

from sqlmodel import Session

from config.errors import NotAsTyped
from data.campaigns.people import invites_of, own_steps
from data.decisions.decisions import By, ReasonMissing, note
from data.eligibility.evidence import APPROVE, REJECT, SHOWN, facts_of
from data.eligibility.holds import Kind, code_now, holds, is_still_approved
from data.store.states import Op, State
from data.store.tables import Campaign, Step

PILOT = str(Kind.PILOT)  # in the place of a plan's code
OWN = "approved by the same person who ran it"  # the plan was shown to the same person


class NothingToApprove(NotAsTyped):
    says = "{key}: nothing waits for an approval{why}. Nothing was changed."
    then = "campaign status {key}"


class PlanChanged(NotAsTyped):
    says = """The plan of {key} has changed since it was shown, so it was neither approved nor
    rejected. Run it again to see the plan as it is now."""
    then = "campaign run {file}"


@dataclass(frozen=True, slots=True)
class Answered:
    """What was approved or rejected: the plan of this code, or (None) the pilot's email."""

    code: str | None
    new: bool = True
    own: bool = False  # see OWN


def show(session: Session, campaign_id: int, code: str, who: str) -> None:
    """Note that the plan with this code was shown to a person."""
    if facts_of(session, campaign_id).shown != code:
        note(session, SHOWN, By(who), campaign_id, value=code)


def approve(
    session: Session, campaign_id: int, by: By, *, reject: bool = False, only: str | None = None
) -> Answered:
    """Say yes or no to what waits: the plan that was shown, or the email that the pilot got.

    With `only` (the code of a plan, or PILOT), nothing else is answered.

    You can reject a plan even after it changed. Approving what somebody rejected needs a reason.
    Raises NothingToApprove, PlanChanged, ReasonMissing.
    """
    campaign = session.get_one(Campaign, campaign_id)
    word, asked = REJECT if reject else APPROVE, facts_of(session, campaign_id)
    code, needed = asked.shown, invites_of(campaign).approval is not None
    whole = all(is_still_approved(asked, each) for each in ("", code or ""))
    if only not in (None, PILOT, code):
        raise PlanChanged(key=campaign.key, file=campaign.file)
    about: tuple[int | None, int | None, str | int]  # person, part, and the code or generation
    if only != PILOT and needed and (only or reject or not whole):
        if code is None:
            raise NothingToApprove(key=campaign.key, why="; run it first to see the plan")
        if not reject and code != code_now(session, campaign_id, holds(session, campaign)):
            raise PlanChanged(key=campaign.key, file=campaign.file)
        about, last = (None, None, code), (asked.answer, asked.answered)
    else:
        already = "; the plan is approved" if whole else ""
        if only not in (None, PILOT):
            raise NothingToApprove(key=campaign.key, why=already)
        code, email = None, _pilots_email(session, campaign, already)
        about = email.person_id, email.part_id, email.generation
        last = asked.pilot_answer, asked.pilot_answered
    before = last[0] if last[1] == about[2] else None
    if before == REJECT and not reject and not by.why.strip():
        raise ReasonMissing
    own = word == APPROVE and code is not None and by.who == asked.shown_to
    said = replace(by, why=f"{by.why} ({OWN})".strip()) if own else by
    note(session, word, said, campaign_id, *about)
    return Answered(code, new=before != word, own=own and before != word)


def _pilots_email(session: Session, campaign: Campaign, already: str) -> Step:
    """The pilot's invitation. Raises NothingToApprove unless it was sent."""
    if campaign.pilot_id is None:
        raise NothingToApprove(key=campaign.key, why=already)
    invite = own_steps(session, campaign.id, campaign.pilot_id)[Op.INVITE]
    if invite.state is not State.DONE:
        raise NothingToApprove(key=campaign.key, why="; the pilot was not invited yet")
    return invite
