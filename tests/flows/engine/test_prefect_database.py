"""Servers and commands of one Prefect home write into its SQLite database side by side."""

import fcntl
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from flows.engine.login import guarded, made
from tests.support.prefects.prefect_home import PrefectServer
from tests.support.prefects.prefect_tables import furnish
from tests.support.session import PATIENCE


def started(home: Path, login: str) -> "subprocess.Popen[str]":
    environment = guarded(login) | {"HOME": str(home.parent), "PREFECT_HOME": str(home)}
    environment.pop("PREFECT_API_URL", None)
    command = [sys.executable, "-m", "flows.engine.prefect_server"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


@pytest.mark.journey
def test_of_two_servers_in_a_fresh_home_one_makes_its_tables(tmp_path: Path) -> None:
    """As `campaign up` and `campaign run` begin on somebody's first day."""
    home = tmp_path / ".prefect"
    home.mkdir()
    both = []
    try:
        with (home / "tables.lock").open("a") as at_work:
            fcntl.flock(at_work, fcntl.LOCK_EX)
            for _ in range(2):
                both.append(started(home, made()))
                assert both[-1].stdout and both[-1].stdout.readline().startswith("http")
            while not all(map(_waits, both)):
                time.sleep(0.1)  # nothing of another process's locks can be awaited
            assert not (home / "prefect.db").exists()
        assert [server.stdout and server.stdout.readline() for server in both] == ["answers\n"] * 2
    finally:
        for server in both:
            server.terminate()
            server.communicate()


def _waits(server: "subprocess.Popen[str]") -> bool:
    """Whether it has opened the lock of the tables."""
    files = Path(f"/proc/{server.pid}/fd").iterdir()
    return any(file.exists() and file.resolve().name == "tables.lock" for file in files)


@pytest.mark.journey
def test_who_writes_waits_for_a_turn(tmp_path: Path) -> None:
    """Where another one wrote between its reading and its writing, Prefect's own server answers
    503 at once: "database is locked"."""
    home, login = tmp_path / ".prefect", made()
    furnish(home)
    process = started(home, login)
    assert process.stdout is not None
    server = PrefectServer(process.stdout.readline().strip(), home, login)
    try:
        assert process.stdout.readline() == "answers\n"
        flow = server.call("POST", "flows/", {"name": "campaign"})["id"]
        with (
            closing(sqlite3.connect(home / "prefect.db", PATIENCE, isolation_level=None)) as other,
            ThreadPoolExecutor() as threads,
        ):
            url, enter = f"{server.api}/flow_runs/", server.enter()
            other.execute("BEGIN IMMEDIATE")
            asked = threads.submit(
                httpx.post, url, json={"flow_id": flow}, headers=enter, timeout=PATIENCE
            )
            with pytest.raises(TimeoutError):
                asked.result(timeout=3)  # seconds: it has read by then
            other.execute("PRAGMA user_version = 7")
            other.execute("COMMIT")
            assert asked.result().status_code == 201
    finally:
        process.terminate()
        process.communicate()
