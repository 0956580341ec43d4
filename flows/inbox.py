"""The flow that looks into a watched folder once: it runs what is new and reports what is wrong.

A schedule repeats it. Nothing that a person put there is moved or deleted; the ledger knows the
files that were run by their content.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

from prefect.client.schemas.objects import State
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
    stray_files,
)
from config.reading.sources import sources_of
from config.settings import load_local
from data.campaigns import inbox
from data.campaigns.inbox import BAD_CONTENT, Passed
from data.own_files import CannotWrite
from data.store.clock import now
from data.store.ledger import Ledger
from data.store.states import Ending
from flows import reports
from flows.at_work import NOTHING_NEW, dropped_beside_another
from flows.batch import named_by_folder, show
from flows.pages.final_states import COMPLETED, STOPPED, broken_off
from flows.pages.notices import our_flow
from flows.run.interrupts import Stop, stopping_on_signals
from flows.side_by_side import DEFAULT, Outcome, SideBySide, run_all, state_of_all
from tasks.inbox import AS_FAR_AS_IT_GOES, Situation, Traces, at_rest, due, situation, traces
from tasks.plan.target import Rewritten
from tasks.shell import as_task

Seconds = Annotated[
    float,
    Field(
        ge=0, le=600, description="Seconds for which a file must be unchanged before it is read."
    ),
]
QUIET = 10.0
TO_COME = timedelta(minutes=5)  # so long a table may come after the definition that names it
NAME = "inbox"
LEFT = "The files there are left for the next look."


@dataclass(frozen=True, slots=True)
class Arrival:
    """One campaign of a file, or a file that is bad; `content` tells what the file holds."""

    entry: Entry
    content: str
    due: bool

    @property
    def doubled(self) -> bool:
        """Whether another file describes the campaign as well, so that neither is run."""
        return self.entry.key is not None and bool(self.entry.problems)


@dataclass(slots=True)
class Look:
    """What one look into the folder found; `unfinished` are files left for the next time."""

    arrivals: list[Arrival] = field(default_factory=list)
    unfinished: list[Path] = field(default_factory=list)


@our_flow(NAME, named_by_folder)
@dropped_beside_another
async def watch_inbox(
    folder: str, side_by_side: SideBySide = DEFAULT, quiet_for: Seconds = QUIET
) -> State[Any]:
    """Run what is new in a watched folder, and go on with what has something left to send.

    A file that is still being written is left for the next time. A bad file gets a report beside
    it. Safe to run again at any time.
    """
    place, quiet, stop = Path(folder), timedelta(seconds=quiet_for), Stop()
    try:
        with Ledger.open(load_local().database_url) as ledger, stopping_on_signals(stop):
            look = await as_task("look into the folder", partial(_look, place, ledger, quiet, stop))
            if stop.reason is not None:
                return Failed(name=STOPPED, message=f"{stop.reason} {LEFT}")
            fresh = [arrival for arrival in look.arrivals if arrival.due]
            await asyncio.to_thread(_begin, ledger, fresh)
            outcomes: list[Outcome] = []
            for arrivals in _bad_first(fresh):
                ended = await run_all([arrival.entry for arrival in arrivals], side_by_side)
                keep = partial(asyncio.to_thread, _keep, ledger, arrivals, ended)
                outcomes += await as_task("write down what came of it", keep)
        if outcomes:
            await show("inbox", place, outcomes)
        return _state(outcomes, look.unfinished)
    except Exception as error:  # noqa: BLE001 - a traceback in Prefect may name people
        return broken_off(error)


def is_due(place: Path) -> bool:
    """Whether a look into a folder would find something to do. Raises LedgerUnusable, BadInput."""
    if not _found(place):
        return False
    with Ledger.open(load_local().database_url) as ledger:
        return any(
            new is not None or any(arrival.due for arrival in _campaigns(file, ledger))
            for file, new in _files(place, ledger).items()
        )


def _bad_first(fresh: Sequence[Arrival]) -> Iterator[list[Arrival]]:
    """The files that cannot be read, and then the others: a report waits for no campaign."""
    bad = {arrival.entry.file for arrival in fresh if arrival.entry.key is None}
    for unread in (True, False):
        if part := [arrival for arrival in fresh if (arrival.entry.file in bad) is unread]:
            yield part


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
    files = await asyncio.to_thread(_files, place, ledger)
    if any(new is not None for new in files.values()):
        await stop.or_after(quiet.total_seconds())
    if stop.reason is not None:
        return Look()
    return await asyncio.to_thread(_judge, files, ledger, quiet)


def _found(place: Path) -> list[Path]:
    return [*campaign_files(place), *stray_files(place)]


def _files(place: Path, ledger: Ledger) -> dict[Path, Traces | None]:
    """The files that are there, with the traces of the new ones; looks know the others."""
    before = {file: traces(sources(file)) for file in _found(place)}
    return {file: None if _is_known(file, ledger) else first for file, first in before.items()}


def _is_known(file: Path, ledger: Ledger) -> bool:
    """Whether looks know what a file holds, and it holds it still; going back is a change."""
    content = sources_of(file, None).digest
    passed = bool(ledger.read(inbox.passed, content))
    return passed and not ledger.read(inbox.changed, file, content, None)


def _judge(files: Mapping[Path, Traces | None], ledger: Ledger, quiet: timedelta) -> Look:
    look = Look()
    for file, new in files.items():
        if new is not None and not _finished(file, new, quiet):
            look.unfinished.append(file)
        else:
            look.arrivals += _campaigns(file, ledger)
    entries = once_each([arrival.entry for arrival in look.arrivals])
    look.arrivals = [
        replace(arrival, entry=entry) for arrival, entry in zip(look.arrivals, entries, strict=True)
    ]
    return look


def _finished(file: Path, first: Traces, quiet: timedelta) -> bool:
    """Whether nobody is writing what a campaign is read from. A table that is not there may still
    come, but not for ever: people would wait for it in vain, and nobody would say so.
    """
    second = traces(sources(file))
    at = now()
    there = [source for source in first if first[source] or second.get(source) or source == file]
    patience = quiet if len(there) == len(first) else max(quiet, TO_COME)
    return first.keys() == second.keys() and all(
        at_rest(first[source], second[source], at, patience) for source in there
    )


def _campaigns(file: Path, ledger: Ledger) -> Iterator[Arrival]:
    """What is in a file: as the ledger remembers it, else as it reads."""
    read, at = sources_of(file, None), now()
    content = read.digest
    passed = ledger.read(inbox.passed, content)
    if not passed:
        yield from (Arrival(entry, content, True) for entry in campaigns_of(file, read))
    for last in passed:
        again = ledger.read(inbox.changed, file, content, last.key)
        again = again or due(last, _situation(ledger, file, content, last, at), at)
        yield Arrival(Entry(file, last.key, digest=content), content, again)


def _situation(ledger: Ledger, file: Path, content: str, last: Passed, at: datetime) -> Situation:
    if last.key is not None:
        return situation(ledger, content, last.key, at)
    return Situation(unreported=None if reports.report_of(file).exists() else file.name)


def _begin(ledger: Ledger, fresh: Sequence[Arrival]) -> None:
    """Record what is due before any of it runs: whatever ends this look, the next one goes on."""
    for file, arrivals in groupby(fresh, lambda arrival: arrival.entry.file):
        campaigns = {arrival.entry.key: arrival for arrival in arrivals}
        content = next(iter(campaigns.values())).content
        doubled = [key for key, arrival in campaigns.items() if arrival.doubled]
        ledger.write(inbox.begin, file, content, list(campaigns), doubled)


def _keep(ledger: Ledger, fresh: Sequence[Arrival], outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Record how each ended, and write reports beside bad files; returns what is new to people."""
    news: list[Outcome] = []
    came = zip(fresh, outcomes, strict=True)
    for file, pairs in groupby(came, lambda pair: pair[0].entry.file):
        every = list(pairs)
        # What the file holds now is for the next look; nothing came of what it held.
        of_file = [pair for pair in every if not isinstance(pair[1].error, Rewritten)]
        for arrival, outcome in of_file:
            # Doubled, or ended by a signal: it stays begun, and the next look goes on with it.
            if not arrival.doubled and not outcome.interrupted:
                _note(ledger, arrival, outcome)
        ended = [outcome for _, outcome in of_file]
        if len(of_file) == len(every):
            ended = _report(ledger, file, every[0][0].content, ended)
        news += ended
    return news


def _note(ledger: Ledger, arrival: Arrival, outcome: Outcome) -> None:
    end = outcome.end
    for key in {arrival.entry.key, end.campaign if end else arrival.entry.key}:
        name = arrival.entry.file.name
        ledger.write(inbox.note, arrival.content, key, name, _ending(outcome, key))


def _report(ledger: Ledger, file: Path, content: str, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Write one report over all campaigns of a file; returns what is new to people."""
    problems = list(dict.fromkeys(p for outcome in outcomes for p in _problems(outcome)))
    ran = {outcome.entry.key for outcome in outcomes}
    others = [last for last in ledger.read(inbox.passed, content) if last.key not in ran]
    bad = [outcome.entry.name for outcome in outcomes if _problems(outcome)]
    whole = len(bad) == len(outcomes) + len(others)
    try:
        if problems:
            fresh = reports.tell(file, content, problems, () if whole else bad)
        else:
            fresh = True
            # The report may be about a campaign that stopped and is tried again only later.
            if all(last.ending in AS_FAR_AS_IT_GOES for last in others):
                for source in sources(file):  # a table was reported while nothing named it
                    reports.withdraw(source)
    except CannotWrite as error:
        return [replace(outcome, why=f"{outcome.why} {error}") for outcome in outcomes]
    return [outcome for outcome in outcomes if fresh or not _problems(outcome)]


def _problems(outcome: Outcome) -> tuple[Mistake, ...]:
    if outcome.end is not None:
        return ()
    error = outcome.error
    return error.problems if isinstance(error, BadInput) else outcome.entry.problems


def _ending(outcome: Outcome, key: str | None) -> str:
    if outcome.end is not None:
        return outcome.end.ending
    return BAD_CONTENT if key is None else Ending.STOPPED
