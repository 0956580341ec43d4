"""The flow that looks into a watched folder once: what is new there is run, what is bad is told.

A schedule repeats it. Nothing that a person put there is moved or deleted; what came through is
known by its content, in the ledger.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Completed, Failed
from pydantic import Field

from config.errors import BadInput
from config.mistakes import Mistake
from config.reading.folder import (
    Entry,
    campaign_files,
    campaigns_of,
    once_each,
    sources,
    stray_tables,
)
from config.reading.sources import sources_of
from config.settings import load_local
from data.campaigns import inbox
from data.campaigns.inbox import BAD_CONTENT
from data.own_files import CannotWrite
from data.store.clock import now
from data.store.ledger import Ledger
from data.store.states import Ending
from flows import reports
from flows.at_work import dropped_beside_another
from flows.batch import show
from flows.batch_summary import state_of_all
from flows.engine.idle_looks import NOTHING_NEW, quiet_until_busy
from flows.pages.final_states import BAD_INPUT, COMPLETED, STOPPED
from flows.pages.notices import tell
from flows.pages.seen import name_of
from flows.run.interrupts import Stop, stopping_on_signals
from flows.side_by_side import DEFAULT, Outcome, SideBySide, run_all
from tasks.inbox import Traces, at_rest, due, situation, traces
from tasks.plan.target import Rewritten
from tasks.shell import as_task, in_words

Seconds = Annotated[
    float, Field(ge=0, le=600, description="So long nobody may have written to a file, in seconds.")
]
QUIET = 10.0
NAME = "inbox"
LEFT = "What lies there is left for the next look."
LINES = quiet_until_busy(NAME)


@dataclass(frozen=True, slots=True)
class Arrival:
    """One campaign of a file, or a file that is bad; `content` tells what the file holds."""

    entry: Entry
    content: str
    due: bool


@dataclass(slots=True)
class Look:
    """What one look into the folder found; `unfinished` are files left for the next time."""

    arrivals: list[Arrival] = field(default_factory=list)
    unfinished: list[Path] = field(default_factory=list)


def _name() -> str:
    return name_of(Path(flow_run.parameters["folder"]).name)


@flow(
    name=NAME,
    flow_run_name=_name,
    persist_result=False,
    retries=0,
    on_failure=[tell],
    on_crashed=[tell],
)
@dropped_beside_another
async def watch_inbox(
    folder: str, side_by_side: SideBySide = DEFAULT, quiet_for: Seconds = QUIET
) -> State[Any]:
    """Run what is new in a watched folder, and go on with what has something left to send.

    A file that is still being written is left for the next time. Beside a bad one its report is
    written. Where there is nothing to do, nothing is logged. Safe to run again at any time.
    """
    place, quiet, stop = Path(folder), timedelta(seconds=quiet_for), Stop()
    try:
        with Ledger.open(load_local().database_url) as ledger, stopping_on_signals(stop):
            look = await as_task("look into the folder", partial(_look, place, ledger, quiet, stop))
            if stop.reason is not None:
                LINES.busy(flow_run.id)
                return Failed(name=STOPPED, message=f"{stop.reason} {LEFT}")
            fresh = [arrival for arrival in look.arrivals if arrival.due]
            if fresh or look.unfinished:
                LINES.busy(flow_run.id)
            outcomes = await run_all([arrival.entry for arrival in fresh], side_by_side)
            keep = partial(asyncio.to_thread, _keep, ledger, fresh, outcomes)
            outcomes = await as_task("write down what came of it", keep) if fresh else []
        if outcomes:
            await show("inbox", place, outcomes)
        return _state(outcomes, look.unfinished)
    except Exception as error:  # noqa: BLE001 - a traceback in Prefect may name people
        LINES.busy(flow_run.id)
        name = BAD_INPUT if isinstance(error, BadInput) else STOPPED
        return Failed(name=name, message=in_words(error))


def is_due(place: Path) -> bool:
    """Whether a look into a folder would find something to do. Raises LedgerUnusable, BadInput."""
    files = _files(place)
    if not files:
        return False
    with Ledger.open(load_local().database_url) as ledger:
        before = _seen_before(files, ledger)
        return any(
            not before[file] or any(arrival.due for arrival in _campaigns(file, ledger))
            for file in files
        )


def _state(outcomes: Sequence[Outcome], unfinished: Sequence[Path]) -> State[Any]:
    state = state_of_all(outcomes) if outcomes else Completed(name=COMPLETED, message=NOTHING_NEW)
    if unfinished:
        left = f"{len(unfinished):,} still being written, left for the next time"
        return state.model_copy(update={"message": f"{state.message}; {left}"})
    return state


async def _look(place: Path, ledger: Ledger, quiet: timedelta, stop: Stop) -> Look:
    """See which files are there, wait where something is new, and see which are at rest.

    A signal ends the wait; nothing is judged then.
    """
    files = await asyncio.to_thread(_files, place)
    before = await asyncio.to_thread(_traces, files)
    seen_before = await asyncio.to_thread(_seen_before, files, ledger)
    if not all(seen_before.values()):
        await stop.or_after(quiet.total_seconds())
    if stop.reason is not None:
        return Look()
    return await asyncio.to_thread(_judge, before, seen_before, ledger, quiet)


def _files(place: Path) -> list[Path]:
    return [*campaign_files(place), *stray_tables(place)]


def _traces(files: Sequence[Path]) -> dict[Path, Traces]:
    return {file: traces(sources(file)) for file in files}


def _seen_before(files: Sequence[Path], ledger: Ledger) -> dict[Path, bool]:
    return {file: bool(ledger.read(inbox.passed, sources_of(file, None).digest)) for file in files}


def _judge(
    before: dict[Path, Traces], seen_before: dict[Path, bool], ledger: Ledger, quiet: timedelta
) -> Look:
    look = Look()
    for file, first in before.items():
        if not seen_before[file] and not _finished(file, first, quiet):
            look.unfinished.append(file)
        else:
            look.arrivals += _campaigns(file, ledger)
    entries = once_each([arrival.entry for arrival in look.arrivals])
    look.arrivals = [
        replace(arrival, entry=entry) for arrival, entry in zip(look.arrivals, entries, strict=True)
    ]
    return look


def _finished(file: Path, first: Traces, quiet: timedelta) -> bool:
    second = traces(sources(file))
    at = now()
    return first.keys() == second.keys() and all(
        at_rest(first[source], second[source], at, quiet) for source in first
    )


def _campaigns(file: Path, ledger: Ledger) -> Iterator[Arrival]:
    """What is in a file: as the ledger remembers it, else as it reads."""
    read, at = sources_of(file, None), now()
    content = read.digest
    passed = ledger.read(inbox.passed, content)
    if not passed:
        yield from (Arrival(entry, content, True) for entry in campaigns_of(file, read))
    for last in passed:
        stands = situation(ledger, content, last.key, at) if last.key else None
        again = stands is not None and due(last, stands, at)
        yield Arrival(Entry(file, last.key, digest=content), content, again)


def _keep(ledger: Ledger, fresh: Sequence[Arrival], outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Note what came of each, and tell beside the files; answers what is news to anybody."""
    news = []
    for arrival, outcome in zip(fresh, outcomes, strict=True):
        if isinstance(outcome.error, Rewritten):
            continue  # what it holds now is for the next look; nothing came of what it held
        key = outcome.end.campaign if outcome.end else arrival.entry.key
        problems = _problems(outcome)
        # Which of two files is meant may be settled without a change of this one. What a signal
        # ended goes on with the next look.
        if not (arrival.entry.key and arrival.entry.problems) and not outcome.interrupted:
            ledger.write(
                inbox.note, arrival.content, key, arrival.entry.file.name, _ending(outcome, key)
            )
        try:
            if not problems:
                reports.withdraw(arrival.entry.file)
            elif not reports.tell(arrival.entry.file, arrival.content, problems):
                continue
        except CannotWrite as error:
            outcome = replace(outcome, why=f"{outcome.why} {error}")  # noqa: PLW2901
        news.append(outcome)
    return news


def _problems(outcome: Outcome) -> tuple[Mistake, ...]:
    if outcome.end is not None:
        return ()
    error = outcome.error
    return error.problems if isinstance(error, BadInput) else outcome.entry.problems


def _ending(outcome: Outcome, key: str | None) -> str:
    if outcome.end is not None:
        return outcome.end.ending
    return BAD_CONTENT if key is None else Ending.STOPPED
