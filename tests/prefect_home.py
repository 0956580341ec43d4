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

    def ask(self, what: str, **body: Any) -> list[dict[str, Any]]:
        """Ask the server's API for `flow_runs` or `task_runs`."""
        response = httpx.post(f"{self.api}/{what}/filter", json={"limit": 200, **body})
        response.raise_for_status()
        found: list[dict[str, Any]] = response.json()
        return found


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
