"""What a file says, before it is checked: plain data, and the place of each piece.

Every reader (YAML, CSV, workbook) produces these shapes, so one set of rules checks them all.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from config.mistakes import Doubt, Mistake, Place
from config.tables.where import Selection

# The path to a piece of a definition, as in ("project", "starttime").
Location = tuple[str | int, ...]


class Places(Protocol):
    """Where the pieces of one definition are written, or where a missing one would belong."""

    def value(self, location: Location) -> Place:
        """Find a value, or the nearest thing around it that is written."""

    def name(self, location: Location) -> Place:
        """Find the name of a field."""


# Finds, by the number of a row, one field of a person, or where it would belong; without a field,
# the person.
PersonPlace = Callable[[int, str | None], Place]


@dataclass(frozen=True, slots=True)
class Row:
    """One person as written: the number that locates the row, and its fields.

    `doubt` is what a person should look at, if the reader had to choose. `hidden`: the sheet hides
    the row.
    """

    number: int
    fields: Mapping[str, Any]
    doubt: Doubt | None = None
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class People:
    """The people of one campaign, row by row; a row that cannot be read is a Mistake instead.

    `whole` is the table they are in, None if the definition lists them itself; `columns` are its
    headers, by the fields that are sent from them. `selection` is what `where` made of the table,
    and `left_out` are the email keys of the people it left out.
    """

    rows: Iterable[Row | Mistake]
    place: PersonPlace
    whole: Place | None = None
    notes: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    selection: Selection | None = None
    left_out: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Written:
    """One campaign as written: the fields of the definition without its people, and its people.

    `problems` are mistakes that the reader itself found. `people` is None if they could not be
    read; a mistake then says why.
    """

    fields: Mapping[str, Any]
    places: Places
    people: People | None
    problems: tuple[Mistake, ...] = field(default=())
