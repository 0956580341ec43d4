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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

ROUNDS = 5
IN_FLIGHT = 8
CAMPAIGN = Path(sys.executable).with_name("campaign")
Figures = dict[str, float]


# -- what a child process measures --------------------------------------------------------------


async def _ours(folder: Path, settings: dict[str, str]) -> Figures:
    """Add and invite everybody of people.csv, without Prefect; only the invitations are timed."""
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
        async with sending(ledger, held, plan.campaign_id, own, asyncio.Event()) as run:
            await run.create()
            await run.attach()
            for batch in run.to_add():
                await run.add(batch)
            with _timed() as figures:
                for part in run.turns():
                    await run.invite(part)
    return figures | {"peak": _peak() - empty}


async def _bare(folder: Path, settings: dict[str, str]) -> Figures:
    """The same requests by an httpx loop that remembers nothing."""
    url = settings["ASSESSMENT_BASE_URL"]
    asked = {"client_id": "sandbox-client", "client_secret": "sandbox-secret"}
    asked |= {"grant_type": "client_credentials", "audience": settings["ASSESSMENT_AUDIENCE"]}
    with (folder / "people.csv").open() as file:
        rows = [dict(row, source="", notes="", stage_id=1) for row in csv.DictReader(file)]
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


def _read(folder: Path, settings: dict[str, str]) -> Figures:
    from config.reading import read_campaign

    with _timed() as figures:
        read_campaign(folder / "bench.yaml")
    return figures


def _plan(folder: Path, settings: dict[str, str]) -> Figures:
    """A plan of people who are in the ledger, unchanged; the reading is not counted."""
    from config.reading import read_campaign
    from config.settings import Settings
    from data.store.ledger import Ledger
    from tasks.plan import make_plan

    own = Settings.model_validate(settings)
    read = read_campaign(folder / "bench.yaml")
    with Ledger.open(own.database_url) as ledger:
        make_plan(read, ledger, own)
        with _timed() as figures:
            make_plan(read, ledger, own)
    return figures


def _pandas(folder: Path, settings: dict[str, str]) -> Figures:
    import pandas

    with _timed() as figures:
        pandas.read_csv(folder / "people.csv", dtype=str)
    return figures


@contextmanager
def _timed() -> Iterator[Figures]:
    figures: Figures = {}
    wall, cpu = time.perf_counter(), time.process_time()
    yield figures
    figures |= {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def _peak() -> float:
    """Megabytes at most, so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


CHILDREN: dict[str, Callable[[Path, dict[str, str]], Any]] = {
    "ours": _ours,
    "bare": _bare,
    "read": _read,
    "plan": _plan,
    "pandas": _pandas,
}


# -- rows ---------------------------------------------------------------------------------------


def measured(child: str, people: int, latency: float = 0.0) -> Figures:
    """Figures of one child process, with a sandbox, a ledger and a table of its own."""
    from sandbox.faults import ALWAYS, late
    from sandbox.server import Sandbox

    faults = {"invite": late(latency, times=ALWAYS)} if latency else {}
    with tempfile.TemporaryDirectory() as name, Sandbox(**faults) as service:
        folder = Path(name)
        lines = (f"Ann,Person{n},person{n}@example.org" for n in range(people))
        table = "\n".join(["first_name,last_name,email1", *lines])
        (folder / "people.csv").write_text(table)
        (folder / "bench.yaml").write_text(
            "campaign: bench\nproject: {name: Bench}\nproblem: 42\ncandidates: {file: people.csv}\n"
        )
        settings = service.settings | {"CAMPAIGN_DATABASE_URL": f"sqlite:///{folder}/ledger.db"}
        command = [sys.executable, "-m", "tests.bench", "--child", child, name]
        environment = os.environ | settings
        told = subprocess.run(command, env=environment, capture_output=True, check=True)
        found: Figures = json.loads(told.stdout)
    return found


def whole(*command: object, **environment: str) -> Figures:
    """Wall time of a whole process."""
    began = time.perf_counter()
    subprocess.run([*map(str, command)], env=os.environ | environment, check=True)
    return {"wall": time.perf_counter() - began}


def ratio(name: str, ours: Callable[[], Figures], theirs: Callable[[], Figures]) -> None:
    """Print the medians of ours, of theirs, and of the ratios pair by pair."""
    pairs = [(ours(), theirs()) for _ in range(ROUNDS)]
    for figure in sorted({*pairs[0][0]} & {*pairs[0][1]}):
        mine, other = ([pair[i][figure] for pair in pairs] for i in (0, 1))
        ratios = [a / b for a, b in zip(mine, other, strict=True)]
        medians = " / ".join(f"{statistics.median(each):8.3f}" for each in (mine, other))
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        print(f"{name:<34} {figure:<5} {medians} = {statistics.median(ratios):.2f}  ({spread})")


def each(figures: Figures, people: int) -> Figures:
    return {name: value / people for name, value in figures.items()}


ROWS: dict[str, Callable[[], None]] = {
    "send-20": lambda: ratio(
        "5,000 at 20 ms, beside a bare loop",
        lambda: measured("ours", 5_000, 0.02),
        lambda: measured("bare", 5_000, 0.02),
    ),
    "send-0": lambda: ratio(
        "5,000 at 0 ms, beside a bare loop",
        lambda: measured("ours", 5_000),
        lambda: measured("bare", 5_000),
    ),
    "grow": lambda: ratio(
        "one of 100,000, beside one of 1,000",
        lambda: each(measured("ours", 100_000), 100_000),
        lambda: each(measured("ours", 1_000), 1_000),
    ),
    "peak": lambda: print(f"peak at 100,000: {measured('ours', 100_000)['peak']:.0f} MB more"),
    "plan": lambda: ratio(
        "a plan of 100,000, beside reading",
        lambda: measured("plan", 100_000),
        lambda: measured("read", 100_000),
    ),
    "csv": lambda: ratio(
        "reading 100,000 rows, beside pandas",
        lambda: measured("read", 100_000),
        lambda: measured("pandas", 100_000),
    ),
}


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        work = CHILDREN[sys.argv[2]](Path(sys.argv[3]), dict(os.environ))
        print(json.dumps(asyncio.run(work) if asyncio.iscoroutine(work) else work))
        return
    for name in sys.argv[1:] or ROWS:
        ROWS[name]()


if __name__ == "__main__":
    main()
