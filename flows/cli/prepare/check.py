"""`campaign check`: is a campaign file usable? With `--mark`, the table is handed back with what is
wrong marked in it.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from config.command_line import command
from flows.cli.arguments import DefinitionFile, File, Sheet
from flows.cli.reading import TypedFile, read_folder
from flows.words.complaints import complaint_of, doubtful
from flows.words.speech import answer_failure, answer_program, complain, counted, manner, say

if TYPE_CHECKING:
    from config.definition.model import Definition
    from config.errors import BadInput
    from config.mistakes import Mistake
    from config.reading.bare_table import Understood
    from config.reading.own_tables import Named
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
) -> None:
    """Find every mistake in a campaign file.

    Each comes with its line or cell. FILE may be a folder of campaign files, or an export without a
    definition. Needs no settings and no network, sends nothing and touches no ledger.
    """
    from config.errors import BadInput
    from config.reading.bare_table import BareTable, understood
    from config.reading.folder import same_key

    typed = TypedFile(file, campaign, sheet)
    if file.is_dir() and (mark or campaign or sheet):
        raise typer.BadParameter(f"{file} is a folder: give it alone", param_hint="FILE")
    if mark is not None:
        _check_mark(mark)
    try:
        try:
            reading = read_folder(file) if file.is_dir() else typed.read()
        except BareTable:
            # What is understood of a table without a definition.
            say(
                f"{file}, as a campaign would read it:",
                *understood_in_words(understood(file, sheet)),
            )
            raise
        notes = notes_of(reading, reading.definitions)
        if not file.is_dir():
            notes += same_key(campaign or file, [d.campaign for d in reading.definitions])
    except BadInput as error:
        if mark is None:
            raise
        answer_failure(error)
        complain(*complaint_of(error))
        complain(*_mark_problems(mark, typed, error))
        raise typer.Exit(error.exit_code) from None
    if manner().as_json:
        answer_program(_answer(reading, notes))
    for definition in reading.definitions:
        say(*_lines(definition))
    say(*(f"Note: {note}" for note in notes))
    say(*doubtful(reading.warnings))
    if mark is not None:
        say(*_mark_warnings(mark, typed, reading.warnings))
    then = "run" if file.is_dir() else "plan"
    say(f"OK. Next: {command(then, *typed.words)}")


def _answer(reading: "Reading", notes: tuple[str, ...]) -> dict[str, Any]:
    from config.definition.sent_fields import sent

    campaigns = [
        {
            "campaign": definition.campaign,
            "candidates": len(definition.candidates),
            **table_as_json(definition),
            "understood": list(map(asdict, sent(definition))),
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


def table_as_json(definition: "Definition") -> dict[str, Any]:
    """What programs are told of a definition's table: its rows, and what of them is sent."""
    from config.definition.sent_fields import sent
    from config.tables import where

    return {
        "rows": definition.rows,
        "people": definition.people,
        "where": where.as_json(definition.selection),
        "sent": [
            {"column": each.column, "field": each.field, "example": each.examples[0]}
            for each in sent(definition)
        ],
    }


def _lines(definition: "Definition") -> list[str]:
    people = counted(len(definition.candidates), "candidate")
    invites = "to be invited" if definition.invites.send else "to be added, without invitations"
    rules = definition.invites.timetable.in_words() if definition.invites.send else ()
    parts = [
        ("project", project_in_words(definition)),
        ("problem", problem_in_words(definition)),
        ("candidates", f"{people} {invites}"),
        *kept_in_words(definition),
        *_understood(definition),
        *rules,
        *scheduled(definition),
    ]
    return [definition.campaign, *(f"  {word:<11} {line}" for word, line in parts)]


def notes_of(
    reading: "Reading", definitions: "Iterable[Definition]", created: "Collection[str]" = ()
) -> tuple[str, ...]:
    """Say what a person should know of a file before these campaigns of it are sent.

    `created` are the campaigns whose project the ledger has: nothing of it is sent again.
    """
    from config.definition.sent_fields import notes

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
    from config.definition.sent_fields import sent

    rows = [(each.field, each.column or "-", each.examples) for each in sent(definition)]
    for number, line in enumerate(in_columns(rows, named=any(definition.columns.values()))):
        yield "" if number else "sent", line


def understood_in_words(people: "Understood") -> list[str]:
    """Show what is understood of a table: field, column, the first different values."""
    return [f"  {line}" for line in in_columns(people.fields)]


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


def _check_mark(path: Path) -> None:
    """Refuse a place where the marked copy cannot be written, or where there is a file already."""
    if path.exists():
        # Somebody may be mending an earlier copy in that very file.
        raise typer.BadParameter(f"{path} already exists; choose another name", param_hint="--mark")
    if path.suffix.lower() not in (".xlsx", ".xlsm"):
        raise typer.BadParameter("the copy is a workbook: name it .xlsx", param_hint="--mark")


def _mark_problems(mark: Path, typed: TypedFile, error: "BadInput") -> list[str]:
    """Write a copy with what is wrong marked, and what to look at in another colour.

    Returns what to tell, and what to type next. Raises CannotWrite.
    """
    named = _table_of(typed)
    lines = _hand_back(mark, named, error.problems, error.warnings) if named else []
    if named is None or not lines:
        return [f"None of this is in a cell of a table, so {mark} was not written."]
    # The copy is checked as the file was: alone, or with the definition it belongs to.
    definition = typed.campaign or (typed.file if named.path != typed.file else None)
    again = replace(typed, file=mark, campaign=definition)
    return [*lines, f"Fix it, then: {command('check', *again.words)}"]


def _mark_warnings(mark: Path, typed: TypedFile, warnings: "Sequence[Mistake]") -> list[str]:
    """Write a copy with what to look at marked, where there is any; returns what to tell.

    Raises CannotWrite.
    """
    named = _table_of(typed)
    lines = _hand_back(mark, named, (), warnings) if named else []
    return lines or [f"There is nothing to mark, so {mark} was not written."]


def _table_of(typed: TypedFile) -> "Named | None":
    from config.errors import BadInput
    from config.reading.own_tables import named_table

    try:
        return named_table(typed.file, typed.campaign, sheet=typed.sheet)
    except BadInput:
        return None  # whatever cannot be read has been told already


def _hand_back(
    mark: Path, named: "Named", problems: "Sequence[Mistake]", warnings: "Sequence[Mistake]"
) -> list[str]:
    """Write the copy; returns what is in it, nothing where there is nothing to mark."""
    from config.errors import BadInput
    from data.own_files import write_whole
    from tasks.outputs.marking import marked_copy

    try:
        made = marked_copy(named, problems, warnings)
    except BadInput:
        return []
    if made is None:
        return []
    with_macros = not made.anew and named.path.suffix.lower() == ".xlsm"
    wanted = ".xlsm" if with_macros else ".xlsx"
    if mark.suffix.lower() != wanted:
        raise typer.BadParameter(
            f"a copy of {named.path.name} must end in {wanted}", param_hint="--mark"
        )
    write_whole(mark, made.content)
    each = "each " if made.notes == made.cells else f"the first {made.notes:,} "
    which = "" if made.cells == 1 else each
    lines = [f"{mark} has {counted(made.cells, 'cell')} marked, {which}with a note that says why."]
    if made.anew:
        lines.append(f"It has the values of {named.path.name}, without its formatting.")
    if made.elsewhere:
        lines.append(f"{made.elsewhere:,} more are not in any cell: see above.")
    return lines
