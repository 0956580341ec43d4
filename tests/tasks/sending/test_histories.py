"""Simulated histories: whatever happens in whatever order, everybody is invited exactly once."""

import os
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import delete
from sqlmodel import SQLModel

from data.sending import runs
from data.store import lease
from data.store.ledger import Ledger
from data.store.tables import LedgerId
from tasks.sending import run as module
from tasks.status import status_of
from tests.data.sending import oracle
from tests.tasks.sending.simulation import BusyRun, History, Loop, in_virtual_time

EACH = 10  # seeds a test


def lives(seed: int, ledger: Ledger, home: Path) -> list[str]:
    """What is wrong at the end of one history, which begins with an empty ledger."""
    os.environ["XDG_DATA_HOME"] = str(home)
    with ledger.writing() as session:
        for table in reversed(SQLModel.metadata.sorted_tables):
            if table.name != LedgerId.__tablename__:
                session.execute(delete(table))
    loop = Loop()
    with in_virtual_time(loop):
        history = History(seed, ledger, home)
        try:
            loop.run_until_complete(history.live())
        finally:
            loop.close()
        with ledger.reading() as session:
            stands = status_of(session, "backend")
        wrong = oracle.faults(history.service.entries, stands, history.allowed)
        wrong += oracle.complete(history.service.entries, stands)
        if stands["counts"]["invited"] != history.people:
            wrong.append(f"not everybody counts as invited: {stands['counts']}")
        return [f"seed {seed}: {', '.join(wrong)}\n{history.story()}"] if wrong else []


def all_live(seeds: Iterable[int], new_url: str, folder: Path) -> None:
    with Ledger.open(new_url) as ledger:
        wrong = [each for seed in seeds for each in lives(seed, ledger, folder / str(seed))]
    assert not wrong, "\n\n".join(wrong)


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))  # and back again at the end
    monkeypatch.setattr(runs, "Running", BusyRun)
    # Whoever comes second waits a moment in earnest; nobody here would be quicker.
    monkeypatch.setattr(lease, "time", SimpleNamespace(sleep=lambda _: None))
    monkeypatch.setattr(module, "Service", module.Service)  # each history puts its own there


pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.usefixtures("simulated"),
    pytest.mark.parametrize("new_url", ["sqlite"], indirect=True),
]


@pytest.mark.parametrize("first", range(0, 100, EACH))
def test_a_hundred_histories(first: int, new_url: str, tmp_path: Path) -> None:
    all_live(range(first, first + EACH), new_url, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 5000, 5 * EACH))
def test_five_thousand_histories(first: int, new_url: str, tmp_path: Path) -> None:
    all_live(range(first, first + 5 * EACH), new_url, tmp_path)
