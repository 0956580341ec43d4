"""The events of a campaign in words, for a terminal and for a report. Pure."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from config.timetable.moments import on_the_wall
from data.campaigns.approvals import Answer
from data.history.events import (
    Blocked,
    CameIn,
    Decided,
    Event,
    Paused,
    PlanAnswered,
    PlanShown,
    ReceiptAccepted,
    ReceiptDoubted,
    Request,
    Resumed,
    RunBegan,
    RunEnded,
    Unblocked,
    Wave,
)
from data.store.states import AttemptState, Operation, Word
from flows.words.doubts import HOW_FAR, proved
from flows.words.speech import counted, most_quoted, quoted

Act = Decided | PlanAnswered | Paused | Resumed | Blocked | Unblocked | ReceiptAccepted
"""What somebody did, with `who` and `why`."""
NAMED = 5  # of the people that one verdict is about

COME_TO: Mapping[AttemptState, str] = {
    AttemptState.SENDING: "no outcome recorded",
    AttemptState.DONE: "done",
    AttemptState.UNSURE: "unsure",
    AttemptState.NOT_SENT: "not sent",
    AttemptState.REFUSED: "refused",
    AttemptState.OVERRULED: "unsure",
}
VERDICTS: Mapping[tuple[Operation | None, str], str] = {
    (Operation.CREATE, Word.ID): "the project exists",
    (Operation.CREATE, Word.AGAIN): "there is no project; create it again",
    (Operation.ATTACH, Word.ATTACHED): "the project has its problem",
    (Operation.ATTACH, Word.AGAIN): "the problem is not there; add it again",
    (Operation.ADD, Word.ID): "is in the project",
    (Operation.ADD, Word.AGAIN): "not in the project; add again",
    (Operation.ADD, Word.ADD_AGAIN): "perhaps in the project; add again",
    (Operation.ADD, Word.DOUBLE): "in the project twice",
    (Operation.ADD, Word.WITHDRAW): "do not add or invite any more",
    (Operation.INVITE, Word.SENT): "the invitation arrived",
    (Operation.INVITE, Word.AGAIN): "the invitation did not arrive; send it again",
    (Operation.INVITE, Word.WITHDRAW): "do not invite any more",
}

# Decisions that settle no doubt.
OTHERS: Mapping[str, str] = {
    "resend": "asked for one more invitation to {who}",
    "withdraw": "withdrew {who}",
    "allow": "allowed {who}, who was held",
    "pilot-confirmed": "confirmed the pilot's invitation: {who}",
    "removed-accepted": "accepted that people were removed",
    "cleaned": "removed by hand in the web application: {who}",
}


@dataclass(frozen=True, slots=True)
class Teller:
    """How people are named and where clocks stand: `person` names a candidate by their row."""

    person: Callable[[int], str]
    zone: str | None = None  # None: that of this machine

    def local(self, at: datetime) -> datetime:
        return on_the_wall(at, self.zone)

    def time(self, at: datetime) -> str:
        return f"{self.local(at):%H:%M:%S}"

    def moment(self, at: datetime) -> str:
        return f"{self.local(at):%Y-%m-%d %H:%M}"

    def people(self, rows: tuple[int, ...]) -> str:
        """Name a few people; count many."""
        if len(rows) <= NAMED:
            return ", ".join(self.person(row) for row in rows)
        return counted(len(rows), "candidate")


def words(event: Event, teller: Teller) -> Iterator[str]:
    """Tell one event: a line, and lines that belong to it."""
    match event:
        case CameIn(file=file):
            yield "the campaign was " + (f"read from {file}" if file else "added to the ledger")
        case RunBegan():
            under = f", with the approved plan {event.plan}" if event.plan else ""
            yield f"run {event.run} started on {event.host}{under}"
        case RunEnded():
            why = f": {event.reason}" if event.reason else ""
            yield f"run {event.run} ended, {event.ending.replace('_', ' ')}{why}"
        case Request():
            yield from _request(event, teller)
        case Wave():
            yield from _wave(event, teller)
        case PlanShown():
            at = event.answer_by
            by = f", to be answered by {teller.moment(at)}" if at else ""
            yield f"the plan {event.plan} was shown for approval{by}"
            # Masked names are of no use to a reader who may see the names.
            yield from (line for line in event.told.splitlines() if not line.startswith("people: "))
        case ReceiptDoubted(file=file):
            yield f"the receipt {file} did not match this ledger, so a run stopped"
        case _ if isinstance(event, Act):
            because = f": {event.why}" if event.why else ""
            yield f"{event.who} {_did(event, teller)}{because}"
        case _:
            raise TypeError(type(event).__name__)


def _request(event: Request, teller: Teller) -> Iterator[str]:
    settled = ""
    if event.settled:
        refused = event.came_to is AttemptState.REFUSED
        settled = ", tried again on a person's decision" if refused else ", settled since"
    yield f"{asked(event, teller)}: {COME_TO[event.came_to]}{settled} ({_how(event)})"
    if event.evidence:
        yield proved(event.evidence)
    if event.service_wrote:
        yield quoted(event.service_wrote)


def _wave(event: Wave, teller: Teller) -> Iterator[str]:
    what = "invite" if event.operation is Operation.INVITE else "add"
    ended = f"ended {teller.time(event.until)}"
    more = event.requests - event.people if event.operation is Operation.INVITE else 0
    tries = f", {counted(more, 'more try', 'more tries')}" if more else ""
    people = counted(event.people, "candidate")
    wave = {None: "", 0: "pilot: "}.get(event.number, f"wave {event.number}: ")
    yield f"{wave}{what} {people}, {ended}: {came_to(event.came_to)}{tries}"
    for (state, evidence), number in event.reasons.items():
        yield f"{number:,} {COME_TO[state]}: {proved(evidence)}"
    yield from most_quoted(event.service_wrote)


def _did(event: Act, teller: Teller) -> str:
    match event:
        case Decided():
            return decided(event, teller)
        case PlanAnswered():
            did = "approved" if event.answer is Answer.APPROVED else "rejected"
            return f"{did} the plan {event.plan}"
        case Paused():
            return "paused the campaign"
        case Resumed():
            return "resumed the campaign"
        case Blocked():
            return f"put {teller.people(event.people)} on the do-not-contact list"
        case Unblocked():
            return f"took {teller.people(event.people)} off the do-not-contact list"
        case ReceiptAccepted():
            return f"accepted this ledger despite {event.file}"


def asked(event: Request, teller: Teller) -> str:
    """Say what a request asked for: `invite ada@example.com, invitation no. 2`."""
    match event.operation:
        case Operation.CREATE:
            return "create the project"
        case Operation.ATTACH:
            return "add the problem"
        case Operation.ADD if event.carried == 1:
            return f"add {teller.people(event.people)}"
        case Operation.ADD if len(event.people) == 1:
            others = counted(event.carried - 1, "other", "others")
            return f"add {teller.people(event.people)} and {others}"
        case Operation.ADD:
            return f"add {counted(event.carried, 'candidate')}"
        case Operation.INVITE:
            again = f", invitation no. {event.generation}" if event.generation > 1 else ""
            return f"invite {teller.people(event.people)}{again}"


def decided(event: Decided, teller: Teller) -> str:
    """Say what a person decided, to be read after their name."""
    who = teller.people(event.people)
    if event.verdict == Word.CORRECT and event.value:
        return f"corrected {who} to {teller.person(int(event.value))}"
    if (event.operation, event.verdict) not in VERDICTS and event.verdict in OTHERS:
        return OTHERS[event.verdict].format(who=who).rstrip()
    meant = VERDICTS.get((event.operation, event.verdict), event.verdict)
    number = f", its id is {event.value}" if event.value else ""
    return f"settled {who}: {meant}{number}" if who else f"settled: {meant}{number}"


def came_to(counts: Mapping[AttemptState, int]) -> str:
    """Count what requests came to, what is done first: `97 done, 2 unsure, 1 refused`."""
    numbers: dict[str, int] = {}
    for state in (AttemptState.DONE, *AttemptState):
        numbers.setdefault(COME_TO[state], 0)
    for state, number in counts.items():
        numbers[COME_TO[state]] += number
    return ", ".join(f"{number:,} {word}" for word, number in numbers.items() if number)


def _how(event: Request) -> str:
    """Say how far a request got, and how long it took."""
    if event.status is not None:
        far = f"status {event.status}"
    elif event.came_to is AttemptState.NOT_SENT:
        far = "nothing was sent"
    else:
        far = HOW_FAR.get(event.phase, "nobody knows how far it got")
    if event.ended_at is None or event.status is None:
        return far
    took = (event.ended_at - event.at).total_seconds()
    return f"{far} after " + (f"{took:.1f} s" if took >= 1 else f"{took * 1000:.0f} ms")
