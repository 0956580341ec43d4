"""The report of a campaign: one page to send and to keep, which asks nothing of any network."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate, groupby
from typing import Any

from sqlmodel import Session, func, select

from data.campaigns.history import Event, history
from data.decisions.doubts import VERDICTS, doubts
from data.store.states import State
from data.store.tables import DECISION, PART, PERSON, Campaign, now
from tasks.outputs.exports import page
from tasks.outputs.links import title_of
from tasks.service.messages import masked
from tasks.status import COUNTED, in_words, status, waits_for_a_person

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


def report_of(session: Session, campaign: Campaign, *, names: bool = False) -> bytes:
    """The page of a campaign as it stands now, with the story of each doubt."""
    events = history(session, campaign.id)
    is_open = {each.email1: True for each in doubts(session, campaign.id)}
    stories = [
        Doubt(email or "the project", is_open.get(email, False), theirs)
        for email in dict.fromkeys([*is_open, *settled(session, campaign.id)])
        if (theirs := history(session, campaign.id, email) if email else own(events))
    ]
    stands, title = status(session, campaign.key), title_of(campaign)
    return report_page(stands, title, doubts=stories, events=events, at=now(), names=names)


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

    Addresses are masked unless `names`, which shows who they are as well.
    """
    name: Name = _names(status) if names else masked
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
        bar=bar(status["counts"]),
        in_words=in_words,
        utc=UTC,
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
            who = "a person" if them[0].who == "root" else them[0].who  # an account is no name
            told += [
                Moment(each.at, f"{who}: {each.word} {_named(each.about, name)}", each.words)
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


def bar(counts: Mapping[str, int]) -> list[tuple[str, int, int]]:
    """Everybody, by where they stand: a word, where it begins, and how wide it is, in parts of
    1,000. One person among thousands is still seen; whoever is only added is in the first part."""
    apart = [(word, n) for word in COUNTED[1:] if (n := counts.get(word, 0))]
    whole = max(counts["candidates"], 1)
    widths = [(word, max(round(1000 * n / whole), 6)) for word, n in apart]
    if counts["candidates"] > sum(n for _, n in apart):
        widths.insert(0, (COUNTED[0], max(1000 - sum(width for _, width in widths), 0)))
    begins = accumulate((width for _, width in widths), initial=0)
    return [(word, at, width) for at, (word, width) in zip(begins, widths, strict=False)]


def _names(status: Mapping[str, Any]) -> Name:
    """How an address is shown with the name of whoever has it."""
    known = {
        each["email1"]: f"{each.get('first_name') or ''} {each.get('last_name') or ''}".strip()
        for each in status["candidates"]
    }
    return lambda email: f"{known[email]} ({email})" if known.get(email) else email


def _stand(candidate: Mapping[str, Any]) -> str:
    word: str = candidate["stands"]
    return f"adding {word}" if candidate["add"] == word else word


ALWAYS = ("candidates", "added", "invited")
SHOWN = 200
