"""Who is named in a report, and what is shown of what people typed. Pure."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from config.command_line import command
from data.decisions.verdicts import Doubt
from data.history.events import (
    Blocked,
    Decided,
    Event,
    Paused,
    PlanAnswered,
    ReceiptAccepted,
    ReceiptDoubted,
    Resumed,
    RunEnded,
    Unblocked,
)
from data.history.records import Person, Records
from data.privacy.forgetting import GONE
from data.privacy.masking import masked_email, masked_name, masked_text, names_in


@dataclass(frozen=True, slots=True)
class Discretion:
    """How people are named in a report, and what becomes of what somebody typed."""

    person: Callable[[Person | Doubt], str]
    text: Callable[[str], str]
    told: str


def discretion(records: Records, texts: Iterable[str], *, names: bool) -> Discretion:
    """Name everybody, or mask everybody. `texts` are what will be masked beside `records`: all are
    searched for names at once, and any other by itself.
    """
    named = partial(_named, names=names)
    if names:
        notice = (
            "This report names candidates. Treat it as confidentially as the list of candidates."
        )
        return Discretion(named, str, notice)
    return Discretion(
        named,
        _Masker(records.people.values(), {*_typed(records), *texts}).masked,
        "Names and addresses are masked here, also in the reasons people wrote. "
        f"With names: {command('report', records.campaign.key, '--names')}",
    )


class _Masker:
    """Masks people's names in texts; `_names` are those that occur in the `_searched` ones."""

    def __init__(self, people: Collection[Person], texts: set[str]) -> None:
        self._people, self._searched = people, texts
        self._names = self._names_in(texts)

    def masked(self, text: str) -> str:
        if text not in self._searched:
            self._names |= self._names_in([text])
            self._searched.add(text)
        return masked_text(text, self._names)

    def _names_in(self, texts: Iterable[str]) -> set[str]:
        return names_in(texts, ((each.first_name, each.last_name) for each in self._people))


def _typed(records: Records) -> Iterator[str]:
    """What people and the service wrote."""
    texts = [
        *(run.reason for run in records.runs),
        *(verdict.why for verdict in records.decisions),
        *(why for pause in records.pauses for why in (pause.why, pause.resumed_why)),
        *(why for block in records.blocks for why in (block.why, block.lifted_why)),
        *(receipt.why for receipt in records.receipts),
        *(person.why for person in records.people.values()),
    ]
    yield from filter(None, texts)


def _named(person: Person | Doubt, *, names: bool) -> str:
    if person.email1 == GONE:
        return "a forgotten person"
    if names:
        return f"{person.first_name} {person.last_name} <{person.email1}>"
    return f"{masked_name(person.first_name, person.last_name)} ({masked_email(person.email1)})"


def discreet(event: Event, how: Discretion) -> Event:
    """Mask what a person typed in an event, and leave out the folders of files."""
    if isinstance(event, Decided | PlanAnswered | Paused | Resumed):
        return replace(event, why=how.text(event.why))
    if isinstance(event, Blocked | Unblocked):
        return replace(event, why=how.text(event.why), who=Path(event.who).name)
    if isinstance(event, ReceiptAccepted):
        return replace(event, why=how.text(event.why), file=Path(event.file).name)
    if isinstance(event, ReceiptDoubted):
        return replace(event, file=Path(event.file).name)
    if isinstance(event, RunEnded) and event.reason:
        return replace(event, reason=how.text(event.reason))
    return event
