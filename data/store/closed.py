"""Whether a ledger may be written to: one that was copied elsewhere is closed for good.

Two ledgers of one campaign would each invite everybody. So every writing transaction checks the
mark in the ledger's own row before its commit, while it holds all its locks.
"""

from enum import StrEnum

from sqlalchemy import Connection

from config.command_line import command
from data.store.errors import LedgerUnusable


class Openness(StrEnum):
    """Which of two copies of a ledger is the ledger."""

    OPEN = "open"
    CLOSED = "closed"  # it was copied elsewhere; it can only be read
    ARRIVING = "arriving"  # a copy whose original is not known to be closed


class LedgerClosed(LedgerUnusable):
    """This ledger is no longer, or not yet, the one that campaigns are run on."""


_OPENNESS = "SELECT openness, other FROM ledger"  # not composed: it runs with every commit


def refuse_where_closed(connection: Connection) -> None:
    """Raise LedgerClosed if this ledger is not open; a ledger that is being created is open."""
    row = connection.exec_driver_sql(_OPENNESS).first()
    if row is not None:
        refuse(row.openness, row.other)


def refuse(openness: str, other: str | None) -> None:
    """Raise LedgerClosed, which says where the ledger went, or where it comes from."""
    if openness == Openness.CLOSED:
        raise LedgerClosed(
            f"This ledger is closed: it was copied to {other}, and campaigns continue there. "
            "Nothing was sent. Set CAMPAIGN_DATABASE_URL to that one, then run the same command "
            f"again. Here  {command('status')}  and  {command('links', 'KEY')}  still work."
        )
    if openness == Openness.ARRIVING:
        raise LedgerClosed(
            f"This ledger is an unfinished copy of {other}. Nothing was sent. To begin it "
            f"again: {command('ledger', 'move', 'FROM', 'TO')}"
        )
