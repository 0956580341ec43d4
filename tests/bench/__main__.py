"""`make bench`: everything that is measured, side by side, in rounds; a table and a JSON file.

.venv/bin/python -m tests.bench [--quick] [--rounds N] [--only SECTION,SECTION]
"""

import argparse
import json
import platform
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from os import cpu_count
from pathlib import Path
from typing import Any

from rich.console import Console

from tests.bench.figures import Figure, as_json, figure, middles
from tests.bench.measured import growth, killing, recording, sending, starting
from tests.bench.measured.killing import Left
from tests.bench.measured.recording import Recorded
from tests.bench.place import EMPTY_FLOW, QUICK, Place, Round, Size, Wrong, empty
from tests.bench.printing import (
    show_contenders,
    show_figures,
    show_growth,
    show_killed,
    show_recorded,
    show_starts,
)
from tests.bench.targets import targets
from tests.bench.weighing import Failed

IN_ROUNDS = {"sending": sending.measure, "starting": starting.measure, "growth": growth.measure}
SECTIONS = (*IN_ROUNDS, "killing", "recording")
MACHINE = f"{cpu_count()} processors, {platform.system()}, Python {platform.python_version()}"


def main() -> int:
    """Measure and print. 0 also where figures are missed: they are this machine's.

    1 where something could not be measured. What was, is written and printed all the same.
    """
    asked = _arguments().parse_args()
    size = QUICK if asked.quick else Size()
    size = replace(size, rounds=asked.rounds or size.rounds)
    console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
    found = Found(size)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        place, sections = Place(Path(folder), size), asked.only.split(",")
        try:
            place.prepare()
            for section in _measured(place, sections, found):
                asked.json.write_text(json.dumps(found.as_json(place.failed), indent=1))
                console.print(section)
        except (Failed, Wrong, KeyboardInterrupt) as error:
            place.failed.append(f"stopped: {error!r}")
    found.show(console)
    console.print(f"Every run is in {asked.json}")
    for failed in place.failed:
        print(f"Not measured: {failed}", file=sys.stderr)
    return 1 if place.failed else 0


@dataclass(slots=True)
class Found:
    """What was measured so far."""

    size: Size
    rounds: list[Round] = field(default_factory=list)
    left: dict[str, Left] = field(default_factory=dict)
    kept: Recorded | None = None

    @property
    def figures(self) -> list[Figure]:
        found = (figure(one, self.rounds) for one in targets(self.size))
        return [one for one in found if one is not None]

    def as_json(self, failed: list[str]) -> dict[str, Any]:
        return as_json(self.rounds, self.figures) | {
            "killed": {name: asdict(one) for name, one in self.left.items()},
            "recorded": asdict(self.kept) if self.kept else None,
            "not measured": failed,
            "machine": MACHINE,
        }

    def show(self, console: Console) -> None:
        taken = middles(self.rounds)
        console.print(f"\n{len(self.rounds)} rounds on {MACHINE}\n")
        show_contenders(console, taken)
        show_killed(console, self.left)
        show_recorded(console, self.kept)
        show_growth(console, taken, self.size)
        show_starts(console, taken)
        show_figures(console, self.figures)


def _measured(place: Place, sections: list[str], found: Found) -> Iterator[str]:
    """Measure section by section; answers each as it is over, for people. Raises Failed."""
    rounds = place.size.rounds if IN_ROUNDS.keys() & set(sections) else 0
    for number in range(1, rounds + 1):
        one: Round = {EMPTY_FLOW: empty(place)}
        found.rounds.append(one)
        for section in (name for name in IN_ROUNDS if name in sections):
            begun = time.perf_counter()
            with place.measuring(f"{section}, round {number}"):
                IN_ROUNDS[section](place, one)
            took = time.perf_counter() - begun
            yield f"round {number} of {rounds}: {section}, {took:.0f} s"
    if "killing" in sections:
        found.left = killing.measure(place)
        yield "killing"
    if "recording" in sections:
        with place.measuring("recording"):
            found.kept = recording.measure(place)
        yield "recording"


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("make bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small and once, to try the bench")
    parser.add_argument("--rounds", type=int, help="how often everything is measured")
    parser.add_argument("--only", default=",".join(SECTIONS), help="some sections")
    parser.add_argument("--json", type=Path, default=Path("bench.json"), help="where it is written")
    return parser


if __name__ == "__main__":
    sys.exit(main())
