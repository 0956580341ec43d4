"""A campaign in a workbook: a sheet `campaign` of fields and values, and a sheet `candidates`."""

import re
from typing import Any

from config.errors import Mistake, Place, is_blank
from config.sheets.cells import error_in
from config.sheets.files import Source
from config.sheets.workbook import read_grids
from config.validation import FIELDS, Written
from config.yaml_file import read_value

# What separates the values in a cell. Values of `where` may contain commas.
LISTS = {"invites.waves": "[,;]", "invites.holidays": "[,;]"}
LISTS |= {"candidates.where": ";", "candidates.ignore": ";"}


def campaign_sheet(source: Source) -> Written | None:
    """The campaign in a workbook; None if it has no sheet `campaign`. Raises BadInput.

    Column A has a field's name (`project.name`) and B its value, or A has both with a colon
    between. Other columns, and a header `Field`, are ignored. A field without a value is left out.
    """
    sheets = {(grid.sheet or "").strip().lower(): grid for grid in read_grids(source)}
    if (grid := sheets.get("campaign")) is None:
        return None
    written = Written(grid.whole)
    people = {"file": source.file.name, "sheet": "candidates"}
    written.fields = {"project": {}, "candidates": people}
    for row, cells in grid.rows:
        name, value = (cell.strip() for cell in [*cells, "", ""][:2])
        field, _, rest = map(str.strip, name.partition(":"))
        if rest and not value and _location(field)[0] in FIELDS:  # `name: value`, as in YAML
            name, value = field, rest
        if error := error_in(value):
            why = f"wanted a value, not {error}"
            written.mistakes.append(Mistake(grid.place(row, 1), why, name))
        elif name and value and name.lower() != "field":
            typed = _typed(written, name, value, grid.place(row, 1))
            _add(written, name, typed, (grid.place(row, 0), grid.place(row, 1)))
        elif value and not name:
            why = "a value without a field beside it, in column A"
            written.mistakes.append(Mistake(grid.place(row, 1), why))
    return written


def _typed(written: Written, name: str, value: str, place: Place) -> Any:
    """Read a cell: `{Stage: Onsite}` and `[a, b]` as YAML, any other as one value, or as LISTS say.

    A separator at the end is ignored. To name the empty value, people write it first (`; Active`),
    or alone (`;`).
    """
    if value[0] + value[-1] in {"{}", "[]"}:
        return read_value(written, value, place)
    separator = LISTS.get(".".join(_location(name)[:2])) if not is_blank(value) else None
    ending = rf"(?:\s*{separator})+$"
    return re.split(rf"\s*{separator}\s*", re.sub(ending, "", value)) if separator else value


def _add(written: Written, name: str, value: Any, places: tuple[Place, Place]) -> None:
    """Add a field with its value, if it has one; a field that was added before is a mistake."""
    if value is None or isinstance(value, dict):  # each field in a mapping gets its own call
        for each, inner in (value or {}).items():
            _add(written, f"{name}.{each}", inner, places)
        return
    location = _location(name)
    around: Any = written.fields
    for depth, step in enumerate(location[:-1], start=1):
        around = around.setdefault(step, {}) if isinstance(around, dict) else None
        written.places.setdefault(location[:depth], places)
    if location not in written.places and isinstance(around, dict):
        written.places[location] = places
        around[location[-1]] = value
    else:
        first = written.places.get(location) or written.places[location[:-1]]
        why = f"{name} is written twice, first at {first[0]}"
        written.mistakes.append(Mistake(places[0], why, name))


def _location(name: str) -> tuple[str, ...]:
    """Locate `Project.Name` at project, name, and `where.Stage` at candidates, where, Stage."""
    first, _, rest = re.sub(r"(?i)^\s*candidates\s*\.", "", name).partition(".")
    first, rest = first.strip().lower().replace(" ", "_"), rest.strip()
    if first == "problem" and not rest:
        return "problem", "id"
    around = ("candidates",) if f"candidates.table.{first}" in FIELDS else ()
    # After `where` comes a column's header, whose capitals are kept.
    rest = rest if first == "where" else rest.lower().replace(" ", "_")
    return (*around, first, rest) if rest else (*around, first)
