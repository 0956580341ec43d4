"""`campaign ledger`: the ledger itself, as one thing that can be moved."""

from pathlib import Path
from typing import Annotated

import typer

from config.command_line import command
from flows.cli.helping import Answering, Group, epilog
from flows.words.speech import say, say_table

ledger = typer.Typer(no_args_is_help=True, cls=Group)


@ledger.callback()
def group() -> None:
    """Back up the ledger, or move it to another database."""


@ledger.command("backup", cls=Answering, epilog=epilog("ledger backup ledger.bak", "status"))
def backup(
    target: Annotated[
        str, typer.Argument(metavar="FILE", help="The file to write; it must not exist yet.")
    ],
) -> None:
    """Copy the ledger into a file to keep; runs can go on meanwhile.

    Only you can read the copy, as it names people. To back up a ledger on a PostgreSQL server, use
    pg_dump there.
    """
    from sqlalchemy.engine import make_url

    from config.settings import load_local
    from data.store.backup import back_up
    from data.store.ledger import Ledger

    url = load_local().database_url
    if make_url(url).get_backend_name() != "sqlite":
        raise typer.BadParameter("the ledger is on a server: back it up there, with pg_dump")
    address = make_url(_address(target))
    if address.get_backend_name() != "sqlite":
        raise typer.BadParameter(
            "a backup is a file. To move the ledger to a server: "
            f"{command('ledger', 'move', 'FROM', 'TO')}"
        )
    copy = Path(str(address.database))
    with Ledger.open(url, create=False) as opened:
        back_up(Path(opened.place), copy)
    say(f"{copy}: the ledger as it is now. Keep the .receipt files with it.")


@ledger.command("copy", cls=Answering, hidden=True)  # its name of old, which hid what it does
@ledger.command("move", cls=Answering, epilog=epilog("ledger move ledger.db new.db", "status"))
def move(
    source: Annotated[
        str, typer.Argument(metavar="FROM", help="The ledger: a file, or a database's address.")
    ],
    target: Annotated[str, typer.Argument(metavar="TO", help="A new file, or an empty database.")],
) -> None:
    """Move the ledger to another database, and close the old one.

    Everything is copied and compared. You can still look at the old ledger, but no run sends from
    it any more. If the move is interrupted, run the same command again.
    """
    from data.moving.ledger_copy import copy_ledger
    from data.store.closed import without_password
    from data.store.errors import NoLedger

    try:
        copied = copy_ledger(_address(source), _address(target))
    except NoLedger as missing:
        raise typer.BadParameter(f"there is no ledger at {missing.place}") from None
    say_table(["table", "rows"], [[name, str(rows)] for name, rows in copied.rows.items()])
    say(
        "Everything was copied and compared. The old ledger is closed: you can look at it, and it "
        "sends nothing any more.",
        f"Next: set CAMPAIGN_DATABASE_URL to {copied.address}{without_password(copied.address)}",
        f"  see what a run would do there: {command('plan', 'FILE')}",
        f"  if that is right, delete the old ledger, {copied.left}, and every copy of it: they "
        "still name everybody, and forget does not reach them",
    )


def _address(typed: str) -> str:
    """A database's address, read as CAMPAIGN_DATABASE_URL is: a relative one lies beside the
    program. Anything else is a file, seen from where it is typed.
    """
    from config.setting_values import database_address

    if "://" not in typed:
        return f"sqlite:///{Path(typed).expanduser().absolute()}"
    try:
        return database_address(typed)
    except ValueError as error:
        raise typer.BadParameter(f"an address {error}") from None
