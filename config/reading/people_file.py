"""The people in a file that a definition names, whatever its kind."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from config.errors import BadInput
from config.reading.sources import PeopleFile, is_text_table
from config.tables.csv_file import read_csv
from config.tables.headers import wishes_of
from config.tables.table import people_table
from config.tables.where import where_of
from config.tables.written import People


def people_in(file: PeopleFile, fields: Mapping[str, Any], sheet: str | None = None) -> People:
    """Read a candidates file as the definition's `candidates` say; in a workbook, the `sheet` that
    the command named. Raises BadInput.
    """
    if file.problems:
        raise BadInput(file.problems)
    options = fields.get("candidates")
    options = options if isinstance(options, Mapping) else {}
    wishes = wishes_of(options)
    key = str(fields.get("campaign", ""))
    if is_text_table(file.path, file.data):
        return read_csv(file.data, str(file.path), wishes).people(key, where_of(options))
    # Imported here: a text file needs no workbooks.
    from config.reading.people_sheet import people_sheet  # noqa: PLC0415

    named = sheet or options.get("sheet")
    named = named if isinstance(named, str) and named.strip() else None
    sheet_of_people, by_content = people_sheet(file.data, str(file.path), named, wishes)
    table = people_table(sheet_of_people.rows, sheet_of_people, wishes, wishes.needed)
    people = table.people(key, where_of(options))
    if by_content:
        note = f"{people.whole}: this sheet is used, as no other one has email addresses"
        people = replace(people, notes=(note, *people.notes))
    return people
