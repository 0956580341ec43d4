"""People in a text file: comma, semicolon or tab between the columns."""

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from config.file_bytes import decoded
from config.headers import NEEDED, matches
from config.places import Place, Problem
from config.table import PeopleTable, TableRow, people_table

DELIMITERS = (",", ";", "\t")
# What is tried in turn: Excel in the West writes the second.
ENCODINGS = ("utf-8", "cp1252")
NAMES = {",": "comma", ";": "semicolon", "\t": "tab"}
# An apostrophe in front tells a spreadsheet that this is text and nothing to calculate; programs
# that write text files put it there (data/exports.py is one), and it is no part of the text.
GUARDED = ("'=", "'+", "'-", "'@", "'\t", "'\r")


@dataclass(frozen=True, slots=True)
class Lines:
    """A text file has lines; the name of the field says which column is meant."""

    file: str

    def row(self, number: int) -> Place:
        """Find the line on which a row begins."""
        return Place(self.file, number)

    def cell(self, number: int, column: int) -> Place:
        """Find the line on which the row of a cell begins."""
        return Place(self.file, number)


def read_csv(data: bytes, file: str, chosen: Mapping[str, str]) -> PeopleTable:
    """Read a table of people; `chosen` names the header of a field (field to header).

    Raises BadInput for what is no text, and where the needed columns are not found.
    """
    text = decoded(data, file, ENCODINGS)
    delimiter, start = delimiter_of(text, chosen)
    return people_table(_rows(text, delimiter, start, file), Lines(file), chosen, NEEDED)


def delimiter_of(text: str, chosen: Mapping[str, str]) -> tuple[str, int]:
    """Choose the delimiter with which the header names most fields, and the first line to read."""
    first = text[:8].splitlines()[:1]
    if first and first[0].lower().startswith("sep=") and first[0][4:] in DELIMITERS:
        # A line that only Excel understands.
        return first[0][4:], 1

    def fit(delimiter: str) -> tuple[int, int]:
        header = _first_row(text, delimiter)
        return matches(header, chosen), len(header)

    return max(DELIMITERS, key=fit), 0


def unguarded(row: list[str]) -> list[str]:
    """Take the apostrophe away that keeps a cell from being calculated."""
    if any(cell.startswith(GUARDED) for cell in row):
        return [cell[1:] if cell.startswith(GUARDED) else cell for cell in row]
    return row


def _first_row(text: str, delimiter: str) -> list[str]:
    try:
        for row in csv.reader(io.StringIO(text[:65536], newline=""), delimiter=delimiter):
            if any(cell.strip() for cell in row):
                return row
    except csv.Error:
        pass
    return []


def _rows(text: str, delimiter: str, start: int, file: str) -> Iterator[TableRow | Problem]:
    """Go through the rows, each with the line it begins on; a row that is too wide is a problem."""
    lines = io.StringIO(text, newline="")
    for _ in range(start):
        lines.readline()
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    begins, width = start + 1, 0
    try:
        for row in reader:
            width = width or (len(row) if any(row) else 0)
            if len(row) > width and any(cell.strip() for cell in row[width:]):
                yield Problem(
                    Place(file, begins),
                    message=f"this row has {len(row)} columns, the header has {width}; a text "
                    f"with a {NAMES[delimiter]} in it needs quotes around it",
                )
            else:
                yield begins, unguarded(row)
            begins = start + reader.line_num + 1
    except csv.Error as error:
        message = f"the rows cannot be told apart from here on, often for a stray quote ({error})"
        yield Problem(Place(file, begins), message=message)
