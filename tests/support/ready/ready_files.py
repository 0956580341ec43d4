"""The ready files of config/machines, rehearsed as near as it gets without their engines.

    python -m tests.support.ready.ready_files --server ENVIRONMENT [--people 200] [--only
    compose,systemd]

Root of a Linux machine gives it a machine of its own (tests/support/own_machine.py), where each
service of compose.yaml, and then each unit of systemd, is started with its own command,
environment, user, folder and order, and asked by its own health check. In place of images there are
the programs that are installed: PostgreSQL, Redis, and ENVIRONMENT, which has Prefect with
prefect-redis and asyncpg. Two campaigns go through to a sandbox, whose record judges. It takes five
minutes; what was tried, and what was not, stands in docs/many-machines.md.
"""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from flows.engine.worker_files import FILE, FOLDERS, left_in
from sandbox.server import Sandbox
from tests.support.own_machine import NUMBER, inside, made, move_in
from tests.support.prefects.prefect_home import PrefectServer
from tests.support.prefects.workers import wait_until
from tests.support.ready import ready_compose, ready_units
from tests.support.ready.ready_services import LOGS, PASSWORD, ROOT, Service
from tests.support.session import PATIENCE

ENDED = {"COMPLETED", "FAILED", "CRASHED", "CANCELLED"}
SCENES = {"compose": ready_compose.services, "systemd": ready_units.services}


def campaign(folder: Path, key: str, people: int, more: str = "") -> None:
    """A definition in a folder that the workers own."""
    rows = [f"First{n},Last{n},{key}{n}@example.com" for n in range(people)]
    (folder / f"{key}.csv").write_text("\n".join(["first_name,last_name,email1", *rows]) + "\n")
    (folder / f"{key}.yaml").write_text(
        f"campaign: {key}\nproject: {{name: Engineers}}\nproblem: 42\n"
        f"candidates: {{file: {key}.csv}}\n{more}"
    )
    for one in (folder, *folder.iterdir()):
        os.chown(one, NUMBER, NUMBER)


def rehearse(service: Sandbox, workers: list[Service], folder: Path, people: int) -> None:
    """One campaign begun by hand, and one by its schedule once the first worker was stopped."""
    prefect = PrefectServer("http://127.0.0.1:4200/api", Path("/root"), f"hiring:{PASSWORD}")
    campaign(folder, "first", people)
    print(workers[0].typed("campaign", "deploy", str(folder)).splitlines()[0])
    run = prefect.start("campaign/first")
    service.wait_for(lambda record: len(record.invitations) >= 10, timeout=PATIENCE)
    kept = [one for worker in workers for one in worker.temporary.glob(f"{FOLDERS}/{FILE}")]
    assert kept, "a worker's files of its runs are elsewhere"
    assert not any(left_in(worker.temporary) for worker in workers), "a secret is on the disk"
    state = wait_until(partial(ended, prefect, run), workers[0].log)
    assert state["type"] == "COMPLETED", state["message"]
    by = [one for one in workers if run in one.log.read_text()]
    judge(service, "first", people, by)
    if len(workers) > 1:
        by[0].stop()
        print(f"{by[0].name}: stopped")
        workers = [one for one in workers if one not in by]
    campaign(folder, "second", people, "schedule: {every: 1 minute, timezone: UTC}\n")
    workers[0].typed("campaign", "deploy", str(folder))
    wait_until(lambda: sent(service, "second").total() >= people, workers[0].log)
    judge(service, "second", people, workers)
    doctor = workers[0].typed("campaign", "doctor")
    print("\n".join(line for line in doctor.splitlines() if not line.startswith("ok")))


def ended(prefect: PrefectServer, run: str) -> dict[str, Any] | None:
    state: dict[str, Any] = prefect.call("GET", f"flow_runs/{run}")["state"]
    return state if state["type"] in ENDED else None


def sent(service: Sandbox, key: str) -> Counter[str]:
    everything = service.record.invitations
    return Counter(one.email for one in everything if one.email.startswith(key))


def judge(service: Sandbox, key: str, people: int, by: list[Service]) -> None:
    """Everybody once, by the sandbox's own record."""
    emails = sent(service, key)
    names = ", ".join(one.name for one in by)
    print(f"{key}: {len(emails)} of {people} invited, {emails.total()} emails, by {names}")
    assert len(emails) == emails.total() == people, key


@contextmanager
def standing(services: list[Service]) -> Iterator[None]:
    """Start them in their order; stop them the other way round."""
    with ExitStack() as stack:
        stack.callback(lambda: [one.stop() for one in reversed(services)])
        try:
            for one in services:
                one.start()
            yield
        except BaseException:
            for one in services:
                print(f"--- {one.name}", one.log.read_text()[-4000:], sep="\n")
            raise


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("--server", type=Path, required=True, help="with prefect-redis in it")
    asked.add_argument("--people", type=int, default=200)
    asked.add_argument("--only", default=",".join(SCENES))
    asked.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    given = asked.parse_args()
    if given.inside is None:
        for scene in given.only.split(","):
            if code := inside("tests.support.ready.ready_files", [*sys.argv[1:], "--only", scene]):
                sys.exit(code)
        return
    move_in(given.inside, [Path(sys.base_prefix), Path(sys.prefix), given.server, ROOT])
    made(LOGS).chmod(0o755)
    os.umask(0o022)
    with Sandbox(latency=0.02) as service:
        services, folder = SCENES[given.only](service, given.server)
        with standing(services):
            workers = [one for one in services if "worker" in one.name]
            rehearse(service, workers, folder, given.people)


if __name__ == "__main__":
    main()
