import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlmodel import Session

from data.store.ledger import Ledger


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty ledger, to copy: making one takes longer than most tests."""
    file = tmp_path_factory.mktemp("empty") / "ledger.db"
    Ledger.open(f"sqlite:///{file}").close()
    return file


@pytest.fixture
def ledger(tmp_path: Path, empty: Path) -> Iterator[Ledger]:
    shutil.copy(empty, tmp_path)
    with Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}") as opened:
        yield opened


@pytest.fixture
def session(ledger: Ledger) -> Iterator[Session]:
    with ledger.writing() as writing:
        yield writing
