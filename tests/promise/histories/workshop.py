"""Where histories happen: a real ledger, and a world put in place of the real one.

Time, processes, hosts, the service, signals and files of definitions are simulated; every
statement of the ledger and every decision is the product's own.
"""

import asyncio
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import event, make_url
from sqlalchemy.exc import OperationalError
from sqlmodel import SQLModel

from data.sending import recovery
from data.store import clock
from data.store.ledger import Ledger
from data.store.opening import open_engine
from tests.promise.histories.virtual_time import HERE, WallClock


class Workshop:
    """One ledger, emptied for each history, and the patches that put the world in place.

    It lies in a file, or in the database on a server at `url`; what becomes of a commit that fails
    there is tried in tests/promise/test_lost_connections.py.
    """

    def __init__(self, folder: Path, url: str | None = None) -> None:
        self.folder = folder
        self.url = url or f"sqlite:///{folder / 'ledger.db'}"
        Ledger.open(self.url).close()
        self.engine = open_engine(self.url, create=False)
        self.ledger = Ledger(self.engine)
        self._in_a_file = url is None
        self._witness: Any = self._in_file() if self._in_a_file else self._on_server()
        self.tables = [
            table.name for table in SQLModel.metadata.sorted_tables if table.name != "ledger"
        ]

    def _in_file(self) -> sqlite3.Connection:
        event.listen(self.engine, "commit", _disk)
        # Power cuts have tests of their own; here every commit counts as durable.
        event.listen(self.engine, "connect", _hasty, insert=False)
        return sqlite3.connect(self.folder / "ledger.db", isolation_level=None)

    def _on_server(self) -> Any:
        import psycopg  # not where everything lies in files

        address = make_url(self.url).set(drivername="postgresql")
        return psycopg.connect(address.render_as_string(False), autocommit=True)

    def close(self) -> None:
        self._witness.close()
        self.ledger.close()

    def ask(self, statement: str, *values: object) -> list[Any]:
        """Look into the ledger beside the product: its rows, as tuples."""
        if not self._in_a_file:
            statement = statement.replace("?", "%s")
        found: list[Any] = self._witness.execute(statement, values).fetchall()
        return found

    def empty(self) -> None:
        """Forget the last history."""
        if self._in_a_file:
            self._witness.execute("PRAGMA foreign_keys=OFF")
            self._witness.execute("BEGIN")
            for name in self.tables:
                self._witness.execute(f"DELETE FROM {name}")
            self._witness.execute("DELETE FROM sqlite_sequence")
            self._witness.execute("COMMIT")
        else:
            self._witness.execute(f"TRUNCATE {', '.join(self.tables)} RESTART IDENTITY")
        for left in self.folder.rglob("*.receipt"):
            left.unlink()
        recovery.OWN_RUNS.clear()


@contextmanager
def workshop(url: str | None = None) -> Iterator[Workshop]:
    """Open a workshop in memory where there is such a place, else on the disk; or on a server."""
    memory = Path("/dev/shm")
    with ExitStack() as opened:
        place = memory if memory.is_dir() else None
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(dir=place)))
        patch = opened.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("XDG_DATA_HOME", str(folder / "data-directory"))
        patch.setattr("data.sending.recovery.OWN_RUNS", set())
        patch.setattr("data.store.clock.datetime", WallClock)
        patch.setattr("data.store.clock._clocks", _clocks)
        patch.setattr(
            "data.store.clock.shared_now", lambda _: clock.now()
        )  # a server's is the world's
        patch.setattr("sandbox.service.record.datetime", WallClock)
        patch.setattr(
            "data.sending.processes.socket",
            SimpleNamespace(gethostname=lambda: HERE.get().host_name),
        )
        patch.setattr("data.sending.processes.os", SimpleNamespace(getpid=lambda: HERE.get().pid))
        patch.setattr("data.sending.processes._start_of", _start_of)
        patch.setattr("data.sending.processes._is_hidden", lambda _: False)
        patch.setattr("tasks.plan.target.sources_of", lambda *_: HERE.get().world.sources())
        patch.setattr("tasks.plan.target.judged", _judged)
        patch.setattr("tasks.sending.sender.random", SimpleNamespace(uniform=_jitter))
        patch.setattr("flows.run.order.Service", _client)
        patch.setattr("flows.run.context.stopping_on_signals", _signals)
        patch.setattr("flows.run.order.write_links", lambda *_: None)
        yield opened.enter_context(closing(Workshop(folder, url)))


def _clocks() -> tuple[float, float]:
    loop = asyncio.get_running_loop()
    return loop.time(), WallClock.now().timestamp()


def _start_of(pid: int) -> str:
    return HERE.get().world.start_of(pid)


def _judged(read: Any) -> Any:
    return HERE.get().world.reading(read)


def _client(*args: Any, **more: Any) -> Any:
    return HERE.get().world.client(*args, **more)


def _jitter(least: float, most: float) -> float:
    return HERE.get().dice.uniform(least, most)


@contextmanager
def _signals(gate: Any) -> Iterator[None]:
    HERE.get().gates.append(gate)
    yield


def _hasty(connection: sqlite3.Connection, _: object) -> None:
    connection.execute("PRAGMA synchronous=OFF")


def _disk(connection: Any) -> None:
    """Fail a commit of a program whose disk is bad: before it is written, or just after."""
    program = HERE.get(None)
    if program is None:
        return
    program.commits += 1
    if (fails := program.bad_disk.get(program.commits)) is None:
        return
    program.world.disk_failed(program, fails)
    real = connection.connection.dbapi_connection
    if fails == "after":
        real.execute("COMMIT")
    full = sqlite3.OperationalError("database or disk is full")
    raise OperationalError(None, None, full)
