"""People in rows and columns, whatever file the table came from."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from config.cells import as_text, as_whole_number, is_blank
from config.errors import BadInput
from config.headers import Columns, find_columns
from config.places import Place, Problem, shown
from config.written import People, Row

# A table row: its number in the file (from 1) and its cells.
TableRow = tuple[int, Sequence[Any]]


class Grid(Protocol):
    """Where the rows and cells of one table are; columns count from 0."""

    def row(self, number: int) -> Place:
        """Find a row."""

    def cell(self, number: int, column: int) -> Place:
        """Find a cell."""


@dataclass(frozen=True, slots=True)
class TablePlaces:
    """Where the people of a table are written."""

    grid: Grid
    columns: Mapping[str, int]

    def row(self, number: int) -> Place:
        """Find a person: where the email address is, which is what tells people apart."""
        return self.value(number, "email1")

    def value(self, number: int, field: str) -> Place:
        """Find one field of a person."""
        column = self.columns.get(field)
        return self.grid.row(number) if column is None else self.grid.cell(number, column)


@dataclass(frozen=True, slots=True)
class PeopleTable:
    """The rows of a table, and which column holds which field."""

    columns: Columns
    rows: Iterable[TableRow | Problem]
    grid: Grid

    @property
    def _whole(self) -> Place:
        first = self.grid.row(1)
        return Place(first.file, sheet=first.sheet)

    def people(self, campaign: str) -> People:
        """Answer everybody in the table; a person of another campaign in it is a problem."""
        places = TablePlaces(self.grid, self.columns.by_field)
        rows = self._people_of(campaign, places)
        return People(rows, places, self._whole, self._notes())

    def people_by_campaign(self) -> tuple[dict[str, People], list[Problem]]:
        """Answer the people by what their `campaign` column says, and the rows that say nothing."""
        rows: dict[str, list[Row | Problem]] = {}
        problems = []
        places = TablePlaces(self.grid, self.columns.by_field)
        for row in self._people():
            if isinstance(row, Problem):
                problems.append(row)
            elif "campaign" not in row.fields:
                place = places.value(row.number, "campaign")
                problems.append(Problem(place, "campaign", "nothing", "the key of a campaign"))
            else:
                fields = dict(row.fields)
                key = str(fields.pop("campaign")).strip()
                rows.setdefault(key, []).append(Row(row.number, fields))
        notes = self._notes()
        return {
            key: People(some, places, self._whole, notes) for key, some in rows.items()
        }, problems

    def nobody(self) -> People:
        """Answer what a campaign without people in the table has."""
        return People((), TablePlaces(self.grid, self.columns.by_field))

    def _people_of(self, campaign: str, places: TablePlaces) -> Iterator[Row | Problem]:
        for row in self._people():
            if isinstance(row, Problem) or "campaign" not in row.fields:
                yield row
                continue
            fields = dict(row.fields)
            told = str(fields.pop("campaign")).strip()
            if told == campaign:
                yield Row(row.number, fields)
            else:
                place = places.value(row.number, "campaign")
                yield Problem(
                    place, "campaign", shown(told), f"{shown(campaign)}, or no such column"
                )

    def _notes(self) -> tuple[str, ...]:
        unused = ", ".join(self.columns.unused)
        return (f"{self._whole}: columns not used, never sent: {unused}",) if unused else ()

    def _people(self) -> Iterator[Row | Problem]:
        by_field = [
            (field, column, as_whole_number if field == "stage_id" else as_text)
            for field, column in self.columns.by_field.items()
        ]
        for row in self.rows:
            if isinstance(row, Problem):
                yield row
                continue
            number, cells = row
            width = len(cells)
            fields = {
                field: read(cells[column])
                for field, column, read in by_field
                if column < width and not is_blank(cells[column])
            }
            # A row with nothing in any known column is blank, or a remark beside the table.
            if fields:
                yield Row(number, fields)


def people_table(
    rows: Iterator[TableRow | Problem],
    grid: Grid,
    chosen: Mapping[str, str],
    needed: Sequence[str],
) -> PeopleTable:
    """Read the header, the first row with anything in it; the rows below are the people.

    Raises BadInput for a table without a header, or where the needed columns are not found.
    """
    for row in rows:
        if isinstance(row, Problem):
            raise BadInput([row])
        number, cells = row
        if all(is_blank(cell) for cell in cells):
            continue
        header = ["" if is_blank(cell) else str(as_text(cell)) for cell in cells]
        columns = find_columns(header, chosen, needed)
        if columns.complaints:
            place = grid.row(number)
            raise BadInput(Problem(place, message=complaint) for complaint in columns.complaints)
        return PeopleTable(columns, rows, grid)
    raise BadInput(
        [Problem(grid.row(1), message="the table is empty, wanted a header row and candidates")]
    )
