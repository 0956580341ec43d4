"""How a run ended: one kind, one sentence, what to type next, and the state that Prefect shows.

States have Prefect's standard names, because its pages filter by them; the sentence says the kind.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from config.errors import CampaignError
from data.eligibility.holds import Hold, Kind
from data.store.ledger import Ledger
from tasks.plan import Plan
from tasks.sending.gate import Ending as EndedEarly
from tasks.sending.gate import How
from tasks.status import needs, status

if TYPE_CHECKING:
    from prefect.client.schemas.objects import State


class End(StrEnum):
    """The kinds of ending; the words begin the sentence that Prefect shows."""

    DONE = "done"
    NOT_YET = "not yet"  # something waits for its time, and goes on by itself
    ATTENTION = "needs attention"  # a person has to look
    APPROVAL = "waiting for approval"
    STOPPED = "stopped"  # by a rule; the same command goes on
    INTERRUPTED = "interrupted"  # a person or the system stopped it
    BAD_INPUT = "bad input"

    @property
    def exit_code(self) -> int:
        return _EXIT_CODES[self]


_EXIT_CODES = {
    End.DONE: 0,
    End.NOT_YET: 0,
    End.STOPPED: 1,
    End.BAD_INPUT: 2,
    End.ATTENTION: 3,
    End.APPROVAL: 3,
    End.INTERRUPTED: 130,
}
TOLD = (End.ATTENTION, End.APPROVAL, End.STOPPED, End.BAD_INPUT)  # a person is needed


@dataclass(frozen=True, slots=True)
class Ending:
    """`says` names nobody; `situation` is the same for each run that meets the same thing."""

    key: str
    end: End
    says: str
    type_this: str | None = None
    until: datetime | None = None
    situation: str = ""

    def __str__(self) -> str:
        then = f" Type: {self.type_this}" if self.type_this else ""
        return f"{self.end}: {self.says}{then}"

    @classmethod
    def read(cls, key: str, message: str | None) -> "Ending":
        """The ending that a state's sentence tells of."""
        kind, _, says = (message or "").partition(": ")
        if kind not in set(End):
            return cls(key, End.STOPPED, message or "its process ended without a word.")
        says, _, typed = says.partition(" Type: ")
        return cls(key, End(kind), says, typed or None)

    def state(self) -> "State[Any]":
        """Only what is done, or waits for nobody, reads as success."""
        from prefect.states import Cancelled, Completed, Failed  # noqa: PLC0415

        if self.end in (End.DONE, End.NOT_YET):
            return Completed(message=str(self))
        if self.end is End.INTERRUPTED:
            return Cancelled(message=str(self))
        return Failed(message=str(self))


def ended(ledger: Ledger, plan: Plan, early: EndedEarly | None = None) -> Ending:
    """How a run of this plan ended: `early` by a rule, a hold or a person, else after all of it."""
    with ledger.reading() as session:
        counts = status(session, plan.key)["counts"]
        needed = list(needs(session, plan.key))
    far = f"{counts['invited']:,} of {counts['candidates']:,} invited"
    if early is not None and early.how is How.INTERRUPTED:
        says = f"{far}. What was in flight got its answer."
        return Ending(plan.key, End.INTERRUPTED, says, early.then)
    if early is not None and early.how is not How.HELD:
        end = End.ATTENTION if early.how is How.UNSURE else End.STOPPED
        return Ending(plan.key, end, f"{far}. {early.what}", early.then, situation=_of(early.what))
    holds = [early.hold] if early is not None and early.hold else [*plan.holds, *plan.waits]
    waits = next((hold for hold in holds if hold.until is not None), None)
    if stops := [hold for hold in holds if hold.until is None]:
        return held(plan, stops[0], far)
    if needed:
        many = ", ".join(
            f"{counts[word]:,} {word}" for word in ("unsure", "refused", "held") if counts[word]
        )
        says = f"{far}, {many or needed[0].kind}."
        found = _of(*(f"{need.kind} {need.why}" for need in needed))
        return Ending(plan.key, End.ATTENTION, says, needed[0].type_this, situation=found)
    if waits is not None:
        says = f"{far}. {waits.why}."
        return Ending(plan.key, End.NOT_YET, says, until=waits.until)
    return Ending(plan.key, End.DONE, f"{far}.")


def held(plan: Plan, hold: Hold, far: str) -> Ending:
    """Somebody has to decide before anything more is sent."""
    approval = hold.kind in (Kind.APPROVAL, Kind.PILOT)
    says = f"{far}. {plan.key}: {hold.why}."
    if approval:
        says += f" Plan {plan.code}: {plan.add:,} to add, {plan.invite:,} to invite."
    end = End.APPROVAL if approval else End.ATTENTION
    situation = _of(str(hold.kind), hold.why, plan.code if approval else "")
    return Ending(plan.key, end, says, hold.type_this, situation=situation)


def broken_off(key: str, error: CampaignError) -> Ending:
    """What stopped a run before or beside its requests."""
    end = End.BAD_INPUT if error.exit_code == 2 else End.STOPPED
    return Ending(key, end, str(error), error.then or None, situation=_of(str(error)))


def _of(*words: str) -> str:
    return hashlib.sha256("\n".join(sorted(words)).encode()).hexdigest()[:16]
