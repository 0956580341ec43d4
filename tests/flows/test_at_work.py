"""A scheduled run is dropped beside another one of its deployment, and by nothing that is gone."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock
from uuid import UUID, uuid4

import pytest
from prefect.client.schemas.objects import State
from prefect.states import Completed

from flows import at_work

HOLDER = """\
import fcntl, sys, time
file = open(sys.argv[1], "a")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(at_work, "LOCKS", tmp_path / "data" / "at-work")
    return tmp_path / "data" / "at-work"


def came(monkeypatch: pytest.MonkeyPatch, deployment: UUID | None, *, scheduled: bool) -> str:
    """How a run of this deployment ends."""
    run = SimpleNamespace(deployment_id=deployment, auto_scheduled=scheduled)
    monkeypatch.setattr(at_work, "this_run", lambda: run)
    monkeypatch.setattr(at_work, "_tidy", AsyncMock())

    @at_work.dropped_beside_another
    async def work() -> State[Any]:
        return Completed()

    return asyncio.run(work()).type.value


def test_a_scheduled_run_is_dropped_while_another_one_lives(
    monkeypatch: pytest.MonkeyPatch, locks: Path
) -> None:
    """What a person asked for never is; and what was killed stands in nobody's way."""
    deployment = uuid4()
    assert came(monkeypatch, deployment, scheduled=True) == "COMPLETED"
    command = [sys.executable, "-c", HOLDER, str(locks / str(deployment))]
    holder = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None and holder.stdout.readline() == "held\n"
    try:
        assert came(monkeypatch, deployment, scheduled=True) == "CANCELLED"
        assert came(monkeypatch, deployment, scheduled=False) == "COMPLETED"
        assert came(monkeypatch, uuid4(), scheduled=True) == "COMPLETED"
        assert came(monkeypatch, None, scheduled=False) == "COMPLETED"
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.communicate()
    assert came(monkeypatch, deployment, scheduled=True) == "COMPLETED"


def test_without_a_place_for_locks_runs_go_on(monkeypatch: pytest.MonkeyPatch, locks: Path) -> None:
    """Claims in the ledger keep them safe."""
    locks.parent.write_text("in the way")
    assert came(monkeypatch, uuid4(), scheduled=True) == "COMPLETED"
