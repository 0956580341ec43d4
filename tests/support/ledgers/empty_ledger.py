"""Ledgers that are there at once: to make a new one takes ten times as long as to open it."""

import os
import sqlite3
import tempfile
from contextlib import closing, suppress
from functools import cache
from pathlib import Path

from sqlalchemy.engine import make_url

from data.store.ledger import Ledger


def open_ledger(url: str) -> Ledger:
    """Open a ledger; where none is, as a copy of an empty one that gets a UUID of its own."""
    address = make_url(url)
    path = Path(address.database or "")
    if address.get_backend_name() == "sqlite" and not path.exists():
        _copy_to(path)
    return Ledger.open(url)


def _copy_to(path: Path) -> None:
    """All at once, and never over one that somebody else has opened meanwhile."""
    with tempfile.NamedTemporaryFile(dir=path.parent) as copy:
        copy.write(_empty())
        copy.flush()
        with suppress(FileExistsError):
            os.link(copy.name, path)


@cache
def _empty() -> bytes:
    """A ledger as it was made, before it got its identity."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ledger.db")
        Ledger.open(f"sqlite:///{path}").close()
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("DELETE FROM ledger")
            connection.commit()
        return path.read_bytes()
