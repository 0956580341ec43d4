"""What a report says, already in words: the code that fills it in decides who is named and how."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flows.report.timeline import Point


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a header; `left_out` says in words which rows are not shown, if there are any."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    left_out: str | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report: a sentence and a table. Without rows, `nothing` is said."""

    title: str
    table: Table
    nothing: str
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """One campaign as it stood at a moment.

    `counts` are those of the status object, `facts` are labelled lines, `steps` what to type next.
    `points` say when people were tried; the clocks are those of `zone`.
    """

    key: str
    name: str
    made_at: str
    told: str
    counts: Mapping[str, int]
    send: bool
    facts: Sequence[tuple[str, str]]
    steps: Sequence[str]
    points: Sequence[Point]
    zone: str | None
    sent: str
    sections: Sequence[Section]
    about_names: str
