"""Several campaigns in one run: each a run of its own, some at a time; none stops another."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from prefect.runtime import flow_run
from pydantic import Field

from config.reading.folder import Entry
from flows.campaign import run_campaign
from flows.pages.final_states import BAD_INPUT, STOPPED
from flows.pages.wrong_places import where_wrong
from flows.run.ending import Finish
from flows.run.interrupts import INTERRUPTED, Stop, listen_again, stopping_on_signals
from flows.run.observer import Observers, RunObserver, observing, whole
from tasks.shell import in_words

SideBySide = Annotated[int, Field(ge=1, le=16, description="How many campaigns at a time.")]
DEFAULT = 3


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


async def run_all(entries: Sequence[Entry], at_a_time: int) -> list[Outcome]:
    """Run every campaign, in the given order as far as there is room; returns one outcome each.

    A signal ends what runs, and keeps the others from beginning.
    """
    turns = asyncio.Semaphore(at_a_time)
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
