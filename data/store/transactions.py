"""The transactions of a ledger: work is committed, or the failure is reported.

In a file they are SQLite's own. For a server see data/store/postgres_transactions.py.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import DBAPIError

from data.store.closed import refuse_where_closed
from data.store.errors import LedgerGone, LedgerUnusable, what_failed

T = TypeVar("T")
Work = Callable[[Connection], T]


class Transactions:
    """Transactions of a ledger in a file, which a writer has to itself (data/store/sqlite.py)."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        in_a_file = engine.url.get_backend_name() == "sqlite"
        self._path = str(engine.url.database) if in_a_file else None
        self._file = _identity(self._path)
        if self._file is not None:
            event.listen(engine, "do_connect", self._connects)
            event.listen(engine, "connect", self._connected, insert=True)  # before any statement

    def gone(self) -> LedgerGone | None:
        """Return an error if the open file is no longer the file with that name."""
        if _identity(self._path) == self._file:
            return None
        return LedgerGone(str(self._path))

    def close(self) -> None:
        """Leave a moved file whole: its log is still at the old place, and is not read with the
        file.

        SQLite does so itself when the last connection is closed, unless the file was moved.
        """
        if self.gone() is None:
            return
        with suppress(LedgerUnusable), explained("written"), self.engine.connect() as connection:
            connection.exec_driver_sql("ROLLBACK")  # no transaction may be open, see _begin
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    def _connects(self, *_: object) -> None:
        # SQLite would create an empty file there, and read the old file's log into it.
        if (gone := self.gone()) is not None:
            raise gone

    def _connected(self, connection: sqlite3.Connection, _: object) -> None:
        # It was replaced since. A first statement would begin the old file's log anew, and what
        # lies in there would be lost to the connections that have the old file open.
        if (gone := self.gone()) is not None:
            connection.close()
            raise gone

    def look(self, work: Work[T]) -> T:
        """Do work that only reads, all as of one moment."""
        with self.reading() as connection:
            return work(connection)

    def write(self, work: Work[T]) -> T:
        """Do work while nobody else writes, and commit it durably."""
        with self.writing() as connection:
            return work(connection)

    def write_beside(self, work: Work[T]) -> T:
        """The same for work that takes the locks it needs (data/store/server_locks.py)."""
        return self.write(work)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One transaction that reads. Raises LedgerUnusable."""
        with explained("read"), self._looking() as connection:
            yield connection

    def _looking(self) -> Connection:
        return self.engine.connect().execution_options(reading=True)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction that writes. Raises LedgerUnusable, and LedgerClosed at its end."""
        with explained("written"), self.engine.begin() as connection:
            yield connection
            refuse_where_closed(connection)


def _identity(path: str | None) -> tuple[int, int] | None:
    """Identify a ledger's file; None if it does not exist, or if the ledger is on a server."""
    if path is None:
        return None
    try:
        status = os.stat(path)  # noqa: PTH116 - with each claim and each look: a Path takes longer
    except OSError:
        return None
    return status.st_dev, status.st_ino


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Report in words what a database could not do, without naming anybody."""
    try:
        yield
    except DBAPIError as error:
        raise unusable(error, what) from None


def unusable(error: DBAPIError, what: str) -> LedgerUnusable:
    """The error for a ledger that could not be `what`: read, or written."""
    stands = " What was recorded is safe." if what == "written" else ""
    return LedgerUnusable(
        f"The ledger could not be {what}: {what_failed(error)}, then run again.{stands}"
    )
