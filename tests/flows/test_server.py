"""The Prefect server of a command, which ends with it."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

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
