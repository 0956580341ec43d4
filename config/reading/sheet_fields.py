"""The fields of a campaign in a sheet: where each goes, how its cell is read, and its names."""

import re
from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from config.definition.fields import ColumnsFields, DefinitionFields
from config.tables.cells import as_moment, as_text, as_whole_number, as_yes_or_no
from config.tables.headers import spelling
from config.tables.written import Location

CellReader = Callable[[Any], Any]


def _as_header(cell: Any) -> Any:
    """Read the word null as "no such column"; an empty cell says nothing."""
    return None if str(cell).strip().casefold() == "null" else as_text(cell)


# Two quotes, as typed and as spreadsheet programs curl them in one language or another.
EMPTY_TEXT = ('""', "“”", "„“", "„”", "””", "«»", "»«")


def as_values(cell: Any) -> list[str]:
    """Read what `where` wants of a column; several values are separated by semicolons or line
    breaks, and two quotes are an empty cell.
    """
    values = map(str.strip, re.split(r"[;\n]", str(as_text(cell))))
    return ["" if value in EMPTY_TEXT else value for value in values if value]


# Where each field goes, how its cell is read, and which names it may have in a sheet.
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
# A column of the people's table whose name is not ours, as in candidates.where.Job.
WHERE = re.compile(r"(?:candidates\s*\.\s*)?where\s*\.\s*(.+)", re.IGNORECASE | re.DOTALL)
# Headers above the two columns; they are not fields.
TITLES = {"field", "fields"}
PREFERRED = [names[0] for _, _, names in FIELDS]


def names_a_field(cell: Any) -> bool:
    """Whether a cell holds the name of a field, and nothing else."""
    text = str(as_text(cell)).strip()
    return spelling(text) in KNOWN or (". " not in text and WHERE.fullmatch(text) is not None)


def is_surely_for(name: str, cell: Any) -> bool:
    """Whether a cell is a value of a field that takes no other words, as a remark would have."""
    location, read = KNOWN[spelling(name)]
    return _is_valid(location, read(cell)) and not _is_valid(location, "a few other words")


def _is_valid(location: Location, value: Any) -> bool:
    # Fields of `invites` need these beside them.
    fields: dict[str, Any] = {"invites": {"timezone": "UTC", "waves": "1, rest"}}
    around = fields
    for step in location[:-1]:
        around = around.setdefault(str(step), {})
    around[str(location[-1])] = value
    try:
        DefinitionFields.model_validate(fields)
    except ValidationError as error:
        places = (detail["loc"] for detail in error.errors(include_url=False))
        return not any(set(location) <= set(place) for place in places)
    return True
