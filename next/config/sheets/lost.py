"""Which rows of a table are people, and who would be lost in the others without a word."""

from collections.abc import Iterable, Mapping, Sequence

from config.errors import Mistake, shown, some
from config.sheets.cells import DELIMITERS, MOST_ROWS, Grid, is_address, is_person
from config.sheets.headers import fields_of, is_header, is_nobody
from config.sheets.names import FULL_NAME

Row = tuple[int, list[str]]

ABOVE = (
    "a person stands above the header, which is row {header}, and is not read; put all people "
    "below one header, or remove the address"
)
SECOND = (
    "a second table begins here, which is not read; put all people below one header, or keep one "
    "table in a sheet"
)
ELSEWHERE = "an address stands here, but nothing in the columns that are read, so nobody is invited"
SWALLOWED = (
    "a cell of this row holds whole rows with people, because of a stray quote; remove the quote, "
    "or the line breaks inside the cell"
)
TOO_WIDE = (
    "this row has {found:,} columns, the header has {wanted}; put quotes around text that contains "
    "a {delimiter}"
)


def sift(
    grid: Grid, header: Row, by_field: Mapping[str, int], columns: Mapping[str, str]
) -> tuple[list[Row], list[Mistake], list[str]]:
    """Go through the rows around a header; `by_field` are the columns that are read.

    Returns the rows that may be people, mistakes and notes about the others.
    """
    people: list[Row] = []
    mistakes: list[Mistake] = []
    notes: list[str] = []
    number, titles = header
    names = [FULL_NAME] if FULL_NAME in by_field else ["first_name", "last_name"]
    person = [by_field[name] for name in (*names, "email1") if name in by_field]
    above = [row for row in grid.rows if row[0] < number]
    # As after sorting the header among the people.
    if above and above[-1][0] == number - 1 and all(is_person(cells, person) for _, cells in above):
        why = ABOVE.format(header=number)
        mistakes += [Mistake(grid.place(lost, person[-1]), why) for lost, _ in above]
    nobody: list[Row] = []
    read = sorted(by_field.values())
    for row in grid.rows[len(above) + 1 :]:
        begins, cells = row
        complete = is_person(cells, person)
        if not complete and _is_header(cells, columns):
            mistakes.append(Mistake(grid.place(begins), SECOND))
            # What stands alone above the second header is its title.
            while people and _alone(people[-1][1]):
                people.pop()
            break
        if grid.delimiter and (torn := _torn(grid, cells, len(titles), person)):
            mistakes.append(Mistake(grid.place(begins), torn))
            continue
        if complete or _is_somebody(cells, read):
            if len(people) == MOST_ROWS:
                why = f"there are more than {MOST_ROWS:,} rows; split them into several files"
                return [], [Mistake(grid.place(begins), why)], []
            people.append(row)
        elif is_nobody(cells):
            nobody.append(row)
        elif any(map(is_address, cells)):
            notes.append(f"{grid.place(begins)}: {ELSEWHERE}")
    if nobody:
        texts = [f"{grid.place(n)} {shown(next(filter(str.strip, c)))}" for n, c in nobody]
        notes.append(f"not people, but totals or footers: {some(texts)}")
    return people, mistakes, notes


def _is_header(cells: Sequence[str], columns: Mapping[str, str]) -> bool:
    """Whether a row names columns for an address and for a name."""
    names = len(set(cells)) > 1 and not any("@" in cell for cell in cells)
    return names and is_header(fields_of(cells, columns))


def _alone(cells: Iterable[str]) -> bool:
    filled = [cell for cell in cells if cell.strip()]
    return len(filled) == 1 and "@" not in filled[0]


def _is_somebody(cells: Sequence[str], columns: Iterable[int]) -> bool:
    """Whether a row may be a person, however incomplete: no total and no footer."""
    here = any(column < len(cells) and cells[column].strip() for column in columns)
    return here and (any(map(is_address, cells)) or not is_nobody(cells))


def _torn(grid: Grid, cells: Sequence[str], width: int, person: Sequence[int]) -> str | None:
    """Say what is wrong with a row of a text that has too many cells, or other rows in a cell."""
    delimiter = grid.delimiter or ""
    if len(cells) > width and any(cell.strip() for cell in cells[width:]):
        name = DELIMITERS[delimiter]
        return TOO_WIDE.format(found=len(cells), wanted=width, delimiter=name)
    for at, cell in enumerate(cells):
        if "\n" in cell or "\r" in cell:
            first, *others = (line.split(delimiter) for line in cell.splitlines() or [""])
            # The first line is the end of a row, and the last may be the beginning of one.
            tail = [""] * at + first
            is_tail = len(tail) == width > at + 1 and is_address(tail[person[-1]])
            rows = [line for line in others if len(line) in {width, at + 1}]
            if is_tail or any(is_person(line, person) for line in rows):
                return SWALLOWED
    return None
