"""`campaign run`: create, add, invite, and say what happened and what to type next."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from flows.cli.arguments import DefinitionFile, KeepProject, OnlyKeys, Sheet
from flows.cli.reading import TypedFile

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
    from flows.engine.temporary_server import temporary_server

    asks = not yes and can_ask()
    folders = [file for file in files if file.is_dir()]
    beside = campaign or sheet or only or accept_removed or keep_project
    if folders and (len(files) > 1 or beside):
        raise typer.BadParameter(f"{folders[0]} is a folder: give it alone", param_hint="FILE")
    with temporary_server():  # it starts while the rest is imported
        from flows.cli.run.sending import run_files, run_folder

        if folders:
            code = run_folder(folders[0], asks=asks)
        else:
            how = (campaign, sheet, only or (), accept_removed, keep_project)
            code = run_files([TypedFile(file, *how) for file in files], asks=asks)
    raise typer.Exit(code)


def can_ask() -> bool:
    """Whether somebody is there to be asked: with --json, too, people read standard error."""
    return sys.stdin.isatty() and sys.stderr.isatty()
