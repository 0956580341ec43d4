"""`make bench`: everything that is measured, side by side, in rounds; a table and a JSON file.

.venv/bin/python -m tests.bench [--quick] [--rounds N] [--only SECTION,SECTION]
"""

import argparse
import json
import platform
import sys
import tempfile
import time
from dataclasses import asdict, replace
from os import cpu_count
from pathlib import Path

from rich.console import Console

from tests.bench import growth, killing, recording, sending, starting
from tests.bench.figures import as_json, figure, middles
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


def main() -> int:
    """Measure and print. 0 also where figures are missed: they are this machine's."""
    asked = _arguments().parse_args()
    size = QUICK if asked.quick else Size()
    size = replace(size, rounds=asked.rounds or size.rounds)
    console = Console(width=None if sys.stdout.isatty() else 140, highlight=False)
    try:
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            place, sections = Place(Path(folder), size), asked.only.split(",")
            place.prepare()
            rounds = _rounds(place, sections, console)
            left = killing.measure(place) if "killing" in sections else {}
            kept = recording.measure(place) if "recording" in sections else None
    except (Failed, Wrong) as error:
        print(f"The measuring stopped: {error}", file=sys.stderr)
        return 1
    figures = [found for one in targets(size) if (found := figure(one, rounds)) is not None]
    taken = middles(rounds)
    machine = f"{cpu_count()} processors, {platform.system()}, Python {platform.python_version()}"
    console.print(f"\n{len(rounds)} rounds on {machine}\n")
    show_contenders(console, taken)
    show_killed(console, left)
    show_recorded(console, kept)
    show_growth(console, taken, size)
    show_starts(console, taken)
    show_figures(console, figures)
    written = as_json(rounds, figures)
    written["killed"] = {name: asdict(one) for name, one in left.items()}
    written["recorded"] = asdict(kept) if kept else None
    asked.json.write_text(json.dumps(written | {"machine": machine}, indent=1))
    console.print(f"Every run is in {asked.json}")
    return 0


def _rounds(place: Place, sections: list[str], console: Console) -> list[Round]:
    """Take the rounds, each with every section in it. Raises Failed, Wrong."""
    rounds: list[Round] = [{} for _ in range(place.size.rounds)]
    for number, one in enumerate(rounds, 1):
        one[EMPTY_FLOW] = empty(place)
        for section, measure in IN_ROUNDS.items():
            if section in sections:
                begun = time.perf_counter()
                measure(place, one)
                took = time.perf_counter() - begun
                console.print(f"round {number} of {len(rounds)}: {section}, {took:.0f} s")
    return rounds


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("make bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small and once, to try the bench")
    parser.add_argument("--rounds", type=int, help="how often everything is measured")
    parser.add_argument("--only", default=",".join(SECTIONS), help="some sections")
    parser.add_argument("--json", type=Path, default=Path("bench.json"), help="where it is written")
    return parser


if __name__ == "__main__":
    sys.exit(main())
