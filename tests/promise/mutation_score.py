"""`make mutants`: how many changes to the decisions the tests have caught, file by file.

Fails below LEAST percent, and for every change that was not caught and has no reason in
not_noticed.csv. `.mutants/bin/mutmut show NAME` shows one whole.
"""

import csv
import json
import re
import subprocess
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

LEAST = 96.0
NOT_CAUGHT = {0, 5, 33}  # the tests passed, or there was none to run; mutmut's own words for it
ROOT = Path(__file__).parents[2]
MUTANTS = ROOT / "mutants"
MUTMUT = ROOT / ".mutants" / "bin" / "mutmut"
REASONS = Path(__file__).with_name("not_noticed.csv")
MANGLED = re.compile(r"\.x(?:ǁ(\w+)ǁ|_)(\w+?)__mutmut_\d+$")

Change = tuple[str, str]  # the function, and its changed line


def main() -> int:
    made, left = 0, list[str]()
    for meta in sorted(MUTANTS.rglob("*.py.meta")):
        ends = json.loads(meta.read_text())["exit_code_by_key"]
        if None in ends.values():
            print(f"{meta.relative_to(MUTANTS).with_suffix('')}: not tried to the end")
            return 1
        here = [name for name, end in ends.items() if end in NOT_CAUGHT]
        found = len(ends) - len(here)
        print(f"{found:>5} of {len(ends):>4}  {meta.relative_to(MUTANTS).with_suffix('')}")
        made, left = made + len(ends), left + here
    caught = made - len(left)
    score = 100 * caught / made
    print(f"{caught:>5} of {made:>4}  {score:.1f} %, at least {LEAST:.0f} %")
    with REASONS.open(encoding="utf-8", newline="") as file:
        listed = {(row["function"], row["change"]) for row in csv.DictReader(file)}
    wrong = list(unexplained({name: (function(name), _change(name)) for name in left}, listed))
    print(*wrong, sep="\n")
    return int(score < LEAST or bool(wrong))


def unexplained(left: dict[str, Change], listed: Collection[Change]) -> Iterator[str]:
    """Name what was not caught and has no reason, and reasons for what is caught by now."""
    for name, change in left.items():
        if change not in listed:
            yield f"no reason for {name} in {change[0]}: {change[1]}"
    for where, line in sorted(set(listed) - set(left.values())):
        yield f"caught by now, take it out of {REASONS.name}: {where}: {line}"


def function(name: str) -> str:
    """Give the name that a mutant's function has in the code."""
    return MANGLED.sub(lambda of: f".{of[1]}.{of[2]}" if of[1] else f".{of[2]}", name)


def _change(name: str) -> str:
    """Give the lines as they become; those that go, where none come instead."""
    command = [MUTMUT, "show", name]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    _, _, changes = shown.partition("@@")
    for sign, before in (("+", ""), ("-", "without ")):
        lines = [line[1:].strip() for line in changes.splitlines() if line.startswith(sign)]
        if any(lines):
            return before + " ".join(lines)
    return ""


if __name__ == "__main__":
    sys.exit(main())
