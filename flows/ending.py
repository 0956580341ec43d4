"""How a run ended: one kind, one sentence, what to type next, and the state that Prefect shows.

States have Prefect's standard names, because its pages filter by them; the sentence says the kind.
"""

import re
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from config.errors import BadInput, CampaignError, command
from data.campaigns.people import find, invites_of
from data.decisions.doubts import doubts
from data.eligibility.holds import Hold, Kind
from data.store.lease import AtWork
from data.store.ledger import Ledger
from tasks.outlook import Plan
from tasks.sending.gate import EndedEarly, How
from tasks.status import Need, needs, status

if TYPE_CHECKING:
    from prefect.client.schemas.objects import State


class End(StrEnum):
    """The kinds of ending; the words begin the sentence that Prefect shows."""

    DONE = "done"
    NOT_YET = "not yet"  # something waits for its time, and goes on by itself
    ELSEWHERE = "at work elsewhere"  # another process sends this campaign
    ATTENTION = "needs attention"  # a person has to look
    APPROVAL = "waiting for approval"
    STOPPED = "stopped"  # by a rule; the same command goes on
    INTERRUPTED = "interrupted"  # a person or the system stopped it
    BAD_INPUT = "bad input"

    @property
    def exit_code(self) -> int:
        return _EXIT_CODES[self]

    @property
    def needs_a_person(self) -> bool:
        """Whether somebody is told of it, where nobody has typed the run."""
        return self in (End.ATTENTION, End.APPROVAL, End.STOPPED, End.BAD_INPUT)


_EXIT_CODES = {
    End.DONE: 0,
    End.NOT_YET: 0,
    End.ELSEWHERE: 1,
    End.STOPPED: 1,
    End.BAD_INPUT: 2,
    End.ATTENTION: 3,
    End.APPROVAL: 3,
    End.INTERRUPTED: 130,
}


@dataclass(frozen=True, slots=True)
class Ending:
    """`says` names nobody, and `then` says what to do, often a command to type.

    `situation` is the same for each run that meets the same thing. `quotes` are the service's own
    words, which may name somebody: they are for the terminal, not for Prefect.
    """

    key: str
    end: End
    says: str
    then: str | None = None
    until: datetime | None = None
    situation: str = ""
    quotes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join([f"{self.end}: {self.says}", *([self.then] if self.then else [])])

    @classmethod
    def read(cls, key: str, message: str | None) -> "Ending":
        """The ending that a state's sentence tells of."""
        kind, _, says = (message or "").partition(": ")
        if kind not in set(End):
            return cls(key, End.STOPPED, message or "its process ended without a word.")
        says, _, then = says.partition("\n")
        return cls(key, End(kind), says, then or None)

    def state(self) -> "State[Any]":
        """Only what is done, or needs nobody, reads as success."""
        from prefect.states import Cancelled, Completed, Failed  # noqa: PLC0415

        if self.end in (End.DONE, End.NOT_YET, End.ELSEWHERE):
            return Completed(message=str(self))
        if self.end is End.INTERRUPTED:
            return Cancelled(message=str(self))
        return Failed(message=str(self))


def ended(ledger: Ledger, plan: Plan, early: EndedEarly | None = None) -> Ending:
    """How a run of this plan ended: `early` by a rule, a hold or a person, else after all of it."""
    with ledger.reading() as session:
        campaign = find(session, plan.key)
        counts: dict[str, int] = status(session, plan.key)["counts"]
        needed = list(needs(session, plan.key))
        unsure = [str(doubt.part_id) for doubt in doubts(session, campaign.id)]
        what = "invited" if invites_of(campaign).send else "added"
    far = f"{counts[what]:,} of {counts['candidates']:,} {what}"
    if early is not None and early.how is not How.HELD:
        return _stopped(plan.key, far, early, unsure)
    stops = [] if plan.nothing_due else plan.holds
    stops = [hold for hold in plan.holds if hold.kind is Kind.REMOVED] or stops
    hold = early.hold if early is not None else next(iter(stops), None)
    if hold is not None and hold.until is None:
        return _held(plan, hold, far)
    if needed:
        return _needed(plan.key, far, counts, needed, unsure)
    if hold is not None:
        return Ending(plan.key, End.NOT_YET, f"{far}. {hold.why}.", until=hold.until)
    return Ending(plan.key, End.DONE, f"{far}.")


def broken_off(key: str, file: Path, error: CampaignError, *, told: bool = False) -> Ending:
    """What stopped a run before or beside its requests; `told`: somebody told it to stop
    while it waited for another process."""
    says = str(error)
    if told and isinstance(error, AtWork):
        says = "it was stopped before it sent anything."
        return Ending(key, End.INTERRUPTED, says, command("run", file))
    if isinstance(error, AtWork):
        return Ending(key, End.ELSEWHERE, says)
    end = {2: End.BAD_INPUT, 3: End.ATTENTION}.get(error.exit_code, End.STOPPED)
    fingerprint = [_plain(says)]
    then = command("run", file) if end is End.STOPPED else command("doctor")
    if isinstance(error, BadInput):
        then = command("check", file)
        fingerprint = [str(mistake) for mistake in error.mistakes]
    if error.then.startswith("campaign "):
        then = error.then
    elif error.then:
        says = f"{says} {error.then}"
    quotes = error.fields.get("quotes", ())
    return Ending(key, end, says, then, situation=_same(fingerprint), quotes=quotes)


def unquoted(text: str) -> tuple[str, tuple[str, ...]]:
    """A sentence without the service's own words, and these words."""
    return _QUOTE.sub("", text), tuple(found["words"] for found in _QUOTE.finditer(text))


def _stopped(key: str, far: str, early: EndedEarly, unsure: list[str]) -> Ending:
    what, quotes = unquoted(early.what)
    if early.how is How.INTERRUPTED:
        says = f"{far}. What was in flight got its answer, and nobody is sent anything twice."
        return Ending(key, End.INTERRUPTED, says, early.then)
    end = End.ATTENTION if early.how is How.UNSURE else End.STOPPED
    same = _same([_plain(what), *unsure])
    return Ending(key, end, f"{far}. {what}", early.then, situation=same, quotes=quotes)


def _held(plan: Plan, hold: Hold, far: str) -> Ending:
    """Somebody has to decide before anything more is sent."""
    says, then = f"{far}. {hold.why[:1].upper()}{hold.why[1:]}.", hold.type_this
    ending = Ending(plan.key, End.ATTENTION, says, then, situation=_same([hold.kind, hold.why]))
    if hold.kind is Kind.APPROVAL:
        says += f" Plan {plan.code}: {plan.add:,} to add, {plan.invite:,} to invite."
        return replace(ending, end=End.APPROVAL, says=says, situation=plan.code)
    if hold.kind is Kind.PILOT and then == command("approve", plan.key):
        return replace(ending, end=End.APPROVAL)
    return ending


def _needed(
    key: str, far: str, counts: dict[str, int], needed: list[Need], unsure: list[str]
) -> Ending:
    """All was sent that may be; what is left needs a person."""
    found = (f"{counts[word]:,} {word}" for word in ("unsure", "refused", "held") if counts[word])
    says = f"{far}, {', '.join(found) or needed[0].kind}."
    then = needed[0].type_this
    if then is None or "@" in then:  # Prefect is told of nobody
        then = command("status", key)
    same = _same([*(f"{need.kind} {need.why}" for need in needed), *unsure])
    return Ending(key, End.ATTENTION, says, then, situation=same)


def _same(said: list[str]) -> str:
    """A fingerprint of what was said."""
    return sha256("\n".join(sorted(said)).encode()).hexdigest()[:16]


def _plain(said: str) -> str:
    """Without the amounts and times that differ from run to run of the same failure."""
    return re.sub(r"\d+", "", said)


# As tasks/sending/calls.py and tasks/service/client.py quote the service; see messages.py there.
_QUOTE = re.compile(r'(?: The service wrote:|(?<=status \d{3}),) "(?P<words>[^"]*)"')
