"""Approvals: the plan that was shown before anything was sent, and what a person answered.

An approval is bound to a digest of what its plan rests on: the bytes of the definition, the
service, and how far the ledger had got with the campaign. A run under the approval moves that on
itself, so its own requests are left out; any other request, and any verdict of a person, makes
another digest, and the approval is void.

The functions that take a connection work inside a transaction that their caller commits.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import sha256

from sqlalchemy import Connection, Row, func, insert, select, update

from config.errors import CampaignError
from data.tables import Approval, Attempt, Campaign, Decision, Run

approvals = Approval.__table__  # type: ignore[attr-defined]
attempt = Attempt.__table__  # type: ignore[attr-defined]
campaign = Campaign.__table__  # type: ignore[attr-defined]
decision = Decision.__table__  # type: ignore[attr-defined]
runs = Run.__table__  # type: ignore[attr-defined]

CODE = 8  # hex digits of a digest that people read and type


class Answer(StrEnum):
    """What a person may answer, as it stands in `approval.answer` and in `decision.verdict`."""

    APPROVED = "approved"
    REJECTED = "rejected"


class Standing(StrEnum):
    """Where a plan stands that a run would carry out now."""

    NOT_ASKED = "not asked"  # no such plan was shown, or what was shown is void by now
    OPEN = "open"  # shown, and nobody has answered yet
    LATE = "late"  # shown, and nobody answered in time
    APPROVED = "approved"
    REJECTED = "rejected"


class NotAnswered(CampaignError):
    """An answer to a plan cannot be taken, so none was; nothing was sent."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A plan that was shown. `definition` goes with a bare table of candidates.

    `answer_by` None: it waits for as long as it is true.
    """

    id: int
    campaign: str
    digest: str
    service: str
    file: str
    definition: str | None
    told: str
    asked_at: datetime
    answer_by: datetime | None = None
    answer: Answer | None = None
    who: str | None = None
    why: str | None = None

    @property
    def code(self) -> str:
        """The digest as people read and type it."""
        return self.digest[:CODE]


def standing(asked: Asked | None, digest: str, at: datetime) -> Standing:
    """Say where the plan with this digest stands, given the plan that was last shown."""
    if asked is None or asked.digest != digest:
        return Standing.NOT_ASKED
    if asked.answer is not None:
        return Standing(asked.answer)
    if asked.answer_by is not None and at >= asked.answer_by:
        return Standing.LATE
    return Standing.OPEN


def digest_of(definition: str, service: str, reached: str) -> str:
    """Stand for everything a plan rests on, in hex digits.

    `definition` is the digest of its bytes, `service` the base URL, `reached` is `reached()`.
    """
    return sha256("\n".join((definition, service, reached)).encode()).hexdigest()


def reached(connection: Connection, key: str, under: int | None) -> str:
    """How far the ledger has got with a campaign, but for what runs `under` an approval sent."""
    row = select(campaign.c.id).where(campaign.c.key == key).scalar_subquery()
    of_others = attempt.c.campaign_id == row
    if under is not None:
        own = select(runs.c.id).where(runs.c.approval_id == under)
        of_others &= attempt.c.run_id.not_in(own)
    requests = connection.execute(
        select(attempt.c.state, func.count())
        .where(of_others)
        .group_by(attempt.c.state)
        .order_by(attempt.c.state)
    )
    verdicts = connection.scalar(
        select(func.count()).where(
            decision.c.campaign_id == row, decision.c.verdict.not_in(tuple(Answer))
        )
    )
    told = ", ".join(f"{number} {state}" for state, number in requests)
    return f"requests: {told}; verdicts: {verdicts}"


def last(connection: Connection, key: str) -> Asked | None:
    """The plan of a campaign that was last shown, with its answer."""
    found = connection.execute(
        select(approvals)
        .where(approvals.c.campaign_key == key)
        .order_by(approvals.c.id.desc())
        .limit(1)
    ).first()
    return None if found is None else _asked(found)


def ask(connection: Connection, plan: Asked) -> Asked:
    """Write down that a plan was shown, in place of any earlier one; `plan.id` is not looked at."""
    number = connection.execute(
        insert(approvals)
        .values(
            campaign_key=plan.campaign,
            digest=plan.digest,
            service=plan.service,
            file=plan.file,
            definition=plan.definition,
            told=plan.told,
            asked_at=plan.asked_at,
            answer_by=plan.answer_by,
        )
        .returning(approvals.c.id)
    ).scalar_one()
    found = connection.execute(select(approvals).where(approvals.c.id == number)).one()
    return _asked(found)


def answer(
    connection: Connection, plan: Asked, given: Answer, who: str, why: str, at: datetime
) -> None:
    """Write down a person's answer, and in the decisions as well. Raises NotAnswered.

    Only the plan that was last shown is answered: a person answers what they have seen.
    """
    newest = last(connection, plan.campaign)
    if newest is None or newest.id != plan.id:
        raise NotAnswered(
            f"Another plan of {plan.campaign} was shown in the meantime, so nothing was decided."
        )
    connection.execute(
        update(approvals)
        .where(approvals.c.id == plan.id)
        .values(answer=given, who=who, why=why, answered_at=at)
    )
    row = connection.scalar(select(campaign.c.id).where(campaign.c.key == plan.campaign))
    connection.execute(
        insert(decision).values(
            campaign_id=row,
            verdict=given,
            value=plan.digest,
            who=who,
            why=why,
            decided_at=at,
        )
    )


def _asked(row: Row[tuple[object, ...]]) -> Asked:
    found = row._mapping
    given = found["answer"]
    return Asked(
        id=found["id"],
        campaign=found["campaign_key"],
        digest=found["digest"],
        service=found["service"],
        file=found["file"],
        definition=found["definition"],
        told=found["told"],
        asked_at=found["asked_at"],
        answer_by=found["answer_by"],
        answer=None if given is None else Answer(given),
        who=found["who"],
        why=found["why"],
    )
