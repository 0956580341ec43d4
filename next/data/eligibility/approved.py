"""Whether a person has approved what a run would do, and the code of that plan.

A plan's code has two parts. The first stands for everything that decides what may be sent: the
file's bytes, service, account, the resolved problem, and what people decided that sends more. A
claim compares it in its own transaction. The second stands for the people who are left out, whom
only a whole plan can know. What a run sends by itself changes neither.
"""

from collections.abc import Collection, Iterable
from hashlib import sha256
from typing import Any

from sqlalchemy import and_, func, or_, select
from sqlmodel import Session

from data.campaigns.people import invites_of, own_steps
from data.store.states import Op
from data.store.tables import DECISION, Campaign

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


def last_answer(session: Session, campaign_id: int, person_id: int | None = None) -> Any:
    """The newest yes or no (a decision's `word` and `value`) to a plan, or to the pilot's email.

    Only the newest counts: its value is the code of the plan, or the generation of the email.
    """
    return _last(session, (APPROVE, REJECT), campaign_id, person_id)


def shown_last(session: Session, campaign_id: int) -> str | None:
    """The code of the plan that was shown last."""
    last = _last(session, (SHOWN,), campaign_id)
    return str(last.value) if last else None


def is_approved(session: Session, campaign: Campaign) -> bool:
    """Whether nothing that may be sent has changed since a person approved the plan."""
    last = last_answer(session, campaign.id)
    if last is None or last.word != APPROVE:
        return False
    return str(last.value)[:BASIS] == basis(session, campaign)


def needs_approval(campaign: Campaign) -> bool:
    """Whether the definition wants a person to approve each plan."""
    return invites_of(campaign).approval is not None


def _last(
    session: Session, words: Collection[str], campaign_id: int, person_id: int | None = None
) -> Any:
    newest = (
        select(DECISION.c.word, DECISION.c.value)
        .where(DECISION.c.campaign_id == campaign_id, DECISION.c.person_id == person_id)
        .where(DECISION.c.word.in_(words))
        .order_by(DECISION.c.id.desc())
    )
    return session.execute(newest.limit(1)).first()


def _digits(parts: Iterable[object], number: int) -> str:
    return sha256("\n".join(map(str, parts)).encode()).hexdigest()[:number]
