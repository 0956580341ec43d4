"""The ledger: one database of campaigns, and its transactions.

It knows nothing about campaigns. Functions of a connection, in other rooms, read and write:

    ledger.read(pauses.standing, "backend-2026")
    ledger.write(pauses.pause, "backend-2026", By("Ada", "the test is being replaced"))

Each call is one transaction; when a writing call returns, its data is on the disk. The function may
run again from its beginning if the database lost the transaction, so it must change nothing but the
ledger.
"""

import sqlite3
from collections.abc import Callable
from secrets import token_hex
from typing import Concatenate, ParamSpec, TypeVar
from uuid import uuid4

from sqlalchemy import Connection, Engine, insert, select
from sqlalchemy.exc import DBAPIError

from data.store import clock
from data.store.errors import LedgerGone, LedgerUnusable, what_failed
from data.store.opening import open_engine, place_of, rewrite
from data.store.postgres_transactions import ServerTransactions
from data.store.states import Openness
from data.store.tables import identity
from data.store.transactions import Transactions

T = TypeVar("T")
P = ParamSpec("P")
Work = Callable[Concatenate[Connection, P], T]


class Ledger:
    """One database of campaigns. Open it with `Ledger.open`, close it when done."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.on_a_server = engine.url.get_backend_name() == "postgresql"
        self._transactions = (ServerTransactions if self.on_a_server else Transactions)(engine)

    @classmethod
    def open(cls, url: str, *, create: bool = True) -> "Ledger":
        """Open, migrate, and give a new ledger its UUID. Raises LedgerUnusable, NoLedger."""
        ledger = cls(open_engine(url, create=create))
        if ledger.read(_uuid) is None:
            ledger.write(_name)
        return ledger

    def close(self) -> None:
        self._transactions.close()
        self._engine.dispose()

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, look: Work[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Read the ledger as of one moment. Raises LedgerUnusable, as the others do."""
        return self._transactions.look(lambda connection: look(connection, *args, **kwargs))

    def write(self, change: Work[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Write to the ledger while nobody else does. Raises LedgerClosed as well."""
        return self._transactions.write(lambda connection: change(connection, *args, **kwargs))

    def write_beside(self, change: Work[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Write while others write too: the function itself takes the locks that it needs
        (data/store/server_locks.py)."""
        return self._transactions.write_beside(
            lambda connection: change(connection, *args, **kwargs)
        )

    # -- what it is ---------------------------------------------------------------------

    @property
    def place(self) -> str:
        """Where this ledger is, for people: a file, or a database's address without secrets."""
        return place_of(self._engine.url)

    def uuid(self) -> str:
        """The ledger's own identity; a receipt names it."""
        return str(self.read(_uuid))

    def gone(self) -> LedgerGone | None:
        """Return an error if its file was moved, replaced or deleted since it was opened."""
        return self._transactions.gone()

    def refuse_where_gone(self) -> None:
        """Raise LedgerGone if its file is gone: then nothing more may be sent."""
        if (gone := self.gone()) is not None:
            raise gone

    def rewrite(self) -> None:
        """Remove every trace of erased data from the ledger's files. Raises LedgerUnusable."""
        try:
            rewrite(self._engine)
        except (DBAPIError, sqlite3.Error) as error:
            raise LedgerUnusable(
                f"The ledger could not be rewritten: {what_failed(error)}, then run the same "
                "command again."
            ) from None


def _uuid(connection: Connection) -> str | None:
    return connection.scalar(select(identity.c.uuid))


def _name(connection: Connection) -> None:
    if _uuid(connection) is None:
        connection.execute(
            insert(identity).values(
                id=1,
                uuid=str(uuid4()),
                secret=token_hex(32),
                created_at=clock.now(),
                openness=Openness.OPEN,
            )
        )
