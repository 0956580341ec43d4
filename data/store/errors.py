"""A ledger that cannot be opened, read or written: what a person reads, which names nobody."""

import sqlite3

from sqlalchemy.exc import DBAPIError

from config.command_line import command
from config.errors import CampaignError

LOCK_TIMEOUT = 30.0  # seconds to wait for another process's commit


# For a file that SQLite cannot read.
RESTORE = (
    "Send nothing from it. Restore an earlier copy: if it lacks something that was sent, the "
    "receipts stop the run and say what to do"
)
ANOTHER_FILE = (
    "If this is not the ledger, name the ledger in CAMPAIGN_DATABASE_URL. Otherwise it is damaged"
)


class LedgerUnusable(CampaignError):
    """The ledger cannot be opened or written; nothing was sent because of that."""


class LedgerGone(LedgerUnusable):
    """The ledger's file was taken away from `place` while it was open."""

    def __init__(self, place: str) -> None:
        super().__init__(
            f"The ledger {place} was moved, replaced or deleted while it was in use, so nothing "
            "more is sent. The original file has the outcome of the last requests. Put it back, or "
            "name its new place in CAMPAIGN_DATABASE_URL, then run again. If it "
            "is deleted, restore an earlier copy: if that copy lacks something that was sent, the "
            "receipts stop the run and say what to do."
        )


class NoLedger(LedgerUnusable):
    """There is no ledger at `place` yet, and the command only reads."""

    def __init__(self, place: str) -> None:
        self.place = place
        super().__init__(
            f"There is no ledger at {place} yet, as no campaign has been run. Start with: "
            f"{command('run', 'FILE')}"
        )


def what_failed(error: DBAPIError | sqlite3.Error) -> str:
    """What a failed statement means, and what to do about it; never its parameters, which are
    names.
    """
    cause = words_of(error)
    if "locked" in cause or "lock timeout" in cause:
        return (
            f"another program has held the ledger for {LOCK_TIMEOUT:.0f} seconds. Close what has "
            "it open, such as a viewer or a backup"
        )
    if "full" in cause or "No space left" in cause:
        return "the disk is full. Free some space"
    if "readonly" in cause or "read-only" in cause:
        return "the ledger is read-only. Make it writable: the file and its folder, or the database"
    return f"{cause}. {how_to_mend(cause) or 'Fix that'}"


def how_to_mend(cause: str) -> str | None:
    """What to do about a file that is not a ledger, or is damaged; None for a good ledger."""
    if "not a database" in cause:
        return f"{ANOTHER_FILE}. {RESTORE}"
    return RESTORE if "malformed" in cause else None


def words_of(error: DBAPIError | sqlite3.Error) -> str:
    """The first line of what a database said, without the values concerned."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    # A server's message continues with the values concerned: people's addresses.
    sentence = getattr(getattr(cause, "diag", None), "message_primary", None)
    return str(sentence or cause).strip().partition("\n")[0].rstrip(".")
