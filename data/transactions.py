"""The transactions of a ledger: work is seen through and committed, or what failed is said.

In a file they are SQLite's own. On a server see data/server_transactions.py.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from data.closed import refuse_where_closed
from data.unusable import LedgerUnusable, what_failed

T = TypeVar("T")
Work = Callable[[Connection], T]


class Transactions:
    """Those of a ledger in a file: who writes has all of it for themselves."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def look(self, work: Work[T]) -> T:
        """See work through that only looks, all of it as of one moment."""
        with self.reading() as connection:
            return work(connection)

    def write(self, work: Work[T]) -> T:
        """See work through while nobody else writes, and commit it durably."""
        with self.writing() as connection:
            return work(connection)

    def write_beside(self, work: Work[T]) -> T:
        """The same for work that says itself what it must be alone with (data/locks.py)."""
        return self.write(work)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One transaction that looks. Raises LedgerUnusable."""
        with (
            said("read"),
            self.engine.connect().execution_options(reading=True) as connection,
        ):
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction that writes. Raises LedgerUnusable, and LedgerClosed at its end."""
        with said("written"), self.engine.begin() as connection:
            yield connection
            refuse_where_closed(connection)


@contextmanager
def said(what: str) -> Iterator[None]:
    """Say in words what a database could not do. Nobody is named."""
    try:
        yield
    except DBAPIError as error:
        raise unusable(error, what) from None


def unusable(error: DBAPIError, what: str) -> LedgerUnusable:
    """What it means that a ledger could not be `what`: read, or written."""
    stands = " What was recorded before stands." if what == "written" else ""
    return LedgerUnusable(
        f"The ledger could not be {what}: {what_failed(error)}, then type the same command "
        f"again.{stands}"
    )
