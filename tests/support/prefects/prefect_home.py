"""A Prefect server of the tests' own, and campaigns run against it as a person runs them.

The modules that ask for `prefect` and `desk` share a server (conftest.py): each looks only for
runs of its own, and when all are over, nobody's name is in anything that the server keeps.
"""

import os
import re
import subprocess
import sys
import time
from base64 import b64encode
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from flows.run.inviting import PART
from sandbox.server import Sandbox
from tests.support.ports import free_port
from tests.support.prefects.prefect_tables import furnish
from tests.support.prefects.warm_start import CAMPAIGN as TYPED
from tests.support.prefects.warm_start import Warm, WarmStart
from tests.support.session import PATIENCE

CAMPAIGN = str(Path(sys.executable).parent / "campaign")
IN_FLIGHT = 8  # invitations at the same time, where nobody sets it otherwise
# As the command `prefect` does it; but what a busy server is told is never lost to a lock.
PREFECT_TYPED = """\
from flows.engine.prefect_database import write_in_turn
from prefect.cli import app
write_in_turn()
sys.exit(app())
"""


# Seconds between looks, so that a test waits for what it is about. A run that is taken long
# before it is due stands in the way of the next one.
QUICK = {
    "PREFECT_WORKER_QUERY_SECONDS": "1",
    "PREFECT_WORKER_PREFETCH_SECONDS": "1",
    "PREFECT_RUNNER_POLL_FREQUENCY": "1",
}


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


@dataclass(frozen=True)
class WarmDesk(Desk):
    """A desk at which commands begin with Prefect imported."""

    warm: WarmStart

    def start(self, *words: object, **more: str) -> Warm:  # type: ignore[override]
        """Start a command as a process; its output is read by `answer`."""
        return self.python(TYPED, *words, **more)

    def python(self, code: str, *words: object, **more: str) -> Warm:
        """Start Python code as a process, with these words as its arguments."""
        return self.warm.begin([*map(str, words)], self.folder, self.environment | more, code)


def answer(process: subprocess.Popen[str] | Warm) -> Answer:
    """Wait for a process and collect what it said."""
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode is not None
    assert "sandbox-secret" not in out + err
    return Answer(process.returncode, out, err)


@dataclass(frozen=True)
class PrefectServer:
    """A standing server: its API address, its home folder and, where it asks for one, its login."""

    api: str
    home: Path
    login: str = ""

    def enter(self) -> dict[str, str]:
        """What a request carries that the server lets in, as Prefect's own client has it."""
        if not self.login:
            return {}
        mine = {"Authorization": f"Basic {b64encode(self.login.encode()).decode()}"}
        client = str(uuid4())
        token = httpx.get(
            f"{self.api}/csrf-token?client={client}", headers=mine, timeout=PATIENCE, verify=False
        )
        token.raise_for_status()
        return mine | {
            "Prefect-Csrf-Client": client,
            "Prefect-Csrf-Token": token.json()["token"],
        }

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Ask the server's API; on a busy machine it may take long, or ask to come again."""
        ends = time.monotonic() + PATIENCE
        only_reads = method == "GET" or path.endswith("/filter")
        come_again = {503, 500} if only_reads else {503}  # 500: its database is locked
        while True:
            # Reading every authority of the world takes longer than the whole answer.
            answer = httpx.request(
                method,
                f"{self.api}/{path}",
                json=body,
                headers=self.enter(),
                timeout=PATIENCE,
                verify=False,
            )
            if answer.status_code not in come_again or time.monotonic() > ends:
                answer.raise_for_status()
                return answer.json() if answer.content else None
            time.sleep(0.5)  # its database is busy; it asks to come again

    def ask(self, what: str, **body: Any) -> list[dict[str, Any]]:
        """Ask the server's API for `flow_runs` or `task_runs`."""
        found: list[dict[str, Any]] = self.call("POST", f"{what}/filter", {"limit": 200, **body})
        return found

    def begun(self, **which: Any) -> list[dict[str, Any]]:
        """The runs that began, of those asked for.

        Prefect's client asks for a run once more where the answer was lost (ReadTimeout, 503), and
        its server has no key to know it by: a second one, without a name, stays Pending for ever.
        """
        return [run for run in self.ask("flow_runs", **which) if run["start_time"]]

    def deployment(self, name: str) -> str:
        """The id of a deployment, as `flow/name`."""
        return str(self.call("GET", f"deployments/name/{name}")["id"])

    def start(self, name: str, **parameters: Any) -> str:
        """Ask for a run of a deployment as the button in the UI does; answers its id."""
        asked = {"state": {"type": "SCHEDULED", "name": "Scheduled"}, "parameters": parameters}
        made = self.call("POST", f"deployments/{self.deployment(name)}/create_flow_run", asked)
        return str(made["id"])


def most_sent(until_then: int) -> int:
    """How many invitations a run has sent at most at its end, if so many were there once it had
    been stopped in Prefect. It asks Prefect at least when half of a part has left: the next time
    it stops, and no more than the rest of that part leaves until it has the answer.
    """
    left = until_then + IN_FLIGHT  # at most: of those, none is there yet
    return (left + PART // 2) // PART * PART + PART


def kept(prefect: PrefectServer) -> dict[Path, bytes]:
    """Every file that the server and its runs have written into their home."""
    found = {}
    for path in (one for one in prefect.home.rglob("*") if one.is_file()):
        with suppress(FileNotFoundError):  # a journal goes when its database is closed
            found[path] = path.read_bytes()
    assert any(path.name == "prefect.db" for path in found)
    return found


def knows_nobody(prefect: PrefectServer) -> None:
    """No candidate's name or address and no credential is in anything that Prefect keeps.

    Said after the tests of a server, whatever they did: schedules, crashes, bad files, refusals.
    """
    # An address goes on behind its @: in SQLite's indexes an id that ends in "ada" may stand before
    # a byte 64.
    words = [rb"person1@", rb"First1", rb"Last1", rb"Lovelace", rb"(?:ada|grace)@[\w.-]{4}"]
    words += [rb"sandbox-secret", rb"sandbox-client"]
    for path, content in kept(prefect).items():
        assert [word for word in words if re.search(word, content)] == [], path.name


OF_A_DESK = ("*", "out/**/*", "inbox/**/*", "logs/**/*")


def kept_no_secret(folder: Path, service: Sandbox, names: Iterable[str] = OF_A_DESK) -> None:
    """Neither the secret nor a token is in any file of a desk: ledger, receipts, results, logs."""
    token = re.compile(rb"[0-9]{10}\.[0-9]{3}:[0-9a-f]{14}")  # as the sandbox issues them
    assert token.search(service.authorization()["Authorization"].encode())
    for file in (one for name in names for one in folder.glob(name) if one.is_file()):
        content = file.read_bytes()
        assert service.client_secret.encode() not in content, file.name
        assert not token.search(content), file.name
        if file.suffix == ".receipt":
            assert b"@" not in content and b"First1" not in content, file.name


def led_to(prefect: PrefectServer) -> dict[str, str]:
    """An environment with nothing in it but the way to a server."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(prefect.home),
        "PREFECT_HOME": str(prefect.home / ".prefect"),
        "PREFECT_API_URL": prefect.api,
    }


def of_its_own(folder: Path, service: Sandbox) -> dict[str, str]:
    """What a desk adds to that: a ledger in its folder, and its service."""
    return {
        "CAMPAIGN_DATABASE_URL": f"sqlite:///{folder / 'ledger.db'}",
        "CAMPAIGN_OUTPUT_DIR": str(folder / "out"),
        "XDG_DATA_HOME": str(folder.parent / f"{folder.name}-data-directory"),
        **service.environment(),
    }


@dataclass(frozen=True)
class Standing:
    """A server, and what it and the commands at every desk beside it are forked from."""

    server: PrefectServer
    warm: WarmStart


@contextmanager
def standing_in(folder: Path) -> Iterator[Standing]:
    """Let a server stand; when it ends, nobody's name is in anything that it kept."""
    for name in ("prefect", "typed"):
        (folder / name).mkdir()
    port = free_port()
    server = PrefectServer(f"http://127.0.0.1:{port}/api", folder / "prefect")
    furnish(server.home / ".prefect")
    environment = of_the_server(server, port) | QUICK
    with WarmStart(environment, folder / "typed") as warm:
        words = ["server", "start", "--port", str(port), "--log-level", "WARNING"]
        log = server.home / "server.log"
        process = warm.begin(words, server.home, environment, PREFECT_TYPED, both=log)
        try:
            wait_for_server(f"{server.api}/health", process)
            yield Standing(server, warm)
        finally:
            process.terminate()
            process.communicate(PATIENCE)
        knows_nobody(server)


@contextmanager
def prefect_server(home: Path) -> Iterator[PrefectServer]:
    """A server that starts as on anybody's machine, in an empty home, and is ended again."""
    port = free_port()
    server = PrefectServer(f"http://127.0.0.1:{port}/api", home)
    command = [str(Path(sys.executable).parent / "prefect"), "server", "start", "--port", str(port)]
    with (home / "server.log").open("wb") as log:
        environment = of_the_server(server, port)
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            wait_for_server(f"{server.api}/health", process)
            yield server
        finally:
            process.terminate()
            process.wait(timeout=100)


def of_the_server(server: PrefectServer, port: int) -> dict[str, str]:
    """The environment of a server itself."""
    return led_to(server) | {
        "PREFECT_SERVER_API_PORT": str(port),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        # A server at work may miss that a deployment is new: the next look is a minute away.
        "PREFECT_SERVER_SERVICES_SCHEDULER_LOOP_SECONDS": "5",
        "DO_NOT_TRACK": "1",
    }


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    """A server on which nothing is deployed."""
    with standing_in(tmp_path_factory.mktemp("plain")) as standing:
        yield standing


@pytest.fixture(scope="module")
def automated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    """A module's own server, for what is deployed."""
    with standing_in(tmp_path_factory.mktemp("automated")) as standing:
        yield standing


@pytest.fixture
def standing(plain: Standing) -> Standing:
    """The server that a module uses; one that deploys says `automated` instead."""
    return plain


@pytest.fixture
def prefect(standing: Standing) -> PrefectServer:
    return standing.server


@pytest.fixture
def desk(tmp_path: Path, standing: Standing) -> Iterator[WarmDesk]:
    """A fresh folder, ledger and sandbox beside the server that is shared."""
    with Sandbox() as service:
        environment = led_to(standing.server) | of_its_own(tmp_path, service)
        yield WarmDesk(tmp_path, service, environment, standing.warm)
        kept_no_secret(tmp_path, service)


def wait_for_server(address: str, server: "subprocess.Popen[bytes] | Warm") -> None:
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        if server.poll() is not None:
            break
        try:
            if httpx.get(address, timeout=PATIENCE).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)  # nothing can be awaited before there is a socket
    raise RuntimeError(f"no answer from {address}")
