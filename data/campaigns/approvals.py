"""Approvals: the plan that was shown before anything was sent, and what a person answered.

An approval is bound to a digest of what its plan rests on: the bytes of the definition, the
service, and how far the ledger had got with the campaign. A run under the approval moves that on
itself, so its own requests are left out; any other request, and any verdict of a person, makes
another digest, and the approval is void.

The functions that take a connection work inside a transaction that their caller commits.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from config.errors import CampaignError
from config.service_address import canonical
from config.timetable.moments import in_zone
from data.campaigns.send_progress import CONFIRMED
from data.store import clock
from data.store.states import By, Ending, Word
from data.store.tables import (
    approvals,
    attempt,
    campaign,
    decision,
    runs,
)

CODE = 8  # hex digits of a digest that people read and type


class Answer(StrEnum):
    """What a person may answer, as it stands in `approval.answer` and in `decision.verdict`."""

    APPROVED = "approved"
    REJECTED = "rejected"


# What the definition itself decides voids no approval of it.
_NO_VERDICTS = (*Answer, CONFIRMED, Word.ADD_AGAIN, Word.DOUBLE)


class Standing(StrEnum):
    """Where a plan stands that a run would carry out now."""

    NEW = "new"  # it was never shown
    CHANGED = "changed"  # another definition was shown
    OVERTAKEN = "overtaken"  # since it was shown, something was sent or settled, or others are held
    OPEN = "open"  # shown, and nobody has answered yet
    LATE = "late"  # shown, and nobody answered in time
    APPROVED = "approved"
    REJECTED = "rejected"


class NotAnswered(CampaignError):
    """An answer to a plan cannot be taken, so none was; nothing was sent."""


class Overtaken(CampaignError):
    """The approval became void between the look at it and the begin of the run."""


@dataclass(frozen=True, slots=True)
class PlanInWords:
    """What a run would do, to be shown for approval.

    `read` is the digest of the definition's bytes, `service` the base URL, `definition` the file
    that goes with a bare table of candidates, `sheet` the one that a person named, `told` the plan
    in words without a name. `within` is the time to answer; None: the plan waits for as long as it
    is true. `held` stands for those whom the plan leaves out: once they are others, it is another
    plan.
    """

    campaign: str
    read: str
    service: str
    file: str
    definition: str | None
    told: str
    within: timedelta | None = None
    held: str = ""
    timezone: str | None = None  # the campaign's
    sheet: str | None = None


@dataclass(frozen=True, slots=True)
class ShownPlan:
    """A plan that was shown, and what a person answered."""

    id: int
    plan: PlanInWords
    digest: str
    asked_at: datetime
    answer_by: datetime | None = None
    answer: Answer | None = None
    who: str | None = None
    why: str | None = None

    @property
    def code(self) -> str:
        """The digest as people read and type it."""
        return self.digest[:CODE]

    @property
    def until(self) -> str | None:
        """When its time to be answered is over, as the campaign's people read it."""
        return in_zone(self.answer_by, self.plan.timezone) if self.answer_by else None


def standing(asked: ShownPlan | None, read: str, digest: str, at: datetime) -> Standing:
    """Say where the plan of a definition (`read`) stands that makes this digest now.

    `asked` is the plan that was last shown.
    """
    if asked is None:
        return Standing.NEW
    if asked.plan.read != read:
        return Standing.CHANGED
    if asked.digest != digest:
        return Standing.OVERTAKEN
    if asked.answer is not None:
        return Standing(asked.answer)
    if asked.answer_by is not None and at >= asked.answer_by:
        return Standing.LATE
    return Standing.OPEN


def digest_of(read: str, service: str, reached: str, held: str = "") -> str:
    """Stand for everything a plan rests on, in hex digits; `reached` is what `reached` answers."""
    return sha256("\n".join((read, canonical(service), reached, held)).encode()).hexdigest()


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
            decision.c.campaign_id == row, decision.c.verdict.not_in(_NO_VERDICTS)
        )
    )
    counts = ", ".join(f"{number} {state}" for state, number in requests)
    return f"requests: {counts}; verdicts: {verdicts}"


def look(
    connection: Connection,
    key: str,
    read: str | None = None,
    service: str | None = None,
    held: str | None = None,
) -> tuple[ShownPlan | None, Standing]:
    """Find the plan that was last shown, and where it stands beside what is true now.

    `read`, `service` and `held` None: they are taken for unchanged.
    """
    asked = last(connection, key)
    if asked is None:
        return None, Standing.NEW
    read = asked.plan.read if read is None else read
    service = asked.plan.service if service is None else service
    held = asked.plan.held if held is None else held
    digest = digest_of(read, service, reached(connection, key, asked.id), held)
    return asked, standing(asked, read, digest, clock.now())


def last(connection: Connection, key: str) -> ShownPlan | None:
    """The plan of a campaign that was last shown, with its answer."""
    row = connection.execute(
        select(approvals)
        .where(approvals.c.campaign_key == key)
        .order_by(approvals.c.id.desc())
        .limit(1)
    ).first()
    return None if row is None else _asked(row)


def seek(connection: Connection, plan: PlanInWords) -> tuple[ShownPlan, Standing]:
    """Find the answer to a plan; where it was not shown yet, or its time is over, ask.

    Answers the plan as it stands now, and where it stood before.
    """
    asked, stood = look(connection, plan.campaign, plan.read, plan.service, plan.held)
    if asked is not None and stood in (Standing.OPEN, Standing.APPROVED, Standing.REJECTED):
        return asked, stood
    so_far = reached(connection, plan.campaign, None)
    digest = digest_of(plan.read, plan.service, so_far, plan.held)
    at = clock.now()
    number = connection.execute(
        insert(approvals)
        .values(
            campaign_key=plan.campaign,
            digest=digest,
            read=plan.read,
            service=plan.service,
            file=plan.file,
            definition=plan.definition,
            sheet=plan.sheet,
            told=plan.told,
            held=plan.held,
            timezone=plan.timezone,
            asked_at=at,
            answer_by=at + plan.within if plan.within else None,
        )
        .returning(approvals.c.id)
    ).scalar_one()
    return _asked(
        connection.execute(select(approvals).where(approvals.c.id == number)).one()
    ), stood


def carried_out(connection: Connection, asked: ShownPlan) -> bool:
    """Whether a run under the approval of a plan came to its end: nothing of the plan is left."""
    ended = runs.c.ending.in_((Ending.COMPLETED, Ending.NEEDS_ATTENTION))
    statement = select(runs.c.id).where(runs.c.approval_id == asked.id, ended)
    return connection.scalar(statement.limit(1)) is not None


def check(connection: Connection, key: str, number: int) -> None:
    """See that a run may begin under this approval. Raises Overtaken."""
    asked, stood = look(connection, key)
    if asked is None or asked.id != number or stood is not Standing.APPROVED:
        raise Overtaken(
            f"The approval of {key} has just become void: something was sent or settled, or "
            "another plan was shown. Nothing was sent. Run the same command again to see the plan "
            "as it is now."
        )


def answer(connection: Connection, asked: ShownPlan, given: Answer, by: By) -> None:
    """Write down a person's answer, and among the decisions as well. Raises NotAnswered.

    Only the plan that was last shown is answered: a person answers what they have seen.
    """
    key = asked.plan.campaign
    newest = last(connection, key)
    if newest is None or newest.id != asked.id:
        raise NotAnswered(
            f"A newer plan of {key} has been shown meanwhile, so nothing was decided."
        )
    connection.execute(
        update(approvals)
        .where(approvals.c.id == asked.id)
        .values(answer=given, who=by.who, why=by.why, answered_at=by.at)
    )
    connection.execute(
        insert(decision).values(
            campaign_id=connection.scalar(select(campaign.c.id).where(campaign.c.key == key)),
            verdict=given,
            value=asked.digest,
            who=by.who,
            why=by.why,
            decided_at=by.at,
        )
    )


def _asked(row: Row[Any]) -> ShownPlan:
    plan = PlanInWords(
        row.campaign_key,
        row.read,
        row.service,
        row.file,
        row.definition,
        row.told,
        held=row.held,
        timezone=row.timezone,
        sheet=row.sheet,
    )
    return ShownPlan(
        row.id,
        plan,
        row.digest,
        row.asked_at,
        row.answer_by,
        None if row.answer is None else Answer(row.answer),
        row.who,
        row.why,
    )
