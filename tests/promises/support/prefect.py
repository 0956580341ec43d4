"""One Prefect server for a session, so that a run costs its imports only.

The first test that types `run` starts it and every worker of the session shares it. It ends when
the last of them has left, however they left: a keeper reads a pipe that all of them hold open.
"""

import fcntl
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.promises.support.commands import free_port, wait_for

KEEPER = """\
import subprocess, sys
server = subprocess.Popen(sys.argv[2:])
open(sys.argv[1]).read()
server.terminate()
server.wait()
"""
SERVER = "-m uvicorn --factory prefect.server.api.server:create_app --log-level error --port"


@dataclass(frozen=True)
class Server:
    """Where it answers, and where its database is: `sqlite3.connect(server.database)`."""

    url: str
    database: Path

    def ready(self) -> "Server":
        """Wait until it answers."""
        until_it_answers(self.url)
        return self


def until_it_answers(url: str) -> None:
    """Wait for a server of Prefect's, however busy the machine."""

    def answers() -> bool:
        try:
            return httpx.get(f"{url}/health", timeout=5).is_success
        except httpx.TransportError:
            return False

    wait_for(answers, seconds=300)


def begin(folder: Path) -> Server:
    """Start the server of a session, or share the one that another worker started."""
    home = folder / "prefect-of-the-session"
    home.mkdir(exist_ok=True)
    pipe, port_file = home / "held-open", home / "port"
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not pipe.exists():
            port_file.write_text(str(free_port()))
            os.mkfifo(pipe)
            _start(home, pipe, port_file.read_text())
        os.open(pipe, os.O_WRONLY)  # held until this process ends
    return Server(f"http://127.0.0.1:{port_file.read_text()}/api", home / "prefect.db")


def _start(home: Path, pipe: Path, port: str) -> None:
    environment = {name: value for name, value in os.environ.items() if "PREFECT" not in name} | {
        "PREFECT_HOME": str(home),
        "PREFECT_SERVER_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{home / 'prefect.db'}",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_SERVER_UI_ENABLED": "false",
        "DO_NOT_TRACK": "1",
    }
    with (home / "output").open("wb") as output:
        subprocess.Popen(
            [sys.executable, "-c", KEEPER, pipe, sys.executable, *SERVER.split(), port],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        ).returncode = 0  # its end is not waited for here
