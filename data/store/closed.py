"""Whether a ledger may be written to: one that was copied elsewhere is closed for good.

Two ledgers of one campaign would each invite everybody. So every writing transaction checks the
mark in the ledger's own row before its commit, while it holds all its locks.
"""

from sqlalchemy import Connection
from sqlalchemy.engine import URL

from config.command_line import command
from data.store.errors import LedgerUnusable
from data.store.opening import address_of
from data.store.states import Openness


class LedgerClosed(LedgerUnusable):
    """This ledger is no longer, or not yet, the one that campaigns are run on."""


_OPENNESS = "SELECT openness, other FROM ledger"  # not composed: it runs with every commit


def refuse_where_closed(connection: Connection) -> None:
    """Raise LedgerClosed if this ledger is not open; a ledger that is being created is open."""
    row = connection.exec_driver_sql(_OPENNESS).first()
    if row is not None:
        refuse(row.openness, row.other, connection.engine.url)


def where_it_moved(connection: Connection) -> str | None:
    """The address that a closed ledger moved to. Raises LedgerClosed for an unfinished copy."""
    row = connection.exec_driver_sql(_OPENNESS).first()
    if row is None or row.openness == Openness.OPEN:
        return None
    if row.openness == Openness.ARRIVING:
        refuse(row.openness, row.other, connection.engine.url)
    return str(row.other)


def without_password(*addresses: str | None) -> str:
    """Say what a server's address lacks where it is printed; nothing for files."""
    if any((address or "").startswith("postgresql") for address in addresses):
        return " (with the server's password in the address, unless ~/.pgpass has it)"
    return ""


def refuse(openness: str, other: str | None, here: URL) -> None:
    """Raise LedgerClosed, which says where the ledger went, or where it comes from."""
    if openness == Openness.CLOSED:
        raise LedgerClosed(
            f"This ledger is closed: it was copied to {other}, and campaigns continue there. "
            f"Nothing was sent. Set CAMPAIGN_DATABASE_URL to that one{without_password(other)}, "
            f"then run again. Here  {command('status')}  and  "
            f"{command('links', 'KEY')}  still work."
        )
    if openness == Openness.ARRIVING:
        target = address_of(here)
        raise LedgerClosed(
            f"This ledger is an unfinished copy of {other}. Nothing was sent. To finish it"
            f"{without_password(other, target)}: {command('ledger', 'move', other, target)}"
        )
