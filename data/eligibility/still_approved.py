"""Whether a plan is still approved, and the code of a plan.

A plan's code has two parts. The first stands for everything that decides what may be sent: the
file's bytes, service, account, the resolved problem, and what people decided that sends more. A
claim compares it in its own transaction. The second stands for the people who are left out, whom
only a whole plan can know. What a run sends by itself changes neither.
"""

from collections.abc import Collection, Iterable
from hashlib import sha256
from typing import Any

from sqlalchemy import select
from sqlmodel import Session

from data.eligibility.facts import APPROVE, facts_of
from data.store.states import Op, State
from data.store.tables import PERSON, STEP, Campaign


def is_approved(session: Session, campaign: Campaign, code: str = "") -> bool:
    """Whether the last answer was yes to the plan of this code; without one: to a plan since which
    nothing that may be sent has changed."""
    return is_still_approved(facts_of(session, campaign.id), code)


def is_still_approved(facts: Any, code: str = "") -> bool:
    """The same of a campaign's row of facts.py."""
    return facts.answer == APPROVE and str(facts.answered).startswith(code or _basis(facts))


def is_shown(facts: Any, code: str = "") -> bool:
    """Whether the plan of this code, or the one shown last, stands for what may be sent."""
    return (code or str(facts.shown)).startswith(_basis(facts))


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
    return _basis(facts_of(session, campaign_id)) + _digits(sorted(keys), 4)


def _basis(facts: Any) -> str:
    """The part of the plan's code that stands for what may be sent."""
    project = (facts.spec or {}).get("project", {}).get("id")
    decided = max(facts.decided or 0, facts.lifted or 0) or None
    whole = (facts.key, facts.service, facts.account, facts.digest, project)
    return _digits((*whole, facts.problem, decided), 12)


def _digits(parts: Iterable[object], number: int) -> str:
    return sha256("\n".join(map(str, parts)).encode()).hexdigest()[:number]
