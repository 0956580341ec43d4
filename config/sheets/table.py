"""A table from a file of any format: its header, columns, and rows as a pandas DataFrame."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations_with_replacement, pairwise
from typing import TYPE_CHECKING

from config.definition import COLUMNS, ORDERS
from config.emails import ascii_domain, email_key, mailbox
from config.errors import BadInput, Mistake, Place, shown, some
from config.sheets.cells import MOST_ROWS, FileRow, Grid, addresses_in, is_address, is_person
from config.sheets.files import Format, Source
from config.sheets.headers import (
    ABOVE_AT_MOST,
    calls_out,
    fields_of,
    header_among,
    is_header,
    is_nobody,
    is_not_so,
    spelling,
    worded,
)
from config.sheets.names import comparable
from config.sheets.text import read_text

if TYPE_CHECKING:
    import pandas as pd

USUAL_SHEET = "candidates"
PERSON = ("full_name", "first_name", "last_name", "email1")  # the fields that tell people apart
NAMED = 60  # the most headers in one sentence
NO_HEADERS = "no headers"
NO_HEADER = "this row has an address, so it is no header; add one above it that names the columns"
ABOVE = "a person stands above the header, and is not read; put all people below one header"
SECOND = "a second table begins here, which is not read; put all people below one header"
BESIDE = "an address stands here under no header; name its column, or move it below the others"
ELSEWHERE = "addresses outside the table that is read, where nobody is invited"
HEADING = (
    "only {} stands in this row. If it is a legend, delete it; if it says who below it is out, "
    "delete their rows, or say it beside each of them; if it is a person, complete it"
)
FOOTERS = "not people, but totals or footers"
RENAME = 'columns: {email1: "…"}, or rename the header of that column to Email'
SWALLOWED = "a cell of this row holds whole rows; remove the stray quote, or the line breaks in it"


@dataclass
class Table:
    """The rows of a table that are people, or may be.

    `headers` has the title of each column (from 0), `header` is their row, and `by_field` has the
    column of each known field. A reader may add to `mistakes`. `excluding` are the
    other sheets whose titles say that their people are excluded.
    """

    grid: Grid
    headers: list[str]
    header: int
    by_field: dict[str, int]
    rows: list[FileRow] = field(repr=False)
    mistakes: list[Mistake]
    notes: list[str]
    excluding: Sequence[Grid] = ()

    @cached_property
    def cells(self) -> "pd.DataFrame":
        """All cells, trimmed, by column number (from 0); the index is the row in the file."""
        import pandas as pd  # noqa: PLC0415

        width = max([len(self.headers), *(len(cells) for _, cells in self.rows)])
        padded = [[*map(str.strip, cells), *[""] * (width - len(cells))] for _, cells in self.rows]
        return pd.DataFrame(padded, [row for row, _ in self.rows], range(width), dtype=object)

    @cached_property
    def frame(self) -> "pd.DataFrame":
        """Only the columns of known fields, by field."""
        known = {column: name for name, column in self.by_field.items()}
        return self.cells[[*known]].rename(columns=known)

    @cached_property
    def names(self) -> dict[int, str]:
        """What to call the person of each row: by name, or else by address."""
        cells = self.frame.filter(PERSON).itertuples(name=None)  # any column may be missing
        return {row: " ".join(filter(None, texts[:-1])) or "".join(texts) for row, *texts in cells}

    @cached_property
    def elsewhere(self) -> dict[int, str]:
        """The rows of people who stand on an `excluding` sheet, by an address or the first and the
        last word of their name, with the title of that sheet."""
        rows_of: dict[str, list[int]] = {}
        at, words = self.column_of("email1"), set[str]()
        for row, cells in self.rows if self.excluding else ():
            own = " ".join(cells[at : at + 1])
            known = _known_as("\n".join([*filter(is_address, cells), own]))
            known |= {f"@{each.rpartition('@')[2]}" for each in _known_as(own)}
            name = worded(self.names[row].casefold()).split() or [""]
            ends = {name[0], name[-1]}
            words |= ends
            for each in known | {" ".join(sorted(ends))}:
                rows_of.setdefault(each, []).append(row)
        found: dict[int, str] = {}
        for grid in self.excluding:
            for _, cells in grid.rows:
                known = _known_as(" ".join(cells))
                for two in pairwise([*filter(None, cells), ""]):
                    there = words & {*worded(" ".join(two).casefold()).split()}
                    pairs = combinations_with_replacement(sorted(there), 2)
                    known |= {" ".join(dict.fromkeys(pair)) for pair in pairs}
                for each in rows_of.keys() & known:
                    found |= dict.fromkeys(rows_of[each], grid.sheet or "")
        return found

    def place(self, row: int, column: str | int | None = None) -> Place:
        """The place of a cell, given its field or column."""
        return self.grid.place(row, column if isinstance(column, int) else self.column_of(column))

    def column_of(self, name: str | None) -> int:
        """The column of a field (of a name, maybe that of full_name), or else of the address."""
        whole = "full_name" if name in {"first_name", "last_name"} else name
        names = (name, whole, "email1")
        return next((self.by_field[each] for each in names if each in self.by_field), 0)


def read_table(
    source: Source, sheet: str | None = None, columns: Mapping[str, str] | None = None
) -> Table:
    """Read a file as a table; `columns` maps fields to the headers that hold them.

    Raises BadInput if it is no table, or no sheet or several fit. `mistakes` has other mistakes.
    """
    columns = columns or {}
    grid, notes = _chosen(source, grids := grids_of(source, columns), sheet, columns)
    excluding = [each for each in grids if each is not grid and calls_out(each.sheet or "")]
    top = grid.rows[:ABOVE_AT_MOST]
    if not top:
        why = "the table is empty, wanted a header row and candidates"
        raise BadInput([*grid.mistakes, Mistake(grid.whole, why, "candidates")])
    at, _ = header_among([cells for _, cells in top], columns)
    header, titles = top[at][0], [title.strip() for title in top[at][1]]
    by_field, mistakes = _columns(grid, header, titles, columns)
    # Without a column of addresses, drop totals and footers. With one, `_sift` reports them.
    rows = [row for row in grid.rows[at + 1 :] if "email1" in by_field or not is_nobody(row[1])]
    table = Table(grid, titles, header, by_field, rows, mistakes, notes, excluding)
    if "email1" in by_field:
        _sift(table, grid.rows[:at], columns)
    rest = [title for at, title in enumerate(titles) if title and at not in by_field.values()]
    table.notes += [f"{grid.whole}: columns that are not sent: {', '.join(rest)}"] if rest else []
    return table


def no_column(place: Place, name: str, titles: Sequence[str]) -> Mistake:
    """Say that no column holds a field; list the headers, and give the line to write."""
    found = headers_shown(titles)
    do = f'If it is one of these, write  columns: {{{name}: "…"}}  or rename it to {name}'
    do = "This may be no table of people" if found == NO_HEADERS else do
    return Mistake(place, f"no column for {name}; found {found}. {do}", name)


def headers_shown(titles: Sequence[str]) -> str:
    """List the headers, but no text that may be a secret or a person."""
    if any(map(is_address, titles)):
        return "a person, and no header"
    named = [title.strip() for title in titles if _HEADER.fullmatch(title.strip())]
    is_one = len(named) > 1 and 2 * len(named) > len([*filter(str.strip, titles)])
    return some([*map(shown, named)], NAMED) if is_one else NO_HEADERS


def grids_of(source: Source, columns: Mapping[str, str] | None = None) -> list[Grid]:
    """Read every sheet of a file as plain rows. Raises BadInput."""
    if source.format is Format.TEXT:
        return [read_text(source, columns or {})]
    # Imported late: no text needs it, and it reads in a second process.
    from config.sheets.workbook import read_grids  # noqa: PLC0415

    return read_grids(source)


def _known_as(text: str) -> set[str]:
    """The addresses and domains in a text."""
    found = {key(each) for each in addresses_in(text) for key in (email_key, mailbox)}
    return found | {f"@{ascii_domain(each)}" for each in _DOMAIN.findall(text)}


def _chosen(
    source: Source, grids: Sequence[Grid], sheet: str | None, columns: Mapping[str, str]
) -> tuple[Grid, list[str]]:
    """Choose the sheet: as named, or `candidates`, or the only one, or the one with addresses."""
    place, wanted = Place(source.file), (sheet or USUAL_SHEET).strip().casefold()
    named = [grid for grid in grids if (grid.sheet or "").strip().casefold() == wanted]
    fitting = [g for g in grids if "email1" in fields_of(_top(g, columns), columns)]
    filled = [g for g in fitting if g.rows[-1][1] != _top(g, columns)]  # not only a header
    fitting = filled or fitting
    if sheet is not None and source.format is Format.TEXT:
        raise BadInput.at(place, "this is a text without sheets; leave out sheet", field="sheet")
    options = named if named or sheet else grids if len(grids) == 1 else fitting
    if len(options) == 1:
        full = [g for g in grids if any(is_address(cell) for _, row in g.rows for cell in row)]
        also = "this sheet has email addresses as well, and is not read"
        return options[0], [f"{each.whole}: {also}" for each in full if each is not options[0]]
    heads = [f"{shown(grid.sheet)} ({headers_shown(_top(grid, columns))})" for grid in grids]
    message = f"there is no sheet {shown(sheet)}; found {'; '.join(heads)}"
    if not sheet:
        why, do = "no sheet has a column for email1", RENAME
        if fitting:
            why = "several sheets have email addresses"
            do = f"sheet: {fitting[0].sheet}; of a list, keep only one"
        message = f"{why}; found {'; '.join(heads)}. Say which in the definition, as in  {do}"
    one_of_them = (fitting or grids)[0].sheet
    raise BadInput.at(place, message, field="sheet", found=sheet, wanted=one_of_them)


def _top(grid: Grid, columns: Mapping[str, str]) -> list[str]:
    """The header of a sheet, or the row most like one."""
    top = [cells for _, cells in grid.rows[:ABOVE_AT_MOST]] or [[]]
    return top[header_among(top, columns)[0]]


def _columns(
    grid: Grid, header: int, titles: Sequence[str], columns: Mapping[str, str]
) -> tuple[dict[str, int], list[Mistake]]:
    """Find the column of each field, and the mistakes in the header, after those of the grid."""
    all_of: dict[str, list[int]] = {}
    for at, name in enumerate(fields_of(titles, columns)):
        if name is not None:
            all_of.setdefault(name, []).append(at)
    mistakes = [*grid.mistakes]
    for name, title in columns.items():
        if name not in all_of:
            why = f"no column has the header {shown(title)}; they are {headers_shown(titles)}"
            if spelling(title) in map(spelling, titles):
                whole = f'split_name: true, columns: {{full_name: "{title}"}}'
                why = f"{shown(title)} stands for another field as well; for whole names:  {whole}"
            mistakes.append(Mistake(grid.place(header), why, name, title))
    if any(map(is_address, titles)):
        mistakes.append(Mistake(grid.place(header), NO_HEADER))
    elif "email1" not in all_of and "email1" not in columns:
        mistakes.append(no_column(grid.place(header), "email1", titles))
    for name, places in all_of.items():
        if len(places) > 1:
            which = ", ".join(shown(titles[at]) for at in places)
            do = f'rename one, or say which, as in  columns: {{{name}: "{titles[places[0]]}"}}'
            if len({spelling(titles[at]) for at in places}) == 1:
                do = "rename all but the one to use"
            why = f"{len(places)} columns for {name}: {which}; {do}"
            mistakes.append(Mistake(grid.place(header, places[1]), why, name))
    if {"last_name", "full_name"} <= all_of.keys() and "full_name" not in columns:
        at, last = all_of["full_name"][0], all_of["last_name"][0]
        body = [[*cells, *[""] * len(titles)] for row, cells in grid.rows if row > header]
        names = [[{*comparable(row[n]).split()} for n in (at, last)] for row in body if row[last]]
        both = "first_name" in all_of and columns.keys().isdisjoint(PERSON[1:3])
        in_parts = "first_name" in all_of or (names and not any(a >= b for a, b in names))
        few = 2 * len(names) < sum(bool(row[at]) for row in body)  # as Calendly fills them in
        without = PERSON[1:3] if few and both else PERSON[:1] if in_parts else ()
        all_of = {name: its for name, its in all_of.items() if name not in without}
    return {name: all_of[name][0] for name in COLUMNS if name in all_of}, mistakes


def _sift(table: Table, above: Sequence[FileRow], columns: Mapping[str, str]) -> None:
    """Keep only the rows that may be people, and report people in the others."""
    grid, width, known = table.grid, len(table.headers), {*table.by_field.values()}
    if len(table.rows) > MOST_ROWS:  # too long to look at each
        why = f"there are more than {MOST_ROWS:,} rows; split them up"
        table.rows, table.mistakes = [], [*table.mistakes, Mistake(grid.whole, why)]
    person = [table.by_field[name] for name in PERSON if name in table.by_field]
    # Sorting a sheet can move its header among the people.
    found = [(grid.place(n, person[-1]), ABOVE) for n, cells in above if is_person(cells, person)]
    outside = [grid.place(number) for number, cells in above if any(map(is_address, cells))]
    people: list[FileRow] = []
    nobody: list[str] = []
    beside: list[Place] = []
    strays: list[tuple[int, dict[int, str]]] = []
    is_orders = grid.file.name.endswith(ORDERS)
    for row, cells in table.rows:
        place, filled = grid.place(row), {at: c.strip() for at, c in enumerate(cells) if c.strip()}
        first, addresses = next(iter(filled.values())), [*filter(is_address, filled.values())]
        is_known = not known.isdisjoint(filled)
        # The desk writes rows without a person for orders of people who were forgotten.
        no_one = not addresses and filled.keys().isdisjoint(person) and not is_orders
        if not any("@" in cell for cell in cells) and is_header(fields_of(cells, columns)):
            found.append((place, SECOND))
            break
        if grid.delimiter and (torn := _torn(grid.delimiter, cells, width)):
            found.append((place, torn))
        elif not addresses and is_nobody(cells):
            nobody.append(f"{place} {shown(first)}")
        elif no_one or (len(filled) == 1 and "@" not in first):
            strays.append((row, filled))
        else:
            others = [at for at in filled if at >= width or not table.headers[at]]
            beside += [grid.place(row, at) for at in others if is_address(filled[at])]
            people += [(row, cells)] if is_known else []
            outside += [place] if addresses and not is_known else []
    found += [(place, BESIDE) for place in beside[:1]]
    # Rows below the people may be prefilled in some columns, as check boxes are with FALSE.
    cells_of = ((at, cell.strip()) for _, cells in people for at, cell in enumerate(cells))
    usual = {each for each in cells_of if each[0] not in person} if strays else set()
    last = people[-1][0] if people else 0
    for row, filled in strays:
        odd = "".join(t for at, t in filled.items() if (at, t) not in usual and not is_not_so(t))
        if any(map(str.isalpha, odd)) or row < last:
            found.append((grid.place(row), HEADING.format(some([*map(shown, filled.values())]))))
        else:
            nobody.append(f"{grid.place(row)} {shown(next(iter(filled.values())))}")
    for what, where in ((FOOTERS, nobody), (ELSEWHERE, [*map(str, outside)])):
        table.notes += [f"{what}: {some(where)}"] if where else []
    table.rows = people
    table.mistakes += [Mistake(*each) for each in found]


def _torn(delimiter: str, cells: Sequence[str], width: int) -> str | None:
    """Say what is wrong with a text's row that has too many cells, or whole rows in a cell."""
    if any(cell.strip() for cell in cells[width:]):
        why = f"this row has {len(cells):,} columns, the header has {width}"
        return f"{why}; put quotes around text that contains {shown(delimiter)}"
    for at, cell in enumerate(cells):
        lines = [line.split(delimiter) for line in cell.splitlines()]
        # A line may be a whole row, the end of the first row, or the beginning of the last.
        lengths = {width, width - at, at + 1} - {1} if len(lines) > 1 else {}
        if any(len(line) in lengths and any(map(is_address, line)) for line in lines):
            return SWALLOWED
    return None


# A domain: @corp.org, or corp.org at the beginning of a row; not that of a whole address.
_DOMAIN = re.compile(r"(?:^|(?<![\w.+-])@)([\w-]+(?:\.[\w-]+)+)(?![\w.@-])")
# A header begins with a letter, and has no sign of a setting, code or network address.
_HEADER = re.compile(r"[^\W\d_][^={}<>\\\"$@\n]{0,79}")
