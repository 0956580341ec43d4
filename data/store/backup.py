"""A copy of a ledger in a file, whole at one moment, while runs go on.

The copy is to keep, not to use for runs: receipts show that a restored copy is not the ledger, and
stop a run that would invite somebody again.
"""

import os
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from config.errors import CampaignError
from data.store.errors import RESTORE, how_to_mend


class NoBackup(CampaignError):
    """The copy could not be written; the ledger is as it was."""

    exit_code = 2

    def __init__(self, target: Path, why: str) -> None:
        super().__init__(
            f"The copy of the ledger could not be written to {target}: {why}. The ledger is "
            "unchanged. Name another place."
        )


def back_up(file: Path, target: Path) -> None:
    """Copy a ledger, readable by its owner only; the copy is whole or does not exist.

    An existing file is not overwritten. Raises NoBackup.
    """
    if target.exists():
        raise NoBackup(target, "there is already a file")
    try:
        number, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise NoBackup(target, error.strerror or "unknown cause") from None
    os.close(number)
    begun = Path(name)
    try:
        with (
            closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as ledger,
            closing(sqlite3.connect(begun)) as copy,
        ):
            ledger.backup(copy)
        begun.rename(target)
    except (OSError, sqlite3.Error) as error:
        raise NoBackup(target, str(getattr(error, "strerror", None) or error)) from None
    finally:
        begun.unlink(missing_ok=True)


def complaints(file: Path) -> Iterator[tuple[str, str]]:
    """What is wrong with a ledger in a file, and what to do about it. Changes nothing."""
    if file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        yield f"{file} can be read by others on this machine", f"Type: chmod 600 {file}"
    if not all(os.access(place, os.W_OK) for place in (file, file.parent)):
        yield f"{file} cannot be written to", "Make the file and its folder writable."
    if damage := _damage(file):
        yield f"{file} cannot be used: {damage}", f"{how_to_mend(damage) or RESTORE}."


def _damage(file: Path) -> str | None:
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=30)) as connection:
            lines = [line for (line,) in connection.execute("PRAGMA quick_check(3)")]
            if lines != ["ok"]:
                return "; ".join(lines)
            if connection.execute("PRAGMA foreign_key_check").fetchone():
                return "it has rows without the row they belong to"
    except sqlite3.DatabaseError as error:
        return str(error)
    return None
