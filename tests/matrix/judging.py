"""What became of each person, and what a number of deaths says: plain functions."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import sqrt
from typing import Any

from tests.matrix.moments import Moment

Z = 1.959964  # of the normal distribution, for 95 %


class Outcome(StrEnum):
    """What became of a person, from best to worst."""

    ONCE = "once"
    UNSURE = "unsure"  # at most one invitation, and the program itself shows the doubt
    LOST = "lost"  # no invitation, and no word of it
    TWICE = "twice"  # or more often, whatever the program shows


WORST_LAST = tuple(Outcome)


PEOPLE = tuple(f"person{number}@example.com" for number in (1, 2, 3))
PERSON = PEOPLE[1]  # with whom a program dies: somebody was invited, somebody waits


@dataclass(frozen=True, slots=True)
class Death:
    """One death, and whom the program showed as unsure in the end.

    `record` is the file in which the service wrote what it did, `head` the hash of its last line by
    then. `failed` says why this death cannot be judged; `again` counts starts made before this one,
    which ended by themselves before the moment.
    """

    case: str
    contender: str
    moment: Moment
    number: int
    day: str = ""
    seconds: float = 0.0
    unsure: tuple[str, ...] = ()
    record: str = ""
    head: str = ""
    again: int = 0
    failed: str = ""


@dataclass(slots=True)
class Cell:
    """All deaths of one contender at one moment: of those it died with, and of the others."""

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    others: Counter[Outcome] = field(default_factory=Counter)
    failed: int = 0  # deaths that cannot be judged
    seconds: float = 0.0

    @property
    def deaths(self) -> int:
        return self.outcomes.total()

    @property
    def usual(self) -> Outcome:
        return max(WORST_LAST, key=lambda outcome: self.outcomes[outcome])

    @property
    def worst_of_others(self) -> Outcome:
        return max(self.others, key=WORST_LAST.index)


Key = tuple[str, Moment]


def outcome(invitations: int, *, shown: bool) -> Outcome:
    """Judge one person by the service's record and by what the program shows."""
    if invitations > 1:
        return Outcome.TWICE
    if shown:
        return Outcome.UNSURE
    return Outcome.ONCE if invitations else Outcome.LOST


def judge(
    deaths: Iterable[Death], records: Mapping[str, Iterable[Mapping[str, Any]]]
) -> dict[Key, Cell]:
    """Judge all deaths by what the service recorded, verified before: lines by name of record."""
    invited = Counter(
        (name, line["case"], line["person"]) for name, lines in records.items() for line in lines
    )
    cells: dict[Key, Cell] = {}
    for death in deaths:
        cell = cells.setdefault((death.contender, death.moment), Cell())
        if death.failed:
            cell.failed += 1
            continue
        cell.seconds += death.seconds
        for person in PEOPLE:
            tally = cell.outcomes if person == PERSON else cell.others
            times = invited[death.record, death.case, person]
            tally[outcome(times, shown=person in death.unsure)] += 1
    return cells


def wilson(hits: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share by Wilson's score, as two shares; `of` at least 1."""
    share, z2 = hits / of, Z * Z
    middle = (share + z2 / (2 * of)) / (1 + z2 / of)
    reach = Z * sqrt(share * (1 - share) / of + z2 / (4 * of * of)) / (1 + z2 / of)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def surprises(
    cells: Mapping[Key, Cell],
    predicted: Mapping[Key, Outcome],
    others: Mapping[Key, Outcome],
) -> list[str]:
    """Where the record does not say what was predicted, a line each."""
    lines = []
    for (name, moment), cell in cells.items():
        foreseen, beside = predicted[name, moment], others[name, moment]
        if cell.outcomes[foreseen] < cell.deaths:
            seen = ", ".join(f"{n} {what}" for what, n in cell.outcomes.most_common())
            lines.append(f"{name}, {moment}: {foreseen} was predicted; {seen}")
        if cell.others and cell.worst_of_others is not beside:
            seen = cell.worst_of_others
            lines.append(f"{name}, {moment}, the others: {beside} was predicted as worst; {seen}")
        if cell.failed:
            lines.append(f"{name}, {moment}: {cell.failed} deaths cannot be judged")
    return lines


def void(
    cells: Mapping[Key, Cell], predicted: Mapping[Key, Outcome], controls: Collection[str]
) -> list[str]:
    """Why the run says nothing: a control that did not do what it must, a line each.

    A harness that cannot show the loop's second invitation, or the lost one, shows nothing of any
    other program either.
    """
    lines = []
    for (name, moment), foreseen in predicted.items():
        if name not in controls or foreseen not in (Outcome.TWICE, Outcome.LOST):
            continue
        cell = cells.get((name, moment), Cell())
        deaths = cell.deaths + cell.failed
        if not deaths or cell.outcomes[foreseen] < deaths:
            seen = f"{cell.outcomes[foreseen]} of {deaths} deaths"
            lines.append(f"{name}, {moment}: {foreseen} in {seen}, and it must be in all")
    return lines
