"""Who decides: the person at this machine, unless another name is said."""

from typing import Annotated

import typer

Who = Annotated[
    str | None, typer.Option("--by", metavar="NAME", help="Who decides; default: your login name.")
]


def login_name() -> str:
    """Name the person at this machine."""
    from getpass import getuser

    try:
        return getuser()
    except (OSError, KeyError, ImportError):
        raise typer.BadParameter("this machine does not know your name; add --by NAME") from None
