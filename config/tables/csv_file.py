"""People in a text file: comma, semicolon, tab or vertical bar between the columns."""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice

from config.mistakes import Mistake, Place, shown
from config.tables.cells import unguarded
from config.tables.file_bytes import decoded
from config.tables.grid import DELIMITERS, Grid, TableRow
from config.tables.header_row import ABOVE_AT_MOST, header_among, people_table
from config.tables.headers import Wishes, matches
from config.tables.table import PeopleTable
from config.workbooks.content import encoding_of

# Encodings to try in this order: Western versions of Excel write the second.
ENCODINGS = ("utf-8", "cp1252")
MOST_COLUMNS = 1_000
# One line with its end, whichever that is.
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
# A word with a character that is not ASCII, which need not be a letter: misread ones rarely are.
WORD = re.compile(r"[^\s,;|\"]*[^\x00-\x7f][^\s,;|\"]*")
AROUND = 25  # so many characters of it on either side
# A line that only Excel understands; other programs may add quotes to it, and a delimiter for each
# column.
SEPARATOR = re.compile(r"\"?sep ?= ?(?P<delimiter>[,;\t|])\"?(?P=delimiter)*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a text: its delimiter, the first line to read, and the line of the header."""

    delimiter: str
    first: int
    header: int


def read_csv(data: bytes, file: str, wishes: Wishes) -> PeopleTable:
    """Read a table of people, with columns chosen by `wishes`.

    Raises BadInput if it is not text, or if the needed columns are not found.
    """
    text = decoded(data, file, ENCODINGS)
    layout = layout_of(text, wishes)
    grid = Grid(file, delimiter=layout.delimiter, notes=_guessed(data, text, file))
    rows = partial(_rows, text, layout, file)
    return people_table(rows, grid, wishes, wishes.needed)


def _guessed(data: bytes, text: str, file: str) -> tuple[str, ...]:
    """Warn about a text that is not UTF-8: it is not certain which characters its bytes mean."""
    try:
        if not (text.isascii() or encoding_of(data)):
            data.decode("utf-8")
    except UnicodeDecodeError:
        at = next(at for at, character in enumerate(text) if not character.isascii())
        word = next(WORD.finditer(text, max(0, at - AROUND), at + AROUND))[0]
        line = text.count("\n", 0, at) + 1
        return (
            f"{Place(file, line)}: this file is not in UTF-8 and was read as Windows-1252; "
            f"if {shown(word)} looks wrong there, save the file as UTF-8",
        )
    return ()


def layout_of(text: str, wishes: Wishes) -> Layout:
    """Choose the delimiter with which the header names the most fields."""
    line = LINE.match(text)
    separator = SEPARATOR.fullmatch(line[0].rstrip("\r\n")) if line else None
    first = 2 if separator else 1
    delimiters = (separator["delimiter"],) if separator else DELIMITERS

    def fit(delimiter: str) -> tuple[int, int, Layout]:
        whole = Layout(delimiter, first, header=len(text))
        rows = list(islice(_rows(text[:65536], whole, ""), ABOVE_AT_MOST))
        at = header_among(rows, wishes)
        if at is None or isinstance(header := rows[at], Mistake):
            return 0, 0, Layout(delimiter, first, first)
        fields = matches(header[1], wishes)
        return fields, len(header[1]), Layout(delimiter, first, header[0])

    return max(map(fit, delimiters), key=lambda fitting: fitting[:2])[2]


def lines_of(text: str, layout: Layout) -> Iterator[str]:
    """Go through the lines from the first to read on, each with its end."""
    every = (line[0] for line in LINE.finditer(text) if line[0])
    return islice(every, layout.first - 1, None)


def _rows(text: str, layout: Layout, file: str) -> Iterator[TableRow | Mistake]:
    """Go through the rows, each with the line it begins on; a row that cannot be read is a mistake.

    No program has to read what is above the header: a stray quote there is part of the text.
    """
    lines, begins = lines_of(text, layout), layout.first
    for strict in (False, True):
        reader = csv.reader(lines, delimiter=layout.delimiter, strict=strict)
        top = begins
        try:
            while strict or begins < layout.header:
                row = next(reader)
                if len(row) > MOST_COLUMNS:
                    message = (
                        f"this row has {len(row):,} columns, more than any table of people needs"
                    )
                    yield Mistake(Place(file, begins), message=message)
                else:
                    yield begins, unguarded(row)
                begins = top + reader.line_num
        except StopIteration:
            return
        except csv.Error as error:
            yield Mistake(Place(file, begins), message=_torn(error))
            return


def _torn(error: csv.Error) -> str:
    if "field limit" in str(error):
        limit = csv.field_size_limit()
        return f"a cell has more than {limit:,} characters, often because of a stray quote"
    return f"the rows cannot be separated from here on, often because of a stray quote ({error})"
