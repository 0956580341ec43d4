"""How Prefect's server begins to serve, in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Ends where the server would make its application.
BEGINNING = """\
import gc, socket
from prefect.server.api import server
def create_app(**how):
    print(gc.get_freeze_count() > 100_000, gc.get_threshold()[0])
    raise SystemExit
server.create_app = create_app
from flows.engine import prefect_server
prefect_server._serve(socket.create_server(("127.0.0.1", 0)), temporary=True)
"""


@pytest.mark.journey
def test_what_a_server_imported_is_not_looked_through_for_garbage(tmp_path: Path) -> None:
    """It took a tenth of each start; and what it makes later is looked through often enough."""
    ended = subprocess.run(
        [sys.executable, "-c", BEGINNING],
        env=os.environ | {"PREFECT_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.split() == ["True", "50000"]
