"""The arguments that several commands share, spelled once."""

from pathlib import Path
from typing import Annotated

import typer

from config.errors import CampaignError
from flows.cli.helping import AS_JSON


def keys(incomplete: str) -> list[str]:
    """Complete a campaign's key, for a shell; with nothing where the ledger cannot be read."""
    from config.settings import load_local
    from data.campaigns import queries
    from data.store.ledger import Ledger

    try:
        with Ledger.open(load_local().database_url, create=False) as ledger:
            every = [campaign.key for campaign in ledger.read(queries.every_campaign)]
    except CampaignError:
        return []  # a shell that completes a word has no place for complaints
    return [key for key in every if key.startswith(incomplete)]


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
        "--sheet", metavar="NAME", help="The sheet with the people, if the file has several."
    ),
]
Key = Annotated[str, typer.Argument(metavar="KEY", help="The campaign's key.", autocompletion=keys)]
OnlyKeys = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="KEY",
        help="Only this one of several campaigns; can be repeated.",
        autocompletion=keys,
    ),
]
KeepProject = Annotated[
    bool,
    typer.Option(
        "--keep-project",
        help="Treat FILE as the campaign that the ledger has under this key: keep its project and "
        "problem, even if FILE names others.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help=AS_JSON)]
