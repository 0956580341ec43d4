"""How fast it is, beside what is bare: `python -m tests.bench [ROW…]` on a quiet machine.

Each row is measured in processes of their own, in turn with what it is compared to, five rounds;
the medians of the ratios are printed. Sandbox and ledger are on this machine; figures of one
machine alone say little.
"""

import asyncio
import csv
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

ROUNDS = 5
IN_FLIGHT = 8
NAMES = ("first_name", "last_name", "email1")
Figures = dict[str, float]


# -- what a child process measures --------------------------------------------------------------


async def _ours(folder: Path, settings: dict[str, str]) -> Figures:
    """Add and invite everybody of people.csv, without Prefect; only the invitations are timed."""
    import pandas  # noqa: F401 - reads tables: an empty program has it as well

    from config.reading import read_campaign
    from config.settings import Settings
    from data.store.lease import lease
    from data.store.ledger import Ledger
    from tasks.plan import make_plan
    from tasks.sending.run import sending

    empty = _peak()
    own = Settings.model_validate(settings)
    read = read_campaign(folder / "bench.yaml")
    with Ledger.open(own.database_url) as ledger, lease(ledger, "bench") as held:
        plan = make_plan(read, ledger, own)
        async with sending(ledger, held, plan.intake.campaign_id, own, asyncio.Event()) as run:
            await run.create()
            await run.attach()
            for batch in run.to_add():
                await run.add(batch)
            with _timed() as figures:
                for batch in run.to_invite():
                    await run.invite(batch)
    return figures | {"peak": _peak() - empty}


async def _bare(folder: Path, settings: dict[str, str]) -> Figures:
    """The same requests by an httpx loop that remembers nothing."""
    from config.definition import Candidate

    url = settings["ASSESSMENT_BASE_URL"]
    asked = {"client_id": "sandbox-client", "client_secret": "sandbox-secret"}
    asked |= {"grant_type": "client_credentials", "audience": settings["ASSESSMENT_AUDIENCE"]}
    with (folder / "people.csv").open() as file:
        rows = [Candidate(**row, stage_id=1).model_dump() for row in csv.DictReader(file)]
    limits = httpx.Limits(max_keepalive_connections=0)
    async with httpx.AsyncClient(base_url=url, limits=limits, timeout=45) as client:
        token = (await client.post("/oauth/token", json=asked)).json()["access_token"]
        client.headers["Authorization"] = f"Bearer {token}"
        body = {"name": "A", "description": "", "state": "open", "starttime": "", "endtime": ""}
        project = (await client.post("/api/projects", json=body)).json()["id"]
        await client.post(f"/api/projects/{project}/problems", json={"problemid": 42})
        ids: list[int] = []
        for at in range(0, len(rows), 100):
            added = await client.post(
                f"/api/projects/{project}/candidates", json=rows[at : at + 100]
            )
            ids += [each["candidate_id"] for each in added.json()]

        async def lane() -> None:
            while ids:
                path = f"/api/projects/{project}/candidates/{ids.pop()}/invite"
                (await client.post(path)).raise_for_status()

        with _timed() as figures:
            await asyncio.gather(*(lane() for _ in range(IN_FLIGHT)))
    return figures


async def _loop(folder: Path, settings: dict[str, str]) -> Figures:
    """All of it by the bare loop, from the start of its process."""
    await _bare(folder, settings)
    return {}


def _run(folder: Path, settings: dict[str, str]) -> Figures:
    from flows.cli.app import main

    sys.argv[1:] = ["run", str(folder / "bench.yaml"), "--yes"]
    try:
        main()
    except SystemExit as ended:
        assert ended.code == 0
    return {}


def _flow(folder: Path, settings: dict[str, str]) -> Figures:
    from prefect import flow

    flow(persist_result=False)(lambda: None)()
    return {}


@contextmanager
def _timed() -> Iterator[Figures]:
    figures: Figures = {}
    wall, cpu = time.perf_counter(), time.process_time()
    yield figures
    figures |= {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def _peak() -> float:
    """Megabytes at most, so far; `getrusage` would count the process that started this one."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


# -- rows ---------------------------------------------------------------------------------------


def measured(child: str, people: int, latency: float = 0.0) -> Figures:
    """Figures of one child process, with a sandbox, a ledger and a table of its own."""
    from sandbox.faults import ALWAYS, late
    from sandbox.server import Sandbox

    if child == "whole":
        run, empty = measured("run", people, latency), measured("flow", people)
        return {name: run[name] - empty[name] for name in run}
    faults = {"invite": late(latency, times=ALWAYS)} if latency else {}
    with tempfile.TemporaryDirectory() as name, Sandbox(**faults) as service:
        folder = Path(name)
        them = [("Ann", f"Person{n}", f"person{n}@example.org") for n in range(people)]
        (folder / "people.csv").write_text("\n".join(",".join(row) for row in (NAMES, *them)))
        listed = [dict(zip(NAMES, row, strict=True)) for row in them]  # as JSON it is YAML
        candidates = "{file: people.csv}" if people > 10 else json.dumps(listed)
        what = "campaign: bench\nproject: {name: Bench}\nproblem: 42\ncandidates: "
        (folder / "bench.yaml").write_text(what + candidates)
        settings = service.settings | {"CAMPAIGN_DATABASE_URL": f"sqlite:///{folder}/ledger.db"}
        command = [sys.executable, "-m", "tests.bench", "--child", child, name]
        began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        told = subprocess.run(command, env=os.environ | settings, capture_output=True, check=True)
        found: Figures = json.loads(told.stdout.splitlines()[-1])
    if not found:
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = spent.ru_utime + spent.ru_stime - before.ru_utime - before.ru_stime
        found = {"wall": time.perf_counter() - began, "cpu": cpu}
    return {name: n if name == "peak" else n * 1000 / people for name, n in found.items()}


def ratio(title: str, ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> None:
    """Print the medians of ours, of theirs, and of the ratios pair by pair."""
    pairs = [(measured(*ours), measured(*theirs)) for _ in range(ROUNDS)]
    for figure in sorted({*pairs[0][0]} & {*pairs[0][1]}):
        mine, other = ([pair[i][figure] for pair in pairs] for i in (0, 1))
        ratios = [a / b for a, b in zip(mine, other, strict=True)]
        medians = " / ".join(f"{statistics.median(each):9.4f}" for each in (mine, other))
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        print(f"{title:<34} {figure:<5} {medians} = {statistics.median(ratios):.2f}  ({spread})")


# what it is, whom it measures, and what it is compared to: a child, its people, the service's time
ROWS: dict[str, tuple[str, tuple[Any, ...], tuple[Any, ...]]] = {
    "send-20": ("5,000 at 20 ms, beside a bare loop", ("ours", 5_000, 0.02), ("bare", 5_000, 0.02)),
    "send-0": ("5,000 at 0 ms, beside a bare loop", ("ours", 5_000), ("bare", 5_000)),
    "whole": (
        "a run of 3,000 less an empty flow, by a loop",
        ("whole", 3_000, 0.02),
        ("loop", 3_000, 0.02),
    ),
    "grow": ("one of 100,000, beside one of 1,000", ("ours", 100_000), ("ours", 1_000)),
    # With PREFECT_API_URL both speak to that server; without, each starts its own, in one home.
    "run": ("a run of ten, beside an empty flow", ("run", 10), ("flow", 10)),
}


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        work = globals()[f"_{sys.argv[2]}"](Path(sys.argv[3]), dict(os.environ))
        print(json.dumps(asyncio.run(work) if asyncio.iscoroutine(work) else work))
        return
    print("wall and cpu in milliseconds a person, peak in megabytes over the empty program")
    with tempfile.TemporaryDirectory() as home:
        os.environ.setdefault("PREFECT_HOME", home)
        measured("flow", 1)  # which makes the tables of Prefect's database
        for name in sys.argv[1:] or ROWS:
            ratio(*ROWS[name])


if __name__ == "__main__":
    main()
