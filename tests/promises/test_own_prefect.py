"""Promise 58: Prefect's server and the ledger on PostgreSQL, with workers as on two machines."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from sandbox.faults import ALWAYS, late
from tests.promises.support.commands import BINARY, Campaign, free_port, kill, wait_for
from tests.promises.support.prefect import until_it_answers
from tests.promises.support.service import Service

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
CHECKOUT = Path(__file__).parents[2]
PEOPLE = 200
KEYS = ("north", "south")


@pytest.fixture
def database() -> Iterator[str]:
    """The address of PostgreSQL as Debian has it, with what Prefect's server needs of contrib."""
    where = next(Path("/usr/lib/postgresql").glob("*/bin"), None)
    assert where, "this needs PostgreSQL, with contrib"
    folder, port = Path(tempfile.mkdtemp(prefix="postgres-")), free_port()
    user = []
    if os.geteuid() == 0:  # whom it refuses
        shutil.chown(folder, "postgres")
        user = ["runuser", "-u", "postgres", "--"]
    begin = [*user, where / "initdb", "-D", folder / "data", "-A", "trust", "-U", "me"]
    subprocess.run(begin, check=True, stdout=subprocess.DEVNULL)
    serves = [*user, where / "postgres", "-D", folder / "data", "-k", folder, "-p", str(port)]
    server = subprocess.Popen([*serves, "-c", "fsync=off"], stderr=subprocess.DEVNULL)
    words = ["-h", "127.0.0.1", "-p", str(port), "-U", "me"]
    for name in ("prefect", "ledger"):
        make = [where / "createdb", *words, name]
        wait_for(lambda make=make: _works(make))
    yield f"//me@127.0.0.1:{port}"
    for each in psutil.Process(server.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            each.send_signal(signal.SIGQUIT)
    server.send_signal(signal.SIGQUIT)
    server.wait()
    shutil.rmtree(folder, ignore_errors=True)


class Machines:
    """Prefect's server, and workers, each with a home and a folder of its own."""

    def __init__(self, campaign: Campaign, database: str) -> None:
        self.campaign, self.address = campaign, f"http://127.0.0.1:{free_port()}"
        self.started: list[subprocess.Popen[bytes]] = []
        campaign.environment |= {
            "CAMPAIGN_DATABASE_URL": f"postgresql:{database}/ledger",
            "PREFECT_API_URL": f"{self.address}/api",
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "PATH": f"{Path(BINARY).parent}:{os.environ['PATH']}",
        }
        where = {"PREFECT_SERVER_DATABASE_CONNECTION_URL": f"postgresql+asyncpg:{database}/prefect"}
        port = self.address.rpartition(":")[2]
        self.begin("server", "prefect", "server", "start", "--no-ui", "--port", port, **where)
        until_it_answers(f"{self.address}/api")
        pool = ("work-pool", "create", "campaigns", "--type", "process")
        for words in (pool, ("--no-prompt", "deploy", "--all")):
            made = self.begin("deploys", "prefect", *words, folder=CHECKOUT)
            assert made.wait() == 0, " ".join(words)

    def begin(
        self, name: str, *words: str, folder: Path | None = None, **settings: str
    ) -> "subprocess.Popen[bytes]":
        place = self.campaign.home / name
        place.mkdir(exist_ok=True)
        home = {"HOME": str(place), "PREFECT_HOME": str(place / "prefect")}
        with (place / "output").open("ab") as output:
            self.started.append(
                subprocess.Popen(
                    words,
                    cwd=folder or place,
                    env=self.campaign.environment | home | settings,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                )
            )
        return self.started[-1]

    def worker(self, name: str) -> "subprocess.Popen[bytes]":
        words = ("prefect", "worker", "start", "--pool", "campaigns", "--limit", "1")
        return self.begin(name, sys.executable, "-P", "-m", "flows.gently", *words)

    def ask(self, path: str, body: dict[str, Any]) -> Any:
        answer = httpx.post(f"{self.address}/api/{path}", json=body, timeout=60)
        answer.raise_for_status()
        return answer.json()

    def run(self, key: str, file: Path) -> None:
        (any_file,) = self.ask("deployments/filter", {"deployments": {"name": {"any_": ["any"]}}})
        asked = {"parameters": {"file": str(file), "campaign": key}}
        self.ask(f"deployments/{any_file['id']}/create_flow_run", asked)

    def states(self) -> list[str]:
        return sorted(run["state_name"] for run in self.ask("flow_runs/filter", {}))

    def close(self) -> None:
        for each in self.started:
            kill(each)


@pytest.fixture
def machines(campaign: Campaign, database: str) -> Iterator[Machines]:
    there = Machines(campaign, database)
    yield there
    there.close()


def test_58_two_workers_stopped_killed_and_lost_invite_everybody_once(
    campaign: Campaign, sandbox: Callable[..., Service], machines: Machines
) -> None:
    service = sandbox(invite=late(1.0, times=ALWAYS))
    first, second = machines.worker("first"), machines.worker("second")
    for key in KEYS:
        people = [f"{key}{number}@people.test" for number in range(PEOPLE)]
        machines.run(key, campaign.write(key, people=people))
    wait_for(lambda: all(_invited(service, key) > 5 for key in KEYS), seconds=240)
    first.terminate()  # gently: its run goes on with the next worker
    first.wait(120)
    assert [state for key in KEYS for state in campaign.states(key).values()].count("unsure") == 0
    kill(second)  # as a machine is lost: its run stays Running, whose lease is free
    service.faults["invite"] = None
    up = campaign.start("up", campaign.home)
    wait_for(lambda: machines.states() in FINAL, up, seconds=480)
    left = [state for key in KEYS for state in campaign.states(key).values()]
    assert {*left} <= {"done", "unsure"}
    assert left.count("unsure") <= 8
    assert not service.twice()


# The run of the lost worker has somebody unsure, unless nothing was in flight.
FINAL = (["Completed", "Failed"], ["Completed", "Completed"])


def _works(command: list[object]) -> bool:
    return not subprocess.run(command, capture_output=True, check=False).returncode


def _invited(service: Service, key: str) -> int:
    return sum(address.startswith(key) for address in service.invited())
