"""A campaign in a workbook: a sheet `campaign` of fields and values, and a sheet `candidates`."""

import re
from typing import Any

from config.building import FIELDS, Written
from config.errors import Mistake, Place
from config.sheets.cells import error_in
from config.sheets.files import Source
from config.sheets.workbook import read_grids

# How the values in a cell are told apart; those of `where` may have commas in them.
LISTS = {"invites.waves": "[,;]", "invites.holidays": "[,;]", "candidates.where": ";"}


def campaign_sheet(source: Source) -> Written | None:
    """The campaign in a workbook; None if it has no sheet `campaign`. Raises BadInput.

    Column A names a field (`project.name`), column B has its value; further columns are for people
    to read. A field without a value counts as left out.
    """
    sheets = {(grid.sheet or "").strip().lower(): grid for grid in read_grids(source)}
    if "campaign" not in sheets:
        return None
    grid = sheets["campaign"]
    written = Written(grid.whole)
    people = {"file": source.file.name, "sheet": "candidates"}
    written.fields = {"project": {}, "candidates": people}
    for row, cells in grid.rows:
        name, value = (cell.strip() for cell in [*cells, "", ""][:2])
        if error := error_in(value):
            why = f"wanted a value, not {error}"
            written.mistakes.append(Mistake(grid.place(row, 1), why, name))
        elif name and value and name.lower() != "field":
            _add(written, name, value, (grid.place(row, 0), grid.place(row, 1)))
        elif value and not name:
            why = "a value without a field beside it, in column A"
            written.mistakes.append(Mistake(grid.place(row, 1), why))
    return written


def _add(written: Written, name: str, value: str, places: tuple[Place, Place]) -> None:
    """Take over a field with its value, or say that it is there already."""
    location = _location(name)
    around: Any = written.fields
    for depth, step in enumerate(location[:-1], start=1):
        around = around.setdefault(step, {}) if isinstance(around, dict) else None
        written.places.setdefault(location[:depth], places)
    if location in written.places or not isinstance(around, dict):
        first = written.places.get(location) or written.places[location[:-1]]
        why = f"{name} is written twice, first at {first[0]}"
        written.mistakes.append(Mistake(places[0], why, name))
        return
    written.places[location] = places
    separator = LISTS.get(".".join(location[:2]))
    around[location[-1]] = re.split(rf"\s*{separator}\s*", value) if separator else value


def _location(name: str) -> tuple[str, ...]:
    """`Project.Name` is project, name; `where.Stage` is meant of the table of people."""
    first, _, rest = re.sub(r"(?i)^\s*candidates\s*\.", "", name).partition(".")
    first, rest = first.strip().lower().replace(" ", "_"), rest.strip()
    if first == "problem" and not rest:
        return "problem", "id"
    around = ("candidates",) if f"candidates.table.{first}" in FIELDS else ()
    # What follows `where` is the header of a column, in any case.
    rest = rest if first == "where" else rest.lower().replace(" ", "_")
    return (*around, first, rest) if rest else (*around, first)
