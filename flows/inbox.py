"""The flow that looks into a watched folder: it runs what is new and reports what is wrong.

It begins when there is something to do (flows/serving/inbox_watch.py), or by a schedule. Nothing
that a person put there is moved or deleted.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
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
from flows.arrivals import Arrival, Look, files_there, fresh, is_due, judge
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
EVERY = 60.0  # seconds between two looks
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
    stop, turns = Stop(), asyncio.Semaphore(side_by_side)
    try:
        with Ledger.open(load_local().database_url) as ledger, stopping_on_signals(stop):
            watch = _Watch(Path(folder), ledger, timedelta(seconds=quiet_for), stop, turns)
            await watch.run()
        outcomes = watch.ended()
        if stop.reason is not None and not outcomes:
            return Failed(name=STOPPED, message=f"{stop.reason} {LEFT}")
        return _state(outcomes, watch.unfinished)
    except Exception as error:  # noqa: BLE001 - a traceback in Prefect may name people
        return broken_off(error)


@dataclass(slots=True)
class _Watch:
    """One look after another for as long as something that they found is at work.

    A campaign with a rate may take days; a file that is put beside it meanwhile does not wait.
    """

    place: Path
    ledger: Ledger
    quiet: timedelta
    stop: Stop
    turns: asyncio.Semaphore  # of the campaigns
    outcomes: dict[Path, list[Outcome]] = field(default_factory=dict)  # the last of each campaign
    unfinished: list[Path] = field(default_factory=list)
    _at_work: dict[asyncio.Task[None], list[Arrival]] = field(default_factory=dict)
    _error: Exception | None = None

    async def run(self) -> None:
        """Raises what ended the last look or its work, once nothing is at work any more."""
        async with asyncio.TaskGroup() as group:
            await self._safely(self._look(group))
            while self._at_work:
                _, pending = await asyncio.wait(self._at_work, timeout=EVERY)
                self._at_work = {task: self._at_work[task] for task in pending}
                await self._safely(self._show())
                if pending and self.stop.reason is None:
                    await self._safely(self._look_again(group))
        if self._error is not None:
            raise self._error

    async def _safely(self, work: Coroutine[Any, Any, None]) -> None:
        """An error ends no campaign that is at work, and no later look."""
        try:
            await work
        except Exception as error:  # noqa: BLE001 - `run` raises it
            self._error = error

    async def _look_again(self, group: asyncio.TaskGroup) -> None:
        self._error = None
        due = await asyncio.to_thread(is_due, self.place, self._busy())
        if due:
            await self._look(group)

    async def _look(self, group: asyncio.TaskGroup) -> None:
        look = await as_task("look into the folder", self._see)
        self.unfinished = look.unfinished
        begun = fresh(look.arrivals, self._busy())
        await asyncio.to_thread(_begin, self.ledger, begun)
        for file, arrivals in groupby(begun, lambda arrival: arrival.entry.file):
            part = list(arrivals)
            bad = any(arrival.entry.key is None for arrival in part)
            # A report waits for no campaign.
            turns = asyncio.Semaphore() if bad else self.turns
            work = group.create_task(self._safely(self._carry_out(file, part, turns)))
            self._at_work[work] = part

    async def _show(self) -> None:
        if outcomes := self.ended():
            await show("inbox", self.place, outcomes)

    def ended(self) -> list[Outcome]:
        """What came of the campaigns and of the bad files, by file."""
        return [outcome for file in sorted(self.outcomes) for outcome in self.outcomes[file]]

    def _busy(self) -> list[Arrival]:
        return [arrival for part in self._at_work.values() for arrival in part]

    async def _see(self) -> Look:
        """See which files are there, wait where something is new, and see which are at rest.

        A signal ends the wait; nothing is judged then.
        """
        files = await asyncio.to_thread(files_there, self.place, self.ledger)
        await asyncio.to_thread(reports.tidy, self.place)
        if any(new is not None for new in files.values()):
            await self.stop.or_after(self.quiet.total_seconds())
        if self.stop.reason is not None:
            return Look()
        return await asyncio.to_thread(judge, files, self.ledger, self.quiet)

    async def _carry_out(
        self, file: Path, part: Sequence[Arrival], turns: asyncio.Semaphore
    ) -> None:
        ended = await run_all([arrival.entry for arrival in part], turns)
        news = await asyncio.to_thread(_keep, self.ledger, file, part, ended)
        again = {key for arrival in part for key in (arrival.entry.key, None)}
        stay = [each for each in self.outcomes.get(file, []) if each.entry.key not in again]
        self.outcomes[file] = stay + news


def _state(outcomes: Sequence[Outcome], unfinished: Sequence[Path]) -> State[Any]:
    state = state_of_all(outcomes) if outcomes else Completed(name=COMPLETED, message=NOTHING_NEW)
    if unfinished:
        left = f"{len(unfinished):,} still being written, left for the next time"
        return state.model_copy(update={"message": f"{state.message}; {left}"})
    return state


def _begin(ledger: Ledger, fresh: Sequence[Arrival]) -> None:
    """Record what is due before any of it runs: whatever ends this look, the next one goes on."""
    for file, arrivals in groupby(fresh, lambda arrival: arrival.entry.file):
        campaigns = {arrival.entry.key: arrival for arrival in arrivals}
        content = next(iter(campaigns.values())).content
        doubled = [key for key, arrival in campaigns.items() if arrival.doubled]
        ledger.write(inbox.begin, file, content, list(campaigns), doubled)


def _keep(
    ledger: Ledger, file: Path, part: Sequence[Arrival], outcomes: Sequence[Outcome]
) -> list[Outcome]:
    """Record how each campaign of a file ended, and write a report beside a bad one; returns what
    is new to people.
    """
    came = list(zip(part, outcomes, strict=True))
    # What the file holds now is for the next look; nothing came of what it held.
    of_file = [pair for pair in came if not isinstance(pair[1].error, Rewritten)]
    for arrival, outcome in of_file:
        # Doubled, or ended by a signal: it stays begun, and the next look goes on with it.
        if not arrival.doubled and not outcome.interrupted:
            _note(ledger, arrival, outcome)
    ended = [outcome for _, outcome in of_file]
    return _report(ledger, file, part[0].content, ended) if len(of_file) == len(came) else ended


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
