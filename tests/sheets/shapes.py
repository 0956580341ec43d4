"""A spreadsheet as plain data, and what reading it must come to, whoever writes the file."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Formula:
    """A formula of a cell and the result a spreadsheet program stores with it."""

    text: str
    result: Any


@dataclass(frozen=True)
class Sheet:
    """Rows from A1 on, the numbers of hidden rows, and merged areas such as A1:C1."""

    name: str
    rows: Sequence[Sequence[Any]]
    hidden: Sequence[int] = ()
    merged: Sequence[str] = ()
    concealed: bool = False


@dataclass(frozen=True)
class Outcome:
    """What reading must come to: the people of each campaign, or every complaint in order.

    A person is written as texts: first and last name, address, source, notes, stage, cell. In
    complaints and remarks {file} stands for the file and … for any words. `look_at` are the
    warnings.
    """

    people: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    complaints: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    look_at: tuple[str, ...] = ()
    starttime: str | None = None


@dataclass(frozen=True)
class Book:
    """A workbook, and its outcome."""

    name: str
    sheets: Sequence[Sheet]
    outcome: Outcome
    from_1904: bool = False


@dataclass(frozen=True)
class Table:
    """A text table of people, read with the definition in `Table.definition`, and its outcome."""

    name: str
    rows: Sequence[Sequence[str]]
    outcome: Outcome
    options: str = ""
    encodings: Sequence[str] = ("utf-8", "utf-8-sig", "utf-16", "cp1252")
    delimiters: Sequence[str] = (",", ";", "\t")
