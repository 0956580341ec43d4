"""`campaign new`: a definition to start from."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from config.command_line import command
from flows.cli.arguments import Sheet
from flows.words.speech import say

if TYPE_CHECKING:
    from config.reading.bare_table import Understood


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

        people = understood(table, sheet)
        write_starter(path, people.candidates(path))
        whom = ", and choose the rows with where" if people.choices else ""
        say(
            f"{path} was written for the people in {table}: fill in your project and problem{whom}."
        )
        say(*in_words(people))
    say(f"Next: {command('check', path)}")


def in_words(people: "Understood") -> list[str]:
    """Show what is understood of a table: field, column, the first different values."""
    from flows.cli.prepare.check import in_columns

    rows: list[tuple[str, str, tuple[Any, ...]]] = list(people.fields)
    return [f"  {line}" for line in in_columns(rows)]
