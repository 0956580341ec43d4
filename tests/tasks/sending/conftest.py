import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from data.store.ledger import Ledger
from sandbox.server import Sandbox
from tests.data.ledgers import empty, new_url, postgres
from tests.tasks.sending.desk import Desk

__all__ = ["empty", "new_url", "postgres"]
MEMORY = "/dev/shm"


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: a killed process loses nothing that it wrote."""
    if not os.access(MEMORY, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield Path(folder)


@pytest.fixture
def desk(
    tmp_path: Path, new_url: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Desk]]:
    """Make a desk at a service with these faults; all settings are of this test alone."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    with ExitStack() as stack:

        def made(options: dict[str, Any] | None = None, **faults: Any) -> Desk:
            service = stack.enter_context(Sandbox(**faults))
            ledger = stack.enter_context(Ledger.open(new_url))
            return Desk(ledger, service, tmp_path, options or {})

        yield made
