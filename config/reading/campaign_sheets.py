"""Campaigns written in a workbook: a sheet `campaign` or `campaigns`, and a sheet `candidates`."""

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from config.definition.kinds import unknown_field
from config.errors import BadInput
from config.mistakes import Mistake, Place, shown
from config.reading.sheet_fields import (
    KNOWN,
    PREFERRED,
    TITLES,
    WHERE,
    as_values,
    is_surely_for,
    names_a_field,
)
from config.tables.cells import as_moment, as_text, is_blank
from config.tables.grid import TableRow
from config.tables.header_row import people_table
from config.tables.headers import spelling, wishes_of
from config.tables.table import PeopleTable
from config.tables.workbook import Book, Sheet
from config.tables.written import Location, People, Written

SHEETS = ("campaign", "campaigns", "candidates")


class CampaignFields:
    """Gathers the cells of one campaign into the shape of a definition, and their places."""

    def __init__(self, whole: Place, from_1904: bool) -> None:
        self.fields: dict[str, Any] = {"project": {}}
        self.cells: dict[Location, Place] = {}
        self.problems: list[Mistake] = []
        self.whole = whole
        self._from_1904 = from_1904

    def add(self, name: str, named_at: Place, cell: Any, place: Place) -> None:
        """Take one field; an empty cell leaves it out."""
        asked = WHERE.fullmatch(name)
        location, read = KNOWN.get(spelling(name), ((), as_text))
        if asked:
            location, read = ("candidates", "where", asked[1]), as_values
        if not location:
            if not is_blank(cell):
                self.problems.append(unknown_field(named_at, name, name, PREFERRED))
            return
        if location in self.cells and not is_blank(cell):
            message = f"{name} is written twice, first at {self.cells[location]}"
            self.problems.append(Mistake(place, name, shown(cell), message=message))
            return
        if is_blank(cell):
            return
        self.cells[location] = place
        around = self.fields
        for step in location[:-1]:
            around = around.setdefault(str(step), {})
        around[str(location[-1])] = (
            as_moment(cell, self._from_1904) if read is as_moment else read(cell)
        )

    def value(self, location: Location) -> Place:
        """Find a value, or the sheet or row that lacks it."""
        if location == ("problem",):
            location = ("problem", "id")
        return self.cells.get(location, self.whole)

    def name(self, location: Location) -> Place:
        """Find the name of a field: in a sheet, where its value is."""
        return self.value(location)

    @property
    def options(self) -> Mapping[str, Any]:
        """What the campaign says about its people."""
        options: Mapping[str, Any] = self.fields.get("candidates", {})
        return options

    @property
    def key(self) -> str:
        """The campaign's key as written, trimmed: cells hide trailing spaces."""
        return str(self.fields.get("campaign", "")).strip()

    def written(self, people: People | None, problems: tuple[Mistake, ...] = ()) -> Written:
        """Return the campaign as written, with the people found for it."""
        if self.key:
            self.fields["campaign"] = self.key
        return Written(self.fields, self, people, (*self.problems, *problems))


def says_how_to_read(options: Mapping[str, Any]) -> bool:
    """Whether a campaign's `candidates` say how the columns of the people are read."""
    return bool(options.keys() - {"when_unsure", "where"})


def campaigns_in(book: Book, file: str) -> list[Written]:
    """Find the campaigns of a workbook. Raises BadInput if it lacks the sheets that are needed."""
    single, many, people = (book.sheets.get(name) for name in SHEETS)
    if people is not None and single is not None and many is None:
        return [_one(single, people)]
    if people is not None and many is not None and single is None:
        return _many(many, people)
    wanted = (
        "a sheet campaign (or campaigns) and a sheet candidates; if this has only people, name "
        "their definition: --campaign definition.yaml"
    )
    problem = Mistake(Place(file), "sheets", book.listed, wanted)
    if single is None and many is None:
        # Imported here: only a table alone needs it.
        from config.reading.bare_table import BareTable  # noqa: PLC0415

        raise BareTable(Path(file), problem)
    raise BadInput([problem])


def campaign_alone(book: Book, file: str) -> CampaignFields:
    """Return what a workbook says about its only campaign, whose people are in another file.

    Raises BadInput if it has no sheet `campaign`.
    """
    sheet = book.sheets.get("campaign")
    if sheet is None or "campaigns" in book.sheets:
        raise BadInput([Mistake(Place(file), "sheets", book.listed, "one sheet campaign")])
    return _fields_of(sheet)


def _one(sheet: Sheet, people: Sheet) -> Written:
    gathered = _fields_of(sheet)
    wishes = wishes_of(gathered.options)
    try:
        table = people_table(people.rows, people.grid, wishes, wishes.needed)
    except BadInput as error:
        return gathered.written(None, error.problems)
    return gathered.written(table.people(gathered.key))


def _fields_of(sheet: Sheet) -> CampaignFields:
    """Read a sheet of fields and values."""
    gathered = CampaignFields(sheet.grid.whole, sheet.from_1904)
    rows = _rows(sheet)
    names = _column_of_names(rows)
    values, remarks = _columns_beside(rows, names)
    for number, cells in rows:
        name = "" if is_blank(_at(cells, names)) else str(as_text(_at(cells, names))).strip()
        titles = spelling(name) in TITLES
        read = {names, values} if name else {names}
        if titles:
            read |= {at for at, cell in enumerate(cells) if spelling(str(cell)) == "description"}
        gathered.problems += _not_read(sheet, (number, cells), read)
        if titles or not name:
            continue
        value = _at(cells, values)
        named_at, place = sheet.grid.cell(number, names), sheet.grid.cell(number, values)
        gathered.add(name, named_at, value, place)
        if is_blank(value) and WHERE.fullmatch(name):
            gathered.problems.append(Mistake(place, name, "nothing", "a value"))
        elif is_blank(value) and spelling(name) in KNOWN:
            gathered.problems += _strays(sheet, (number, cells), name, values, remarks)
    return gathered


def _columns_beside(rows: Sequence[TableRow], names: int) -> tuple[int, set[int]]:
    """Find the column of the values, the first in use beside the names, and those of remarks:
    they have titles, or hold words beside a value.
    """
    fields = [
        [at for at, cell in enumerate(cells) if at > names and not is_blank(cell)]
        for _, cells in rows
        if spelling(str(as_text(_at(cells, names)))) in {*KNOWN, *TITLES}
    ]
    values = min((at for columns in fields for at in columns), default=names + 1)
    return values, {at for columns in fields if values in columns for at in columns if at > values}


def _strays(
    sheet: Sheet, row: TableRow, name: str, values: int, remarks: set[int]
) -> Iterator[Mistake]:
    """Point at what may be the value of a field whose own cell is empty."""
    number, cells = row
    message = (
        f"{name} is empty, and what is here is not read; if it is the value, move it to "
        f"{sheet.grid.cell(number, values).cell}; if it is a remark, write a title above it, as in "
        "field, value, remarks"
    )
    for at, cell in enumerate(cells):
        if at <= values or is_blank(cell) or names_a_field(cell):
            continue
        if at not in remarks or is_surely_for(name, cell):
            yield Mistake(sheet.grid.cell(number, at), name, message=message)


def _rows(sheet: Sheet) -> list[TableRow]:
    """Return the rows of a sheet that hold anything."""
    return [row for row in sheet.rows() if not all(is_blank(cell) for cell in row[1])]


def _at(cells: Sequence[Any], column: int) -> Any:
    return cells[column] if column < len(cells) else None


def _not_read(sheet: Sheet, row: TableRow, read: Container[int]) -> Iterator[Mistake]:
    """Find names of fields in the columns of a row that are not read."""
    for at, cell in enumerate(row[1]):
        if at not in read and names_a_field(cell):
            yield Mistake(
                sheet.grid.cell(row[0], at),
                message=f"{shown(cell)} is the name of a field, but is not read here; move it and "
                "its value to the other fields, or remove it",
            )


def _names_in(cells: Sequence[Any]) -> list[int]:
    """Return the columns that have the name of a field."""
    return [at for at, cell in enumerate(cells) if spelling(str(as_text(cell))) in KNOWN]


def _column_of_names(rows: Sequence[TableRow]) -> int:
    """Find the column with the names of the fields: mostly the first."""
    columns = Counter(at for _, cells in rows for at in _names_in(cells))
    return max(columns, key=lambda at: (columns[at], -at), default=0)


def _many(sheet: Sheet, people: Sheet) -> list[Written]:
    gathered = list(_campaign_rows(sheet))
    if not gathered:
        message = "the sheet is empty, wanted a header row and a row for each campaign"
        raise BadInput.at(sheet.grid.whole, message)
    first, *others = gathered
    wishes = wishes_of(next(filter(says_how_to_read, (each.options for each in gathered)), {}))
    try:
        table = people_table(people.rows, people.grid, wishes, ("campaign", *wishes.needed))
    except BadInput as error:
        return [first.written(None, error.problems), *(other.written(None) for other in others)]
    for campaign in gathered:
        if _would_read_otherwise(campaign, people, table):
            campaign.problems.append(_differs(campaign, people))
    return _shared_out(gathered, table)


def _would_read_otherwise(campaign: CampaignFields, people: Sheet, table: PeopleTable) -> bool:
    """Whether a campaign wants the table that all of them share to be read in another way.

    One campaign decides for those that say nothing, if it reads their people no differently.
    """
    wishes = wishes_of(campaign.options)
    if wishes == table.wishes:
        return False
    try:
        own = people_table(people.rows, people.grid, wishes, ("campaign", *wishes.needed)).columns
    except BadInput:
        own = None
    silent = not says_how_to_read(campaign.options)
    if wishes.first_address != table.wishes.first_address or (own is None and not silent):
        return True
    return own is not None and own.by_field != table.columns.by_field


def _differs(campaign: CampaignFields, people: Sheet) -> Mistake:
    says = [
        at for at in campaign.cells if at[0] == "candidates" and says_how_to_read({str(at[1]): ""})
    ]
    place = campaign.cells[says[0]] if says else campaign.whole
    message = (
        f"all campaigns share the sheet {people.name}, and this row wants it to be read in another "
        "way than the others; write the same split_name, several and columns.… in each row, or "
        "give this campaign a workbook of its own"
    )
    return Mistake(place, "candidates", message=message)


def _campaign_rows(sheet: Sheet) -> Iterator[CampaignFields]:
    """Go through the campaigns below the header, the row that names the most fields."""
    rows = _rows(sheet)
    at = max(range(len(rows)), key=lambda at: (len(_names_in(rows[at][1])), -at), default=0)
    if not rows:
        return
    header_row, names = rows[at]
    header = ["" if is_blank(name) else str(as_text(name)).strip() for name in names]
    named = {column for column, name in enumerate(header) if name}
    above = [mistake for row in rows[:at] for mistake in _not_read(sheet, row, ())]
    for number, cells in rows[at + 1 :]:
        gathered = CampaignFields(sheet.grid.cell(number), sheet.from_1904)
        gathered.problems += [*above, *_not_read(sheet, (number, cells), named)]
        above = []
        for column, name in enumerate(header):
            if name:
                named_at, place = (
                    sheet.grid.cell(header_row, column),
                    sheet.grid.cell(number, column),
                )
                gathered.add(name, named_at, _at(cells, column), place)
        yield gathered


def _shared_out(campaigns: list[CampaignFields], table: PeopleTable) -> list[Written]:
    """Give each campaign its people; a person whose campaign is not here is a mistake, never
    dropped.
    """
    people, problems = table.people_by_campaign(
        {each.key: wishes_of(each.options).where for each in campaigns}
    )
    nobody = People((), table.place)
    written = []
    seen: dict[str, Place] = {}
    for campaign in campaigns:
        place = campaign.cells.get(("campaign",))
        if place and campaign.key in seen:
            message = f"found {shown(campaign.key)}, the same campaign as {seen[campaign.key]}"
            problems.append(Mistake(place, "campaign", shown(campaign.key), message=message))
        elif place:
            seen[campaign.key] = place
        written.append(campaign.written(people.get(campaign.key, nobody)))
    keys = ", ".join(seen)
    for key in people.keys() - seen.keys():
        for row in people[key].rows:
            if not isinstance(row, Mistake):
                place = people[key].place(row.number, "campaign")
                problems.append(Mistake(place, "campaign", shown(key), f"one of {keys}"))
    written[0] = replace(written[0], problems=(*written[0].problems, *problems))
    return written
