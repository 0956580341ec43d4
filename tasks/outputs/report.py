"""The report of a campaign: one page to send and to keep, which loads nothing."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from sqlmodel import Session

from data.campaigns.history import Event, events_of
from data.decisions.doubts import VERDICTS, doubts
from data.store.tables import Campaign, now
from tasks.outputs.exports import page
from tasks.outputs.links import title_of
from tasks.service.messages import masked
from tasks.status import COUNTED, FOR_A_PERSON, in_words, status_of

ShowAddress = Callable[[str], str]
"""How an address is shown: as it is, or masked."""


def report_of(session: Session, campaign: Campaign, *, names: bool = False) -> bytes:
    """The report of a campaign now, with the story of each doubt."""
    events, stories = events_of(session, campaign.id), []
    open_ = [each.email1 for each in doubts(session, campaign.id)]
    settled = [each.about for each in events if each.who and each.word.split()[0] in VERDICTS]
    for email in dict.fromkeys(each for each in (*open_, *settled) if "@" in each or not each):
        theirs = events_of(session, campaign.id, email) if email else _own(events)
        # A withdrawal after a known result is no doubt.
        if any(each.came == "unsure" or each.word.split()[0] in _OF_DOUBTS for each in theirs):
            stories.append((email or "the project", email in open_, theirs))
    whole, title = status_of(session, campaign.key), title_of(campaign)
    return report_page(whole, title, stories, events, now(), names=names)


def report_page(
    status: Mapping[str, Any],
    title: str,
    stories: Sequence[tuple[str, bool, Sequence[Event]]],
    events: Sequence[Event],
    at: datetime,
    *,
    names: bool = False,
) -> bytes:
    """Write the page. `status` is the object of `status_of`, `title` the project's name.

    `stories` are of results that were unknown: whose, whether they are unknown now, all events.
    Without `names`, addresses are masked, and the service's words left out.
    """
    shown: ShowAddress = _names(status) if names else masked
    told = [(_named(whom, shown), is_open, moments(all_, shown)) for whom, is_open, all_ in stories]
    return page(
        "report.html",
        title=f"{title}: report",
        name=title,
        status=status,
        apart=COUNTED[1:],
        in_words=in_words,
        utc=UTC,
        shown=shown,
        named=_named,
        needs=[each for each in status["candidates"] if each["stands"] in FOR_A_PERSON],
        doubts=sorted(told, key=lambda each: not each[1]),
        story=moments(events, shown),
        most=SHOWN,
        at=at,
        names=names,
    )


def _own(events: Iterable[Event]) -> list[Event]:
    """The events of the project itself and its problem."""
    words = ("create", "attach", "sent", "again")
    return [each for each in events if "@" not in each.about and each.word.split()[0] in words]


def moments(events: Iterable[Event], name: ShowAddress) -> list[tuple[datetime, str, str]]:
    """Write for each event when, what, and what somebody wrote about it; consecutive requests with
    the same result share a line."""
    told = []
    for _, same in groupby(events, key=lambda each: each.who or (each.word, each.came, each.words)):
        first, *more = them = list(same)
        if first.who:
            who = "a person" if first.who == "root" else first.who  # an account, not a name
            said = [f"{who}: {each.word} {_named(each.about, name)}" for each in them]
            told += [(each.at, text, each.words) for each, text in zip(them, said, strict=True)]
            continue
        about = f"{len(them):,} requests" if more else _named(first.about, name)
        status = f", status {first.status}" if first.status and first.came != "done" else ""
        words = "" if name is masked else first.words  # they may repeat somebody's name
        told.append((first.at, f"{first.word} {about}: {first.came}{status}", words))
    return told


def _named(about: str, name: ShowAddress) -> str:
    return re.sub(r"[^\s,]+@[^\s,]+", lambda found: name(found[0]), about)


def _names(status: Mapping[str, Any]) -> ShowAddress:
    """Show an address with the person's name."""
    known = {
        each["email1"]: f"{each.get('first_name') or ''} {each.get('last_name') or ''}".strip()
        for each in status["candidates"]
    }
    return lambda email: f"{known[email]} ({email})" if known.get(email) else email


SHOWN = 200
_OF_DOUBTS = ("sent", "again")
