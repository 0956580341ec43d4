"""Simulated histories: whatever happens in whatever order, everybody is invited exactly once."""

import os
import shutil
from pathlib import Path

import pytest

from data.sending import runs
from data.store.ledger import Ledger
from tasks.sending import run as module
from tasks.status import status
from tests.data.sending import oracle
from tests.tasks.sending.simulation import BusyWriter, History, Loop, in_virtual_time

EACH = 10  # seeds a test


def lives(seed: int, empty: Path, folder: Path) -> list[str]:
    """What is wrong at the end of one history, which has a home of its own."""
    folder.mkdir()
    os.environ["XDG_DATA_HOME"] = str(folder)
    shutil.copy(empty, folder / "ledger.db")
    loop = Loop()
    with Ledger.open(f"sqlite:///{folder / 'ledger.db'}") as ledger, in_virtual_time(loop):
        history = History(seed, ledger, folder)
        try:
            loop.run_until_complete(history.live())
        finally:
            loop.close()
        with ledger.reading() as session:
            stands = status(session, "backend")
        known = oracle.Known(history.allowed)
        wrong = oracle.faults(history.service.entries, stands, known)
        wrong += oracle.complete(history.service.entries, stands)
        if stands["counts"]["invited"] != history.people:
            wrong.append(f"not everybody counts as invited: {stands['counts']}")
        return [f"seed {seed}: {each} ({', '.join(history.told)})" for each in wrong]


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))  # and back again at the end
    monkeypatch.setattr(runs, "Writer", BusyWriter)
    monkeypatch.setattr(module, "Service", module.Service)  # each history puts its own there


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("simulated")
@pytest.mark.parametrize("first", range(0, 100, EACH))
def test_a_hundred_histories(first: int, empty: Path, tmp_path: Path) -> None:
    wrong = [lives(seed, empty, tmp_path / str(seed)) for seed in range(first, first + EACH)]
    assert [each for seed in wrong for each in seed] == []


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.usefixtures("simulated")
@pytest.mark.parametrize("first", range(100, 5000, EACH))
def test_five_thousand_histories(first: int, empty: Path, tmp_path: Path) -> None:
    wrong = [lives(seed, empty, tmp_path / str(seed)) for seed in range(first, first + EACH)]
    assert [each for seed in wrong for each in seed] == []
