"""What can happen to a campaign, each as a value: the parts of its story (data/history/history.py).

A request is told with the outcome it had when it was made, even if a person has settled it since:
settling is an event of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from data.campaigns.approvals import Answer
from data.store.states import AttemptState, Operation


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened at a moment (aware, UTC). People are candidate rows throughout."""

    at: datetime


@dataclass(frozen=True, slots=True)
class CameIn(Event):
    """The ledger took the campaign, or a change to it, from this file.

    None: an earlier version did this, and kept only the last file.
    """

    file: str | None


@dataclass(frozen=True, slots=True)
class RunBegan(Event):
    """`plan` is the code of the approved plan it ran under, where one was needed."""

    run: int
    host: str
    plan: str | None


@dataclass(frozen=True, slots=True)
class RunEnded(Event):
    """How a run ended (data/store/states.py, Ending)."""

    run: int
    ending: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class Request(Event):
    """One request that may have had an effect, from its claim to the record of its outcome.

    `people` are the people in it that the story is about, `carried` is how many there were in all.
    `phase` is how far it got (tasks/service/evidence.py), `settled` says that it was unsure or
    refused, and that a person has decided since. `service_wrote` are the service's own words, for
    people only.
    """

    number: int
    run: int
    operation: Operation
    people: tuple[int, ...]
    carried: int
    generation: int
    came_to: AttemptState
    settled: bool
    ended_at: datetime | None
    phase: int | None
    status: int | None
    evidence: str | None
    service_wrote: str | None = None


@dataclass(frozen=True, slots=True)
class Wave(Event):
    """Many requests of one run and one kind, summarised; `until` is when the last was claimed.

    `number` is that of the definition's waves, 0 for its pilot; None if it asks for neither.
    `came_to` counts people by the outcome of their request; `reasons` counts requests by outcome
    and evidence, `service_wrote` by the service's own words, if there are any.
    """

    until: datetime
    number: int | None
    run: int
    operation: Operation
    requests: int
    people: int
    came_to: Mapping[AttemptState, int]
    reasons: Mapping[tuple[AttemptState, str], int]
    service_wrote: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Decided(Event):
    """A person's verdict (data/store/states.py, Word) on some people, or on the campaign itself.

    `operation` is that of the request it settles, None if it settles none. `value` is the id
    that was read, or the row of the candidate with the right address.
    """

    attempt: int | None
    verdict: str
    value: str | None
    operation: Operation | None
    people: tuple[int, ...]
    who: str
    why: str


@dataclass(frozen=True, slots=True)
class PlanShown(Event):
    """A plan that waited for approval, as it was shown: names masked."""

    plan: str
    told: str
    answer_by: datetime | None


@dataclass(frozen=True, slots=True)
class PlanAnswered(Event):
    plan: str
    answer: Answer
    who: str
    why: str


@dataclass(frozen=True, slots=True)
class Paused(Event):
    who: str
    why: str


@dataclass(frozen=True, slots=True)
class Resumed(Event):
    who: str
    why: str


@dataclass(frozen=True, slots=True)
class Blocked(Event):
    """Somebody was put on the do-not-contact list; `who` is the file if the entry came from one."""

    people: tuple[int, ...]
    who: str
    why: str


@dataclass(frozen=True, slots=True)
class Unblocked(Event):
    people: tuple[int, ...]
    who: str
    why: str


@dataclass(frozen=True, slots=True)
class ReceiptDoubted(Event):
    """A receipt that did not fit this ledger stopped a run."""

    file: str
    says: str


@dataclass(frozen=True, slots=True)
class ReceiptAccepted(Event):
    file: str
    who: str
    why: str
