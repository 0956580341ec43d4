"""`campaign check`: is a campaign file usable?"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from config.command_line import command
from flows.cli.arguments import AsJson, DefinitionFile, File, Sheet
from flows.cli.prepare.marking import check_mark, mark_problems, mark_warnings
from flows.words.complaints import complaint_of, doubtful
from flows.words.speech import answer_failure, as_typed, complain, counted, print_json, say

if TYPE_CHECKING:
    from config.definition.model import Definition
    from config.reading.reading import Reading


LONGEST_EXAMPLE = 40

Mark = Annotated[
    Path | None,
    typer.Option(
        "--mark",
        metavar="PATH",
        help="Write a copy of the table there (.xlsx), with the bad cells coloured and a note on "
        "each. For formats other than .xlsx and .xlsm, the copy has only the values.",
    ),
]


def check(
    file: File,
    campaign: DefinitionFile = None,
    sheet: Sheet = None,
    mark: Mark = None,
    as_json: AsJson = False,
) -> None:
    """Find every mistake in a campaign file.

    Each comes with its line or cell. FILE may be a folder of campaign files, or an export without a
    definition. Needs no settings and no network, sends nothing and touches no ledger.
    """
    from config.errors import BadInput
    from config.reading.bare_table import BareTable
    from config.reading.folder import same_key
    from flows.cli.reading import read_folder, read_shown

    if file.is_dir() and (mark or campaign or sheet):
        raise typer.BadParameter(f"{file} is a folder: give it alone", param_hint="FILE")
    if mark is not None:
        check_mark(mark)
    try:
        try:
            reading = read_folder(file) if file.is_dir() else read_shown(file, campaign, sheet)
        except BareTable:
            _show_bare(file, sheet, as_json=as_json)
            raise
        notes = notes_of(reading, reading.definitions)
        if not file.is_dir():
            notes += same_key(campaign or file, [d.campaign for d in reading.definitions])
    except BadInput as error:
        if mark is None:
            raise
        answer_failure(error)
        complain(*complaint_of(error))
        complain(*mark_problems(mark, file, campaign, sheet, error))
        raise typer.Exit(error.exit_code) from None
    if as_json:
        print_json(_answer(reading, notes))
    for definition in reading.definitions:
        say(*_lines(definition), as_json=as_json)
    say(*(f"Note: {note}" for note in notes), as_json=as_json)
    say(*doubtful(reading.warnings), as_json=as_json)
    if mark is not None:
        say(*mark_warnings(mark, file, campaign, sheet, reading.warnings), as_json=as_json)
    then = "run" if file.is_dir() else "plan"
    say(f"OK. Next: {command(then, *as_typed(file, campaign, sheet=sheet))}", as_json=as_json)


def _show_bare(file: Path, sheet: str | None, *, as_json: bool) -> None:
    """Show what is understood of a table without a definition. Raises BadInput."""
    from config.reading.bare_table import understood
    from flows.cli.prepare.new import in_words

    say(
        f"{file}, as a campaign would read it:", *in_words(understood(file, sheet)), as_json=as_json
    )


def _answer(reading: "Reading", notes: tuple[str, ...]) -> dict[str, Any]:
    from config.definition import leaving
    from config.tables import where

    campaigns = [
        {
            "campaign": definition.campaign,
            "candidates": len(definition.candidates),
            "rows": definition.rows,
            "people": definition.people,
            "where": where.as_json(definition.selection),
            "sent": leaving.as_json(definition),
            "understood": leaving.understood(definition),
        }
        for definition in reading.definitions
    ]
    return {
        "ok": True,
        "problems": [],
        "campaigns": campaigns,
        "notes": list(notes),
        "warnings": [warning.as_json() for warning in reading.warnings],
    }


def _lines(definition: "Definition") -> list[str]:
    people = counted(len(definition.candidates), "candidate")
    invites = "to be invited" if definition.invites.send else "to be added, without invitations"
    rules = definition.invites.timetable.in_words() if definition.invites.send else ()
    return [
        definition.campaign,
        f"  project     {project_in_words(definition)}",
        f"  problem     {problem_in_words(definition)}",
        f"  candidates  {people} {invites}",
        *(f"  {word:<11} {line}" for word, line in kept_in_words(definition)),
        *(f"  {word:<11} {line}" for word, line in _understood(definition)),
        *(f"  {word:<11} {line}" for word, line in rules),
        *(f"  {word:<11} {line}" for word, line in scheduled(definition)),
    ]


def notes_of(
    reading: "Reading", definitions: "Iterable[Definition]", created: "Collection[str]" = ()
) -> tuple[str, ...]:
    """Say what a person should know of a file before these campaigns of it are sent.

    `created` are the campaigns whose project the ledger has: nothing of it is sent again.
    """
    from config.definition.leaving import notes

    about = (
        note
        for definition in definitions
        for note in notes(definition, creates=definition.campaign not in created)
    )
    return (*reading.notes, *dict.fromkeys(about))


def scheduled(definition: "Definition") -> Iterator[tuple[str, str]]:
    """Say when the campaign is run by itself; nothing where it has no schedule of its own."""
    from data.store.clock import now

    if definition.schedule is not None:
        yield from definition.schedule.in_words(now())


def kept_in_words(definition: "Definition") -> Iterator[tuple[str, str]]:
    """Say how many rows of the table `where` kept and left out, and how many people they are."""
    from config.tables import where

    if definition.rows > definition.people:
        rows, people = counted(definition.rows, "row"), f"{definition.people:,}"
        yield "rows", f"{rows}, {people} {'person' if definition.people == 1 else 'people'}"
    if definition.selection is not None:
        for number, line in enumerate(where.in_words(definition.selection)):
            yield "where" if number == 0 else "", line


def _understood(definition: "Definition") -> Iterator[tuple[str, str]]:
    """Show what leaves for the service as a table: field, column, the first different values."""
    from config.definition.leaving import sent

    rows = [(each.field, each.column or "-", each.examples) for each in sent(definition)]
    for number, line in enumerate(in_columns(rows, named=any(definition.columns.values()))):
        yield "" if number else "sent", line


def in_columns(
    understood: Sequence[tuple[str, str, tuple[Any, ...]]], *, named: bool = True
) -> Iterator[str]:
    """Write fields, columns (where they are `named`) and examples under each other."""
    from rich.cells import cell_len

    rows = [("field", "column", "examples")]
    rows += [(field, column, ", ".join(map(_example, each))) for field, column, each in understood]
    if not named:
        rows = [(field, "", examples) for field, _, examples in rows]
    widths = [max(cell_len(row[at]) for row in rows) for at in (0, 1)]
    for *cells, examples in rows:
        # A letter of Chinese is two wide.
        padded = (
            cell + " " * (width - cell_len(cell)) + "  "
            for cell, width in zip(cells, widths, strict=True)
            if width
        )
        yield "".join(padded) + examples


def _example(value: str | int) -> str:
    """Write a value on one line, in quotes if it could be read as two values."""
    from config.mistakes import shown

    text = " ".join(str(value).split())
    text = text if len(text) <= LONGEST_EXAMPLE else f"{text[: LONGEST_EXAMPLE - 1]}…"
    return shown(text) if "," in text else text


def sent_in_words(definition: "Definition") -> str:
    """Name what leaves for the service: each field, its column, and the first of its values."""
    from config.definition.leaving import sent

    return ", ".join(map(str, sent(definition)))


def project_in_words(definition: "Definition") -> str:
    """Name the project of a definition: the new one, or the one that exists."""
    project = definition.project
    return f'"{project.name}"' if project.id is None else f"{project.id}, which exists"


def problem_in_words(definition: "Definition") -> str:
    """Name the one problem of a definition as far as it is known before the service is asked."""
    from config.definition.model import ProblemById

    problem = definition.problem
    if problem is None:
        return "the one the project already has"
    if isinstance(problem, ProblemById):
        return str(problem.id)
    return f'the one titled "{problem.title}"'
