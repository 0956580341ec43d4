"""The reason of a decision that nobody takes without one."""

from typing import Annotated

import typer

Why = Annotated[str, typer.Option(metavar="TEXT", help="The reason, recorded with the decision.")]


def given(why: str | None) -> str:
    """The reason, trimmed. Raises BadParameter where there is none."""
    if not (why and why.strip()):
        raise typer.BadParameter("this needs a reason, which is recorded: --why TEXT")
    return why.strip()
