"""Running campaigns: those of some files one after the other, or those of a folder side by side."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from config.command_line import command
from config.definition.model import Definition
from config.errors import BadInput
from config.mistakes import Mistake, Place
from config.reading.folder import Entry, campaigns_at
from config.reading.reading import Reading
from config.settings import check_service, load_local
from data.campaigns.remaining import Remaining
from flows.cli.prepare.plan_checks import check_same
from flows.cli.reading import TypedFile, check_only
from flows.cli.run.asking import ask, show_notes
from flows.cli.run.one_run import NotAsAsked, OneRun, through_prefect
from flows.cli.run.progress import Progress, progress
from flows.cli.run.telling import tell, worst
from flows.engine.temporary_server import TemporaryServer, temporary_server
from flows.run.observer import RunObserver, observing
from flows.words.complaints import doubtful, lines_of
from flows.words.speech import answer_program, complain


def run_files(files: Sequence[TypedFile], *, asks: bool = False) -> int:
    """Run the campaigns of these files, which were typed together; returns the exit code.

    `asks`: a person is asked before anything is sent. Raises BadInput, BadSettings, NotSent.
    """
    with temporary_server() as prefect:
        runs = read_files(files, asks=asks)
        check_service()
        objects, codes = _send(
            runs, prefect, lambda shown: _one_after_another(runs, shown), asks=asks
        )
    answer_program(objects)
    return worst(codes)


def run_folder(folder: Path, *, asks: bool = False) -> int:
    """Run every campaign of a folder; returns the exit code of them all.

    Unlike with several files typed one by one, a bad file is shown and does not stop the others.
    `asks`: a person is asked before anything is sent. Raises BadInput if there is no campaign at
    all, BadSettings, NotSent.
    """
    with temporary_server() as prefect:
        entries = campaigns_at(folder)
        check_service()
        runs = _runs([entry for entry in entries if not entry.problems], asks=asks)
        objects, codes = _send(
            list(runs.values()),
            prefect,
            lambda shown: _side_by_side(str(folder.resolve()), _Folder(runs, shown, asks=asks)),
            asks=asks,
        )
    for entry in (entry for entry in entries if entry.problems):
        complain(
            *lines_of(entry.problems), f"  bad input: {command('check', shown_by(entry, folder))}"
        )
        problems = [problem.as_json() for problem in entry.problems]
        objects.append({"ok": False, "campaign": entry.key, "problems": problems})
        codes.append(2)
    answer_program(objects)
    return worst(codes)


def _send(
    runs: Sequence[OneRun],
    prefect: TemporaryServer,
    send: Callable[[Progress], Awaitable[None]],
    *,
    asks: bool,
) -> tuple[list[dict[str, Any]], list[int]]:
    """Ask, send and say how each ended; returns the status object and the exit code of each."""
    if asks:
        ask(runs)
    database = load_local().database_url
    with progress(starts=True) as shown:
        through_prefect(runs, prefect, lambda: send(shown))
    return tell(runs, database)


def read_files(files: Sequence[TypedFile], *, asks: bool) -> list[OneRun]:
    """Read every file before anything is sent. Raises BadInput with the problems of all."""
    runs: list[OneRun] = []
    problems: list[Mistake] = []
    warnings: list[Mistake] = []
    then: str | None = None
    files_by_key: dict[str, Path] = {}
    shown: set[Mistake] = set()
    for typed in files:
        try:
            reading = typed.read()
            definitions = typed.picked(reading.definitions)
            check_same(definitions, reading.digest, typed)
        except BadInput as error:
            problems += error.problems
            warnings += error.warnings
            then = error.then if len(files) == 1 else None
            continue
        files_by_key |= {definition.campaign: typed.file for definition in reading.definitions}
        for run in _runs_of(typed, reading, definitions, shown, asks=asks):
            if first := next((earlier for earlier in runs if earlier.key == run.key), None):
                message = f"the campaign {run.key} is already in {first.typed.file}"
                problems.append(Mistake(Place(str(typed.file)), "campaign", message=message))
            runs.append(run)
    if problems:
        raise BadInput([*dict.fromkeys(problems)], [*dict.fromkeys(warnings)], then)
    check_only(files[0].only, files_by_key, [typed.file for typed in files])
    return runs


def _runs_of(
    typed: TypedFile,
    reading: Reading,
    definitions: Iterable[Definition],
    shown: set[Mistake],
    *,
    asks: bool,
) -> list[OneRun]:
    """A run for each of these campaigns of a file; what a person should look at in it is said,
    unless it was `shown`: another file may name the same table.
    """
    complain(*doubtful(each for each in reading.warnings if each not in shown))
    shown.update(reading.warnings)
    runs = [OneRun(typed, each, reading.digest, reading.doubtful) for each in definitions]
    if asks:
        show_notes(reading, runs)
    return runs


async def _one_after_another(runs: Sequence[OneRun], shown: Progress) -> None:
    from flows.campaign import run_campaign

    for run in runs:
        observing.set(shown(run))
        typed = run.typed
        await run_campaign(
            str(typed.file.resolve()),
            run.key,
            str(typed.campaign.resolve()) if typed.campaign else None,
            typed.accept_removed,
            typed.keep_project,
            sheet=typed.sheet,
            return_state=True,
        )


class _Folder(RunObserver):
    """Knows who observes which of the campaigns."""

    def __init__(self, runs: dict[str | None, OneRun], shown: Progress, *, asks: bool) -> None:
        self._runs = runs
        self._shown = shown
        self._asks = asks

    def of(self, file: Path, key: str | None) -> RunObserver:
        if (run := self._runs.get(key)) is not None:
            return self._shown(run)
        return _Unasked() if self._asks else RunObserver()


class _Unasked(RunObserver):
    """A campaign that came into the folder after the question is left for the next run."""

    def on_reading(self, digest: str, left: Remaining) -> None:
        raise NotAsAsked(
            "This campaign was added to the folder after you were asked. Nothing was sent."
        )


def shown_by(entry: Entry, folder: Path) -> Path:
    """What to give to `check`: the folder, if a file is wrong only together with another one."""
    return folder if entry.reading is not None else entry.file


def _runs(entries: Sequence[Entry], *, asks: bool) -> dict[str | None, OneRun]:
    """A run for each campaign of these files, by its key."""
    runs: dict[str | None, OneRun] = {}
    shown: set[Mistake] = set()
    for file, reading in {entry.file: entry.reading for entry in entries}.items():
        if reading is None:
            continue
        definitions = [e.definition for e in entries if e.reading is reading and e.definition]
        of_file = _runs_of(TypedFile(file), reading, definitions, shown, asks=asks)
        runs |= {run.key: run for run in of_file}
    return runs


async def _side_by_side(folder: str, observer: _Folder) -> None:
    from flows.batch import run_batch

    observing.set(observer)
    await run_batch(folder, return_state=True)
