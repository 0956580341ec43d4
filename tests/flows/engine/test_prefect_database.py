"""Servers and commands of one Prefect home write into its SQLite database side by side."""

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from flows.engine.login import guarded, made
from tests.support.prefects.prefect_home import PrefectServer
from tests.support.prefects.prefect_tables import furnish
from tests.support.session import PATIENCE


@pytest.mark.journey
def test_who_writes_waits_for_a_turn(tmp_path: Path) -> None:
    """Where another one wrote between its reading and its writing, Prefect's own server answers
    503 at once: "database is locked"."""
    home, login = tmp_path / ".prefect", made()
    furnish(home)
    environment = guarded(login) | {"HOME": str(tmp_path), "PREFECT_HOME": str(home)}
    environment.pop("PREFECT_API_URL", None)
    command = [sys.executable, "-m", "flows.engine.prefect_server"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
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
