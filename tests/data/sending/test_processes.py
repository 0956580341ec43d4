"""Which runs are taken for alive, on machines of every kind."""

import os
import signal
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from data.sending import processes
from data.sending.processes import HEARTBEAT_EXPIRES, Process, is_alive, is_here, this_process

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
LATELY, LONG_AGO = NOW - timedelta(seconds=20), NOW - HEARTBEAT_EXPIRES


@pytest.fixture
def without_a_boot_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A system that does not tell its boot's id, such as gVisor."""
    monkeypatch.setattr(processes, "_BOOT_ID", tmp_path / "nothing")
    processes._boot.cache_clear()
    yield
    processes._boot.cache_clear()


def test_without_a_boot_id_a_living_process_is_alive(without_a_boot_id: None) -> None:
    """It was taken for dead, as nothing told when it started; a machine of its name is another."""
    here = this_process()
    assert is_here(here)
    assert is_alive(here, LONG_AGO, NOW)
    gone = Process(here.host, here.pid, f"{here.start}1")
    assert not is_alive(gone, LATELY, NOW)
    elsewhere = Process(here.host, here.pid, f"1.0/{here.start.partition('/')[2]}")
    assert not is_here(elsewhere)
    assert [is_alive(elsewhere, heard, NOW) for heard in (LATELY, LONG_AGO)] == [True, False]


def test_of_a_hidden_process_the_heartbeat_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    """With hidepid, another user's process looks as if it were not there."""
    run = Process(this_process().host, 2**22 + 1, this_process().start)
    assert not is_alive(run, LATELY, NOW)

    def refuses(pid: int, number: int) -> None:
        assert (pid, number) == (run.pid, 0)
        raise PermissionError

    monkeypatch.setattr(os, "kill", refuses)
    assert [is_alive(run, heard, NOW) for heard in (LATELY, LONG_AGO)] == [True, False]


def test_a_stopped_process_is_alive_and_a_zombie_is_not() -> None:
    """It may wake and send what it claimed; who has ended sends nothing, collected or not."""
    if (child := os.fork()) == 0:
        while True:
            signal.pause()
    run = Process(this_process().host, child, processes._start_of(child))
    os.kill(child, signal.SIGSTOP)
    os.waitpid(child, os.WUNTRACED)
    assert is_alive(run, LONG_AGO, NOW)
    os.kill(child, signal.SIGKILL)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    assert not is_alive(run, LATELY, NOW)
    os.waitpid(child, 0)
    assert not is_alive(run, LATELY, NOW)
