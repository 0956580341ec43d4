"""Which sheet of a workbook holds the people, if a definition goes with a table of people."""

from config.errors import BadInput
from config.mistakes import Mistake, Place, shown
from config.tables.headers import Wishes
from config.tables.table import names_emails
from config.tables.workbook import Book, Sheet, read_book, read_sheets

USUAL = "candidates"


def people_sheet(data: bytes, file: str, named: str | None, wishes: Wishes) -> tuple[Sheet, bool]:
    """Return the sheet, and whether it was chosen by its content.

    It is the sheet that is `named`, or else the one called candidates, or else the only sheet, or
    else the only one whose header names email addresses. Raises BadInput if there is no such sheet.
    """
    wanted = (named or USUAL).strip().casefold()
    book = read_book(data, file, [wanted])
    if wanted in book.sheets:
        return book.sheets[wanted], False
    if named is not None:
        raise _not_found(book, file, shown(named))
    if len(book.names) == 1:
        (only,) = book.sheets.values()
        return only, False
    sheets = read_sheets(data, file).values()
    fitting = [sheet for sheet in sheets if names_emails(sheet.rows(), wishes)]
    if len(fitting) == 1:
        return fitting[0], True
    if not fitting:
        raise _not_found(book, file, "one with a column of email addresses")
    names = ", ".join(sheet.name for sheet in fitting)
    message = (
        f"the sheets {names} all have email addresses; say which one has the people, as in "
        f'candidates: {{file: …, sheet: "{fitting[0].name}"}}'
    )
    raise BadInput([Mistake(Place(file), "sheet", message=message)])


def _not_found(book: Book, file: str, wanted: str) -> BadInput:
    names = ", ".join(book.names) or "none"
    return BadInput([Mistake(Place(file), "sheet", f"the sheets {names}", wanted)])
