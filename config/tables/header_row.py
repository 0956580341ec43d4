"""Which row of a table is its header, and so which table of people the rows make."""

from collections.abc import Iterator, Sequence
from itertools import islice

from config.errors import BadInput
from config.mistakes import Mistake, shown
from config.tables.cells import as_text, is_blank, is_total, is_words
from config.tables.grid import DELIMITERS, Grid, Rows, TableRow
from config.tables.headers import Wishes, fields_meant, find_columns, matches, spelling
from config.tables.table import MOST_ROWS, PeopleTable
from config.tables.unread import is_address

# Titles, dates and remarks may be above the header, which must be within this many rows.
ABOVE_AT_MOST = 50
TOTALS_NAMED = 3
NO_HEADER = (
    "this row has an address, so it is not a header; add a header row above it that names the "
    "columns, such as First name or Email"
)
IN_QUOTES = "each line is one cell, often because it is in quotes; remove the quotes around it"
IN_ONE_CELL = "each row is in one cell; split it into columns (Data > Text to Columns)"


def people_table(rows: Rows, grid: Grid, wishes: Wishes, needed: Sequence[str]) -> PeopleTable:
    """Find the header: of the rows at the top, it names the most fields.

    Raises BadInput for a table without a header, or if the needed columns are not found.
    """
    table = find_table(rows, grid, wishes, needed)
    if table is None:
        top = islice(_with_something(rows()), ABOVE_AT_MOST)
        message = "the table is empty, wanted a header row and candidates"
        empty = [Mistake(grid.cell(1), message=message)]
        raise BadInput([row for row in top if isinstance(row, Mistake)] or empty)
    if complaints := table.columns.complaints:
        place = grid.cell(table.header)
        wrong = _is_no_header(table)
        raise BadInput(Mistake(place, message=each) for each in ((wrong,) if wrong else complaints))
    return table


def _is_no_header(table: PeopleTable) -> str | None:
    """Say why the row that was taken for the header is none, if it is a person or one cell."""
    titles = [title for title in table.titles if title.strip()]
    for delimiter in DELIMITERS if len(titles) == 1 else ():
        parts = titles[0].split(delimiter)
        if len(parts) > 1 and (matches(parts, table.wishes) > 1 or any(map(is_address, parts))):
            return IN_QUOTES if table.grid.delimiter else IN_ONE_CELL
    return NO_HEADER if not table.columns.by_field and any(map(is_address, titles)) else None


def find_table(rows: Rows, grid: Grid, wishes: Wishes, needed: Sequence[str]) -> PeopleTable | None:
    """Find the header, whatever is wrong with its columns; None if no row can be one."""
    top = list(islice(_with_something(rows()), ABOVE_AT_MOST))
    at = header_among(top, wishes)
    if at is None:
        return None
    number, header = _texts(top[at])

    def everything() -> Iterator[TableRow | Mistake]:
        going = rows()
        for _ in islice(_with_something(going), at + 1):
            pass
        return going

    sums = _totals(islice(everything(), MOST_ROWS + 1))

    def below() -> Iterator[TableRow | Mistake]:
        for row in everything():
            if isinstance(row, Mistake) or row[0] not in sums:
                yield row

    unfit = words_in_numbers(header, wishes, below)
    columns = find_columns(header, wishes.named, needed, unfit)
    remarks = [
        f"{grid.whole}: column {header[column].strip()} is not used as stage_id: its cells are "
        f"text, e.g. {grid.cell(row, column).cell or f'line {row}'} {shown(cell)}"
        for column, (row, cell) in unfit.items()
    ]
    remarks += [
        f"{grid.cell(row, column)}: {shown(text)} is a total, so this row is not a person"
        for row, (column, text) in islice(sums.items(), TOTALS_NAMED)
    ]
    if (more := len(sums) - TOTALS_NAMED) > 0:
        remarks.append(f"{grid.whole}: more rows that are totals, not people: {more:,}")
    above = [_texts(row) for row in top[:at]]
    return PeopleTable(columns, below, grid, number, header, wishes, tuple(remarks), above)


def _totals(rows: Iterator[TableRow | Mistake]) -> dict[int, tuple[int, str]]:
    """Find the rows of totals: the column (from 0) that says so, and its text."""
    return {
        row[0]: next((at, cell.strip()) for at, cell in enumerate(row[1]) if not is_blank(cell))
        for row in rows
        if not isinstance(row, Mistake) and is_total(row[1])
    }


def words_in_numbers(
    header: Sequence[str], wishes: Wishes, below: Rows
) -> dict[int, tuple[int, str]]:
    """Find the columns that only their header makes stage_id, and whose cells are all words.

    Returns the first such row and cell, by column. A column called `stage_id` is never one of them.
    """
    meant = fields_meant(header, wishes.named, ())
    doubtful = {
        column
        for column, field in enumerate(meant)
        if field == "stage_id"
        and "stage_id" not in wishes.named
        and spelling(header[column]) != "stageid"
    }
    words: dict[int, tuple[int, str]] = {}
    for row in below() if doubtful else ():
        if isinstance(row, Mistake):
            continue
        number, cells = row
        for column in [column for column in doubtful if column < len(cells)]:
            if is_words(cell := cells[column]) and not is_blank(cell):
                words.setdefault(column, (number, cell))
            elif not is_blank(cell):
                doubtful.discard(column)
        if not doubtful:
            break
    return {column: words[column] for column in sorted(doubtful & words.keys())}


def header_among(rows: Sequence[TableRow | Mistake], wishes: Wishes) -> int | None:
    """Return the header row: the first of those that name the most fields."""
    fits = [
        (matches(_texts(row)[1], wishes), -at)
        for at, row in enumerate(rows)
        if not isinstance(row, Mistake)
    ]
    return -max(fits)[1] if fits else None


def _with_something(rows: Iterator[TableRow | Mistake]) -> Iterator[TableRow | Mistake]:
    for row in rows:
        if isinstance(row, Mistake) or not all(is_blank(cell) for cell in row[1]):
            yield row


def _texts(row: TableRow | Mistake) -> tuple[int, list[str]]:
    """Return the number of a row and the texts in it."""
    if isinstance(row, Mistake):
        return 0, []
    return row[0], ["" if is_blank(cell) else str(as_text(cell)) for cell in row[1]]
