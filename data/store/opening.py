"""Opening a ledger: a file or a server's database, brought up to today's tables.

A ledger written by a newer version is refused and not touched.
"""

import re
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    bindparam,
    insert,
    inspect,
    select,
    text,
    update,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import DatabaseError
from sqlmodel import SQLModel

from data.store import server_locks
from data.store.backup import NoBackup, back_up
from data.store.errors import LedgerUnusable, NoLedger, what_failed
from data.store.postgres import engine_of_server
from data.store.sqlite import engine_of_file, make_durable
from data.store.tables import box_of, candidate, do_not_contact, identity

__all__ = ["LedgerUnusable", "NoLedger", "open_engine", "rewrite"]

KNOWN = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009", "0010", "0011")
NEWEST = KNOWN[-1]

# The same table as Alembic's, which reads from it what has been migrated.
_MIGRATED = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)

_RIGHTS = text(
    "SELECT has_schema_privilege(current_schema(), 'CREATE'), "
    "quote_ident(coalesce(current_schema(), 'public')), quote_ident(current_user)"
)

# Alembic keeps its connection in a module: two threads would use each other's.
_ALEMBIC = threading.Lock()


def open_engine(
    url: str, *, create: bool, first: Callable[[Connection], None] | None = None
) -> Engine:
    """Connect and migrate. Raises LedgerUnusable, or NoLedger when it may not be created.

    If there are no tables yet, they are created together with what `first` writes.

    Errors never show the parameters of statements: they name people.
    """
    address = make_url(url)
    in_a_file = address.get_backend_name() == "sqlite"
    engine = engine_of_file(address, create=create) if in_a_file else engine_of_server(address)
    try:
        version = _refuse_strangers(engine)
        if in_a_file:
            make_durable(engine)
        if version is None and not create:
            raise NoLedger(place_of(address))
        if version != NEWEST:
            _bring_up_to_date(engine, version, first)
        else:
            _fill_in_mailboxes(engine)
    except (DatabaseError, sqlite3.DatabaseError) as error:
        engine.dispose()
        raise LedgerUnusable(
            f"The ledger {place_of(address)} cannot be opened: {what_failed(error)}, then run "
            "again. Nothing was sent."
        ) from None
    except BaseException:
        engine.dispose()
        raise
    return engine


def place_of(address: URL) -> str:
    """Where a ledger is, for people: a file, or a database's address without its secrets."""
    if address.get_backend_name() == "sqlite":
        return str(address.database)
    return address.set(query={}).render_as_string(hide_password=True)


def address_of(address: URL) -> str:
    """The same as an address that can be set in CAMPAIGN_DATABASE_URL, from wherever it is typed.

    A server's password is left out; whoever uses that server knows it.
    """
    if address.get_backend_name() == "sqlite":
        return f"sqlite:///{Path(address.database or '').absolute()}"
    return URL.create(
        address.get_backend_name(),
        username=address.username,
        host=address.host,
        port=address.port,
        database=address.database,
    ).render_as_string()


def rewrite(engine: Engine) -> None:
    """Rewrite the tables: erased data is then in no free page and no log any more.

    This needs exclusive use of the database for a moment; raises DBAPIError or sqlite3.Error if it
    does not get that.
    """
    if engine.dialect.name != "sqlite":
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("VACUUM FULL")
        return
    with closing(engine.raw_connection()) as kept:
        file: sqlite3.Connection = kept.driver_connection  # type: ignore[assignment]
        file.execute("VACUUM")
        # The log cannot be merged or cut while anybody still reads an older state.
        [busy, *_] = file.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise sqlite3.OperationalError("database is locked")


def _refuse_strangers(engine: Engine) -> str | None:
    """Check before anything is set: a database that is not ours stays unchanged, to the byte.

    Returns the version of the tables, None if there are none.
    """
    with engine.connect().execution_options(reading=True) as connection:
        version = _version(connection)
        if version is None and engine.dialect.name == "postgresql":
            _refuse_without_rights(connection)
    if version is not None and version not in KNOWN:
        raise LedgerUnusable(
            "The ledger was written by a newer version of this program (its tables have version "
            f"{version}, this program knows {NEWEST}). It was not changed. Update this "
            "installation, then try again."
        )
    return version


def _bring_up_to_date(
    engine: Engine, older: str | None, first: Callable[[Connection], None] | None
) -> None:
    if older is not None and engine.dialect.name == "sqlite":
        _keep_as_it_was(Path(str(engine.url.database)), older)
    with engine.begin() as connection:
        server_locks.alone(connection)
        version = _version(connection)
        if version == NEWEST:  # another process was quicker
            return
        if version is not None:
            migrate(connection)
            return
        _make_tables(connection, NEWEST)
        if first is not None:
            first(connection)


def _fill_in_mailboxes(engine: Engine) -> None:
    """Complete what a process of an older version wrote that had the ledger open before an update:
    without its mailbox, nothing would hold such a row.
    """
    for table in (candidate, do_not_contact):
        # Whoever was forgotten has none, and a hash for a key.
        bare = select(table.c.id, table.c.email_key).where(
            table.c.mailbox == "", table.c.email_key.contains("@")
        )
        with engine.connect().execution_options(reading=True) as connection:
            rows = connection.execute(bare).all()
        if rows:
            with engine.begin() as connection:
                server_locks.alone(connection)
                connection.execute(
                    update(table)
                    .where(table.c.id == bindparam("row"), table.c.mailbox == "")
                    .values(mailbox=bindparam("box")),
                    [{"row": row, "box": box_of(key)} for row, key in rows],
                )


def _make_tables(connection: Connection, version: str) -> None:
    """Make every table at once in this version's form, and note the version.

    Only a ledger of an older version goes through the migrations. Both ways lead to the same
    tables (tests/data/store/test_migrations.py); this one spares every first run the import of
    what migrates.
    """
    SQLModel.metadata.create_all(connection, checkfirst=False)
    _MIGRATED.create(connection)
    connection.execute(insert(_MIGRATED).values(version_num=version))


def migrate(connection: Connection) -> None:
    """Bring the tables up to date, step by step from their version, or from none."""
    from alembic import command  # noqa: PLC0415 - only when tables change
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parents[1] / "migrations"))
    config.attributes["connection"] = connection
    with _ALEMBIC:
        command.upgrade(config, "head")


def _keep_as_it_was(file: Path, version: str) -> None:
    """Copy a ledger before its tables change; on a server, its operator has a backup."""
    kept = file.with_name(f"{file.name}.tables-{version}")
    try:
        back_up(file, kept)
    except NoBackup:
        if not kept.exists():  # otherwise another program was quicker, and made the same copy
            raise


def _refuse_without_rights(connection: Connection) -> None:
    """Raise LedgerUnusable where this user could not create a ledger: a run would only stop."""
    [may, schema, user] = connection.execute(_RIGHTS).one()
    if not may:
        raise LedgerUnusable(
            f"There is no ledger at {place_of(connection.engine.url)} yet, and this user may not "
            "create tables there. Nothing was sent. Have the owner of the database run:  "
            f"GRANT USAGE, CREATE ON SCHEMA {schema} TO {user};  Then run again."
        )


def _version(connection: Connection) -> str | None:
    """The version of the tables, a known or a higher one; None if there are no tables.

    Other programs have a table `alembic_version` too. Raises LedgerUnusable for their databases.
    """
    names = set(inspect(connection).get_table_names())
    if not names:
        return None
    version = ""
    if {identity.name, _MIGRATED.name} <= names:
        version = connection.scalar(text("SELECT version_num FROM alembic_version")) or ""
    if version not in KNOWN and not (re.fullmatch("[0-9]{4}", version) and version > NEWEST):
        raise LedgerUnusable(
            "The database has other tables and no ledger. It was not changed. Name another "
            "one in CAMPAIGN_DATABASE_URL."
        )
    return version
