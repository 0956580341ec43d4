"""What Prefect kept of a run: whether every step of ours is there, and ended as it did."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

from flows.run.order import CHECKS_SERVICE

SOME = re.compile(r"(?P<what>.*) (?P<first>[\d,]+)-(?P<last>[\d,]+) of (?P<all>[\d,]+)")


def missing(names: list[str], people: int) -> list[str]:
    """What is not there of the steps of a campaign of so many people, by the names that are.

    Adding and inviting are steps of some people each, which together must be everybody.
    """
    parts = [found.groupdict() for found in map(SOME.fullmatch, names) if found]
    gaps = []
    for what in ("add candidates", "invitations"):
        spans = sorted(
            (_number(part["first"]), _number(part["last"]))
            for part in parts
            if part["what"].endswith(what)
        )
        reached = 0
        for first, last in spans:
            if first != reached + 1:
                gaps.append(f"{what} {reached + 1:,}-{first - 1:,}")
            reached = last
        if reached != people:
            gaps.append(f"{what} {reached + 1:,}-{people:,}")
    single = (CHECKS_SERVICE, "create the project", "write the links")
    return gaps + [name for name in single if name not in names]


def lost(home: Path, people: int) -> list[str]:
    """What Prefect's own database in this home lacks of one whole run of `campaign run`."""
    with closing(sqlite3.connect(home / "prefect.db", timeout=30)) as database:
        steps = database.execute("SELECT name, state_type FROM task_run").fetchall()
        runs = database.execute("SELECT state_type FROM flow_run").fetchall()
    unfinished = [f"{name}: {state}" for name, state in steps if state != "COMPLETED"]
    unfinished += [f"the run: {state}" for (state,) in runs if state != "COMPLETED"]
    return missing([name for name, _ in steps], people) + unfinished


def _number(written: str) -> int:
    return int(written.replace(",", ""))
