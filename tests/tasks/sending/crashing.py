"""Runs that die with SIGKILL at one boundary: a commit, a phase of a request, a receipt.

The boundaries are counted as a run passes them, so number N is the same place every time.
"""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine
from sqlmodel import Session

from data.store import receipts
from data.store.ledger import Ledger
from tasks.service.wire import Call
from tests.tasks.sending.desk import Desk


class Boundaries:
    """Counts what a run passes; at number `dies` the process kills itself. 0: never."""

    def __init__(self, dies: int) -> None:
        self.passed: list[str] = []
        self._dies = dies

    def passes(self, name: str) -> None:
        self.passed.append(name)
        if len(self.passed) == self._dies:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(self) -> None:
        """Have this process pass its boundaries. For a process that ends soon."""
        recording, request, replace = Ledger.recording, Call.request, Path.replace
        event.listen(Engine, "commit", lambda _: self.passes("before a commit"))

        @contextmanager
        def recorded(ledger: Ledger) -> Iterator[Session]:
            with recording(ledger) as session:
                yield session
            self.passes("after a commit")

        def traced(call: Call, trace: Callable[[str, Any], Any]) -> Any:
            async def passing(name: str, info: Any) -> None:
                if call.method == "POST" and call.operation != "token":
                    self.passes(f"{call.operation} {name}")
                await trace(name, info)

            return request(call, passing)  # type: ignore[arg-type]

        def replaced(path: Path, target: Path) -> Path:
            self.passes("before a receipt")
            return replace(path, target)

        Ledger.recording = recorded  # type: ignore[method-assign, assignment]
        Call.request = traced  # type: ignore[method-assign]
        receipts.Path.replace = replaced  # type: ignore[method-assign]


def run_and_die(
    url: str, folder: str, settings: dict[str, str], options: dict[str, Any], dies: int
) -> None:
    """One run in a process of its own; its boundaries are left in a file."""
    os.environ["XDG_DATA_HOME"] = f"{folder}/home"
    boundaries = Boundaries(dies)
    boundaries.watch()
    service: Any = Elsewhere(settings)
    with Ledger.open(url) as ledger:
        asyncio.run(Desk(ledger, service, Path(folder), options).send())
    Path(folder, "passed").write_text("\n".join(boundaries.passed))


class Elsewhere:
    """The service of another process, as a desk needs it."""

    def __init__(self, settings: dict[str, str]) -> None:
        self.settings = settings
