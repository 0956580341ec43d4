"""The report of a campaign: one page to send and to keep, which asks nothing of any network."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from config.emails import masked
from tasks.outputs.exports import page


@dataclass(frozen=True, slots=True)
class Moment:
    """One thing that happened. `quote` is what the service, or a person, wrote about it."""

    at: datetime
    text: str
    quote: str | None = None


@dataclass(frozen=True, slots=True)
class Doubt:
    """One request whose result was unknown, from its sending to a person's decision."""

    what: str
    open: bool
    moments: Sequence[Moment]


@dataclass(frozen=True, slots=True)
class Bar:
    """One line of the picture: a count, and its parts from the left in parts of 1,000."""

    label: str
    number: int
    parts: Sequence[tuple[str, int, int]]  # kind, where it begins, how wide it is


def report_page(
    status: Mapping[str, Any],
    title: str,
    *,
    doubts: Sequence[Doubt],
    story: Sequence[Moment],
    at: datetime,
    names: bool = False,
) -> bytes:
    """Write the page. `status` is the object of tasks.status, `title` the project's name.

    Addresses are masked unless `names`; `doubts` and `story` come as they are to be shown.
    """
    name: Callable[[str], str] = str if names else masked
    needs = [
        (name(each["email1"]), _stand(each), each["why"] or "")
        for each in status["candidates"]
        if {each["add"], each["invite"]} & {"unsure", "refused"}
    ]
    counts = {word: n for word, n in status["counts"].items() if n or word in ALWAYS}
    return page(
        "report.html",
        title=f"{title}: report",
        name=title,
        status=status,
        counts=counts,
        bars=bars(status["counts"]),
        needs=needs[:SHOWN],
        more=max(len(needs) - SHOWN, 0),
        doubts=sorted(doubts, key=lambda each: not each.open),
        story=story,
        at=at,
        names=names,
    )


def bars(counts: Mapping[str, int]) -> list[Bar]:
    """How far everybody came. One person among thousands is still seen."""
    whole = counts["candidates"]
    invited = {kind: counts[kind] for kind in ("invited", "unsure", "refused")}
    lines = {"candidates": {}, "added": {"added": counts["added"]}, "invited": invited}
    found = []
    for label, kinds in lines.items():
        begins, parts = 0, []
        for kind, number in kinds.items():
            if number and whole:
                width = min(max(round(1000 * number / whole), 6), 1000 - begins)
                parts.append((kind if kind in ("unsure", "refused") else "done", begins, width))
                begins += width
        found.append(Bar(label, counts[label], parts))
    return found


def _stand(candidate: Mapping[str, Any]) -> str:
    step = "add" if candidate["add"] in ("unsure", "refused") else "invite"
    what = {"add": "adding", "invite": "invitation"}[step]
    return f"{what} {candidate[step]}"


ALWAYS = ("candidates", "added", "invited")
SHOWN = 200
