import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from data.store.ledger import Ledger
from sandbox.server import Sandbox
from tests.tasks.sending.desk import Desk


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty ledger, to copy: making one takes longer than most tests."""
    file = tmp_path_factory.mktemp("empty") / "ledger.db"
    Ledger.open(f"sqlite:///{file}").close()
    return file


@pytest.fixture
def desk(
    tmp_path: Path, empty: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Desk]]:
    """Make a desk at a service with these faults; all settings are of this test alone."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    with ExitStack() as stack:

        def made(options: dict[str, Any] | None = None, **faults: Any) -> Desk:
            service = stack.enter_context(Sandbox(**faults))
            shutil.copy(empty, tmp_path)
            ledger = stack.enter_context(Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}"))
            return Desk(ledger, service, tmp_path, options or {})

        yield made
