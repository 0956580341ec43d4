"""A server that was started for a run does not outlive it, even where the run was killed."""

import subprocess
import sys

import psutil

PARENT = """\
import subprocess, sys, time
from flows.leash import leashed
child = leashed([sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "0"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
print(child.pid, flush=True)
time.sleep(60)
"""


def test_it_ends_with_its_parent() -> None:
    """Nobody told it, and it has a session of its own."""
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        assert "http.server" in child.cmdline()
        parent.kill()
        child.wait(timeout=30)
