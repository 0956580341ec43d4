"""Crash a campaign at every boundary there is, stop it there and wake it: `make crashes`.

With `python -m tests.promise.crashes.every_crash` before it:

                                         every boundary; of pairs of them, every 7th
    1                                    every pair, too: hours
    "SCENARIO" 17 [4]                    one case again: killed at 17, then at 4
    "SCENARIO" "one machine" 17          stopped at 17, woken in the end

Prints a line for each scenario and the command that repeats each case in which the promise was
broken, then the number of cases and the time. Exit code 1 when it was broken anywhere.
"""

import os
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from threading import Lock

from tests.promise.crashes.child_runs import ChildRuns
from tests.promise.crashes.crash_cases import (
    MACHINES,
    SCENARIOS,
    STOPPED,
    TWICE,
    Crashes,
    Outcome,
    crashes,
)
from tests.promise.crashes.small_campaigns import Scenario

WORKERS = os.cpu_count() or 1


@dataclass
class Tally:
    """What became of the cases of one scenario; filled by several threads."""

    scenario: Scenario
    machines: str | None = None  # on which it is stopped, and not killed
    cases: int = 0
    unsure: Counter[int] = field(default_factory=Counter)
    boundaries: set[str] = field(default_factory=set)
    broken: list[str] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def note(self, outcome: Outcome) -> None:
        """Count one case that kept the promise."""
        with self.lock:
            self.cases += 1
            self.unsure[outcome.unsure] += 1
            self.boundaries |= set(outcome.boundaries)

    def line(self) -> str:
        """Say it for a person."""
        most = max(self.unsure, default=0)
        return f"{self.cases:6,}  {most:3}  {self.name}"

    @property
    def name(self) -> str:
        on = f' on "{self.machines}"' if self.machines else ""
        return f"{self.scenario.name}{on}"

    def repeats(self, *boundaries: int) -> str:
        """The command that tries one case again."""
        words = [f'"{word}"' for word in (self.scenario.name, self.machines) if word]
        return " ".join(
            ["python -m tests.promise.crashes.every_crash", *words, *map(str, boundaries)]
        )


def attempt(place: Crashes, tally: Tally, *deaths: int) -> Outcome | None:
    """Try one case; None when it broke the promise, which is noted with how to repeat it."""
    try:
        if tally.machines:
            outcome = place.wakes(tally.scenario, deaths[0], MACHINES[tally.machines])
        else:
            outcome = place.case(tally.scenario, *deaths)
    except AssertionError as error:
        with tally.lock:
            tally.broken.append(f"{error}\n    again: {tally.repeats(*deaths)}")
        return None
    if not outcome.lived:
        tally.note(outcome)
    return outcome


def cut_off_once(tally: Tally) -> None:
    """Try every boundary of the first run."""
    with ChildRuns() as runs, crashes(runs) as place:
        for death in count(1):
            outcome = attempt(place, tally, death)
            if outcome is not None and outcome.lived:
                return


def die_twice(tally: Tally, begin: int, every: int) -> None:
    """Try pairs of boundaries; the first ones of these pairs are begin, begin + WORKERS, ..."""
    with ChildRuns() as runs, crashes(runs) as place:
        for first in count(begin, WORKERS):
            for second in count(1 + first % every, every):
                outcome = attempt(place, tally, first, second)
                if outcome is not None and outcome.lived:
                    break
            if outcome is not None and not outcome.boundaries:
                return


def everything(every: int) -> int:
    """Try every boundary, and every k-th pair. Answers the exit code."""
    began = time.monotonic()
    once = [Tally(scenario) for scenario in SCENARIOS]
    once += [Tally(scenario, machines) for scenario in STOPPED for machines in MACHINES]
    twice = [Tally(scenario) for scenario in TWICE]
    tallies = [*once, *twice]
    print(" cases  in doubt at most", flush=True)
    with ThreadPoolExecutor(WORKERS) as pool:
        parts = [[pool.submit(cut_off_once, tally)] for tally in once]
        for tally in twice:
            workers = range(1, WORKERS + 1)
            parts.append([pool.submit(die_twice, tally, begin, every) for begin in workers])
        for tally, part in zip(tallies, parts, strict=True):
            for each in part:
                each.result()
            print(tally.line(), *(f"BROKEN: {each}" for each in tally.broken), sep="\n", flush=True)
    boundaries = set().union(*(tally.boundaries for tally in tallies))
    total = sum(tally.cases for tally in tallies)
    seconds = time.monotonic() - began
    print(f"{total:6,} cases at {len(boundaries)} kinds of boundaries in {seconds:,.0f} s")
    return 1 if any(tally.broken for tally in tallies) else 0


def one(name: str, *deaths: int) -> int:
    """Try one case again; an error shows all of itself."""
    found = next(each for each in (*SCENARIOS, *TWICE) if each.name == name)
    with ChildRuns() as runs, crashes(runs) as place:
        print(place.case(found, *deaths))
    return 0


def one_woken(name: str, machines: str, stop: int) -> int:
    """Likewise where it was stopped."""
    found = next(each for each in STOPPED if each.name == name)
    with ChildRuns() as runs, crashes(runs) as place:
        print(place.wakes(found, stop, MACHINES[machines]))
    return 0


if __name__ == "__main__":
    match sys.argv[1:]:
        case []:
            sys.exit(everything(every=7))
        case [every] if every.isdigit():
            sys.exit(everything(int(every)))
        case [name, machines, number] if machines in MACHINES:
            sys.exit(one_woken(name, machines, int(number)))
        case [name, *numbers]:
            sys.exit(one(name, *map(int, numbers)))
