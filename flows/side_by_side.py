"""Several campaigns in one run: each a run of its own, some at a time; none stops another.

They come out together as one final state and one page, which name nobody.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Cancelled, Completed, Failed
from pydantic import Field

from config.reading.folder import Entry
from flows.campaign import run_campaign
from flows.pages.final_states import BAD_INPUT, COMPLETED, NEEDS_ATTENTION, NOT_YET, STOPPED
from flows.pages.final_states import WAITING_FOR_APPROVAL as APPROVAL
from flows.pages.markdown import table, text
from flows.pages.wrong_places import where_wrong
from flows.run.ending import Finish
from flows.run.interrupts import INTERRUPTED, Stop, listen_again, stopping_on_signals
from flows.run.observer import Observers, RunObserver, observing, whole
from tasks.shell import in_words

SideBySide = Annotated[int, Field(ge=1, le=16, description="How many campaigns at a time.")]
DEFAULT = 3
NAMED = 10  # campaigns in one clause of a message
SHOWN = 200  # campaigns on one page
CANCELLED = "Cancelled"
COUNTED = ("candidates", "invited", "waiting", "refused", "unsure")
WORDS = {
    COMPLETED: "completed",
    NOT_YET: "not yet",
    NEEDS_ATTENTION: "needs attention",
    APPROVAL: "waiting for approval",
    BAD_INPUT: "bad input",
    STOPPED: "stopped",
    CANCELLED: "cancelled",
}
ORDER = (COMPLETED, NOT_YET, NEEDS_ATTENTION, APPROVAL, BAD_INPUT)
FINE = (COMPLETED, NOT_YET)
# What a person has to do something about; everything else that is not fine has stopped.
NEEDS_A_PERSON = (NEEDS_ATTENTION, APPROVAL, BAD_INPUT)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one campaign came out: the name of its final state, and why in words without a person.

    `counts` as in the status object; empty where the campaign never came into the ledger.
    """

    entry: Entry
    state: str
    why: str
    counts: Mapping[str, int]
    end: Finish | None = None
    error: Exception | None = None

    @property
    def interrupted(self) -> bool:
        """Whether a signal ended it, or kept it from beginning: nothing failed."""
        return ((self.end.reason if self.end else self.why) or "").startswith(INTERRUPTED)


class _End(RunObserver):
    """Keeps how one run ended."""

    def __init__(self) -> None:
        self.end: Finish | None = None
        self.error: Exception | None = None

    def on_end(self, end: Finish) -> None:
        self.end = end

    def on_failure(self, error: Exception) -> None:
        self.error = error


async def run_all(entries: Sequence[Entry], turns: asyncio.Semaphore) -> list[Outcome]:
    """Run every campaign, in the given order, as `turns` has room; returns one outcome each.

    A signal ends what runs, and keeps the others from beginning.
    """
    stop = Stop()
    whole.set(flow_run.id)

    async def in_turn(entry: Entry) -> Outcome:
        async with turns:
            if stop.reason is not None:
                return Outcome(entry, STOPPED, f"{INTERRUPTED} It was not begun.", {})
            return await _run(entry)

    with stopping_on_signals(stop):
        async with asyncio.TaskGroup() as group:
            # A task has a context, and so an observer, of its own.
            tasks = [group.create_task(in_turn(entry)) for entry in entries]
    return [task.result() for task in tasks]


async def _run(entry: Entry) -> Outcome:
    if entry.key is not None and entry.problems:
        return Outcome(entry, BAD_INPUT, where_wrong(entry.problems, entry.file), {})
    kept = _End()
    observing.set(Observers(kept, observing.get().of(entry.file, entry.key)))
    try:
        # A file that cannot be read gets a run as well, so that it is seen where runs are seen.
        state = await run_campaign(
            str(entry.file), entry.key, digest=entry.digest, return_state=True
        )
    except Exception as error:  # noqa: BLE001 - Prefect may fail in ways of its own, in one run
        return Outcome(entry, STOPPED, in_words(error), {}, error=error)
    finally:
        listen_again()
    name, why = state.name or STOPPED, state.message or ""
    counts = kept.end.counts if kept.end else {}
    return Outcome(entry, name, why, counts, kept.end, kept.error)


def state_of_all(outcomes: Sequence[Outcome]) -> State[Any]:
    """Completed only if nobody is needed for any of them; else the message says who is."""
    states = Counter(outcome.state for outcome in outcomes)
    fine = [f"{states[name]:,} {word(name)}" for name in FINE if states[name]]
    total = f"{len(outcomes):,} campaign{'' if len(outcomes) == 1 else 's'}"
    others = sorted((name for name in states if name not in FINE), key=_order)
    if not others:
        return Completed(name=COMPLETED, message=f"{total}: {', '.join(fine) or 'nothing to do'}")
    named = [f"{word(name)}: {_names(outcomes, name)}" for name in others]
    sentence = f"{total}: {', '.join([*fine, *named])}"
    if others == [CANCELLED]:
        return Cancelled(message=sentence)
    worst = NEEDS_ATTENTION if all(name in NEEDS_A_PERSON for name in others) else STOPPED
    return Failed(name=worst, message=sentence)


def word(state: str) -> str:
    """A state's name in the middle of a sentence."""
    return WORDS.get(state, state.lower())


def _order(state: str) -> int:
    return ORDER.index(state) if state in ORDER else len(ORDER)


def _names(outcomes: Sequence[Outcome], state: str) -> str:
    names = [outcome.entry.name for outcome in outcomes if outcome.state == state]
    more = [f"{len(names) - NAMED:,} more"] if len(names) > NAMED else []
    return ", ".join([*names[:NAMED], *more])


def page(title: str, outcomes: Sequence[Outcome]) -> str:
    """Counts of every campaign as Markdown, those that need a person first."""
    ordered = sorted(outcomes, key=lambda outcome: -_order(outcome.state))
    rows = [
        [
            outcome.entry.name,
            word(outcome.state),
            *(f"{_number(outcome, name):,}" if outcome.counts else "" for name in COUNTED),
        ]
        for outcome in ordered[:SHOWN]
    ]
    more = len(ordered) - SHOWN
    parts = [
        f"# {text(title)}",
        state_of_all(outcomes).message or "",
        table(("campaign", "result", *COUNTED), rows, numbers=COUNTED),
        f"{more:,} more are not shown here." if more > 0 else "",
        *(
            f"**{text(outcome.entry.name)}**: {text(outcome.why)}"
            for outcome in ordered[:SHOWN]
            if outcome.state not in FINE
        ),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _number(outcome: Outcome, name: str) -> int:
    """How many people of a campaign are there; whoever was removed from it waits for no run."""
    return outcome.counts[name] - (outcome.counts["removed"] if name == "waiting" else 0)
