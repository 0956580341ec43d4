"""The whole suite many times in a row, every second time beside a load: is it ever red by chance?

`make steady RUNS=20 JOURNEYS=10` does both parts; what each run printed stays in out/steady. A
failure is told at once and goes on counting: each has a cause to be found, and none is tried again.
"""

import argparse
import multiprocessing
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

OUT = Path("out/steady")
BUSY = 6  # processes beside a run, each of which would have a core for itself
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


def main() -> int:
    """Run both parts; 1 if a run was red."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--runs", type=int, default=20)
    asked.add_argument("--journeys", type=int, default=10)
    asked.add_argument("tests", nargs="*", default=["tests"])
    wanted = asked.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    red = 0
    for part, marked, times in (
        ("test", "not journey", wanted.runs),
        ("journeys", "journey", wanted.journeys),
    ):
        red += sum(not _run(part, marked, number, wanted.tests) for number in range(1, times + 1))
    print(f"{wanted.runs + wanted.journeys} runs, {red} red")
    return min(red, 1)


def _run(part: str, marked: str, number: int, tests: list[str]) -> bool:
    """Run a part once, and say how it went. Returns whether it was green."""
    busy = number % 2 == 0
    kept = OUT / f"{part}-{number:02}.txt"
    began = time.monotonic()
    with kept.open("w") as printed, load(BUSY if busy else 0):
        # Each result on a line of its own: a run that is broken off has named its failures.
        pytest = [sys.executable, "-m", "pytest", "-vv", "-m", marked, *tests]
        code = subprocess.run(pytest, stdout=printed, stderr=printed, check=False).returncode
    minutes = (time.monotonic() - began) / 60
    words = kept.read_text()
    last = words.rstrip().rpartition("\n")[2]
    print(f"{part} {number}{' (busy)' if busy else ''}: {minutes:.1f} min, {last}", flush=True)
    for test in FAILED.findall(words):
        print(f"  {test}: see {kept}", flush=True)
    return code == 0


@contextmanager
def load(processes: int) -> Iterator[None]:
    """Keep cores busy with nothing, as long as the block lasts and at most as long as we live."""
    spinning = [multiprocessing.Process(target=_spin, daemon=True) for _ in range(processes)]
    for process in spinning:
        process.start()
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.join()


def _spin() -> None:
    parent = multiprocessing.parent_process()
    while parent is None or parent.is_alive():
        sum(range(100_000))


if __name__ == "__main__":
    sys.exit(main())
