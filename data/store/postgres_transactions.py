"""Transactions of a ledger on a server, where a connection may be lost at any moment.

A transaction that was lost before its commit was requested did not happen, and is repeated. If the
answer to a commit was lost, nothing is assumed: once the session is known to be gone, the server is
asked by the transaction's number what became of it.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from data.store import server_locks
from data.store.closed import refuse
from data.store.errors import LedgerUnusable, words_of
from data.store.postgres import Session, is_lost, was_in_the_way
from data.store.transactions import Transactions, Work, unusable

T = TypeVar("T")

PATIENCE = 120.0  # seconds for which to try to reach a lost server
LONGEST_PAUSE = 2.0  # seconds between two tries
TRIES = 5  # of a transaction that conflicted with another one

# The last statement before a commit: the number by which the server can be asked about the
# transaction (none: it wrote nothing), and whether the ledger is open, now that every lock is held.
_LAST_WORD = text(
    "SELECT pg_current_xact_id_if_assigned()::text AS number, openness, other FROM ledger"
)
# A session that lost its client may still hold locks, or have a commit to process. What became of
# its transaction is final only once the session is gone.
_END_SESSION = text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE pid = :pid AND backend_start = :began"
)
_WHAT_BECAME = text("SELECT pg_xact_status(CAST(:number AS xid8))")


@dataclass(slots=True)
class _Tried:
    """One try of a transaction, and how far it got."""

    session: Session | None = None
    result: Any = None
    number: str | None = None  # known from just before the commit is requested


@dataclass(slots=True)
class _Patience:
    """How long to try to reach a lost server, counted from the first loss."""

    ends: float = field(default_factory=lambda: time.monotonic() + PATIENCE)
    pause: float = 0.05

    def is_over(self) -> bool:
        return time.monotonic() >= self.ends

    def wait(self) -> None:
        time.sleep(self.pause)
        self.pause = min(2 * self.pause, LONGEST_PAUSE)


class ServerTransactions(Transactions):
    """Transactions on a server: each is repeated until it is known to have happened once."""

    def look(self, work: Work[T]) -> T:
        patience: _Patience | None = None
        while True:
            try:
                with self._looking() as connection:
                    return work(connection)
            except DBAPIError as error:
                if not is_lost(error):
                    raise unusable(error, "read") from None
                patience = patience or _Patience()
                if patience.is_over():
                    raise _out_of_reach(error) from None
            patience.wait()

    def write(self, work: Work[T]) -> T:
        return self._see_through(work, server_locks.alone)

    def write_beside(self, work: Work[T]) -> T:
        return self._see_through(work, lambda _: None)

    def _looking(self) -> Connection:
        return self.engine.connect().execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        )

    def _once(self, work: Work[T], lock: Callable[[Connection], None], tried: _Tried) -> T:
        with self.engine.connect() as connection:
            tried.session = connection.info["session"]
            lock(connection)
            tried.result = result = work(connection)
            tried.number = _last_word(connection)
            connection.commit()
            return result

    def _see_through(self, work: Work[T], lock: Callable[[Connection], None]) -> T:
        patience: _Patience | None = None
        tries = 0
        while True:
            tried = _Tried()
            tries += 1
            try:
                return self._once(work, lock, tried)
            except DBAPIError as error:
                if is_lost(error):
                    patience = patience or _Patience()
                elif not (was_in_the_way(error) and tries < TRIES):
                    raise unusable(error, "written") from None
            if patience is not None and self._has_happened(tried, patience):
                result: T = tried.result
                return result

    def _has_happened(self, tried: _Tried, patience: _Patience) -> bool:
        """Find out what became of a transaction. Raises LedgerUnusable if that is not known."""
        while True:
            try:
                return self._ask(tried, patience)
            except DBAPIError as error:
                if not is_lost(error):
                    raise unusable(error, "written") from None
                if patience.is_over():
                    over = _out_of_reach(error) if tried.number is None else _unknown()
                    raise over from None
            patience.wait()

    def _ask(self, tried: _Tried, patience: _Patience) -> bool:
        with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as asking:
            lost = tried.session
            if lost is None:
                return False
            if asking.info["session"].history != lost.history:
                raise _another_history()
            while asking.scalar(_END_SESSION, {"pid": lost.pid, "began": lost.began}) is not None:
                if patience.is_over():
                    raise _unknown()
                time.sleep(0.01)
            if tried.number is None:
                return False
            became = asking.scalar(_WHAT_BECAME, {"number": tried.number})
        if became not in ("committed", "aborted"):
            raise _unknown()
        return bool(became == "committed")


def _last_word(connection: Connection) -> str | None:
    """The number of the transaction, if it wrote something. Raises LedgerClosed."""
    row = connection.execute(_LAST_WORD).first()
    if row is None:  # a ledger that is being created
        return str(connection.scalar(text("SELECT pg_current_xact_id()::text")))
    refuse(row.openness, row.other, connection.engine.url)
    return None if row.number is None else str(row.number)


def _out_of_reach(error: DBAPIError) -> LedgerUnusable:
    """`error`: what came of the last try to reach it."""
    if refusal := words_of(error).partition("FATAL:")[2].strip():
        return LedgerUnusable(
            f"The ledger's database server has refused every connection for {PATIENCE:.0f} "
            f"seconds: {refusal}. Nothing is sent without it; what was recorded is safe. Once it "
            "accepts what CAMPAIGN_DATABASE_URL says, run again."
        )
    return LedgerUnusable(
        f"The ledger's database server has not answered for {PATIENCE:.0f} seconds. Nothing is "
        "sent without it; what was recorded is safe. Once it answers, run again."
    )


def _unknown() -> LedgerUnusable:
    return LedgerUnusable(
        "The connection to the ledger's database server was lost in the middle of a commit, and "
        f"for {PATIENCE:.0f} seconds the server did not say whether the commit was made. Its "
        "requests were not sent; if it was made, they show as unsure. Once the server answers, run "
        "again."
    )


def _another_history() -> LedgerUnusable:
    return LedgerUnusable(
        "The ledger's database is now another server: a stand-by was promoted, or a backup "
        "restored. It may lack the last commits, so nothing more is sent. Make sure that it has "
        "them, then run again: the receipts are checked first."
    )
