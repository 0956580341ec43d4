"""A ledger on a PostgreSQL server: the settings of its sessions, and when a session is lost.

A dead connection is noticed within half a minute on both sides, so that a machine which vanishes
in the middle of a transaction does not keep rows from the others.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlmodel import SQLModel

from data.store.errors import LOCK_TIMEOUT, LedgerUnusable

_ALIVE = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}  # seconds, tries
_UNANSWERED = 20_000  # milliseconds for which sent bytes may stay without an acknowledgement

ENCODING = "UTF8"  # other encodings cannot store every name
CLIENT = {
    "connect_timeout": 5,  # seconds
    "keepalives": 1,
    **_ALIVE,
    "tcp_user_timeout": _UNANSWERED,
    # A stand-by of the server is not the ledger until it is promoted.
    "target_session_attrs": "read-write",
    "application_name": "campaign",
    "client_encoding": ENCODING,
}
SERVER = {
    # A commit is on the disk before it returns, whatever this server's default is.
    "synchronous_commit": "on",
    "timezone": "UTC",
    "lock_timeout": round(LOCK_TIMEOUT * 1000),
    # A program that stops in the middle of a transaction loses the transaction.
    "idle_in_transaction_session_timeout": 60_000,
    **{f"tcp_{name}": value for name, value in _ALIVE.items()},
    "tcp_user_timeout": _UNANSWERED,
}

# Identifies the session, the database and its history: a promoted stand-by begins a new timeline,
# which may lack the last commits of the one before.
_WHO_AM_I = """
SELECT pid, backend_start, (SELECT system_identifier FROM pg_control_system())
    || '/' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)
FROM pg_stat_activity WHERE pid = pg_backend_pid()
"""

# SQLSTATEs with which a server ends a session or refuses to begin one.
_ENDED = {"57P01", "57P02", "57P03", "57P05", "25P03", "25P04", "53300"}
# The server rejected a whole transaction that conflicted with another: a new try may succeed.
_IN_THE_WAY = {"40001", "40P01", "23505"}


@dataclass(frozen=True, slots=True)
class Session:
    """One connection as the server knows it; `history` identifies the database's history."""

    pid: int
    began: Any
    history: str


def engine_of_server(address: URL) -> Engine:
    """Prepare to connect; raises LedgerUnusable where the driver is missing."""
    _know_which_rows_have_an_index()
    if address.drivername == "postgresql":
        address = address.set(drivername="postgresql+psycopg")
    options = " ".join(f"-c {name}={value}" for name, value in SERVER.items())
    try:
        engine = create_engine(
            address,
            connect_args=CLIENT | {"options": options} | dict(address.query),
            hide_parameters=True,
        )
    except ImportError as error:
        raise LedgerUnusable(
            f"The ledger {address!r} cannot be opened: the package {error.name} is not installed. "
            "Nothing was sent. Install it with this program, or leave out CAMPAIGN_DATABASE_URL "
            "to keep the ledger in a file."
        ) from None
    event.listen(engine, "connect", _introduce)
    return engine


def _know_which_rows_have_an_index() -> None:
    """An index of some rows alone has the same condition here. It is told only now: to hear of it,
    SQLAlchemy imports all it knows of PostgreSQL, which takes a tenth of a short command.
    """
    for table in SQLModel.metadata.tables.values():
        for index in table.indexes:
            where = index.dialect_options["sqlite"]["where"]
            index.dialect_options["postgresql"]["where"] = where


def _introduce(connection: Any, record: Any) -> None:
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != ENCODING:
        raise LedgerUnusable(
            f"The database stores text as {encoding}, but a ledger needs {ENCODING}. Nothing was "
            "sent. Create another one:  "
            f"CREATE DATABASE hiring ENCODING '{ENCODING}' LOCALE 'C' TEMPLATE template0  and name "
            "it in CAMPAIGN_DATABASE_URL."
        )
    with connection.cursor() as cursor:
        record.info["session"] = Session(*cursor.execute(_WHO_AM_I).fetchone())
    connection.rollback()


def is_lost(error: DBAPIError) -> bool:
    """Whether the session is lost, or never existed."""
    state = getattr(error.orig, "sqlstate", None)
    if state is None:
        without_words = isinstance(error, OperationalError | InterfaceError)
        return error.connection_invalidated or without_words
    return error.connection_invalidated or state in _ENDED or state.startswith("08")


def was_in_the_way(error: DBAPIError) -> bool:
    """Whether this transaction was rejected because of a conflict with another one, now over."""
    return getattr(error.orig, "sqlstate", None) in _IN_THE_WAY
