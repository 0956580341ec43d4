"""A worker as a process, and what the tests wait for while it works."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

from tests.support.prefects.prefect_home import PrefectServer, WarmDesk
from tests.support.prefects.warm_start import CAMPAIGN, Warm
from tests.support.session import PATIENCE

PREFECT = str(Path(sys.executable).parent / "prefect")

WORKER = f"import os; os.setsid(); {CAMPAIGN}"
TEMPORARY = "tmp"


def entrusted(desk: WarmDesk) -> WarmDesk:
    """The same desk, once Prefect keeps the credentials: no worker has them in its environment."""
    kept = desk.type("credentials", "entrusted")
    assert kept.code == 0, kept.err
    bare = {name: said for name, said in desk.environment.items() if "ASSESSMENT_" not in name}
    return replace(desk, environment=bare | {"CAMPAIGN_CREDENTIALS_BLOCK": "entrusted"})


@contextmanager
def worker(desk: WarmDesk, pool: str = "campaigns") -> Iterator[Warm]:
    """A worker in a process group of its own; it and its runs are killed at the end.

    What it says is added to `worker.log` in the desk's folder; its temporary files are in `tmp`.
    """
    words = ["worker", "--pool", pool]
    log, temporary = desk.folder / "worker.log", desk.folder / TEMPORARY
    temporary.mkdir(exist_ok=True)
    environment = desk.environment | {"TMPDIR": str(temporary)}
    process = desk.warm.begin(words, desk.folder, environment, WORKER, both=log)
    try:
        yield process
    finally:
        if process.poll() is None:
            go_down(process, signal.SIGKILL)


def go_down(process: "subprocess.Popen[bytes] | Warm", number: signal.Signals) -> None:
    """End a worker and its runs as a machine does that goes down: who is told to end and does not
    is killed. Its runs have sessions of their own, which no signal to its group would reach."""
    everything = psutil.Process(process.pid).children(recursive=True)
    os.killpg(process.pid, number)
    if number != signal.SIGKILL:
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=PATIENCE)
    for one in everything:
        with suppress(psutil.NoSuchProcess):
            one.kill()
    process.kill()
    process.wait(timeout=PATIENCE)


def runs_of(prefect: PrefectServer, tag: str) -> list[dict[str, Any]]:
    """The runs with a tag, in the order in which they were to begin."""
    found = prefect.ask("flow_runs", flow_runs={"tags": {"any_": [tag]}})
    return sorted(found, key=lambda run: str(run["expected_start_time"]))


def wait_until(is_so: Callable[[], Any], log: Path | None = None) -> Any:
    """Ask five times a second until the answer is true; answers it. `log` is shown else."""
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        if answer := is_so():
            return answer
        time.sleep(0.2)  # another process is at work; nothing of it can be awaited here
    said = log.read_text(errors="replace")[-3000:] if log else ""
    raise AssertionError(f"still not so after {PATIENCE:.0f} s\n{said}")
