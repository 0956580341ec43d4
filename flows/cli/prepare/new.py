"""`campaign new` and `campaign schema`: a definition to start from, and help to write it."""

import json
from pathlib import Path
from typing import Annotated

import typer

from config.command_line import command
from config.errors import BadInput
from config.mistakes import Place
from flows.cli.arguments import Sheet
from flows.cli.outputs import output_option
from flows.words.speech import say


def new(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="The file to write: .yaml or .xlsx.")
    ],
    table: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="TABLE",
            help="The people: an unchanged export (.xlsx, .xls, .ods, .csv, .txt).",
        ),
    ] = None,
    sheet: Sheet = None,
) -> None:
    """Write a campaign file to start from.

    It is a commented sample that you can run. A file that exists is never overwritten. With
    --from, the file names your table and proposes which of its rows to invite.
    """
    from config.reading.starter import write_starter

    if table is None:
        if sheet is not None:
            raise typer.BadParameter("it goes with --from", param_hint="--sheet")
        write_starter(path)
        say(f"{path} was written: fill in your project, problem and candidates.")
    else:
        from config.reading.bare_table import understood
        from config.reading.sources import NO_SHEETS
        from flows.cli.prepare.check import understood_in_words

        people = understood(table, sheet)
        if sheet is not None and people.sheet is None:
            then = f"Then type: {command('new', path, '--from', table)}"
            raise BadInput.at(Place(str(table)), NO_SHEETS, then)
        options = ["--from", table, *(["--sheet", sheet] if sheet else [])]
        write_starter(path, people.candidates(path), options)
        whom = ", and choose the rows with where" if people.choices else ""
        say(
            f"{path} was written for the people in {table}: fill in your project and problem{whom}."
        )
        say(*understood_in_words(people))
    say(f"Next: {command('check', path)}")


def schema(
    output: Annotated[
        Path | None,
        output_option("The file to write; default: standard output."),
    ] = None,
) -> None:
    """Print the JSON Schema of a campaign file, for your editor.

    Write it beside your campaign files as campaign.schema.json: files from campaign new refer to
    it in their first line. An editor that knows YAML (VS Code with the extension YAML) then
    completes fields and underlines mistakes while you type.
    """
    from config.definition.editor_schema import schema as made
    from data.own_files import write_whole

    content = json.dumps(made(), indent=2)
    if output is None:
        print(content)
        return
    if output.exists() and not _is_schema(output):
        raise typer.BadParameter(f"{output} already exists and is not a schema", param_hint="-o")
    write_whole(output, content.encode() + b"\n")
    say(f"{output}: the schema of a campaign file")


def _is_schema(file: Path) -> bool:
    try:
        return "$schema" in json.loads(file.read_bytes())
    except (OSError, ValueError, TypeError):
        return False
