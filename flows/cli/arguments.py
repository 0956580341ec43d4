"""The arguments that several commands share, spelled once."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from data.tables import Campaign

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


def as_typed(file: Path, campaign: Path | None, only: Sequence[str] = ()) -> list[str]:
    """Repeat FILE and its definition the way they were given, for the next command to type."""
    typed = [str(file), *(["--campaign", str(campaign)] if campaign else [])]
    return typed + [word for key in only for word in ("--only", key)]


def run_again(campaign: "Campaign") -> list[str]:
    """What is typed after `run` for a campaign that was run before, as it was then."""
    belongs_to = Path(campaign.belongs_to) if campaign.belongs_to else None
    return as_typed(Path(campaign.definition), belongs_to)
