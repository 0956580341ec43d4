"""`campaign run`: create, add, invite, and say what happened and what to type next."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from config.command_line import command
from flows.cli.arguments import DefinitionFile, KeepProject, OnlyKeys, Sheet
from flows.cli.ledgers import ledger_if_any
from flows.cli.reading import TypedFile, check_only
from flows.cli.run.one_run import OneRun, through_prefect
from flows.words.closing import beside_a_run, next_steps, summary, wrote
from flows.words.complaints import doubtful, explain
from flows.words.manner import manner
from flows.words.speech import answer_program, complain, counted, quoted, say

if TYPE_CHECKING:
    from flows.cli.run.progress import Progress
    from flows.engine.temporary_server import TemporaryServer
    from flows.run.ending import Finish

AcceptRemoved = Annotated[
    bool,
    typer.Option(
        "--accept-removed", help="Continue even if more people were removed than the guard allows."
    ),
]
Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE",
        help="Campaigns: definitions (.yaml), workbooks or a .csv of people; or a folder of them.",
    ),
]


def run(
    files: Files,
    campaign: DefinitionFile = None,
    sheet: Sheet = None,
    only: OnlyKeys = None,
    accept_removed: AcceptRemoved = False,
    keep_project: KeepProject = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before sending.")] = False,
) -> None:
    """Send a campaign: project, problem, people, invitations.

    On a terminal you see the plan and are asked first; with --yes you are not. You can type it
    again at any time: what is done is never repeated. With a folder, every campaign in it is
    sent, several at the same time; a bad file does not stop the others.
    """
    from flows.cli.run.asking import can_ask
    from flows.engine.temporary_server import temporary_server

    asks = not yes and can_ask()
    folders = [file for file in files if file.is_dir()]
    beside = campaign or sheet or only or accept_removed or keep_project
    if folders and (len(files) > 1 or beside):
        raise typer.BadParameter(f"{folders[0]} is a folder: give it alone", param_hint="FILE")
    if folders:
        with temporary_server():  # it starts while the rest is imported
            from flows.cli.run.run_folder import run_folder

            raise typer.Exit(run_folder(folders[0], asks=asks))
    typed = Typed(tuple(files), campaign, sheet, tuple(only or ()), accept_removed, keep_project)
    raise typer.Exit(run_files(typed, asks=asks))


@dataclass(frozen=True, slots=True)
class Typed:
    """What was typed after `campaign run`: files, and how they are to be run.

    `goes_on`: whoever typed it is told what to type next.
    """

    files: tuple[Path, ...]
    campaign: Path | None = None
    sheet: str | None = None
    only: tuple[str, ...] = ()
    accept_removed: bool = False
    keep_project: bool = False
    goes_on: bool = True


def run_files(typed: Typed, *, asks: bool = False) -> int:
    """Run every campaign of these files, or `only` those with some keys; returns the exit code.

    `asks`: a person is asked before anything is sent. Raises BadInput, BadSettings, NotSent.
    """
    from flows.engine.temporary_server import temporary_server

    with temporary_server() as prefect:
        from config.settings import check_service, load_local
        from flows.cli.run.asking import ask
        from flows.cli.run.progress import progress

        runs = _read(typed, asks=asks)
        check_service()
        if asks:
            ask(runs)
        database = load_local().database_url
        with progress() as shown:
            _through_prefect(runs, shown, prefect)
        objects, codes = tell(runs, database)
    answer_program(objects)
    return worst(codes)


def _read(typed: Typed, *, asks: bool) -> list[OneRun]:
    """Read every file before anything is sent. Raises BadInput with the problems of all."""
    from config.errors import BadInput
    from config.mistakes import Mistake, Place
    from flows.cli.prepare.plan_checks import check_same
    from flows.cli.run.asking import show_notes

    runs: list[OneRun] = []
    problems: list[Mistake] = []
    warnings: list[Mistake] = []
    then: str | None = None
    places: dict[str, Path] = {}
    files_by_key: dict[str, Path] = {}
    for file in typed.files:
        given = TypedFile(file, typed.campaign, typed.sheet, typed.only)
        try:
            reading = given.read()
            definitions = given.picked(reading.definitions)
            if not typed.keep_project:
                check_same(definitions, reading.digest, given)
        except BadInput as error:
            problems += error.problems
            warnings += error.warnings
            then = error.then if len(typed.files) == 1 else None
            continue
        complain(*doubtful(reading.warnings))
        files_by_key |= {definition.campaign: file for definition in reading.definitions}
        for definition in definitions:
            first = places.setdefault(definition.campaign, file)
            if any(earlier.key == definition.campaign for earlier in runs):
                message = f"the campaign {definition.campaign} is already in {first}"
                problems.append(Mistake(Place(str(file)), "campaign", message=message))
            own = (typed.accept_removed, typed.keep_project, reading.digest, reading.doubtful)
            runs.append(OneRun(given, definition, *own, goes_on=typed.goes_on))
        if asks:
            show_notes(reading, [run for run in runs if run.typed is given])
    if problems:
        raise BadInput(problems, warnings, then)
    check_only(typed.only, files_by_key, typed.files)
    return runs


def _through_prefect(runs: Sequence[OneRun], shown: "Progress", prefect: "TemporaryServer") -> None:
    """Run each campaign as a flow run, one after the other, under one Prefect server."""
    shown.starting()

    async def one_after_another() -> None:
        from flows.campaign import run_campaign
        from flows.run.observer import observing

        for run in runs:
            observing.set(shown.of(run))
            definition = run.typed.campaign
            await run_campaign(
                str(run.typed.file.resolve()),
                run.key,
                str(definition.resolve()) if definition else None,
                run.accept_removed,
                run.keep_project,
                sheet=run.typed.sheet,
                return_state=True,
            )

    through_prefect(runs, prefect, one_after_another)


def tell(runs: Sequence[OneRun], database: str) -> tuple[list[dict[str, Any]], list[int]]:
    """Say how each campaign ended; returns the status object and the exit code of each."""
    from data.campaigns import queries
    from tasks.status.standing import in_short, standing

    look = standing if manner().as_json else in_short
    objects: list[dict[str, Any]] = []
    codes = []
    with ledger_if_any(database) as ledger:
        for run in runs:
            campaign = ledger.read(queries.find_campaign, run.key) if ledger else None
            status = look(ledger, campaign) if ledger and campaign else _untouched(run)
            objects.append(status)
            codes.append(_tell_end(run, status))
    return objects, codes


def worst(codes: Sequence[int]) -> int:
    """Stopped outweighs bad input, which outweighs rows that need a person."""
    return next((code for code in (1, 2, 3) if code in codes), 0)


def _tell_end(run: OneRun, status: dict[str, Any]) -> int:
    from config.errors import CampaignError
    from data.store.states import Ending
    from flows.run.ending import BESIDE
    from flows.words.closing import lines_of

    now = run.end.invited if run.end else None
    say(f"{run.key}: {summary(status, now)}")
    if isinstance(run.error, CampaignError):
        explain(run.error)
        _quote(run, status)
        return run.error.exit_code
    if run.end is None:
        from tasks.shell import in_words

        unended = "The run did not finish. The same command continues from there."
        complain(in_words(run.error) if run.error else unended)
        return 1
    if run.end.ending is Ending.AWAITS_APPROVAL:
        say(*(lines_of(run.end.plan) if run.end.plan else ()))
        complain(f"  {run.end.reason}")
        return run.end.exit_code
    if run.end.reason:
        word = "stopped" if run.end.ending is Ending.STOPPED else "not yet"
        complain(f"  {word}: {run.end.reason}")
    if run.end.receipt:
        complain(f"  receipt: {run.end.receipt}")
    _quote(run, status)
    for line in _left_alone(run.end):
        say(f"  {line}; see: {command('plan', *run.typed.words)}")
    steps = next_steps(status, *run.typed.words) if run.goes_on else []
    if run.end.reason == BESIDE:
        steps = beside_a_run(steps, run.key)
    say(*(f"  {line}" for line in steps))
    return run.end.exit_code


def _quote(run: OneRun, status: dict[str, Any]) -> None:
    instead = [quoted(run.wrote)] if run.wrote else []
    complain(*(f"  {line}" for line in dict.fromkeys([*instead, *wrote(status)])))


def _left_alone(end: "Finish") -> Iterator[str]:
    """What the service cannot be told: it has no update and no delete (interface 4)."""
    if end.changed:
        people = counted(end.changed, "person is", "people are")
        yield f"changed: {people} already added, and not updated"
    if end.removed:
        yield (
            f"removed: {counted(end.removed, 'person', 'people')} no longer in the file; "
            "nothing was changed for them"
        )
    if end.corrected:
        yield f"corrected: {counted(end.corrected, 'old address', 'old addresses')} not used"


def _untouched(run: OneRun) -> dict[str, Any]:
    """The status object of a campaign that never came into the ledger.

    Where the ledger was taken away from under its run, the numbers are those of the run.
    """
    from config.settings import load_address
    from data.store.states import Step
    from tasks.status.standing import tally

    people = {(True, Step.WAITING, Step.WAITING): len(run.definition.candidates)}
    ran = dict(run.end.counts) if run.end else {}
    apart = {name: ran.pop(name, 0) for name in ("withdrawn_since", "removed")}
    return {
        "campaign": run.key,
        "service": load_address(),
        "timezone": run.definition.timezone,
        "project_id": run.definition.project.id,
        "problem_id": getattr(run.definition.problem, "id", None),
        "project": Step.WAITING if run.definition.project.id is None else Step.DONE,
        "problem": Step.WAITING if run.definition.problem else Step.DONE,
        "counts": ran or tally(people, send=run.definition.invites.send),
        **apart,
        "held": 0,
        "holds": [],
        "paused": None,
        "to_confirm": False,
        "problem_doubt": None,
        "clean_up": [],
        "service_wrote": [],
        "typed_ids": [],
        "listed_refused": None,
        "candidates": [
            {
                "email1": person.email1,
                "candidate_id": None,
                "add": Step.WAITING,
                "invite": Step.WAITING,
                "listed": True,
                "embed_url": None,
                "why": None,
                "service_wrote": None,
            }
            for person in ([] if ran else run.definition.candidates)
        ],
    }
