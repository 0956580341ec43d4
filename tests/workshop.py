"""Where histories happen: a real ledger file, and a world put in place of the real one.

Time, processes, hosts, the service, signals and files of definitions are simulated; every
statement of the ledger and every decision is the product's own.
"""

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from data import recovery
from data.ledger import Ledger
from data.opening import open_engine
from tests.virtual_time import HERE, WallClock


class Workshop:
    """One ledger file, emptied for each history, and the patches that put the world in place."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        url = f"sqlite:///{folder / 'ledger.db'}"
        Ledger.open(url).close()
        self.engine = open_engine(url, create=False)
        self.ledger = Ledger(self.engine)
        event.listen(self.engine, "commit", _disk)
        self.witness = sqlite3.connect(folder / "ledger.db", isolation_level=None)
        # Power cuts have tests of their own; here every commit counts as durable.
        event.listen(self.engine, "connect", _hasty, insert=False)
        self.tables = [
            name
            for (name,) in self.witness.execute("SELECT name FROM sqlite_master WHERE type='table'")
            if name not in ("alembic_version", "ledger", "sqlite_sequence")
        ]

    def close(self) -> None:
        self.witness.close()
        self.ledger.close()

    def empty(self) -> None:
        """Forget the last history."""
        self.witness.execute("PRAGMA foreign_keys=OFF")
        self.witness.execute("BEGIN")
        for name in self.tables:
            self.witness.execute(f"DELETE FROM {name}")
        self.witness.execute("DELETE FROM sqlite_sequence")
        self.witness.execute("COMMIT")
        for left in self.folder.glob("*.receipt"):
            left.unlink()
        recovery.OWN_RUNS.clear()


@contextmanager
def workshop() -> Iterator[Workshop]:
    """Open a workshop in memory where there is such a place, else on the disk."""
    memory = Path("/dev/shm")
    with ExitStack() as opened:
        place = memory if memory.is_dir() else None
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(dir=place)))
        patch = opened.enter_context(pytest.MonkeyPatch.context())
        patch.setattr("data.recovery.OWN_RUNS", set())
        patch.setattr("data.ledger.datetime", WallClock)
        patch.setattr("sandbox.record.datetime", WallClock)
        patch.setattr("data.processes.socket", SimpleNamespace(gethostname=lambda: HERE.get().host))
        patch.setattr("data.processes.os", SimpleNamespace(getpid=lambda: HERE.get().pid))
        patch.setattr("data.processes._start_of", _start_of)
        patch.setattr("tasks.asked.digest_of", lambda *_: HERE.get().world.digest)
        patch.setattr("tasks.asked.read_campaigns", lambda *_: HERE.get().world.reading())
        patch.setattr("tasks.sending.random", SimpleNamespace(uniform=_jitter))
        patch.setattr("flows.order.Service", _client)
        patch.setattr("flows.work.stopping_on_signals", _signals)
        patch.setattr("flows.order.write_links", lambda *_: None)
        yield opened.enter_context(closing(Workshop(folder)))


def _start_of(pid: int) -> str:
    return HERE.get().world.start_of(pid)


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
    program.world.disk_failed(program)
    real = connection.connection.dbapi_connection
    if fails == "after":
        real.execute("COMMIT")
    full = sqlite3.OperationalError("database or disk is full")
    raise OperationalError(None, None, full)
