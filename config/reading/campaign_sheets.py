"""Campaigns written in a workbook: a sheet `campaign` or `campaigns`, and a sheet `candidates`."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from config.definition.fields import ColumnsFields
from config.definition.wording import unknown_field
from config.errors import BadInput
from config.mistakes import Mistake, Place, shown
from config.tables.cells import as_moment, as_text, as_whole_number, as_yes_or_no, is_blank
from config.tables.headers import spelling, wishes_of
from config.tables.table import PeopleTable, TableRow, people_table
from config.tables.where import Where, where_of
from config.tables.workbook import Book, Sheet
from config.tables.written import Location, People, Written

CellReader = Callable[[Any], Any]
SHEETS = ("campaign", "campaigns", "candidates")


def _as_header(cell: Any) -> Any:
    """Take the word null for no column at all: an empty cell says nothing."""
    return None if str(cell).strip().casefold() == "null" else as_text(cell)


def _as_values(cell: Any) -> list[str]:
    """Take what `where` wants of a column: several values have a semicolon or a line between."""
    return [value.strip() for value in re.split(r"[;\n]", str(as_text(cell))) if value.strip()]


# Where each field goes, how its cell is read, and the names it may carry in a sheet.
FIELDS: tuple[tuple[Location, CellReader, tuple[str, ...]], ...] = (
    (("campaign",), as_text, ("campaign", "key")),
    (("project", "id"), as_whole_number, ("project.id",)),
    (("project", "name"), as_text, ("project.name", "name")),
    (("project", "description"), as_text, ("project.description", "description")),
    (("project", "state"), as_text, ("project.state", "state")),
    (("project", "starttime"), as_moment, ("project.starttime", "starttime")),
    (("project", "endtime"), as_moment, ("project.endtime", "endtime")),
    (("project", "timezone"), as_text, ("project.timezone", "timezone")),
    (("problem", "id"), as_whole_number, ("problem", "problem.id")),
    (("problem", "title"), as_text, ("problem.title",)),
    (("problem", "unlisted"), as_yes_or_no, ("problem.unlisted", "unlisted")),
    (("stage_id",), as_whole_number, ("stage_id",)),
    (("invites", "send"), as_yes_or_no, ("invites.send", "send")),
    (("invites", "approval"), as_text, ("invites.approval", "approval")),
    (("invites", "not_before"), as_moment, ("invites.not_before", "not_before")),
    (("invites", "not_after"), as_moment, ("invites.not_after", "not_after")),
    (("invites", "timezone"), as_text, ("invites.timezone",)),
    (("invites", "hours"), as_text, ("invites.hours", "hours")),
    (("invites", "holidays"), as_text, ("invites.holidays", "holidays")),
    (("invites", "per_second"), as_text, ("invites.per_second", "per_second")),
    (("invites", "per_hour"), as_text, ("invites.per_hour", "per_hour")),
    (("invites", "least_time"), as_text, ("invites.least_time", "least_time")),
    (("invites", "pilot"), as_text, ("invites.pilot", "pilot")),
    (("invites", "waves"), as_text, ("invites.waves", "waves")),
    (("invites", "between"), as_text, ("invites.between", "between")),
    (("invites", "hold_on", "refused"), as_text, ("invites.hold_on.refused", "hold_on.refused")),
    (
        ("invites", "hold_on", "unsure"),
        as_whole_number,
        ("invites.hold_on.unsure", "hold_on.unsure"),
    ),
    (("invites", "cooldown"), as_text, ("invites.cooldown", "cooldown")),
    (("invites", "trust"), as_text, ("invites.trust", "trust")),
    (("guard", "removed"), as_text, ("guard.removed",)),
    (("schedule", "cron"), as_text, ("schedule.cron", "cron")),
    (("schedule", "every"), as_text, ("schedule.every", "every")),
    (("schedule", "timezone"), as_text, ("schedule.timezone",)),
    (("candidates", "split_name"), as_yes_or_no, ("candidates.split_name", "split_name")),
    (("candidates", "several"), as_text, ("candidates.several", "several")),
    (("candidates", "when_unsure"), as_text, ("candidates.when_unsure", "when_unsure")),
    *(
        (("candidates", "columns", field), _as_header, (f"columns.{field}",))
        for field in ColumnsFields.model_fields
    ),
)
KNOWN = {spelling(name): (location, read) for location, read, names in FIELDS for name in names}
# A column of the people's table that has no name of ours, as in candidates.where.Job.
WHERE = re.compile(r"(?:candidates\s*\.\s*)?where\s*\.\s*(.+)", re.IGNORECASE | re.DOTALL)
# Headers above the two columns, which are no fields.
TITLES = {"field", "fields"}
PREFERRED = [names[0] for _, _, names in FIELDS]


@dataclass(frozen=True, slots=True)
class SheetPlaces:
    """Where the fields of one campaign are written in its sheet."""

    whole: Place
    cells: Mapping[Location, Place]

    def value(self, location: Location) -> Place:
        """Find a value, or the sheet or row that lacks it."""
        if location == ("problem",):
            location = ("problem", "id")
        return self.cells.get(location, self.whole)

    def name(self, location: Location) -> Place:
        """Find the name of a field: in a sheet, where its value is."""
        return self.value(location)


class CampaignFields:
    """Gathers the cells of one campaign into the shape of a definition."""

    def __init__(self, whole: Place, from_1904: bool) -> None:
        self.fields: dict[str, Any] = {"project": {}}
        self.cells: dict[Location, Place] = {}
        self.problems: list[Mistake] = []
        self._whole = whole
        self._from_1904 = from_1904

    def add(self, name: str, named_at: Place, cell: Any, place: Place) -> None:
        """Take one field; an empty cell leaves it out."""
        asked = WHERE.fullmatch(name)
        location, read = KNOWN.get(spelling(name), ((), as_text))
        if asked:
            location, read = ("candidates", "where", asked[1]), _as_values
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

    @property
    def where(self) -> Where:
        """Whom the campaign keeps of its table."""
        return where_of(self.fields.get("candidates", {}))

    @property
    def key(self) -> str:
        """The campaign's key as written, trimmed: cells hide trailing spaces."""
        return str(self.fields.get("campaign", "")).strip()

    def written(self, people: People | None, problems: tuple[Mistake, ...] = ()) -> Written:
        """Answer the campaign as written, with the people found for it."""
        if self.key:
            self.fields["campaign"] = self.key
        places = SheetPlaces(self._whole, self.cells)
        return Written(self.fields, places, people, (*self.problems, *problems))


def says_how_to_read(options: Mapping[str, Any]) -> bool:
    """Whether a campaign's `candidates` say how the columns of the people are read."""
    return bool(options.keys() - {"when_unsure", "where"})


def campaigns_in(book: Book, file: str) -> list[Written]:
    """Find the campaigns of a workbook. Raises BadInput where its sheets are not those wanted."""
    single, many, people = (book.sheets.get(name) for name in SHEETS)
    if people is not None and single is not None and many is None:
        return [_one(single, people)]
    if people is not None and many is not None and single is None:
        return _many(many, people)
    names = ", ".join(book.names) or "none"
    wanted = (
        "a sheet campaign (or campaigns) and a sheet candidates; if this has only people, name "
        "their definition: --campaign definition.yaml"
    )
    problem = Mistake(Place(file), "sheets", f"the sheets {names}", wanted)
    if single is None and many is None:
        # Imported here: only a table alone needs it.
        from config.reading.bare_table import BareTable  # noqa: PLC0415

        raise BareTable(Path(file), problem)
    raise BadInput([problem])


def campaign_alone(book: Book, file: str) -> CampaignFields:
    """Answer what a workbook says of its one campaign, for people who stand in another file.

    Raises BadInput where it has no sheet `campaign`.
    """
    sheet = book.sheets.get("campaign")
    if sheet is None or "campaigns" in book.sheets:
        sheets = f"the sheets {', '.join(book.names) or 'none'}"
        raise BadInput([Mistake(Place(file), "sheets", sheets, "one sheet campaign")])
    return _fields_of(sheet)


def _one(sheet: Sheet, people: Sheet) -> Written:
    gathered = _fields_of(sheet)
    wishes = wishes_of(gathered.fields.get("candidates", {}))
    try:
        table = people_table(people.rows, people, wishes, wishes.needed)
    except BadInput as error:
        return gathered.written(None, error.problems)
    return gathered.written(table.people(gathered.key, gathered.where))


def _fields_of(sheet: Sheet) -> CampaignFields:
    """Read a sheet of fields and values."""
    gathered = CampaignFields(Place(sheet.file, sheet=sheet.name), sheet.from_1904)
    rows = _rows(sheet)
    names = _column_of_names(rows)
    for number, cells in rows:
        name = as_text(_at(cells, names))
        if is_blank(name) or spelling(str(name)) in TITLES:
            continue
        value = _at(cells, names + 1)
        named_at, place = sheet.cell(number, names), sheet.cell(number, names + 1)
        gathered.add(str(name).strip(), named_at, value, place)
        if is_blank(value) and WHERE.fullmatch(str(name).strip()):
            gathered.problems.append(Mistake(place, str(name).strip(), "nothing", "a value"))
    return gathered


def _rows(sheet: Sheet) -> list[TableRow]:
    """Answer the rows of a sheet that hold anything."""
    rows = (row for row in sheet.rows() if not isinstance(row, Mistake))
    return [row for row in rows if not all(is_blank(cell) for cell in row[1])]


def _at(cells: Sequence[Any], column: int) -> Any:
    return cells[column] if column < len(cells) else None


def _names_in(cells: Sequence[Any]) -> list[int]:
    """Answer the columns in which the name of a field stands."""
    return [at for at, cell in enumerate(cells) if spelling(str(as_text(cell))) in KNOWN]


def _column_of_names(rows: Sequence[TableRow]) -> int:
    """Find the column with the names of the fields: mostly the first."""
    columns = Counter(at for _, cells in rows for at in _names_in(cells))
    return max(columns, key=lambda at: (columns[at], -at), default=0)


def _many(sheet: Sheet, people: Sheet) -> list[Written]:
    gathered = list(_campaign_rows(sheet))
    if not gathered:
        message = "the sheet is empty, wanted a header row and a row for each campaign"
        raise BadInput([Mistake(Place(sheet.file, sheet=sheet.name), message=message)])
    first, *others = gathered
    # The people stand in one sheet, so that one campaign says for all how its columns are read.
    wishes_of_each = (campaign.fields.get("candidates", {}) for campaign in gathered)
    wishes = wishes_of(next(filter(says_how_to_read, wishes_of_each), {}))
    try:
        table = people_table(people.rows, people, wishes, ("campaign", *wishes.needed))
    except BadInput as error:
        return [first.written(None, error.problems), *(other.written(None) for other in others)]
    return _shared_out(gathered, table)


def _campaign_rows(sheet: Sheet) -> Iterator[CampaignFields]:
    """Go through the campaigns below the header, the row that names the most fields."""
    rows = _rows(sheet)
    at = max(range(len(rows)), key=lambda at: (len(_names_in(rows[at][1])), -at), default=0)
    if not rows:
        return
    header_row, names = rows[at]
    header = ["" if is_blank(name) else str(as_text(name)).strip() for name in names]
    for number, cells in rows[at + 1 :]:
        gathered = CampaignFields(sheet.row(number), sheet.from_1904)
        for column, name in enumerate(header):
            if name:
                named_at, place = sheet.cell(header_row, column), sheet.cell(number, column)
                gathered.add(name, named_at, _at(cells, column), place)
        yield gathered


def _shared_out(campaigns: list[CampaignFields], table: PeopleTable) -> list[Written]:
    """Give each campaign its people; a person of no campaign here is a problem, never dropped."""
    people, problems = table.people_by_campaign({each.key: each.where for each in campaigns})
    nobody = table.nobody()
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
                place = people[key].places.value(row.number, "campaign")
                problems.append(Mistake(place, "campaign", shown(key), f"one of {keys}"))
    first = written[0]
    written[0] = Written(first.fields, first.places, first.people, (*first.problems, *problems))
    return written
