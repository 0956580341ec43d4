"""A ledger in a file of this machine: durable SQLite, one writer at a time."""

import sqlite3
import time
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL

from data.own_files import make_folder
from data.store.errors import LOCK_TIMEOUT, LedgerUnusable, NoLedger


def engine_of_file(address: URL, *, create: bool) -> Engine:
    """Connect to a file, which `create` allows to be new. Raises NoLedger, LedgerUnusable."""
    _prepare(Path(address.database or ""), create=create)
    engine = create_engine(address, connect_args={"timeout": LOCK_TIMEOUT}, hide_parameters=True)
    event.listen(engine, "begin", _begin)
    return engine


def make_durable(engine: Engine) -> None:
    """From here on a commit is on the disk before it returns."""
    engine.dispose()
    event.listen(engine, "connect", _durable)


def _prepare(path: Path, *, create: bool) -> None:
    if path.exists():
        return
    if not create:
        raise NoLedger(str(path))
    try:
        make_folder(path.parent)
        # It holds people's names and addresses: only its owner may read it, from the first byte.
        path.touch(mode=0o600)
    except OSError as error:
        raise LedgerUnusable(
            f"The ledger {path} cannot be written ({error.strerror}). Nothing was sent. "
            "Make the folder writable, or name another place in CAMPAIGN_DATABASE_URL."
        ) from None


def _durable(connection: Any, _: object) -> None:
    # A claim must outlive a power cut. Whoever was forgotten is not to be found in the file, even
    # if it cannot be rewritten just then; not every SQLite is built to overwrite what it deletes.
    connection.isolation_level = None  # SQLAlchemy begins, see _begin
    _keep_a_write_ahead_log(connection)
    for pragma in ("synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _keep_a_write_ahead_log(connection: sqlite3.Connection) -> None:
    # Here SQLite does not wait for other processes: two that open a new ledger at the same moment
    # would find it locked.
    ends = time.monotonic() + LOCK_TIMEOUT
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > ends:
                raise
            time.sleep(0.01)
        else:
            return


def _begin(connection: Connection) -> None:
    # A plain BEGIN lets two readers both find a step free and both claim it.
    if connection.get_execution_options().get("reading", False):
        # It takes no lock and reads nothing yet, so SQLAlchemy has nothing to report of it.
        file: Any = connection.connection.dbapi_connection
        file.execute("BEGIN")
    else:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
