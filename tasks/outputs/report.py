"""The report of a campaign: one page to send and to keep, which asks nothing of any network."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from sqlmodel import Session, func, select

from config.emails import masked
from data.campaigns.history import Event
from data.decisions.doubts import VERDICTS
from data.store.states import State
from data.store.tables import DECISION, PART, PERSON
from tasks.outputs.exports import page
from tasks.status import waits_for_a_person

Name = Callable[[str], str]
"""How an address is shown: as it is, or masked."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One thing that happened. `quote` is what the service, or a person, wrote about it."""

    at: datetime
    text: str
    quote: str | None = None


@dataclass(frozen=True, slots=True)
class Doubt:
    """Somebody, or the project, for whom a result was unknown: what happened, in order."""

    whom: str
    open: bool
    events: Sequence[Event]


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
    events: Sequence[Event],
    at: datetime,
    names: bool = False,
) -> bytes:
    """Write the page. `status` is the object of tasks.status, `title` the project's name.

    Addresses are masked unless `names`.
    """
    name: Name = str if names else masked
    story = moments(events, name)
    told = [(_named(each.whom, name), each.open, moments(each.events, name)) for each in doubts]
    needs = [
        (name(each["email1"]), _stand(each), each["why"] or "")
        for each in status["candidates"]
        if waits_for_a_person(each)
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
        doubts=sorted(told, key=lambda each: not each[1]),
        story=story[:SHOWN],
        later=max(len(story) - SHOWN, 0),
        at=at,
        names=names,
    )


def settled(session: Session, campaign_id: int) -> list[str]:
    """For whom a person settled a result: addresses, and "" for the project itself."""
    theirs = (
        select(func.coalesce(PERSON.c.email1, ""))
        .select_from(DECISION.join(PART, PART.c.id == DECISION.c.part_id))
        .outerjoin(PERSON, PERSON.c.id == DECISION.c.person_id)
        .where(DECISION.c.campaign_id == campaign_id, DECISION.c.word.in_(VERDICTS))
        # Who is withdrawn after a result that was known is no doubt.
        .where((DECISION.c.word == "sent") | PART.c.state.in_((State.UNSURE, State.GIVEN_UP)))
        .where(DECISION.c.person_id.is_(None) | PERSON.c.email1.is_not(None))  # not forgotten
        .order_by(DECISION.c.id)
    )
    return list(dict.fromkeys(session.scalars(theirs)))


def own(events: Iterable[Event]) -> list[Event]:
    """What happened to the project itself and its problem."""
    words = ("create", "attach", "sent", "again")
    return [each for each in events if "@" not in each.about and each.word.split()[0] in words]


def moments(events: Iterable[Event], name: Name) -> list[Moment]:
    """Tell events in a line each; requests in a row that came to the same share one."""
    told = []
    for _, same in groupby(events, key=lambda each: each.who or (each.word, each.came, each.words)):
        them = list(same)
        if them[0].who:
            told += [
                Moment(each.at, f"{each.who}: {each.word} {_named(each.about, name)}", each.words)
                for each in them
            ]
            continue
        first = them[0]
        about = _named(first.about, name) if len(them) == 1 else f"{len(them):,} requests"
        status = f", status {first.status}" if first.status and first.came != "done" else ""
        told.append(Moment(first.at, f"{first.word} {about}: {first.came}{status}", first.words))
    return told


def _named(about: str, name: Name) -> str:
    return re.sub(r"[^\s,]+@[^\s,]+", lambda found: name(found[0]), about)


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
    for step, what in (("add", "adding"), ("invite", "invitation")):
        if candidate[step] in ("unsure", "refused"):
            return f"{what} {candidate[step]}"
    return "held"


ALWAYS = ("candidates", "added", "invited")
SHOWN = 200
