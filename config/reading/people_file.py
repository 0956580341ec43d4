"""The people in a file that a definition names, whatever its kind."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from config.errors import BadInput
from config.mistakes import Mistake, Place, shown
from config.reading.sources import PeopleFile, is_text_table
from config.tables.csv_file import read_csv
from config.tables.header_row import find_table, people_table
from config.tables.headers import NEEDED, Wishes, wishes_of
from config.tables.written import People

if TYPE_CHECKING:
    from config.tables.workbook import Sheet

USUAL = "candidates"


def people_in(file: PeopleFile, fields: Mapping[str, Any], sheet: str | None = None) -> People:
    """Read a candidates file as the definition's `candidates` say; in a workbook, the `sheet` that
    the command named. Raises BadInput.
    """
    if file.problems:
        raise BadInput(file.problems)
    wishes = wishes_of(fields.get("candidates"))
    key = str(fields.get("campaign", ""))
    if is_text_table(file.path, file.data):
        return read_csv(file.data, str(file.path), wishes).people(key)
    chosen, by_content = _sheet(file.data, str(file.path), sheet or wishes.sheet, wishes)
    table = people_table(chosen.rows, chosen.grid, wishes, wishes.needed)
    people = table.people(key)
    if by_content:
        note = f"{people.whole}: this sheet is used, as no other one has email addresses"
        people = replace(people, notes=(note, *people.notes))
    return people


def _sheet(data: bytes, file: str, named: str | None, wishes: Wishes) -> tuple["Sheet", bool]:
    """Return the sheet, and whether it was chosen by its content.

    It is the sheet that is `named`, or else the one called candidates, or else the only sheet, or
    else the only one whose header names email addresses. Raises BadInput if there is no such sheet.
    """
    # Imported here: a text file needs no workbooks.
    from config.tables.workbook import read_book, read_sheets  # noqa: PLC0415

    wanted = (named or USUAL).strip().casefold()
    book = read_book(data, file, [wanted])
    if wanted in book.sheets:
        return book.sheets[wanted], False
    if named is not None:
        raise BadInput([Mistake(Place(file), "sheet", book.listed, shown(named))])
    if len(book.names) == 1:
        (only,) = book.sheets.values()
        return only, False
    sheets = read_sheets(data, file).values()
    fitting = [sheet for sheet in sheets if _has_emails(sheet, wishes)]
    if len(fitting) == 1:
        return fitting[0], True
    if not fitting:
        wanted = "one with a column of email addresses"
        raise BadInput([Mistake(Place(file), "sheet", book.listed, wanted)])
    names = ", ".join(sheet.name for sheet in fitting)
    message = (
        f"the sheets {names} all have email addresses; say which one has the people, as in "
        f'candidates: {{file: …, sheet: "{fitting[0].name}"}}'
    )
    raise BadInput([Mistake(Place(file), "sheet", message=message)])


def _has_emails(sheet: "Sheet", wishes: Wishes) -> bool:
    table = find_table(sheet.rows, sheet.grid, wishes, NEEDED)
    return table is not None and "email1" in table.columns.by_field
