"""Whether a plan is still approved, and the code of a plan.

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

from config.errors import command
from data.campaigns.history import last_word
from data.campaigns.people import invites_of, own_steps
from data.eligibility.evidence import Hold, Kind, Scope
from data.store.states import Op, State
from data.store.tables import DECISION, PERSON, STEP, Campaign

APPROVE, REJECT, SHOWN = "approve", "reject", "shown"
SENDS_MORE = ("again", "sent", "invite", "undo", "correct")  # and lift, which is of no campaign


def needs_approval(campaign: Campaign) -> bool:
    """Whether the definition wants a person to approve each plan."""
    return invites_of(campaign).approval is not None


def is_approved(session: Session, campaign: Campaign, code: str = "") -> bool:
    """Whether the last answer was yes to the plan of this code; without one: to a plan since which
    nothing that may be sent has changed."""
    last = last_answer(session, campaign.id)
    if last is None or last.word != APPROVE:
        return False
    return str(last.value).startswith(code or _basis(session, campaign))


def approval_hold(session: Session, campaign: Campaign, code: str = "") -> Hold | None:
    """Until a person approved this plan, nothing of the campaign is sent."""
    if not needs_approval(campaign) or is_approved(session, campaign, code):
        return None
    why, known = "nobody has approved this plan", code or shown_last(session, campaign.id) or ""
    is_shown = known.startswith(_basis(session, campaign))
    typed = command("approve", campaign.key) if is_shown else command("run", campaign.file)
    return Hold(Kind.APPROVAL, Scope.CAMPAIGN, why, type_this=typed)


def last_answer(session: Session, campaign_id: int, person_id: int | None = None) -> Any:
    """The newest yes or no to a plan, or to the pilot's email: only that one counts.

    Its value is the code of the plan, or the generation of the email.
    """
    return last_word(session, (APPROVE, REJECT), campaign_id, person_id)


def shown_last(session: Session, campaign_id: int) -> str | None:
    """The code of the plan that was shown last."""
    last = last_word(session, (SHOWN,), campaign_id)
    return str(last.value) if last else None


def code_now(session: Session, campaign_id: int, held: Collection[int]) -> str:
    """The code of what a run would do now that leaves out whoever is held, as people read it."""
    withdrawn = select(STEP.c.person_id).where(
        STEP.c.campaign_id == campaign_id, STEP.c.op == Op.INVITE, STEP.c.state == State.GIVEN_UP
    )
    everybody = select(PERSON.c.id, PERSON.c.email_key).where(
        PERSON.c.campaign_id == campaign_id, PERSON.c.listed
    )
    out = {*held, *session.scalars(withdrawn)}
    keys = [key for number, key in session.execute(everybody) if number in out] if out else ()
    return _basis(session, session.get_one(Campaign, campaign_id)) + _digits(sorted(keys), 4)


def _basis(session: Session, campaign: Campaign) -> str:
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
    return _digits((*whole, own[Op.ATTACH].service_id, decided), 12)


def _digits(parts: Iterable[object], number: int) -> str:
    return sha256("\n".join(map(str, parts)).encode()).hexdigest()[:number]
