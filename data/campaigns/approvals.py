"""Approvals: the plan that was shown before anything was sent, and what a person answered.

An approval is bound to a digest of everything its plan depends on: the bytes of the definition, the
service, and how far the ledger had got with the campaign. A run under the approval changes that
itself, so its own requests are left out. Any other request, and any person's verdict, changes the
digest, and the approval is void.

The functions that take a connection work inside a transaction that their caller commits.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, func, insert, select, update
from sqlmodel import col
from sqlmodel import select as whole

from config.command_line import command
from config.errors import CampaignError
from config.service_address import canonical
from config.timetable.moments import in_zone
from data.campaigns.send_progress import CONFIRMED
from data.store import clock
from data.store.states import By, Ending, Word
from data.store.tables import Approval, approvals, attempt, campaign, decision, rows_of, runs

CODE = 8  # hex digits of a digest that people read and type
REJECTED = "-rejected-"  # behind them, and then
MARK = 4  # hex digits, for which rejection it was


class Answer(StrEnum):
    """What a person may answer, as written in `approval.answer` and in `decision.verdict`."""

    APPROVED = "approved"
    REJECTED = "rejected"


# What the definition itself decides does not void its approval.
_NO_VERDICTS = (*Answer, CONFIRMED, Word.ADD_AGAIN, Word.DOUBLE)


class Standing(StrEnum):
    """The state of the plan that a run would carry out now."""

    NEW = "new"  # it was never shown
    CHANGED = "changed"  # another definition was shown
    OVERTAKEN = "overtaken"  # since then, something was sent or settled, or others are held
    OPEN = "open"  # shown, and nobody has answered yet
    LATE = "late"  # shown, and nobody answered in time
    APPROVED = "approved"
    REJECTED = "rejected"


class NotAnswered(CampaignError):
    """An answer to a plan cannot be taken, so none was; nothing was sent."""

    exit_code = 2


class Overtaken(CampaignError):
    """The approval became void after it was checked and before the run began."""


@dataclass(frozen=True, slots=True)
class PlanInWords:
    """What a run would do, to be shown for approval; the names are those of the table.

    `read` is the digest of the definition's bytes, `service` the base URL, `definition` the file
    that goes with a bare table of candidates, `sheet` the one that a person named, `told` the plan
    in words without a name. `within` is the time to answer; None: no limit, while the plan stays
    the same. `held` identifies the people whom the plan leaves out: if they change, it is another
    plan.
    """

    campaign_key: str
    read: str
    service: str
    file: str
    definition: str | None
    told: str
    within: timedelta | None = None
    held: str = ""
    timezone: str | None = None  # the campaign's
    sheet: str | None = None


def code_of(asked: Approval) -> str:
    """The digest as people read and type it."""
    return asked.digest[:CODE]


def code_to_approve(asked: Approval) -> str:
    """What is typed to approve a plan; where it was rejected, only who has seen that knows it."""
    if asked.answer != Answer.REJECTED or asked.answered_at is None:
        return code_of(asked)
    rejection = sha256(f"{asked.answered_at.timestamp():.6f}".encode()).hexdigest()
    return f"{code_of(asked)}{REJECTED}{rejection[:MARK]}"


def until(asked: Approval) -> str | None:
    """The time until which a plan can be answered, in the campaign's zone."""
    return in_zone(asked.answer_by, asked.timezone) if asked.answer_by else None


def standing(asked: Approval | None, read: str, digest: str, at: datetime) -> Standing:
    """Return the state of the plan of a definition (`read`) whose digest is now `digest`.

    `asked` is the plan that was last shown.
    """
    if asked is None:
        return Standing.NEW
    if asked.read != read:
        return Standing.CHANGED
    if asked.digest != digest:
        return Standing.OVERTAKEN
    if asked.answer is not None:
        return Standing(asked.answer)
    if asked.answer_by is not None and at >= asked.answer_by:
        return Standing.LATE
    return Standing.OPEN


def digest_of(read: str, service: str, reached: str, held: str = "") -> str:
    """Digest everything that a plan depends on, in hex digits."""
    return sha256("\n".join((read, canonical(service), reached, held)).encode()).hexdigest()


def reached(connection: Connection, key: str, under: int | None) -> str:
    """How far the ledger has got with a campaign, except what runs `under` an approval sent."""
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
) -> tuple[Approval | None, Standing]:
    """Find the plan that was last shown, and compare it with what is true now.

    If `read`, `service` or `held` is None, it counts as unchanged.
    """
    asked = last(connection, key)
    if asked is None:
        return None, Standing.NEW
    read = asked.read if read is None else read
    service = asked.service if service is None else service
    held = asked.held if held is None else held
    digest = digest_of(read, service, reached(connection, key, asked.id), held)
    return asked, standing(asked, read, digest, clock.now())


def last(connection: Connection, key: str) -> Approval | None:
    """The plan of a campaign that was last shown, with its answer."""
    return next(iter(_shown_last(connection, key)), None)


def _shown_last(connection: Connection, key: str) -> Sequence[Approval]:
    shown = whole(Approval).where(Approval.campaign_key == key)
    return rows_of(connection, shown.order_by(col(Approval.id).desc()).limit(1))


def reasons(connection: Connection, key: str) -> list[str]:
    """What people wrote with their answers to a campaign's plans."""
    theirs = select(approvals.c.why).where(approvals.c.campaign_key == key, approvals.c.why != "")
    return list(connection.scalars(theirs))


def seek(connection: Connection, plan: PlanInWords) -> tuple[Approval, Standing]:
    """Find the answer to a plan; if it was not shown yet, or its time is over, ask.

    Returns the plan as it is now, and its state before.
    """
    asked, stood = look(connection, plan.campaign_key, plan.read, plan.service, plan.held)
    if asked is not None and stood in (Standing.OPEN, Standing.APPROVED, Standing.REJECTED):
        return asked, stood
    so_far = reached(connection, plan.campaign_key, None)
    digest = digest_of(plan.read, plan.service, so_far, plan.held)
    rejection = _rejection(connection, plan.campaign_key, digest)
    at = clock.now()
    values = asdict(plan)
    within = values.pop("within")
    values |= {"digest": digest, "asked_at": at, "answer_by": at + within if within else None}
    connection.execute(insert(approvals).values(values | rejection))
    [shown] = _shown_last(connection, plan.campaign_key)
    return shown, Standing.REJECTED if rejection else stood


def _rejection(connection: Connection, key: str, digest: str) -> dict[str, Any]:
    """The rejection of the same plan, if that was its last answer: it stands when others were shown
    in between.
    """
    same = (approvals.c.campaign_key == key) & (approvals.c.digest == digest)
    answers = select(approvals.c.answer, approvals.c.who, approvals.c.why, approvals.c.answered_at)
    answered = answers.where(same, approvals.c.answer.is_not(None))
    row = connection.execute(answered.order_by(approvals.c.id.desc()).limit(1)).mappings().first()
    return dict(row) if row is not None and row["answer"] == Answer.REJECTED else {}


def carried_out(connection: Connection, asked: Approval) -> bool:
    """Whether a run under the approval of a plan finished, so that nothing of the plan is left."""
    ended = runs.c.ending.in_((Ending.COMPLETED, Ending.NEEDS_ATTENTION))
    statement = select(runs.c.id).where(runs.c.approval_id == asked.id, ended)
    return connection.scalar(statement.limit(1)) is not None


def check(connection: Connection, key: str, number: int) -> None:
    """Make sure that a run may begin under this approval. Raises Overtaken."""
    asked, stood = look(connection, key)
    if asked is None or asked.id != number or stood is not Standing.APPROVED:
        raise Overtaken(
            f"The approval of {key} has just become void: something was sent or settled, or "
            "another plan was shown. Nothing was sent. Run it again to see the plan as it is now."
        )


def answer(connection: Connection, asked: Approval, given: Answer, by: By) -> None:
    """Record a person's answer, also as a decision. Raises NotAnswered.

    Only the plan that was last shown is answered, and no rejection is overruled that is not in
    `asked`: a person answers what they have seen.
    """
    key = asked.campaign_key
    newest = last(connection, key)
    again = f"so nothing was decided. Look again: {command('approve', key)}"
    if newest is None or newest.id != asked.id:
        raise NotAnswered(f"A newer plan of {key} has been shown meanwhile, {again}")
    unseen = newest.answer == Answer.REJECTED and newest.answered_at != asked.answered_at
    if unseen and given is Answer.APPROVED:
        raise NotAnswered(f"{newest.who} rejected this plan of {key} meanwhile, {again}")
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
