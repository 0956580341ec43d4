"""The arguments that several commands share, spelled once, and what they mean by default."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from config.command_line import command
from config.errors import CampaignError
from data.store.states import By


def keys(incomplete: str) -> list[str]:
    """Complete a campaign's key, for a shell; with nothing where the ledger cannot be read."""
    from config.settings import load_local
    from data.campaigns import queries
    from flows.cli.ledgers import ledger_if_any

    try:
        with ledger_if_any(load_local().database_url) as ledger:
            rows = ledger.read(queries.every_campaign) if ledger else []
            every = [campaign.key for campaign in rows]
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
_why = typer.Option(metavar="TEXT", help="The reason, recorded with the decision.")
Why = Annotated[str, _why]
WhyIfAny = Annotated[str | None, _why]
Who = Annotated[
    str | None, typer.Option("--by", metavar="NAME", help="Who decides; default: your login name.")
]


def given(why: str | None, what: str = "this") -> str:
    """The reason, trimmed. Raises BadParameter where there is none, and `what` needs one."""
    if not (why and why.strip()):
        raise typer.BadParameter(f"{what} needs a reason, which is recorded: --why TEXT")
    return why.strip()


def confirmed() -> str:
    """Write the command that was typed, with the confirmation that it needs without a terminal."""
    return command(*sys.argv[1:], "--yes")


def by(who: str | None, why: str | None) -> By:
    """Who decides, and why: the person at this machine, unless another name was typed."""
    from getpass import getuser

    try:
        return By(who or getuser(), why or "")
    except (OSError, KeyError, ImportError):
        raise typer.BadParameter("this machine does not know your name; add --by NAME") from None
