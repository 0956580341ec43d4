"""A campaign in a workbook: a sheet `campaign` of fields and values, and a sheet `candidates`."""

from typing import Any

from config.building import Location
from config.definition import Table
from config.errors import BadInput, Mistake, Place
from config.sheets.cells import Grid
from config.sheets.files import Source
from config.sheets.workbook import read_grids

CAMPAIGN, CANDIDATES = "campaign", "candidates"
OF_THE_TABLE = set(Table.model_fields) - {"file", "sheet"}


class CampaignSheet:
    """A definition as plain `fields`, the places of its pieces, and what is wrong with its form.

    Column A names a field (`project.name`), column B has its value; further columns are for people
    to read. A field without a value counts as left out.
    """

    def __init__(self, grid: Grid, people: Grid) -> None:
        self.fields: dict[str, Any] = {
            "project": {},
            "candidates": {"file": people.file.name, "sheet": people.sheet},
        }
        self.mistakes: list[Mistake] = []
        self._grid = grid
        self._rows: dict[Location, int] = {}
        for row, cells in grid.rows:
            name, value = (cell.strip() for cell in [*cells, "", ""][:2])
            if (row, 1) in grid.spoilt:
                wanted = f"a value, not {grid.spoilt[row, 1]}"
                self.mistakes.append(Mistake(grid.place(row, 1), f"wanted {wanted}", name))
            elif name and value and name.lower() != "field":
                self._add(name, value, row)
            elif value and not name:
                message = "a value without a field beside it, in column A"
                self.mistakes.append(Mistake(grid.place(row, 1), message))

    def place(self, location: Location, *, of_name: bool = False) -> Place:
        """Where a value is written, or its name; for what is missing, the sheet."""
        for written, row in self._rows.items():
            if written == location or written[: len(location)] == location:
                return self._grid.place(row, 0 if of_name else 1)
        # A list is one cell.
        return self.place(location[:-1]) if len(location) > 1 else self._grid.whole

    def _add(self, name: str, value: str, row: int) -> None:
        location = _location(name)
        if location in self._rows:
            first = self._grid.place(self._rows[location], 0)
            message = f"{name} is written twice, first at {first}"
            self.mistakes.append(Mistake(self._grid.place(row, 0), message, name))
            return
        self._rows[location] = row
        around = self.fields
        for step in location[:-1]:
            around = around.setdefault(step, {})
        lists = location[:2] == ("candidates", "where")
        around[location[-1]] = [each.strip() for each in value.split(";")] if lists else value


def campaign_sheet(source: Source) -> CampaignSheet | None:
    """The campaign in a workbook; None if it has no sheet `campaign`. Raises BadInput."""
    sheets = {(grid.sheet or "").strip().lower(): grid for grid in read_grids(source)}
    if CAMPAIGN not in sheets:
        return None
    if CANDIDATES not in sheets:
        names = ", ".join(grid.sheet or "" for grid in sheets.values())
        message = f"this workbook has no sheet {CANDIDATES} with the people; it has {names}"
        raise BadInput.at(Place(source.file), message)
    return CampaignSheet(sheets[CAMPAIGN], sheets[CANDIDATES])


def _location(name: str) -> tuple[str, ...]:
    """`Project.Name` is project, name; `where.Stage` is meant of the table of people."""
    first, _, rest = name.partition(".")
    head = first.strip().lower().replace(" ", "_")
    if head == "candidates" and rest:
        return "candidates", *_location(rest)[-2:]
    if head in OF_THE_TABLE:
        # What follows `where.` is the header of a column, in any case.
        rest = rest.strip() if head == "where" else rest.strip().lower()
        return ("candidates", head, rest) if rest else ("candidates", head)
    if head == "problem" and not rest:
        return "problem", "id"
    return (head, rest.strip().lower().replace(" ", "_")) if rest else (head,)
