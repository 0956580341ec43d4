"""A table of people without a definition yet: how it is understood, and a starter for one."""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from config.command_line import command
from config.definition.sent_fields import EXAMPLES, FIELDS
from config.errors import BadInput
from config.mistakes import Mistake
from config.reading.own_tables import Named, own_tables, people_in
from config.reading.sources import TEXT_TABLES, suffix_of
from config.reading.starter import free
from config.tables.address_cells import addresses_in
from config.tables.cells import as_text, is_blank, is_error
from config.tables.headers import FULL_NAME, meaning
from config.tables.where import compared

# A column has few values if there are at most so many, each this short; so many columns are shown.
FEW, SHORT, COLUMNS = 8, 60, 8
NEVER_CHOSEN = {"first_name", "last_name", "email1", "notes", FULL_NAME}
_PLAIN = re.compile(r"[A-Za-z][A-Za-z ]*[A-Za-z]")
_WORDS = {"null", "true", "false", "yes", "no", "on", "off"}


class BareTable(BadInput):
    """A file of people without a definition; next, a person writes a definition that names it."""

    def __init__(self, path: Path, problem: Mistake, sheet: str | None = None) -> None:
        which = ["--sheet", sheet] if sheet and suffix_of(path) not in TEXT_TABLES else []
        new = free(path.with_suffix(".yaml"))
        then = f"Then type: {command('new', new, '--from', path, *which)}"
        super().__init__([problem], then=then)


@dataclass(frozen=True, slots=True)
class Understood:
    """What was understood of a table: each field, with its column and a few different values; the
    columns with few values, and how many rows have each value; how many cells hold several
    addresses.

    `sheet` is the one that a person named, if there are any.
    """

    path: Path
    sheet: str | None
    fields: tuple[tuple[str, str, tuple[str, ...]], ...]
    choices: Mapping[str, Mapping[str, int]]
    several: int

    @property
    def full_name(self) -> str | None:
        """The column of full names, if there are no columns of first and last names."""
        return next((column for field, column, _ in self.fields if field == FULL_NAME), None)

    def candidates(self, definition: Path) -> str:
        """Write the lines `candidates` of a definition that names the table."""
        lines = ["candidates:", f"  file: {_in_yaml(_from(definition, self.path))}"]
        if self.sheet:
            lines.append(f"  sheet: {_in_yaml(self.sheet)}")
        if self.full_name:
            lines.append("  split_name: true                # into first and last name; check them")
        if self.several:
            cells = "1 cell has" if self.several == 1 else f"{self.several:,} cells have"
            lines.append(
                f"  # several: first                # {cells} several addresses; use the first"
            )
        if self.choices:
            lines += [
                "  # This invites everybody in the table. To choose rows, remove the # in front of",
                "  # where and of its columns, and keep the values you want.",
                "  # where:",
            ]
        for column, rows in self.choices.items():
            values = ", ".join(map(_in_yaml, rows))
            many = ", ".join(f"{number:,}" for number in rows.values())
            lines.append(f"  #   {_in_yaml(column)}: [{values}]   # rows: {many}")
        return "\n".join(lines) + "\n"


def understood(path: Path, sheet: str | None = None) -> Understood:
    """Read a table as a campaign would. Raises BadInput if no column has email addresses."""
    named = Named(path, sheet)
    at = people_in(named, own_tables(named)[1])
    sheet = None if at.table.delimiter else sheet
    titles = [title.strip() for title in at.body.titles]
    columns = dict(at.columns)
    if not {"first_name", "last_name"} & columns.keys():
        full = [number for number, title in enumerate(titles) if meaning(title) == FULL_NAME]
        columns |= {FULL_NAME: full[0]} if len(full) == 1 else {}
    rows = [cells for _, cells in at.body.filled(columns.values())]
    fields = tuple(
        (field, titles[column], tuple(islice(dict.fromkeys(_texts(rows, column)), EXAMPLES)))
        for field in (FULL_NAME, *FIELDS)
        if (column := columns.get(field)) is not None
    )
    several = sum(
        len(addresses_in(str(cells[columns["email1"]]))) > 1
        for cells in rows
        if columns["email1"] < len(cells)
    )
    taken = {column for field, column in columns.items() if field in NEVER_CHOSEN}
    few = (
        (title, counts)
        for column, title in enumerate(titles)
        if title and column not in taken and titles.count(title) == 1
        if (counts := _few(rows, column))
    )
    return Understood(path, sheet, fields, dict(islice(few, COLUMNS)), several)


def _texts(rows: list[Sequence[Any]], column: int) -> Iterator[str]:
    for cells in rows:
        if column < len(cells) and not is_blank(cells[column]):
            yield str(as_text(cells[column])).strip()


def _few(rows: list[Sequence[Any]], column: int) -> dict[str, int]:
    """Count the values of a column that groups people, with its empty cells: there are few, and
    most occur more than once.
    """
    spelt: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for text in _texts(rows, column):
        if len(text) > SHORT or is_error(text) or not text.isprintable():
            return {}
        counts[compared(text)] += 1
        spelt.setdefault(compared(text), text)
        if len(counts) > FEW:
            return {}
    if counts and (empty := len(rows) - counts.total()):
        counts[""] = empty
        spelt[""] = ""
    if len(counts) < 2 or len(counts) == len(rows):
        return {}
    return {spelt[value]: number for value, number in counts.most_common()}


def _from(definition: Path, table: Path) -> str:
    """Name a table as its definition does: relative to the definition's folder."""
    try:
        return Path(os.path.relpath(table.resolve(), definition.resolve().parent)).as_posix()
    except ValueError:  # on another drive
        return str(table.resolve())


def _in_yaml(text: str) -> str:
    plain = _PLAIN.fullmatch(text) and text.casefold() not in _WORDS
    return text if plain else json.dumps(text, ensure_ascii=False)
