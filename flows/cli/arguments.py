"""The arguments that several commands share, spelled once."""

from pathlib import Path
from typing import Annotated

import typer

File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="The campaign: a definition (.yaml), a workbook, or a .csv of people."
    ),
]
DefinitionFile = Annotated[
    Path | None,
    typer.Option(
        "--campaign",
        metavar="DEFINITION",
        help="The definition (.yaml, or a workbook) that a table of people belongs to.",
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option(
        "--sheet", metavar="NAME", help="Of a workbook without a definition: the people's sheet."
    ),
]
Key = Annotated[str, typer.Argument(metavar="KEY", help="The campaign's key.")]
OnlyKeys = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="KEY", help="Of several campaigns only this one; repeatable."),
]
KeepProject = Annotated[
    bool,
    typer.Option(
        "--keep-project",
        help="It is the same campaign: keep its project and problem, whatever FILE names now.",
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object, and nothing else, for a program.")
]
