"""How a run ended: one kind, one sentence, what to type next, and the state that Prefect shows.

States have Prefect's standard names, because its pages filter by them; the sentence says the kind.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlmodel import Session, col, delete

from config.errors import BadInput, CampaignError, command, printable
from data.campaigns.people import find, invites_of
from data.decisions.doubts import doubts
from data.eligibility.holds import Hold, Kind, holds
from data.store.lease import AtWork
from data.store.ledger import Ledger
from data.store.states import OF_PERSON
from data.store.tables import Campaign, Notice, now
from tasks.plan import Plan
from tasks.sending.gate import EndedEarly, How
from tasks.status import Need, needs, so_far, summary

if TYPE_CHECKING:
    from prefect.client.schemas.objects import State


class End(StrEnum):
    """The kinds of ending: the words that begin the sentence in Prefect, and the exit code."""

    exit_code: int

    DONE = "done", 0
    NOT_YET = "not yet", 0  # something waits for its time, and goes on by itself
    ELSEWHERE = "at work elsewhere", 1  # another process sends this campaign
    ATTENTION = "needs attention", 3  # a person has to look
    APPROVAL = "waiting for approval", 3
    STOPPED = "stopped", 1  # by a rule or an error; a later run goes on
    INTERRUPTED = "interrupted", 130  # a person or the system stopped it
    BAD_INPUT = "bad input", 2

    def __new__(cls, words: str, exit_code: int) -> "End":
        kind = str.__new__(cls, words)
        kind._value_, kind.exit_code = words, exit_code
        return kind

    @classmethod
    def of(cls, error: CampaignError) -> "End":
        """The kind of ending that an error makes."""
        return {2: cls.BAD_INPUT, 3: cls.ATTENTION}.get(error.exit_code, cls.STOPPED)

    @property
    def needs_a_person(self) -> bool:
        """Whether somebody has to look or decide, and is told so unless a person typed the run."""
        return self in (End.ATTENTION, End.APPROVAL, End.STOPPED, End.BAD_INPUT)

    @property
    def tag(self) -> str:
        """The tag of the run in Prefect's list, if it needs a person."""
        return "approve" if self is End.APPROVAL else self.value


@dataclass(frozen=True, slots=True)
class Ending:
    """How one run of the campaign `key` ended.

    `sentence` names nobody. `next_step` is what to do, often a command to type. `until` is when
    the campaign goes on by itself. `situations` are fingerprints of what somebody has to look at.
    Earlier ones, after their kind, are past if they begin with one of `over`. `service_words`,
    quoted from the service, may name somebody, so only the command `run` shows these words.
    """

    key: str
    kind: End
    sentence: str
    next_step: str | None = None
    until: datetime | None = None
    situations: tuple[str, ...] = ()
    over: tuple[str, ...] = ()
    service_words: tuple[str, ...] = ()

    @property
    def first_line(self) -> str:
        return f"{self.kind}: {self.sentence}"

    def __str__(self) -> str:
        lines = [self.first_line, self.next_step]
        return printable("\n".join(line for line in lines if line))

    def state(self) -> "State[Any]":
        """The state that Prefect shows. Only a run that needs nobody is Completed."""
        from prefect.states import Cancelled, Completed, Failed  # noqa: PLC0415

        if self.kind in (End.DONE, End.NOT_YET, End.ELSEWHERE):
            return Completed(message=str(self))
        if self.kind is End.INTERRUPTED:
            return Cancelled(message=str(self))
        return Failed(message=str(self))


def note_guard(ledger: Ledger, plan: Plan) -> None:
    """Keep for `status` that the guard stopped this run, until another run is not stopped."""
    key, stops = _GUARD.format(plan.key), [h for h in plan.holds if h.kind is Kind.REMOVED]
    kept = [Notice(key=key, text=f"{h.why}\n{h.type_this}", told=now()) for h in stops]
    with ledger.writing() as session:
        session.execute(delete(Notice).where(col(Notice.key) == key))
        session.add_all(kept)


def guard_stop(session: Session, campaign: Campaign) -> Iterator[Need]:
    """What the last run of a campaign needed, if the guard stopped it, and its file is there."""
    kept = session.get(Notice, _GUARD.format(campaign.key))
    if kept and Path(campaign.file).is_file():
        why, _, typed = kept.text.partition("\n")
        yield Need(str(Kind.REMOVED), f"the last run stopped: {why}", typed)


def ended(ledger: Ledger, plan: Plan, early: EndedEarly | None = None) -> Ending:
    """How a run of this plan ended; `early` says what stopped it before all was sent."""
    with ledger.reading() as session:
        campaign = find(session, plan.key)
        held = holds(session, campaign)
        found = summary(session, plan.key, held)
        needed = list(needs(session, plan.key, held))
        unsure = [str(doubt.part_id) for doubt in doubts(session, campaign.id)]
        far = so_far(found, "invited" if invites_of(campaign).send else "added")
    if early is not None and early.how is not How.HELD:
        return _stopped(plan.key, far, early, unsure[-1:])
    why = [h for h in plan.holds if h.kind is Kind.REMOVED or not plan.nothing_due]
    why += plan.waits if found["counts"]["waiting"] or found["one_more_email"] else []
    hold = early.hold if early is not None else next(iter(why), None)
    if hold is not None and hold.needs_a_person:
        return _held(plan, hold, far)
    if needed:
        return _needed(plan.key, far, needed, unsure, hold, ledger.uuid())
    if hold is not None:
        return Ending(plan.key, End.NOT_YET, f"{far}. {hold.why}.", None, hold.until, over=("",))
    return Ending(plan.key, End.DONE, f"{far}.", over=("",))


def broken_off(key: str, file: Path, error: CampaignError) -> Ending:
    """The ending of a run that this error stopped."""
    sentence = str(error)
    if isinstance(error, AtWork):
        return Ending(key, End.ELSEWHERE, sentence, command("run", file))
    kind = End.of(error)
    met = [_without_amounts(sentence)]
    next_step = command("run", file) if kind is End.STOPPED else command("doctor")
    if isinstance(error, BadInput):
        next_step = command("check", file)
        met = [str(mistake) for mistake in error.mistakes]
    if error.then.startswith("campaign ") or (error.then and kind is End.BAD_INPUT):
        next_step = error.then
    elif error.then:
        sentence = f"{sentence} {error.then}"
    same, words = (fingerprint(met),), error.service_words
    return Ending(key, kind, sentence, next_step, situations=same, service_words=words)


def fingerprint(met: Iterable[object]) -> str:
    """A hash of what a run met; their order does not matter."""
    return sha256("\n".join(sorted(map(str, met))).encode(errors="replace")).hexdigest()[:16]


def _stopped(key: str, far: str, early: EndedEarly, unsure: list[str]) -> Ending:
    if early.how is How.INTERRUPTED:
        sentence = f"{far}. What was sent is recorded, and nobody is sent anything twice."
        return Ending(key, End.INTERRUPTED, sentence, early.then)
    kind = End.ATTENTION if early.how is How.UNSURE else End.STOPPED
    same, words = (fingerprint([_without_amounts(early.what), *unsure]),), early.service_words
    sentence = f"{far}. {early.what}"
    return Ending(key, kind, sentence, early.then, situations=same, service_words=words)


def _held(plan: Plan, hold: Hold, far: str) -> Ending:
    """The ending of a run that sends nothing more until somebody decides."""
    sentence = f"{far}. {hold.why[:1].upper()}{hold.why[1:]}."
    same = (f"{hold.kind} {fingerprint([hold.why, str(hold.except_person)])}",)
    over = (*_OVER, End.APPROVAL)
    ending = Ending(plan.key, End.ATTENTION, sentence, hold.type_this, None, same, over)
    if hold.kind is Kind.APPROVAL:
        people = ", ".join(f"{plan.to_do[op]:,} to {op}" for op in OF_PERSON)
        once_more = f", {plan.again:,} of them once more" if plan.again else ""
        sentence += f" Plan {plan.code}: {people}{once_more}."
        return replace(ending, kind=End.APPROVAL, sentence=sentence, situations=(plan.code,))
    if hold.kind is Kind.PILOT and " approve " in str(hold.type_this):
        return replace(ending, kind=End.APPROVAL)
    return ending


def _needed(
    key: str, far: str, needed: list[Need], unsure: list[str], waits: Hold | None, uuid: str
) -> Ending:
    """The ending if all that may be sent was sent, and a person has to look at something."""
    known = needed[0].kind in far  # such as `unsure` in `2 of 3 invited, 1 unsure`
    sentence = f"{far}." if known else f"{far}, {needed[0].kind}."
    if waits is not None:
        sentence += f" The others wait: {waits.why}."
    next_step = needed[0].type_this
    if next_step is None or "@" in next_step:  # no address goes to Prefect
        next_step = command("status", key)
    others = [f"{need.kind} {need.why}" for need in needed if need.kind != "unsure"]
    until = waits.until if waits is not None else None
    met = tuple(fingerprint([uuid, each]) for each in (*others, *unsure))  # some name people
    return Ending(key, End.ATTENTION, sentence, next_step, until, met, _OVER if waits else ("",))


# What stopped a campaign, once a run read its file and asked the service.
_OVER = (End.STOPPED, End.BAD_INPUT, f"{End.ATTENTION} {Kind.REMOVED}")
_GUARD = "{} guard"  # the key of a notice that goes to no address


def _without_amounts(sentence: str) -> str:
    """Cut the numbers out: they differ between runs that fail alike."""
    return re.sub(r"\d+", "", sentence)
