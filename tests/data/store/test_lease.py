"""The lease: one process a campaign, and dead ones let go."""

import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from data.store.lease import AtWork, LeaseLost, is_free, lease
from data.store.ledger import Ledger

in_a_file = pytest.mark.parametrize("new_url", ["sqlite"], indirect=True)

HOLD = """
import sys
from data.store.lease import lease
from data.store.ledger import Ledger
with Ledger.open(sys.argv[1]) as ledger, lease(ledger, sys.argv[2]) as held:
    print("held", flush=True)
    for line in sys.stdin:
        held()
        print("still", flush=True)
"""


Begin = Callable[[str], subprocess.Popen[str]]


@pytest.fixture
def other(new_url: str) -> Iterator[Begin]:
    """Begin another process that holds the lease of a campaign."""
    begun: list[subprocess.Popen[str]] = []

    def begin(key: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", HOLD, new_url, key]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        begun.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        return process

    yield begin
    for process in begun:
        process.kill()
        process.communicate()


@in_a_file
def test_a_ledger_has_one_lease_whatever_it_is_called(new_url: str, tmp_path: Path) -> None:
    (tmp_path / "other.db").symlink_to(tmp_path / "ledger.db")
    other = f"sqlite:///{tmp_path / 'other.db'}"
    with Ledger.open(new_url) as ledger, lease(ledger, "backend"), Ledger.open(other) as same:
        assert not is_free(same, "backend")
        with pytest.raises(AtWork), lease(same, "backend"):
            pass


def test_who_comes_second_is_told_who_is_at_work(new_url: str, other: Begin) -> None:
    process = other("backend")
    with Ledger.open(new_url) as ledger:
        assert not is_free(ledger, "backend")
        with pytest.raises(AtWork) as told, lease(ledger, "backend"):
            pass
        assert f"process {process.pid} on {socket.gethostname()[:40]}" in str(told.value)
        with lease(ledger, "frontend"):  # another campaign goes on meanwhile
            assert is_free(ledger, "backend") is False


def test_who_died_holds_nothing(new_url: str, other: Begin, request: pytest.FixtureRequest) -> None:
    process = other("backend")
    process.kill()
    process.wait()
    if new_url.startswith("postgresql"):
        request.getfixturevalue("postgres").gone(f"% {process.pid}")
    with Ledger.open(new_url) as ledger:
        assert is_free(ledger, "backend")
        with lease(ledger, "backend") as held:
            held()


def remove_file(folder: Path) -> None:
    (folder / "backend").unlink()


@in_a_file
@pytest.mark.parametrize("harm", [shutil.rmtree, remove_file])
def test_a_lock_that_is_gone_is_noticed(new_url: str, harm: Callable[[Path], None]) -> None:
    with Ledger.open(new_url) as ledger, lease(ledger, "backend") as first:
        first()
        harm(ledger.locks)
        with pytest.raises(LeaseLost, match="Nothing more is sent"):
            first()
        with lease(ledger, "backend") as second:  # another may begin, with a file in its place
            second()
            with pytest.raises(LeaseLost):
                first()


@in_a_file
@pytest.mark.parametrize("key", ["..", "a/b", ".sending", "ä ö", "x" * 60, "%2E"])
def test_any_key_has_a_lock_of_its_own(new_url: str, key: str) -> None:
    with Ledger.open(new_url) as ledger, lease(ledger, key), lease(ledger, "another"):
        assert len(list(ledger.locks.iterdir())) == 2
        assert not is_free(ledger, key)
    with Ledger.open(new_url) as ledger:
        assert is_free(ledger, key)
