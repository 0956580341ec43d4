"""The last lines of a command: what happened to each campaign, and what to type next."""

from collections.abc import Mapping
from typing import Any

from flows.cli.speech import command

# What a person must look at comes last, where it is read.
TOLD = ("invited", "added", "waiting", "sending", "withdrawn", "refused", "unsure")


def summary(status: Mapping[str, Any]) -> str:
    """Count a campaign in one line, from its status object: `47 invited, 1 refused, 2 unsure`."""
    counts = status["counts"]
    told = [name for name in TOLD if counts[name]]
    if counts["invited"] and counts["added"] == counts["invited"]:
        told.remove("added")
    return ", ".join(f"{counts[name]:,} {name}" for name in told) or "nobody added yet"


def next_steps(status: Mapping[str, Any], file: str, *more: str) -> list[str]:
    """Say what to type next, one line each; `file` and `more` as they are typed after `run`."""
    key, counts = status["campaign"], status["counts"]
    calls = (status["project"], status["problem"])
    people = status["candidates"]
    again = command("run", file, *more)
    steps = []
    if counts["unsure"] or "unsure" in calls:
        steps.append(f"unsure: {command('settle', key)}")
    if "refused" in calls or any(person["add"] == "refused" for person in people):
        steps.append(f"refused: mend {file}, then {again}")
    if any(person["invite"] == "refused" for person in people):
        # Other wording no longer reaches a person who was added (interface 4: no update).
        steps.append(f"refused invitations, and why: {command('status', key)}")
    if (counts["waiting"] or "waiting" in calls) and "unsure" not in calls:
        steps.append(f"waiting: {again}")
    if not steps:
        steps.append(f"links: {command('links', key)}")
    return steps
