"""`campaign run FOLDER`: every campaign of a folder, some side by side."""

from pathlib import Path
from typing import TYPE_CHECKING

from config.command_line import command
from flows.cli.reading import TypedFile
from flows.cli.run.one_run import NotAsAsked, OneRun, through_prefect
from flows.run.observer import RunObserver
from flows.words.complaints import doubtful, lines_of
from flows.words.speech import answer_program, complain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from config.reading.folder import Entry
    from data.campaigns.remaining import Remaining
    from flows.cli.run.progress import Progress
    from flows.engine.temporary_server import TemporaryServer


class _Folder(RunObserver):
    """Knows who observes which of the campaigns."""

    def __init__(self, runs: dict[str | None, OneRun], shown: "Progress", *, asks: bool) -> None:
        self._runs = runs
        self._shown = shown
        self._asks = asks

    def of(self, file: Path, key: str | None) -> RunObserver:
        if (run := self._runs.get(key)) is not None:
            return self._shown.of(run)
        return _Unasked() if self._asks else RunObserver()


class _Unasked(RunObserver):
    """A campaign that came into the folder after the question is left for the next run."""

    def on_reading(self, digest: str, left: "Remaining") -> None:
        raise NotAsAsked(
            "This campaign was added to the folder after you were asked. Nothing was sent."
        )


def run_folder(folder: Path, *, asks: bool = False) -> int:
    """Run every campaign of a folder; returns the exit code of them all.

    Unlike with several files typed one by one, a bad file is shown and does not stop the others.
    `asks`: a person is asked before anything is sent. Raises BadInput if there is no campaign at
    all, BadSettings, NotSent.
    """
    from flows.engine.temporary_server import temporary_server

    with temporary_server() as prefect:
        from config.reading.folder import campaigns_at
        from config.settings import check_service, load_local
        from flows.cli.run.asking import ask
        from flows.cli.run.progress import progress
        from flows.cli.run.run import tell, worst

        entries = campaigns_at(folder)
        check_service()
        database = load_local().database_url
        bad = [entry for entry in entries if entry.problems]
        runs = _runs([entry for entry in entries if not entry.problems], asks=asks)
        if asks:
            ask(list(runs.values()))
        with progress() as shown:
            shown.starting()
            _through_prefect(folder, runs, _Folder(runs, shown, asks=asks), prefect)
        objects, codes = tell(list(runs.values()), database)
    for entry in bad:
        complain(
            *lines_of(entry.problems), f"  bad input: {command('check', shown_by(entry, folder))}"
        )
        problems = [problem.as_json() for problem in entry.problems]
        objects.append({"ok": False, "campaign": entry.key, "problems": problems})
        codes.append(2)
    answer_program(objects)
    return worst(codes)


def shown_by(entry: "Entry", folder: Path) -> Path:
    """What to give to `check`: the folder, if a file is wrong only together with another one."""
    return folder if entry.reading is not None else entry.file


def _runs(entries: "Sequence[Entry]", *, asks: bool) -> dict[str | None, OneRun]:
    """A run for each campaign; what a person should look at in the files is said."""
    from flows.cli.run.asking import show_notes

    runs: dict[str | None, OneRun] = {}
    for reading in {entry.file: entry.reading for entry in entries}.values():
        if reading is None:
            continue
        complain(*doubtful(reading.warnings))
        of_file = [
            OneRun(
                TypedFile(entry.file),
                entry.definition,
                digest=reading.digest,
                doubtful=reading.doubtful,
            )
            for entry in entries
            if entry.reading is reading and entry.definition
        ]
        if asks:
            show_notes(reading, of_file)
        runs |= {run.key: run for run in of_file}
    return runs


def _through_prefect(
    folder: Path, runs: dict[str | None, OneRun], observer: _Folder, prefect: "TemporaryServer"
) -> None:
    """Run the batch under one Prefect server."""
    place = str(folder.resolve())

    async def batch() -> None:
        from flows.batch import run_batch
        from flows.run.observer import observing

        observing.set(observer)
        await run_batch(place, return_state=True)

    through_prefect(runs.values(), prefect, batch)
