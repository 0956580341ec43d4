"""Mistakes in files, and their places: every mistake names where it is."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from string import digits
from typing import Any

SHOWN_LENGTH = 60


@dataclass(frozen=True, slots=True)
class Place:
    """A spot in a file: line and column (from 1) in a text, sheet and cell in a workbook."""

    file: str
    line: int | None = None
    column: int | None = None
    sheet: str | None = None
    cell: str | None = None

    def __str__(self) -> str:
        """Write it as people look it up: `campaign.yaml:12:5` or `people.xlsx, Candidates!C7`."""
        if self.sheet is not None:
            return f"{self.file}, {self.sheet}" + (f"!{self.cell}" if self.cell else "")
        return ":".join(
            str(part) for part in (self.file, self.line, self.column) if part is not None
        )

    @property
    def order(self) -> tuple[int, int, str]:
        """Sort the places of one text or sheet as they are read: from the top, then to the right.

        Columns are sorted by the length of their letters, then by the letters: B before AA before
        AB.
        """
        letters = (self.cell or "").rstrip(digits)
        row = self.line or int((self.cell or "").removeprefix(letters) or 0)
        return row, self.column or len(letters), letters


@dataclass(frozen=True, slots=True)
class Mistake:
    """One thing that a person has to fix, and where.

    `message` is a whole sentence that replaces the found/wanted clause if that says more; `cause`
    is what mistakes of one kind have in common, if `wanted` does not say it.
    """

    place: Place
    field: str | None = None
    found: str | None = None
    wanted: str | None = None
    message: str | None = None
    cause: str | None = None

    def __str__(self) -> str:
        """One line: `people.xlsx, Candidates!C7, email1: found "ana@", wanted an email address`."""
        where = f"{self.place}, {self.field}" if self.field else str(self.place)
        return f"{where}: {self.clause}"

    @property
    def clause(self) -> str:
        """What is wrong, without the place."""
        if self.message:
            return self.message
        seen = f"found {self.found}" if self.found is not None else ""
        if self.found == "nothing":
            seen = "missing"
        wanted = f"wanted {self.wanted}" if self.wanted is not None else ""
        return ", ".join(part for part in (seen, wanted) if part)

    def as_json(self) -> dict[str, Any]:
        """Return the object that `campaign check --json` prints; null if a key does not apply."""
        return asdict(self.place) | {
            "field": self.field,
            "found": self.found,
            "wanted": self.wanted,
            "message": self.clause,
        }


@dataclass(frozen=True, slots=True)
class Doubt:
    """Something a person should look at; `kind` is what doubts of one kind have in common, and
    `left_out` the words of the cell that are not used.
    """

    kind: str
    sentence: str
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class Unusable:
    """A cell's content that no field accepts, such as an error; `what` is shown instead.

    `error` is what a copy of the sheet has in its place: no field accepts that either.
    """

    what: str
    error: str = field(default="#VALUE!", compare=False)

    def __str__(self) -> str:
        return self.what


def shown(value: object) -> str:
    """Show what was found as a person would recognise it: text in quotes, long text cut."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # A line break or an escape sequence must not split the one line of a mistake.
        return '"' + "".join(c if c.isprintable() else ascii(c)[1:-1] for c in _cut(value)) + '"'
    if isinstance(value, Unusable):
        return value.what
    if isinstance(value, Mapping):
        return "a mapping" if value else "an empty mapping"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    return _cut(str(value))


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_LENGTH else text[: SHOWN_LENGTH - 1] + "…"
