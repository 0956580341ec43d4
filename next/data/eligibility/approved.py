"""Whether a person has approved what a run would do, and the code of that plan.

A plan's code has two parts. The first stands for everything that decides what may be sent: the
file's bytes, service, account, the resolved problem, and what people decided that sends more. A
claim compares it in its own transaction. The second stands for the people who are left out, whom
only a whole plan can know. What a run sends by itself changes neither.
"""

from collections.abc import Iterable
from hashlib import sha256

from sqlalchemy import and_, func, or_, select
from sqlmodel import Session

from data.campaigns.people import invites_of, own_steps
from data.store.states import Op
from data.store.tables import DECISION, Campaign, Decision

APPROVE, REJECT, SHOWN = "approve", "reject", "shown"
SENDS_MORE = ("again", "invite", "undo", "correct")  # and lift, which is of no campaign
BASIS = 12  # hex digits


def basis(session: Session, campaign: Campaign) -> str:
    """The part of the plan's code that stands for what may be sent."""
    own = own_steps(session, campaign.id)
    decided = session.scalar(
        select(func.max(DECISION.c.id)).where(
            or_(
                and_(DECISION.c.campaign_id == campaign.id, DECISION.c.word.in_(SENDS_MORE)),
                DECISION.c.word == "lift",
            )
        )
    )
    project = (campaign.spec or {}).get("project", {}).get("id")
    whole = (campaign.key, campaign.service, campaign.account, campaign.digest, project)
    return _digits((*whole, own[Op.ATTACH].service_id, decided), BASIS)


def plan_code(session: Session, campaign: Campaign, left_out: Iterable[str]) -> str:
    """The code of the plan that leaves out these people (email keys), as people read it."""
    return basis(session, campaign) + _digits(sorted(left_out), 4)


def answer_to(session: Session, campaign_id: int, code: str) -> Decision | None:
    """What was last answered to the plan of this code."""
    return next((each for each in _answers(session, campaign_id) if each.value == code), None)


def shown_last(session: Session, campaign_id: int) -> str | None:
    """The code of the plan that was shown last."""
    shown = _of(campaign_id).where(DECISION.c.word == SHOWN)
    last = session.scalars(shown.limit(1)).first()
    return str(last.value) if last else None


def is_approved(session: Session, campaign: Campaign) -> bool:
    """Whether nothing that may be sent has changed since a person approved the plan."""
    last = next(iter(_answers(session, campaign.id)), None)
    if last is None or last.word != APPROVE:
        return False
    return str(last.value)[:BASIS] == basis(session, campaign)


def needs_approval(campaign: Campaign) -> bool:
    """Whether the definition wants a person to approve each plan."""
    return invites_of(campaign).approval is not None


def pilot_answer(session: Session, person_id: int, generation: int) -> Decision | None:
    """What a person said of the pilot's email, the one of this generation."""
    answered = (
        select(Decision)
        .where(DECISION.c.person_id == person_id, DECISION.c.word.in_((APPROVE, REJECT)))
        .order_by(DECISION.c.id.desc())
    )
    return next((each for each in session.scalars(answered) if each.value == generation), None)


def _answers(session: Session, campaign_id: int) -> Iterable[Decision]:
    answers = _of(campaign_id).where(DECISION.c.word.in_((APPROVE, REJECT)))
    return session.scalars(answers.where(DECISION.c.person_id.is_(None)))


def _of(campaign_id: int):  # type: ignore[no-untyped-def]
    newest = DECISION.c.id.desc()
    return select(Decision).where(DECISION.c.campaign_id == campaign_id).order_by(newest)


def _digits(parts: Iterable[object], number: int) -> str:
    return sha256("\n".join(map(str, parts)).encode()).hexdigest()[:number]
