"""What is unsure, and which verdicts of a person it accepts. Pure: the time is given.

Two things have to wait, because each may be a second email: sending an unsure request again, and
inviting a person once more if no answer of the service settled the last invitation.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import sha256

from config.email_key import email_key
from config.errors import CampaignError
from config.timetable.moments import minute_from
from data.store.states import AttemptState, Operation, Step, Word

PATIENCE = timedelta(minutes=15)  # a gateway may still be working on a request for this long
LARGEST_ID = 2**63 - 1
Place = tuple[int | None, int | None]
"""What a step is known by: the number of its attempt, and the candidate's row."""

WORDS: Mapping[Operation, tuple[Word, ...]] = {
    Operation.CREATE: (Word.ID, Word.AGAIN),
    Operation.ATTACH: (Word.ATTACHED, Word.AGAIN),
    Operation.ADD: (Word.ID, Word.AGAIN, Word.WITHDRAW),
    Operation.INVITE: (Word.SENT, Word.AGAIN, Word.WITHDRAW),
}
OR_AT_ONCE = ", or at once with --no-wait"  # where it can be typed
# These may cause more or fewer emails than the service has confirmed, so they need a reason.
NEED_A_REASON = (Word.AGAIN, Word.WITHDRAW)
# The state of the step after each word, and of the request.
MOVES: Mapping[Word, tuple[Step, AttemptState]] = {
    Word.ID: (Step.DONE, AttemptState.DONE),
    Word.ATTACHED: (Step.DONE, AttemptState.DONE),
    Word.SENT: (Step.DONE, AttemptState.DONE),
    Word.AGAIN: (Step.WAITING, AttemptState.OVERRULED),
    Word.ADD_AGAIN: (Step.WAITING, AttemptState.OVERRULED),
    Word.WITHDRAW: (Step.WITHDRAWN, AttemptState.OVERRULED),
}


@dataclass(frozen=True, slots=True)
class Doubt:
    """One unsure step: a call of the campaign itself, or one person's part in a call.

    `attempt` and `row` (the candidate's; None for project and problem) identify a doubt.
    `phase`, `status` and `evidence` are the journal's, `answer` is what the service wrote, for
    people only; `alive` says that the run that sent it is still at work.
    """

    operation: Operation
    attempt: int
    sent_at: datetime
    alive: bool = False
    phase: int | None = None
    status: int | None = None
    evidence: str | None = None
    answer: str | None = field(default=None, repr=False)
    row: int | None = None
    email1: str = ""
    first_name: str = ""
    last_name: str = ""
    candidate_id: int | None = None
    timezone: str | None = None  # the campaign's
    typed: int | None = None  # the id that a person typed, for a step that is no longer unsure

    @property
    def place(self) -> "Place":
        return self.attempt, self.row

    @property
    def again_from(self) -> datetime:
        """From when it may be sent again without `--no-wait`."""
        return self.sent_at + PATIENCE


@dataclass(frozen=True, slots=True)
class Doubts:
    """Everything unsure in a campaign, and the ids that already belong to somebody.

    `refused` are adds that the service refused: their only verdict is to make them again. `people`
    are candidate ids of this campaign; `projects` are the projects of the service's other
    campaigns, and `elsewhere` the email keys of their people by candidate id. `typed` are steps
    with a typed id that had no effect: their only verdict is another id. For these, `alive` says
    that a run of the campaign is at work: it may be about to use the id.
    """

    steps: tuple[Doubt, ...]
    refused: tuple[Doubt, ...] = ()
    people: frozenset[int] = frozenset()
    projects: frozenset[int] = frozenset()
    elsewhere: Mapping[int, Collection[str]] = field(default_factory=dict)
    typed: tuple[Doubt, ...] = ()


@dataclass(frozen=True, slots=True)
class Decided:
    """A person's verdict on one doubt; `value` is the id that goes with Word.ID.

    `instead` is the id that `value` replaces; None: the step is unsure. `attempt` is None only if a
    resend follows no request at all.
    """

    attempt: int | None
    row: int | None
    word: Word
    value: int | None = None
    instead: int | None = None

    @property
    def place(self) -> "Place":
        return self.attempt, self.row


def about(
    doubts: Doubts, operation: Operation, word: Word, person: int | None = None
) -> list[Doubt]:
    """The doubts that a verdict on a kind of step is about: what is unsure, and if the verdict
    fits, a refused add or a step with a typed id.

    `person` is the row of a named person. Without a name, nobody's id is replaced.
    """
    them = list(doubts.steps)
    if word is Word.AGAIN and operation is Operation.ADD:
        them += doubts.refused
    if word is Word.ID and (person is not None or operation is Operation.CREATE):
        them += doubts.typed
    return [each for each in them if each.operation is operation and person in (None, each.row)]


def listed(doubts: Iterable[Doubt], operation: Operation) -> str:
    """Identify what was listed of a kind, so that a verdict is about nothing that came later."""
    alike = (doubt for doubt in doubts if doubt.operation is operation)
    steps = sorted((doubt.attempt, doubt.row or 0) for doubt in alike)
    return sha256(repr(steps).encode()).hexdigest()[:8]


def listed_as(doubts: Doubts, operation: Operation, word: Word, code: str) -> list[Doubt]:
    """The doubts of a kind that this code lists: what is unsure or, if the verdict fits, the
    refused adds. Empty if they are not the same any more.
    """
    unsure = [doubt for doubt in doubts.steps if doubt.operation is operation]
    adds_again = word is Word.AGAIN and operation is Operation.ADD
    refused = list(doubts.refused) if adds_again else []
    return next((them for them in (unsure, refused) if listed(them, operation) == code), [])


class NotDecided(CampaignError):
    """Some verdicts cannot be taken, so none was. `objections` says why, by position.

    `about` and `many` name what cannot be accepted, if it is not a verdict.
    """

    exit_code = 2

    def __init__(
        self,
        objections: Mapping[int, str],
        about: str = "verdict",
        many: str = "verdicts",
        then: str | None = None,
    ) -> None:
        self.objections = dict(objections)
        self.then = then
        count = len(self.objections)
        what = f"One {about}" if count == 1 else f"{count:,} {many}"
        super().__init__(f"{what} cannot be accepted, so nothing was decided.")


def objections(
    doubts: Doubts, decided: Sequence[Decided], at: datetime, *, soon: bool = False
) -> dict[int, str]:
    """Say which verdicts cannot be accepted and why, by position; empty if all can.

    `soon`: a person accepts the risk that a gateway may still be at work.
    """
    steps = {doubt.place: doubt for doubt in (*doubts.typed, *doubts.steps)}
    refused = {doubt.place for doubt in doubts.refused}
    named = {verdict.place for verdict in decided if verdict.word is Word.ID}
    # Two people's ids may have been mixed up: each id is free once both are replaced.
    free = {doubt.typed for doubt in doubts.typed if doubt.place in named}
    doubts = replace(doubts, people=doubts.people - free)
    refusals: dict[int, str] = {}
    met: set[Place] = set()
    given: set[int] = set()
    for position, verdict in enumerate(decided):
        place = verdict.place
        doubt = steps.get(place)
        if doubt is not None and doubt.typed != verdict.instead:
            doubt = None  # somebody else has decided meanwhile
        if verdict.word is Word.DOUBLE and doubt is not None and place in named:
            # In addition to this person's id: the same list has the person once more.
            objection: str | None = _clash(doubt, verdict, doubts, given)
        elif place in refused and verdict.word is Word.AGAIN:
            objection = None
        elif doubt is None:
            objection = "this is not unsure any more"
        elif place in met:
            objection = "this already has a verdict"
        else:
            objection = _objection(doubt, verdict, at, soon=soon) or _clash(
                doubt, verdict, doubts, given
            )
        if objection is not None:
            refusals[position] = objection
        elif verdict.value is not None and doubt is not None and doubt.operation is Operation.ADD:
            given.add(verdict.value)
        met.add(place)
    return refusals


def _clash(doubt: Doubt, verdict: Decided, doubts: Doubts, given: Collection[int]) -> str | None:
    """With one id for two people, somebody would get another person's invitation."""
    if doubt.operation is Operation.CREATE and verdict.value in doubts.projects:
        return f"the project {verdict.value} belongs to another campaign"
    if doubt.operation is Operation.ADD and (
        verdict.value in doubts.people or verdict.value in given
    ):
        return f"another candidate of this campaign already has the id {verdict.value}"
    # The same person in another campaign may well have the same id there.
    others = doubts.elsewhere.get(verdict.value, ()) if verdict.value is not None else ()
    if doubt.operation is Operation.ADD and others and email_key(doubt.email1) not in others:
        return f"the id {verdict.value} belongs to another person, in another campaign"
    return None


def _objection(doubt: Doubt, verdict: Decided, at: datetime, *, soon: bool) -> str | None:
    if doubt.typed is not None and verdict.word is not Word.ID:
        return f"this has the id {doubt.typed}, which a person typed: you can only give another id"
    if verdict.word not in WORDS[doubt.operation]:
        words = ", ".join(WORDS[doubt.operation])
        return f"the verdict {verdict.word} does not fit here; use one of {words}"
    if verdict.word is Word.ID and not (
        verdict.value is not None and 0 < verdict.value <= LARGEST_ID
    ):
        but = "" if verdict.value is None else f", not {verdict.value}"
        return f"an id is a whole number from 1 to {LARGEST_ID}{but}"
    if verdict.word is not Word.ID and verdict.value is not None:
        return f"the verdict {verdict.word} takes no id"
    if doubt.typed is not None and doubt.alive:
        return f"a run is in progress that may still use the id {doubt.typed}; wait until it ends"
    if doubt.typed is not None and doubt.typed == verdict.value:
        return f"the id is already {verdict.value}"
    return too_early(doubt, at, soon=soon) if verdict.word is Word.AGAIN else None


def too_early(doubt: Doubt, at: datetime, *, soon: bool = False) -> str | None:
    """Say why this may not be sent again yet; None if it may.

    A live run may still send what it has claimed, so not even `--no-wait` overrules that.
    """
    if doubt.alive:
        return "the run that sent this is still in progress; wait until it ends, or stop it"
    if at < doubt.again_from and not soon:
        return (
            "the service may still be working on this; you can send it again from "
            f"{minute_from(doubt.again_from, doubt.timezone)}{OR_AT_ONCE}"
        )
    return None
