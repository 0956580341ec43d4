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
