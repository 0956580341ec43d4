"""Is a ledger whole, and readable by its owner alone? Checked without changing anything."""

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from data.store.errors import RESTORE, how_to_mend


def complaints(file: Path) -> Iterator[tuple[str, str]]:
    """What is wrong with a ledger in a file, and what to do about it."""
    if file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        yield f"{file} can be read by others on this machine", f"Type: chmod 600 {file}"
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
