"""Opening a ledger: durable SQLite (or PostgreSQL), brought up to today's tables.

A ledger written by a newer version is refused and not touched.
"""

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import DatabaseError, DBAPIError

from config.errors import CampaignError

NEWEST = "0001"
KNOWN = ("0001",)
LOCK_TIMEOUT = 30.0  # seconds to wait for another process's commit


class LedgerUnusable(CampaignError):
    """The ledger cannot be opened or written; nothing was sent because of that."""


class NoLedger(LedgerUnusable):
    """There is no ledger yet, and the command only reads."""


def open_engine(url: str, *, create: bool) -> Engine:
    """Connect and migrate. Raises LedgerUnusable, or NoLedger when it may not be created.

    Statements never show their parameters in an error: they name people.
    """
    address = make_url(url)
    in_a_file = address.get_backend_name() == "sqlite"
    if in_a_file:
        _prepare_file(Path(address.database or ""), create=create)
        engine = create_engine(
            address, connect_args={"timeout": LOCK_TIMEOUT}, hide_parameters=True
        )
        event.listen(engine, "begin", _begin_writing)
    else:
        engine = _elsewhere(address)
    try:
        _refuse_strangers(engine)
        if in_a_file:
            engine.dispose()  # every connection from here on is a durable one
            event.listen(engine, "connect", _durable)
        _bring_up_to_date(engine)
    except (DatabaseError, sqlite3.DatabaseError) as error:
        engine.dispose()
        raise LedgerUnusable(
            f"The ledger {_shown(address)} cannot be opened: {what_failed(error)}, then type the "
            "same command again. Nothing was sent."
        ) from None
    except BaseException:
        engine.dispose()
        raise
    return engine


def rewrite(engine: Engine) -> None:
    """Write the tables anew: what was erased from them is in no free page and no log any more.

    It needs the database for itself for a moment; raises DBAPIError or sqlite3.Error where it
    does not get that.
    """
    if engine.dialect.name != "sqlite":
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("VACUUM FULL")
        return
    with closing(engine.raw_connection()) as kept:
        file: sqlite3.Connection = kept.driver_connection  # type: ignore[assignment]
        file.execute("VACUUM")
        # Until nobody reads an older state any more, the log is neither merged nor cut.
        [busy, *_] = file.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise sqlite3.OperationalError("database is locked")


def _elsewhere(address: URL) -> Engine:
    try:
        return create_engine(address, hide_parameters=True)
    except ImportError as error:
        raise LedgerUnusable(
            f"The ledger {_shown(address)} cannot be opened: the package {error.name} is not "
            "installed. Nothing was sent. Install it beside this program, or leave "
            "CAMPAIGN_DATABASE_URL out to keep the ledger in a file."
        ) from None


def _prepare_file(path: Path, *, create: bool) -> None:
    if path.exists():
        return
    if not create:
        raise NoLedger(
            f"There is no ledger at {path} yet: no campaign was run. Start with: campaign run FILE"
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # It holds people's names and addresses: for its owner alone, from the first byte.
        path.touch(mode=0o600)
    except OSError as error:
        raise LedgerUnusable(
            f"The ledger {path} cannot be written ({error.strerror}). Nothing was sent. "
            "Make the folder writable, or name another place in CAMPAIGN_DATABASE_URL."
        ) from None


def _durable(connection: Any, _: object) -> None:
    # A commit is on the disk before it returns: a claim must outlive a power cut.
    connection.isolation_level = None  # SQLAlchemy begins, see _begin_writing
    _keep_a_write_ahead_log(connection)
    for pragma in ("synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _keep_a_write_ahead_log(connection: sqlite3.Connection) -> None:
    # SQLite does not wait for others here as it does elsewhere: two that open a new ledger at
    # the same moment would find it locked.
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


def _begin_writing(connection: Connection) -> None:
    # A plain BEGIN lets two readers both find a step free and both claim it.
    reading = connection.get_execution_options().get("reading", False)
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")


def _refuse_strangers(engine: Engine) -> None:
    """Look before anything is set: a database that is not ours stays as it is, to the byte."""
    found = _found(engine)
    if found is not None and found not in KNOWN:
        raise LedgerUnusable(
            f"The ledger was written by a newer version (its tables are {found}, this version "
            f"knows {NEWEST}). It was not touched. Update this installation, then try again."
        )


def _bring_up_to_date(engine: Engine) -> None:
    if _found(engine) == NEWEST:
        return
    from alembic import command  # noqa: PLC0415 - only when tables change
    from alembic.config import Config  # noqa: PLC0415

    with engine.begin() as connection:
        if _version(connection) == NEWEST:  # another process was quicker
            return
        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def _found(engine: Engine) -> str | None:
    with engine.connect().execution_options(reading=True) as connection:
        return _version(connection)


def _version(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        if inspect(connection).get_table_names():
            raise LedgerUnusable(
                "The database holds other tables and no ledger. It was not touched. "
                "Name another one in CAMPAIGN_DATABASE_URL."
            )
        return None
    found = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return None if found is None else str(found)


def _shown(address: Any) -> str:
    return str(address.database) if address.get_backend_name() == "sqlite" else repr(address)


def what_failed(error: DBAPIError | sqlite3.Error) -> str:
    """What a failed statement means, and what to do about it; never its parameters: names."""
    cause = str(error.orig if isinstance(error, DBAPIError) else error)
    if "locked" in cause:
        return (
            f"another program has held the ledger for {LOCK_TIMEOUT:.0f} seconds. Close what has "
            "it open, such as a viewer or a backup"
        )
    if "full" in cause:
        return "the disk is full. Make room on it"
    if "readonly" in cause:
        return "the ledger is read-only. Make the file and its folder writable"
    return f"{cause}. Mend that"
