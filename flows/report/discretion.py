"""Who is named in a report, and what is shown of what people typed. Pure."""

from collections.abc import Callable
from dataclasses import dataclass, replace
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
from data.history.records import Records
from data.privacy.forgetting import GONE
from data.privacy.masking import masked_email, masked_name, masked_text, words_of_names
from data.store.tables import Candidate

Named = Callable[[Candidate | Doubt], str]


@dataclass(frozen=True, slots=True)
class Discretion:
    """How people are named in a report, and what becomes of what somebody typed."""

    person: Named
    text: Callable[[str], str]
    told: str


def discretion(records: Records, *, names: bool) -> Discretion:
    """Name everybody, or mask everybody."""
    if names:
        notice = (
            "This report names candidates. Treat it as confidentially as the list of candidates."
        )
        return Discretion(_or_forgotten(_named), str, notice)
    names_of_people = words_of_names(
        (person.first_name, person.last_name) for person in records.people.values()
    )
    return Discretion(
        _or_forgotten(_masked),
        lambda text: masked_text(text, names_of_people),
        "Names and addresses are masked here, also in the reasons people wrote. "
        f"With names: {command('report', records.campaign.key, '--names')}",
    )


def _or_forgotten(name: Named) -> Named:
    return lambda person: "a forgotten person" if person.email1 == GONE else name(person)


def _named(person: Candidate | Doubt) -> str:
    return f"{person.first_name} {person.last_name} <{person.email1}>"


def _masked(person: Candidate | Doubt) -> str:
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
