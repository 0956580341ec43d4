"""`campaign new`: a definition to start from."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.speech import command, say


def new(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="The file to write: .yaml or .xlsx.")
    ],
) -> None:
    """Write a campaign file to start from.

    It is commented, and a sample that can be run. A file that exists is never overwritten.
    """
    from config.starter import write_starter

    write_starter(path)
    say(f"{path} is written: fill in your project, problem and candidates.")
    say(f"Next: {command('check', path)}")
