"""How several campaigns came out together: one final state, one page. Pure; names nobody."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from prefect.client.schemas.objects import State
from prefect.states import Cancelled, Completed, Failed

from flows.pages.final_states import BAD_INPUT, COMPLETED, NEEDS_ATTENTION, NOT_YET, STOPPED
from flows.pages.final_states import WAITING_FOR_APPROVAL as APPROVAL
from flows.pages.markdown import table, text
from flows.side_by_side import Outcome

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
