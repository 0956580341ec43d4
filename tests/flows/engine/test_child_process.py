"""A server that was started for a run does not outlive it, even where the run was killed."""

import os
import subprocess
import sys

import psutil

from tests.support.session import PATIENCE

PARENT = """\
import subprocess, sys, time
from flows.engine.child_process import start_child
child = start_child([sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "0"],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
print(child.pid, child.stdout.readline(), flush=True)
time.sleep(300)
"""


def test_it_ends_with_its_parent() -> None:
    """Nobody told it, and it has a session of its own."""
    command = [sys.executable, "-u", "-c", PARENT]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        number, _, said = parent.stdout.readline().partition(b" ")
        child = psutil.Process(int(number))
        assert b"Serving HTTP" in said
        parent.kill()
        child.wait(timeout=PATIENCE)
