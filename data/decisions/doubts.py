"""Doubts: what may have happened, with its evidence, and a person's verdict on it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlmodel import Session

from config.emails import email_key
from data.campaigns.people import NAMES, own_steps, steps_of
from data.decisions.decisions import By, NotDecided, ReasonMissing, move, note, step_back
from data.sending.outcomes import shared
from data.store.states import BRINGS_ID, OF_PROJECT, Op, State
from data.store.tables import PART, PERSON, REQUEST, STEP, Step

LARGEST_ID = 2**63 - 1
_added = STEP.alias()
VERDICTS = ("sent", "again", "withdraw")


@dataclass(frozen=True, slots=True)
class Doubt:
    """One step that may have happened: of a person, or of the project itself (`email1` is "").

    `phase` and `status` say how far its last request got; `answer` is what came, else our evidence.
    """

    step_id: int
    part_id: int
    op: Op
    email1: str
    first_name: str
    last_name: str
    sent_at: datetime
    phase: int | None
    status: int | None
    answer: str | None
    times: int = 1  # how often it was sent on purpose, this time included
    candidate_id: int | None = None  # the service's, if the person is added

    @property
    def words(self) -> tuple[str, ...]:
        """The verdicts that a person can give on it."""
        return VERDICTS[:2] if self.op in OF_PROJECT else VERDICTS


@dataclass(frozen=True, slots=True)
class Settlement:
    """A person's verdict (`word`) on one doubt. `email` is "" for the project's own two steps.

    `value` is the service's id. `part_id` is the part that the person looked at; None: the current
    one. If `op` is None, the verdict is on whichever step of the candidate is unsure.
    """

    word: str
    email: str = ""
    op: Op | None = None
    value: int | None = None
    part_id: int | None = None


def doubts(session: Session, campaign_id: int) -> list[Doubt]:
    """Everything that is unsure in a campaign, in the order of sending."""
    found = (
        select(STEP.c.id, PART.c.id, STEP.c.op, func.coalesce(PERSON.c.email1, ""), *NAMES)
        .add_columns(REQUEST.c.claimed_at, REQUEST.c.phase, REQUEST.c.status)
        .add_columns(func.coalesce(REQUEST.c.answer, REQUEST.c.evidence))
        .add_columns(PART.c.generation, _added.c.service_id)
        .join(PART, PART.c.id == STEP.c.part_id)
        .join(REQUEST, REQUEST.c.id == PART.c.request_id)
        .outerjoin(PERSON, PERSON.c.id == STEP.c.person_id)
        .outerjoin(_added, steps_of(_added, Op.ADD))
        .where(STEP.c.campaign_id == campaign_id, STEP.c.state == State.UNSURE)
        .order_by(PART.c.id)
    )
    return [Doubt(*row) for row in session.execute(found)]


def leftovers(session: Session, campaign_id: int) -> list[tuple[Op, int | None]]:
    """Projects and candidates that may exist at the service but do not count here, with their id
    if it is known. A person may want to remove them in the web application."""
    late = PART.c.said_yes & (PART.c.state != State.DONE)
    theirs = (
        select(STEP.c.op, PART.c.service_id)
        .join(PART, PART.c.step_id == STEP.c.id)
        .where(STEP.c.campaign_id == campaign_id, STEP.c.op.in_(BRINGS_ID))
        .where(late | (PART.c.state == State.GIVEN_UP))
        .order_by(PART.c.id)
    )
    return [(row.op, row.service_id) for row in session.execute(theirs)]


def settle_all(session: Session, campaign_id: int, verdicts: Iterable[Settlement], by: By) -> None:
    """Take these verdicts, all or none. Raises NotDecided, ReasonMissing.

    If a step is not unsure any more, all verdicts are refused: something happened since.
    """
    open_ = doubts(session, campaign_id)
    taken: list[tuple[Doubt, Settlement]] = []
    objections: list[tuple[str, str]] = []
    for verdict in verdicts:
        doubt = _about(open_, verdict)
        name = verdict.email or str(verdict.op or "")
        if not verdict.email.strip() and verdict.op not in OF_PROJECT:
            objections.append((name, "is no address"))
        elif doubt is None:
            objections.append((name, "is not unsure, or not any more: leave it out"))
        elif (why := _objection(session, doubt, verdict, taken)) is not None:
            objections.append((name, why))
        else:
            taken.append((doubt, verdict))
    if objections:
        raise NotDecided(objections)
    if any(verdict.word != "sent" for _, verdict in taken) and not by.why.strip():
        raise ReasonMissing
    for doubt, verdict in taken:
        _carry_out(session, doubt, verdict, by)


def _about(open_: Sequence[Doubt], verdict: Settlement) -> Doubt | None:
    theirs = (d for d in open_ if email_key(d.email1) == email_key(verdict.email))
    those = (d for d in theirs if verdict.op in (None, d.op))
    return next((d for d in those if verdict.part_id in (None, d.part_id)), None)


def _objection(
    session: Session, doubt: Doubt, verdict: Settlement, taken: Sequence[tuple[Doubt, Settlement]]
) -> str | None:
    if verdict.word not in doubt.words:
        return f"cannot be settled with {verdict.word}; use {' or '.join(doubt.words)}"
    if any(other.step_id == doubt.step_id for other, _ in taken):
        return "has two verdicts"
    number = verdict.value
    if verdict.word != "sent" or doubt.op not in BRINGS_ID:
        return None if number is None else "takes no id with this verdict"
    of = "project" if doubt.op in OF_PROJECT else "person"
    if number is None or not 0 < number <= LARGEST_ID:
        return f"needs the id that the service gave this {of}, a number from 1 to {LARGEST_ID}"
    twice = any(v.value == number for d, v in taken if d.op is doubt.op)
    if twice or shared(session, {doubt.step_id: number}):
        return f"cannot have the id {number}: it belongs to another {of}"
    return None


def _carry_out(session: Session, doubt: Doubt, verdict: Settlement, by: By) -> None:
    step = session.get_one(Step, doubt.step_id)
    if verdict.word == "withdraw":
        step_back(session, own_steps(session, step.campaign_id, step.person_id), "withdrawn", by)
    else:
        move(session, step, verdict.word, verdict.value)
    person = step.person_id or None
    note(session, verdict.word, by, step.campaign_id, person, doubt.part_id, verdict.value)
