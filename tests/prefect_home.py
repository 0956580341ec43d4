"""A Prefect server of the tests' own, and campaigns run against it as a person runs them."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from sandbox.server import Sandbox

CAMPAIGN = str(Path(sys.executable).parent / "campaign")
PATIENCE = 30.0  # seconds that a server may take on a busy machine


@dataclass(frozen=True)
class Answer:
    """What one command ended with."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Desk:
    """One person's folder, environment and sandbox."""

    folder: Path
    service: Sandbox
    environment: dict[str, str]

    def start(self, *words: object, **more: str) -> subprocess.Popen[str]:
        """Start a command as a process; its output is read by `answer`."""
        return subprocess.Popen(
            [CAMPAIGN, *map(str, words)],
            env=self.environment | more,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def type(self, *words: object, **more: str) -> Answer:
        """Run a command to its end."""
        return answer(self.start(*words, **more))

    def people(self, number: int) -> None:
        """Write people.csv with so many people."""
        rows = [f"First{n},Last{n},person{n}@example.com" for n in range(number)]
        text = "\n".join(["first_name,last_name,email1", *rows])
        (self.folder / "people.csv").write_text(text + "\n")

    def campaign(self, key: str, people: int, *, problem: object = 42) -> Path:
        """Write a definition with so many people; answers its path."""
        self.people(people)
        path = self.folder / f"{key}.yaml"
        path.write_text(
            f"campaign: {key}\nproject: {{name: Engineers}}\nproblem: {problem}\n"
            "candidates: {file: people.csv}\n"
        )
        return path


def answer(process: subprocess.Popen[str]) -> Answer:
    """Wait for a process and collect what it said."""
    out, err = process.communicate(timeout=110)
    return Answer(process.returncode, out, err)


@dataclass(frozen=True)
class PrefectServer:
    """A standing server: its API address and its home folder."""

    api: str
    home: Path

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Ask the server's API; on a busy machine it may take long, or ask to come again."""
        ends = time.monotonic() + PATIENCE
        while True:
            answer = httpx.request(method, f"{self.api}/{path}", json=body, timeout=PATIENCE)
            if answer.status_code != 503 or time.monotonic() > ends:
                answer.raise_for_status()
                return answer.json() if answer.content else None
            time.sleep(0.5)  # its database is busy; it asks to come again

    def ask(self, what: str, **body: Any) -> list[dict[str, Any]]:
        """Ask the server's API for `flow_runs` or `task_runs`."""
        found: list[dict[str, Any]] = self.call("POST", f"{what}/filter", {"limit": 200, **body})
        return found

    def deployment(self, name: str) -> str:
        """The id of a deployment, as `flow/name`."""
        return str(self.call("GET", f"deployments/name/{name}")["id"])

    def start(self, name: str) -> str:
        """Ask for a run of a deployment as the button in the UI does; answers its id."""
        asked = {"state": {"type": "SCHEDULED", "name": "Scheduled"}}
        made = self.call("POST", f"deployments/{self.deployment(name)}/create_flow_run", asked)
        return str(made["id"])


@contextmanager
def prefect_server(home: Path) -> Iterator[PrefectServer]:
    """Start a server in an empty home and end it again."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    api = f"http://127.0.0.1:{port}/api"
    environment = os.environ | {
        "HOME": str(home),
        "PREFECT_HOME": str(home / ".prefect"),
        "PREFECT_API_URL": api,
        "PREFECT_SERVER_API_PORT": str(port),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
    }
    with (home / "server.log").open("wb") as log:
        prefect = str(Path(sys.executable).parent / "prefect")
        command = [prefect, "server", "start", "--port", str(port)]
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            _wait_for(f"{api}/health", server)
            yield PrefectServer(api, home)
        finally:
            server.terminate()
            server.wait(timeout=30)


def _wait_for(address: str, server: subprocess.Popen[bytes]) -> None:
    ends = time.monotonic() + 100
    while time.monotonic() < ends:
        if server.poll() is not None:
            break
        try:
            if httpx.get(address).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)  # nothing can be awaited before there is a socket
    raise RuntimeError("the Prefect server did not start")
