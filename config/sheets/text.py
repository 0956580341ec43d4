"""Tables in text: comma, semicolon, tab or vertical bar between the cells."""

import csv
import io
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping

from config.errors import BadInput, Mistake, Place
from config.sheets.cells import MOST_CELLS, Grid, Row
from config.sheets.files import TOO_LARGE, Source, encoding_of
from config.sheets.headers import header_among

HEAD = 65_536  # characters in which the header is looked for
STRAY_QUOTE = (
    'the rows cannot be told apart from here on, because a quote (") is opened and not closed; '
    "close or remove it"
)


def read_text(source: Source, columns: Mapping[str, str]) -> Grid:
    """Read a text with the delimiter with which its header names the most fields.

    `columns` says which header holds which field. Raises BadInput if it is not text.
    """
    text, note = decoded(source.data)
    if "\0" in text:
        raise BadInput.at(Place(source.file), "this is a binary file, wanted a table")
    head = io.StringIO(text[:HEAD], newline="").readlines()
    first = 1
    delimiters: tuple[str, ...] = (",", ";", "\t", "|")
    if separator := _SEPARATOR.fullmatch(head[0].rstrip("\r\n")):
        first, delimiters = 2, (separator["delimiter"],)
    tops = {each: [*_rows(head[first - 1 :], each, first)] for each in delimiters}

    def fit(delimiter: str) -> tuple[int, int, int]:
        rows = tops[delimiter]
        at, fields = header_among([cells for _, cells in rows], columns)
        return (fields, len(rows[at][1]), rows[at][0]) if rows else (0, 0, first)

    delimiter = max(delimiters, key=lambda each: fit(each)[:2])
    header = fit(delimiter)[2]
    # No program has to read what is above the header: a stray quote there is part of the text.
    grid = Grid(source.file, [row for row in tops[delimiter] if row[0] < header])
    grid.delimiter = delimiter
    grid.notes = [f"{grid.whole}: {note}"] if note else []
    lines = itertools.islice(io.StringIO(text, newline=""), header - 1, None)
    room = MOST_CELLS
    for number, cells in _rows(lines, delimiter, header, strict=True):
        room -= len(cells)
        if room < 0 or not cells:
            why = TOO_LARGE if cells else STRAY_QUOTE
            grid.mistakes.append(Mistake(grid.place(number), why))
            break
        grid.rows.append((number, cells))
    return grid


def _rows(
    lines: Iterable[str], delimiter: str, first: int, *, strict: bool = False
) -> Iterator[Row]:
    """Go through the rows that hold anything, each with the line on which it begins.

    One without cells comes last if the rows cannot be told apart from there on.
    """
    reader = csv.reader(lines, delimiter=delimiter, strict=strict)
    begins = first
    try:
        for row in reader:
            if any(map(str.strip, row)):
                yield begins, [cell[1:] if cell.startswith(_GUARDED) else cell for cell in row]
            begins = first + reader.line_num
    except csv.Error:  # also for a cell of more than 131,072 characters
        yield begins, []


def decoded(data: bytes) -> tuple[str, str]:
    """Decode by the byte-order mark, or else as UTF-8, or else as Windows-1252, with a note."""
    try:
        return data.decode(encoding_of(data) or "utf-8"), ""
    except UnicodeDecodeError:
        why = "this file is not in UTF-8 and was read as Windows-1252; if letters look wrong, save"
        return data.decode("cp1252", "replace"), f"{why} it as UTF-8"


# A line that only Excel understands; other programs add quotes to it, and delimiters.
_SEPARATOR = re.compile(r"\"?sep ?= ?(?P<delimiter>[,;\t|])\"?(?P=delimiter)*", re.IGNORECASE)
# An apostrophe that programs put before text that looks like a formula.
_GUARDED = tuple(f"'{sign}" for sign in "=+-@\t\r\n")
