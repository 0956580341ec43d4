"""How a definition differs from the ledger: who is new, changed, gone or back. Pure.

And whether more people are gone than it allows.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import attrgetter

from config.definition.model import Candidate, Definition
from config.definition.sent_fields import FIELDS
from config.timetable.waves import in_percent
from data.store.states import Step

Fields = tuple[str, str, str, str, str, int]  # as sent: first, last, email1, source, notes, stage


@dataclass(frozen=True, slots=True)
class Known:
    """One candidate as the ledger has it.

    `instead` is the email key that replaced this one in a correction, `timezone` the zone of the
    person's clock. `tried` is the number of the latest invitation that reached them, or may have;
    `allowed` that of the ledger's latest attempt when a person let them through, `added` that of
    their add.
    """

    row: int
    key: str
    fields: Fields
    add: Step = Step.WAITING
    invite: Step = Step.WAITING
    listed: bool = True
    instead: str | None = None
    timezone: str | None = None
    tried: int | None = None
    allowed: int = 0
    added: int | None = None


@dataclass(frozen=True, slots=True)
class Changes:
    """How a definition differs from what the ledger knows of the campaign.

    The service has no update and no delete (interface 4): once a person was added, a changed row
    (`changed`) and a missing row (`removed`) are reported, never applied. Before that, and after a
    refused add, the new row is simply what will be sent (`reworded`). An address that a person has
    corrected does not come back (`corrected`: its row in the definition, and who it is now). A
    changed timezone, which is not sent, is simply noted (`noted`).
    """

    new: list[Candidate] = field(default_factory=list)
    reworded: list[tuple[Known, Candidate]] = field(default_factory=list)
    changed: list[tuple[Known, Candidate]] = field(default_factory=list)
    removed: list[Known] = field(default_factory=list)
    returned: list[Known] = field(default_factory=list)
    corrected: list[tuple[Candidate, Known]] = field(default_factory=list)
    noted: list[tuple[Known, Candidate]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A definition beside its campaign, both without the people who are finished: they have all
    that the definition asks for, and it says of them just what the ledger has.

    `people` are the ledger's others, by email key; `finished` counts those left out.
    """

    definition: Definition
    people: dict[str, Known]
    finished: int = 0


fields_of: Callable[[Candidate], Fields] = attrgetter(*FIELDS)
"""What would be sent for this candidate (interface 4.5)."""


def compare(definition: Definition, in_ledger: Mapping[str, Known]) -> Changes:
    """Compare the definition's candidates with the ledger's, by email key, never by row."""
    changes = Changes()
    seen: set[str] = set()
    changes.corrected.extend(
        (candidate, in_ledger[before.instead])
        for candidate in definition.candidates
        if (before := in_ledger.get(candidate.key)) is not None and before.instead is not None
    )
    for candidate, before in meant(definition, in_ledger):
        seen.add(candidate.key)
        if before is None:
            changes.new.append(candidate)
            continue
        if not before.listed:
            changes.returned.append(before)
        if before.timezone != candidate.timezone:
            changes.noted.append((before, candidate))
        if before.fields != fields_of(candidate):
            open_to_change = before.add in (Step.WAITING, Step.REFUSED)
            (changes.reworded if open_to_change else changes.changed).append((before, candidate))
    changes.removed.extend(
        person for person in in_ledger.values() if person.listed and person.key not in seen
    )
    return changes


def meant(
    definition: Definition, in_ledger: Mapping[str, Known]
) -> Iterator[tuple[Candidate, Known | None]]:
    """Yield each person that a definition means, once; a corrected address means the new one."""
    listed = {candidate.key for candidate in definition.candidates}
    for candidate in definition.candidates:
        before = in_ledger.get(candidate.key)
        if before is None or before.instead is None:
            yield candidate, before
        elif before.instead not in listed:
            now = in_ledger[before.instead]
            listed.add(now.key)
            yield replace(candidate, email1=now.fields[2], key=now.key), now


def too_many_gone(
    guard: float | None, changes: Changes, in_ledger: Mapping[str, Known], finished: int = 0
) -> str | None:
    """Say that more people are gone than a definition allows; None if it allows this.

    `finished` counts people who are listed as well, but not in `in_ledger`.
    """
    listed = finished + sum(1 for person in in_ledger.values() if person.listed)
    gone = len(changes.removed)
    if guard is None or not gone or gone < guard * listed:
        return None
    return (
        f"{gone:,} of {listed:,} people are gone from the definition "
        f"(guard removed: {in_percent(guard)})"
    )
