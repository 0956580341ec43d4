"""The ledger: one database of campaigns. Open and migrate it; read and write in transactions.

    with Ledger.open() as ledger, ledger.writing() as session:
        session.add(...)

When a writing block ends, all it wrote is on the disk. If it raises, nothing is written.
"""

import os
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from runpy import run_path
from typing import Any, Self
from urllib.parse import quote
from uuid import uuid4

import psutil
from sqlalchemy import Connection, Engine, create_engine, event, insert, inspect, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError
from sqlmodel import Session, SQLModel, select

from config.errors import CampaignError
from config.settings import settings
from data.store import postgres
from data.store.files import replace
from data.store.tables import LedgerId

MIGRATIONS = Path(__file__).parent / "migrations"


class LedgerUnusable(CampaignError):
    says = """The ledger {place} cannot be used: {cause}. Nothing was sent because of that, and
    what was recorded is safe. {way_out}"""


class NewerLedger(CampaignError):
    says = """The ledger {place} is of a newer version of this program ({version}; this one knows
    {newest}). Nothing was sent because of that. Update this installation."""


class NotMigrated(CampaignError):
    says = """The ledger {place} is of an older version of this program ({version}; this one
    knows {newest}). Nothing was sent. Stop what runs, save the ledger, then start `campaign up`."""


class ForeignDatabase(CampaignError):
    says = """The database {place} has other tables and no ledger. Nothing was sent and nothing
    was changed. Name another database in CAMPAIGN_DATABASE_URL."""


class NoLedger(CampaignError):
    says = "There is no ledger at {place} yet: no campaign has been run."
    then = "campaign run FILE"


class LedgerGone(CampaignError):
    says = """The ledger {place} was moved, replaced, deleted, overwritten with a copy, or
    migrated by a newer version while it was in use. Nothing more is sent; the original has every
    outcome. Put it back, or name its new place in CAMPAIGN_DATABASE_URL, then run again."""


class Ledger:
    """One database of campaigns. Open it with `Ledger.open`, close it when done."""

    def __init__(self, engine: Engine) -> None:
        self.on_a_server = engine.dialect.name == "postgresql"
        self._engine, self.url = engine, engine.url
        as_of_one_moment = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        self._reads = engine.execution_options(
            **(as_of_one_moment if self.on_a_server else {"reading": True})
        )
        # By its real path, a file has the same leases through whatever link it was opened.
        self._path = None if self.on_a_server else os.path.realpath(str(self.url.database))
        self._file, self._sound_at = identity(self._path) if self._path else None, 0
        if self._path is not None:
            event.listen(engine, "do_connect", lambda *_: self.refuse_where_gone())

    @classmethod
    def open(cls, url: str | None = None, *, create: bool = True, migrate: bool = True) -> Self:
        """Open a ledger, and migrate an older one: a file always, after a backup; a server, which
        gets no backup, only with both `create` and `migrate`. Raises LedgerUnusable, NewerLedger,
        NotMigrated, ForeignDatabase, NoLedger."""
        address = make_url(url or settings().database_url)
        with explained(place_of(address), ImportError, OSError):
            engine = _engine(address, create=create)
            try:
                _bring_up_to_date(engine, create=create, migrate=create and migrate)
                return cls(engine)
            except BaseException:
                engine.dispose()
                raise

    def close(self) -> None:
        """Close every connection. If the file was moved, its log is first written into it."""
        if self.gone():
            with suppress(CampaignError):
                self.checkpoint("TRUNCATE")
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """One transaction that reads a single state. Raises LedgerUnusable, LedgerGone."""
        self.refuse_where_gone()
        with explained(self.place), Session(self._reads, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """One transaction that writes; other writers wait. Raises LedgerUnusable, LedgerGone."""
        self.refuse_where_gone()
        with self.recording() as session:
            yield session

    @contextmanager
    def recording(self) -> Iterator[Session]:
        """Like `writing`, for outcomes: they are written even if the file was moved."""
        with explained(self.place), Session(self._engine, expire_on_commit=False) as session:
            if self.on_a_server:
                postgres.alone(session.connection())
            yield session
            session.commit()

    def checkpoint(self, how: str = "PASSIVE") -> None:
        """Move the log into the file, except what is being read. A server does that by itself."""
        if not self.on_a_server:
            with explained(self.place), closing(self._engine.raw_connection()) as connection:
                connection.cursor().execute(f"PRAGMA wal_checkpoint({how})").fetchall()

    def rewrite(self) -> None:
        """Remove every trace of erased data from the files. Raises LedgerUnusable."""
        with explained(self.place), closing(self._engine.raw_connection()) as connection:
            if self.on_a_server:
                connection.driver_connection.autocommit = True  # type: ignore[union-attr]
                connection.cursor().execute("VACUUM FULL")
                connection.invalidate()
                return
            connection.cursor().execute("VACUUM")
            [busy, *_] = connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if busy:
                raise sqlite3.OperationalError("database is locked")

    @property
    def place(self) -> str:
        """Where the ledger is, for people: a file, or a server's database without its password."""
        return place_of(self.url)

    @property
    def locks(self) -> Path:
        """The folder of the leases, for a ledger in a file."""
        return Path(f"{self._path}.locks")

    def uuid(self) -> str:
        """The identity of the ledger, which receipts name."""
        with self.reading() as session:
            return session.exec(select(LedgerId.uuid)).one()

    def gone(self) -> bool:
        """Whether the file was moved, replaced, deleted or overwritten since it was opened."""
        if self._path is None:
            return False
        with suppress(OSError):
            status = os.stat(self._path)  # noqa: PTH116 - before each claim
            same = (status.st_dev, status.st_ino) == self._file
            # st_ctime changes with a checkpoint, but also if something is copied over the file.
            if same and (status.st_ctime_ns == self._sound_at or _is_database(self._path)):
                self._sound_at = status.st_ctime_ns
                return False
        return True

    def refuse_where_gone(self) -> None:
        """Raise LedgerGone if the ledger's file is gone: then nothing more may be sent."""
        if self.gone():
            raise LedgerGone(place=self.place)


def place_of(address: URL) -> str:
    """Where a ledger is, without secrets."""
    if address.get_backend_name() == "sqlite":
        return str(address.database)
    return address.set(query={}).render_as_string(hide_password=True)


@contextmanager
def explained(place: str, *also: type[Exception]) -> Iterator[None]:
    """Turn errors of a database, and `also` these, into LedgerUnusable, without people's values."""
    theirs: tuple[type[Exception], ...] = (ArgumentError, DBAPIError, sqlite3.Error, *also)
    try:
        yield
    except IntegrityError:
        raise  # the schema caught a bug of this program
    except theirs as error:
        words = _words(error)
        known = (each[1:] for each in _CAUSES if re.search(each[0], words, re.IGNORECASE))
        cause, way_out = next(known, (words, "Fix that, then run again."))
        raise LedgerUnusable(place=place, cause=cause, way_out=way_out) from None


_RESTORE = (
    "Send nothing from it: restore an earlier copy. If that lacks something that was sent, its "
    "receipt stops the run and says what to do."
)
_CAUSES = (
    (
        "locked|lock timeout",
        f"another program has held it for {postgres.PATIENCE} seconds",
        "Close what has it open, such as a viewer or a backup, then run again.",
    ),
    ("full|no space", "the disk is full", "Free some space, then run again."),
    (
        "readonly|read-only|unable to open|permission denied|not a directory|file exists",
        "it cannot be written",
        "Make it writable, the file and its folder, or the database, then run again.",
    ),
    (
        "not a database",
        "it is no database",
        f"If it is not the ledger, name the ledger in CAMPAIGN_DATABASE_URL. Else: {_RESTORE}",
    ),
    ("malformed|corrupt", "it is damaged", _RESTORE),
)


def _words(error: Exception) -> str:
    """The first line of a database's error message, without values."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    sentence = getattr(getattr(cause, "diag", None), "message_primary", None)
    return str(sentence or cause).strip().partition("\n")[0].rstrip(".")


def _engine(address: URL, *, create: bool) -> Engine:
    if address.get_backend_name() == "postgresql":
        return postgres.engine(address)
    path = Path(address.database or "")
    if not path.exists():
        if not create:
            raise NoLedger(place=path)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # It will hold names and addresses, so only its owner may read it.
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW, 0o600))
    _refuse_a_second_name(path)
    engine = create_engine(
        address, connect_args={"timeout": postgres.PATIENCE}, hide_parameters=True
    )
    event.listen(engine, "connect", _durable)
    event.listen(engine, "begin", _begin)
    return engine


def _refuse_a_second_name(path: Path) -> None:
    """Raise LedgerUnusable if the file has two names: each would have its own locks and log."""
    file = path.resolve()
    if file.is_file() and file.stat().st_nlink > 1:
        cause = "its file has a second name (a hard link)"
        way_out = "Put a copy of it in its place, which has one name, and run again."
    elif any(each.mountpoint == str(file) for each in psutil.disk_partitions(all=True)):
        cause, way_out = "its file is mounted by itself", "Mount its folder instead, and run again."
    else:
        return
    raise LedgerUnusable(place=path, cause=cause, way_out=way_out)


def _durable(connection: sqlite3.Connection, _: object) -> None:
    """Make commits durable, and keep SQLite from moving the log into the file at a commit.

    So a file that loses its log is behind its receipt (receipts.py). `_keep_a_log` switches the log
    on later, once it is known that the database is ours.
    """
    connection.isolation_level = None  # SQLAlchemy begins: see `_begin`
    for pragma in (
        "synchronous=FULL",
        "foreign_keys=ON",
        "secure_delete=ON",  # the file keeps no trace of forgotten people
        "wal_autocheckpoint=0",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    # After a plain BEGIN, two readers could find the same step free, and both claim it.
    reading = connection.get_execution_options().get("reading", False)
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")


def _bring_up_to_date(engine: Engine, *, create: bool, migrate: bool) -> None:
    """Create the tables, or back up and migrate older ones. Foreign tables stay as they are."""
    in_a_file = engine.dialect.name == "sqlite"
    with engine.connect().execution_options(reading=True) as looking:
        version = _version(looking)
    if version == NEWEST:
        return
    if version is None and not create:
        raise NoLedger(place=place_of(engine.url))
    if not (version is None or in_a_file or migrate):
        raise NotMigrated(place=place_of(engine.url), version=version, newest=NEWEST)
    if in_a_file:
        with closing(engine.raw_connection()) as connection:
            _keep_a_log(connection)
        if version is not None:
            _back_up(Path(str(engine.url.database)), version)
    with engine.begin() as connection:
        if not in_a_file:
            postgres.alone(connection)
        version = _version(connection)  # another process may have done it
        if version is None:
            SQLModel.metadata.create_all(connection, checkfirst=False)
            connection.execute(text(f"CREATE TABLE {_VERSIONS} (version_num VARCHAR(32) NOT NULL)"))
            connection.execute(text(f"INSERT INTO {_VERSIONS} VALUES ('{NEWEST}')"))  # noqa: S608
            connection.execute(insert(LedgerId).values(uuid=str(uuid4())))
        elif version != NEWEST:
            _migrate(connection, version)


def _keep_a_log(connection: Any) -> None:
    """Switch the write-ahead log on, and try again while other processes keep SQLite from that."""
    ends = time.monotonic() + postgres.PATIENCE
    while True:
        try:
            connection.cursor().execute("PRAGMA journal_mode=WAL").fetchall()
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > ends:
                raise
            time.sleep(0.02)


def _version(connection: Connection) -> str | None:
    """The version of the tables; None without tables. Raises ForeignDatabase, NewerLedger."""
    place = place_of(connection.engine.url)
    names = set(inspect(connection).get_table_names())
    if not names:
        return None
    ours = {_VERSIONS, LedgerId.__tablename__} <= names
    read = text(f"SELECT version_num FROM {_VERSIONS}")  # noqa: S608
    version = str(connection.scalar(read)) if ours else ""
    if not re.fullmatch("[0-9]{4}", version):
        raise ForeignDatabase(place=place)
    if version > NEWEST:
        raise NewerLedger(place=place, version=version, newest=NEWEST)
    return version


def _back_up(file: Path, version: str) -> None:
    """Copy a ledger before its tables change. An existing copy is not replaced."""
    kept = file.with_name(f"{file.name}.tables-{version}")
    if not kept.exists():
        with closing(sqlite3.connect(file)) as ledger:
            replace(kept, ledger.serialize())


def _migrate(connection: Connection, version: str) -> None:
    """Migrate tables of this version to the newest, in this connection's transaction."""
    for file in _migrations():
        if file.name[:4] > version:
            run_path(str(file))["upgrade"](connection)
    connection.execute(text(f"UPDATE {_VERSIONS} SET version_num = '{NEWEST}'"))  # noqa: S608


def _migrations() -> list[Path]:
    """The files with a function `upgrade`, one for each version, sorted by its number."""
    return sorted(MIGRATIONS.glob("[0-9]*.py"))


def identity(file: str | Path | int) -> tuple[int, int] | None:
    """Identify the file with this name or descriptor; None if there is none."""
    with suppress(OSError):
        status = os.stat(file)  # noqa: PTH116 - before each claim
        return status.st_dev, status.st_ino
    return None


def _is_database(path: str) -> bool:
    """Whether the file is still a database: open connections use cached pages and may not notice.

    Only SQLite may open the file. If this process itself opened and closed it, that would free the
    locks of all connections in this process.
    """
    with closing(sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True)) as looking:
        try:
            looking.execute("PRAGMA schema_version").fetchone()
        except sqlite3.DatabaseError as error:
            return error.sqlite_errorcode not in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
    return True


_VERSIONS = "alembic_version"
NEWEST = _migrations()[-1].name[:4]  # the version that this process knows
