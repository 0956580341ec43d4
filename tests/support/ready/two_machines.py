"""One campaign shared by two workers for real, and what happens when a part of all that breaks.

    python -m tests.support.ready.two_machines [--people 5000] [--server PREFECT] [--only SCENE,…]

The system's PostgreSQL holds the ledger and Prefect's own database (which needs pg_trgm), a Prefect
server stands, and two process workers have a home each. With `--server` naming the `prefect` of an
environment that has prefect-redis, the server passes its messages through a Redis of its own. Each
scene prints what the service received. It takes a quarter of an hour; what was measured stands in
docs/many-machines.md.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from data.campaigns import queries
from data.store.ledger import Ledger
from sandbox.server import Sandbox
from tasks.status.standing import tally
from tests.support.ledgers.journal import attempts
from tests.support.ports import free_port
from tests.support.prefects.prefect_home import (
    CAMPAIGN,
    QUICK,
    Desk,
    PrefectServer,
    wait_for_server,
)
from tests.support.prefects.workers import go_down, wait_until
from tests.support.session import PATIENCE

LATENCY = 0.05  # seconds: the service is the limit
POOL = "campaigns"
ENDED = {"COMPLETED", "FAILED", "CRASHED", "CANCELLED"}
REDIS = {
    "PREFECT_MESSAGING_BROKER": "prefect_redis.messaging",
    "PREFECT_MESSAGING_CACHE": "prefect_redis.messaging",
    "PREFECT_SERVER_EVENTS_CAUSAL_ORDERING": "prefect_redis.ordering",
    "PREFECT_REDIS_MESSAGING_HOST": "127.0.0.1",
}


@contextmanager
def started(command: list[str], log: Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program in the background that is ended again."""
    with log.open("ab") as words:
        process = subprocess.Popen(
            command, env=os.environ | environment, stdout=words, stderr=words, cwd=log.parent
        )
        try:
            yield process
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE)


class Postgres:
    """A database server in a folder, run by the system's own programs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        places = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
        if not places:
            sys.exit("PostgreSQL is not installed: apt-get install postgresql")
        self._bin = places[-1]
        # It refuses to be run by root.
        self._as = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        folder.mkdir()
        if self._as:
            shutil.chown(folder, "postgres")
        self._run("initdb", "-D", folder / "data", "-U", "postgres", "-A", "trust")
        settings = f"unix_socket_directories = '{folder}'\nlisten_addresses = ''\n"
        with (folder / "data" / "postgresql.conf").open("a") as file:
            file.write(f"{settings}max_connections = 300\n")
        self.start()

    def _run(self, program: str, *words: object) -> None:
        subprocess.run(
            [*self._as, str(self._bin / program), *map(str, words)],
            check=True,
            cwd="/",
            stdout=subprocess.DEVNULL,
        )

    def start(self) -> None:
        log = self.folder / "log"
        self._run("pg_ctl", "-D", self.folder / "data", "-l", log, "-w", "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-D", self.folder / "data", "-m", "fast", "-w", "stop")

    def ask(self, statement: str) -> list[tuple[Any, ...]]:
        import psycopg

        address = f"postgresql://postgres@/postgres?host={self.folder}"
        with psycopg.connect(address, autocommit=True) as desk:
            found = desk.execute(statement)  # type: ignore[call-overload]
            return found.fetchall() if found.description else []

    def size(self, database: str) -> int:
        """In bytes, beyond what an empty one takes."""
        grown = f"pg_database_size('{database}') - pg_database_size('template1')"
        [(size,)] = self.ask(f"SELECT {grown}")
        return int(size)


@dataclass
class Ground:
    """What stands while all scenes are played."""

    folder: Path
    postgres: Postgres
    prefect: PrefectServer
    service: Sandbox
    people: int
    scenes: int = 0
    said: list[str] = field(default_factory=list)

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://postgres@/{database}?host={self.folder / 'postgres'}"

    def machine(self, name: str, **more: str) -> Desk:
        """A home and a folder of a worker's own; campaigns, ledger and service are everybody's."""
        home = self.folder / name
        home.mkdir(exist_ok=True)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "PREFECT_HOME": str(home / ".prefect"),
            "PREFECT_API_URL": self.prefect.api,
            "CAMPAIGN_DATABASE_URL": self.url("ledger"),
            "CAMPAIGN_OUTPUT_DIR": str(home / "out"),
            **self.service.environment(),
            **more,
        }
        return Desk(home, self.service, environment)

    def campaign(self, key: str) -> Path:
        """A definition in the folder that all machines see."""
        shared = Desk(self.folder / "campaigns", self.service, {})
        shared.folder.mkdir(exist_ok=True)
        table = shared.folder / f"{key}.csv"
        rows = [f"First{n},Last{n},{key}{n}@example.com" for n in range(self.people)]
        table.write_text("\n".join(["first_name,last_name,email1", *rows]) + "\n")
        path = shared.folder / f"{key}.yaml"
        path.write_text(
            f"campaign: {key}\nproject: {{name: Engineers}}\nproblem: 42\n"
            f"candidates: {{file: {table.name}}}\n"
        )
        return path

    def sent(self, key: str) -> list[float]:
        """When the invitations of a campaign came in, in order, in seconds of the day."""
        mine = [one for one in self.service.record.invitations if one.email.startswith(key)]
        return sorted(one.at.timestamp() for one in mine)

    def shares(self, key: str) -> Counter[int]:
        with Ledger.open(self.url("ledger"), create=False) as ledger:
            campaign = ledger.read(queries.find_campaign, key)
            assert campaign is not None
            return Counter(
                one.run_id
                for one in ledger.read(attempts, campaign.id)
                if one.operation == "invite"
            )

    def counts(self, key: str) -> dict[str, int]:
        """As in the status object, without the cost of a command that is typed again and again."""
        with Ledger.open(self.url("ledger"), create=False) as ledger:
            campaign = ledger.read(queries.find_campaign, key)
            assert campaign is not None
            return tally(ledger.read(queries.counts, campaign.id), send=True)

    def say(self, words: str) -> None:
        self.said.append(words)
        print(words, flush=True)


@contextmanager
def ground(people: int, server: str | None) -> Iterator[Ground]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="two-machines-")))
        folder.chmod(0o755)  # root's database runs as somebody else
        postgres = Postgres(folder / "postgres")
        stack.callback(postgres.stop)
        for database in ("ledger", "prefect"):
            postgres.ask(f"CREATE DATABASE {database}")
        port, home = free_port(), folder / "server"
        home.mkdir()
        address = f"postgresql+asyncpg://postgres@/prefect?host={folder / 'postgres'}"
        environment = {
            "HOME": str(home),
            "PREFECT_HOME": str(home / ".prefect"),
            "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
            "PREFECT_SERVER_API_PORT": str(port),
            "PREFECT_SERVER_DATABASE_CONNECTION_URL": address,
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "DO_NOT_TRACK": "1",
        }
        if server:
            redis = shutil.which("redis-server") or sys.exit("redis-server is not installed")
            at = free_port()
            stack.enter_context(
                started([redis, "--port", str(at), "--save", ""], folder / "redis.log")
            )
            environment |= REDIS | {"PREFECT_REDIS_MESSAGING_PORT": str(at)}
        program = server or str(Path(sys.executable).parent / "prefect")
        command = [program, "server", "start", "--port", str(port)]
        standing = stack.enter_context(started(command, home / "server.log", **environment))
        api = f"http://127.0.0.1:{port}/api"
        wait_for_server(f"{api}/health", standing)
        service = stack.enter_context(Sandbox(latency=LATENCY))
        yield Ground(folder, postgres, PrefectServer(api, home), service, people)


def play(
    ground: Ground,
    scene: str,
    workers: int,
    breaks: Callable[[Ground, str, list[Any]], None] = lambda *_: None,
    **settings: str,
) -> str:
    """Have one campaign sent by so many workers; `breaks` is called amid the invitations."""
    ground.scenes += 1
    key = f"{scene}{ground.scenes}x"
    file = ground.campaign(key)
    settings = {"CAMPAIGN_WAVE_RUNS": str(workers), **settings}
    office = ground.machine("office", **settings)
    deployed = office.type("deploy", file, "--pool", POOL)
    assert deployed.code == 0, deployed.err
    with ExitStack() as stack:
        machines = [ground.machine(f"machine{n}", **settings) for n in range(1, workers + 1)]
        # The wave run goes to the worker that has not the campaign's own run.
        processes = [stack.enter_context(worker(machine)) for machine in machines]
        run = ground.prefect.start(f"campaign/{key}")
        share = ground.people // 5
        wait_until(lambda: len(ground.sent(key)) >= share, machines[0].folder / "worker.log")
        if workers > 1:
            wait_until(lambda: len(ground.shares(key)) > 1, machines[0].folder / "worker.log")
        [(number,)] = ground.postgres.ask(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = 'ledger'"
        )
        ground.say(f"{key}: {number} connections to the ledger")
        breaks(ground, key, processes)
        wait_until(lambda: at_rest(ground, key), machines[0].folder / "worker.log")
        wait_until(lambda: not_running(ground, run))
    return key


@contextmanager
def worker(machine: Desk) -> Iterator[subprocess.Popen[bytes]]:
    """A worker in a process group of its own, which with its run is killed at the end."""
    words = ("worker", "--pool", POOL)
    with (machine.folder / "worker.log").open("ab") as said:
        process = subprocess.Popen(
            [CAMPAIGN, *words],
            env=machine.environment | QUICK,
            cwd=machine.folder,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                go_down(process, signal.SIGKILL)


def at_rest(ground: Ground, key: str) -> bool:
    time.sleep(1)  # whoever looks takes time from those who work
    counts = ground.counts(key)
    return not counts["waiting"] and not counts["sending"]


def not_running(ground: Ground, run: str) -> bool:
    state = ground.prefect.call("GET", f"flow_runs/{run}")["state_type"]
    return state in ENDED or state == "RUNNING"


def judge(ground: Ground, key: str) -> None:
    """Nobody twice, nobody lost; print who sent how many."""
    emails = Counter(
        one.email for one in ground.service.record.invitations if one.email.startswith(key)
    )
    counts = ground.counts(key)
    twice = sum(1 for number in emails.values() if number > 1)
    kept = counts["invited"] + counts["unsure"]
    shares = sorted(ground.shares(key).values(), reverse=True)
    ground.say(
        f"{key}: {len(emails):,} people, {twice} twice, {ground.people - kept} lost, "
        f"{counts['unsure']} unsure, by run {shares}"
    )


def speed(ground: Ground, key: str) -> float:
    """Invitations a second while all workers send: the middle half."""
    times = ground.sent(key)
    some = times[len(times) // 2 : len(times) * 9 // 10]
    return (len(some) - 1) / (some[-1] - some[0])


def longest_silence(ground: Ground, key: str) -> float:
    return max(then - one for one, then in pairwise(ground.sent(key)))


def kill_one(ground: Ground, key: str, processes: list[Any]) -> None:
    go_down(processes[0], signal.SIGKILL)


def restart(ground: Ground, key: str, processes: list[Any]) -> None:
    ground.postgres.stop()
    ground.postgres.start()


def cut(ground: Ground, key: str, processes: list[Any]) -> None:
    for _ in range(10):
        ground.postgres.ask(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'ledger'"
        )
        time.sleep(0.3)


def away(ground: Ground, key: str, processes: list[Any]) -> None:
    ground.postgres.stop()
    time.sleep(30)
    ground.postgres.start()


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("--people", type=int, default=5_000)
    asked.add_argument("--server", help="the prefect of an environment with prefect-redis")
    asked.add_argument("--only", default="speed,killed,rate,restarted,cut,away")
    given = asked.parse_args()
    scenes = given.only.split(",")
    with ground(given.people, given.server) as stage:
        if "speed" in scenes:
            alone, both = (play(stage, f"speed{n}", n) for n in (1, 2))
            judge(stage, alone)
            judge(stage, both)
            one, two = speed(stage, alone), speed(stage, both)
            stage.say(f"invitations a second: {one:.0f} and {two:.0f}, ratio {two / one:.2f}")
        for name, breaks in (("killed", kill_one), ("restarted", restart), ("cut", cut)):
            if name in scenes:
                judge(stage, play(stage, name, 2, breaks))
        if "rate" in scenes:
            key = play(stage, "rate", 2, CAMPAIGN_INVITES_PER_SECOND="100")
            judge(stage, key)
            stage.say(f"at a rate of 100 a second: {speed(stage, key):.1f}")
        if "away" in scenes:
            key = play(stage, "away", 2, away)
            judge(stage, key)
            stage.say(f"longest silence: {longest_silence(stage, key):.1f} s")
        people = stage.people * stage.scenes
        for database in ("ledger", "prefect"):
            stage.say(f"{database}: {stage.postgres.size(database) / people:,.0f} bytes a person")


if __name__ == "__main__":
    main()
