"""The Prefect server of a command, which ends with it."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

from flows.prefect_home import prefect_home

NOBODY_ASKS_IT = """
from flows.server import prefect_server
with prefect_server():
    print("no", flush=True)
"""


def test_a_server_that_nobody_asks_is_not_awaited(tmp_path: Path) -> None:
    """Whoever answers "n" need not wait until it has started."""
    settings = {"PREFECT_HOME": str(tmp_path), "PREFECT_API_URL": ""}
    with (tmp_path / "tables.lock").open("w") as ours:
        fcntl.flock(ours, fcntl.LOCK_EX)  # as long as another one makes its tables, it waits
        command = [sys.executable, "-c", NOBODY_ASKS_IT]
        done = subprocess.run(
            command, env=os.environ | settings, stdout=subprocess.PIPE, timeout=45, check=False
        )
    assert (done.returncode, done.stdout) == (0, b"no\n")


def test_each_ledger_has_a_prefect_of_its_own(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.delenv("PREFECT_HOME", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    for url in ("sqlite:////x/a.db", "postgresql://me:old@h/x", "postgresql://me:new@h/x"):
        monkeypatch.setenv("CAMPAIGN_DATABASE_URL", url)
        prefect_home()
    assert len([*(tmp_path / "hiring-campaigns").iterdir()]) == 2  # a password makes no ledger
