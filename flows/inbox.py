"""The flow that looks into a watched folder once: it runs what is new and reports what is wrong.

A schedule repeats it. Nothing that a person put there is moved or deleted.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

from prefect.client.schemas.objects import State
from prefect.states import Completed, Failed
from pydantic import Field

from config.errors import BadInput
from config.mistakes import Mistake
from config.reading.folder import sources
from config.settings import load_local
from data.campaigns import inbox
from data.campaigns.inbox import BAD_CONTENT
from data.own_files import CannotWrite
from data.store.ledger import Ledger
from data.store.states import Ending
from flows import reports
from flows.arrivals import Arrival, Look, files_there, judge
from flows.at_work import NOTHING_NEW, dropped_beside_another
from flows.batch import named_by_folder, show
from flows.pages.final_states import COMPLETED, STOPPED, broken_off
from flows.pages.notices import our_flow
from flows.run.interrupts import Stop, stopping_on_signals
from flows.side_by_side import DEFAULT, Outcome, SideBySide, run_all, state_of_all
from tasks.inbox import AS_FAR_AS_IT_GOES
from tasks.plan.target import Rewritten
from tasks.shell import as_task

Seconds = Annotated[
    float,
    Field(
        ge=0, le=600, description="Seconds for which a file must be unchanged before it is read."
    ),
]
QUIET = 10.0
NAME = "inbox"
LEFT = "The files there are left for the next look."


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
    files = await asyncio.to_thread(files_there, place, ledger)
    if any(new is not None for new in files.values()):
        await stop.or_after(quiet.total_seconds())
    if stop.reason is not None:
        return Look()
    return await asyncio.to_thread(judge, files, ledger, quiet)


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
