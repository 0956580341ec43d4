"""People in a text file: comma, semicolon or tab between the columns."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from config.places import Mistake, Place, shown
from config.tables.file_bytes import MARKS, decoded
from config.tables.formulas import unguarded
from config.tables.headers import Wishes, matches
from config.tables.table import ABOVE_AT_MOST, PeopleTable, TableRow, header_among, people_table

DELIMITERS = (",", ";", "\t")
# What is tried in turn: Excel in the West writes the second.
ENCODINGS = ("utf-8", "cp1252")
NAMES = {",": "comma", ";": "semicolon", "\t": "tab"}
MOST_COLUMNS = 1_000
# One line with its end, whichever that is.
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
WORD = re.compile(r"\w+")
LONGEST_WORD = 40


@dataclass(frozen=True, slots=True)
class Lines:
    """A text file has lines; the name of the field says which column is meant.

    `guessed` is a remark on how the text was read, where its bytes allow more than one way.
    """

    file: str
    delimiter: str
    guessed: str | None = None
    hidden: frozenset[int] = frozenset()

    def row(self, number: int) -> Place:
        """Find the line on which a row begins."""
        return Place(self.file, number)

    def cell(self, number: int, column: int) -> Place:
        """Find the line on which the row of a cell begins."""
        return Place(self.file, number)

    def misfit(self, number: int, cells: Sequence[str], width: int) -> Mistake | None:
        """A delimiter inside a cell shifts all that follow, so that nothing in them is certain."""
        if not any(cell.strip() for cell in cells[width:]):
            return None
        return Mistake(
            Place(self.file, number),
            message=f"this row has {len(cells)} columns, the header has {width}; a text "
            f"with a {NAMES[self.delimiter]} in it needs quotes around it",
        )

    def remarks(self, header: int) -> tuple[str, ...]:
        """Tell how the text was read, where that was a guess."""
        return (self.guessed,) if self.guessed else ()


def read_csv(data: bytes, file: str, wishes: Wishes) -> PeopleTable:
    """Read a table of people, its columns as wished.

    Raises BadInput for what is no text, and where the needed columns are not found.
    """
    text = decoded(data, file, ENCODINGS)
    delimiter, start = delimiter_of(text, wishes.named, wishes.split_name)
    grid = Lines(file, delimiter, _guessed(data, text, file))
    rows = partial(_rows, text, delimiter, start, file)
    return people_table(rows, grid, wishes, wishes.needed)


def _guessed(data: bytes, text: str, file: str) -> str | None:
    """Remark on a text that is no UTF-8: which characters its bytes mean is not certain."""
    try:
        marked = data.startswith(tuple(mark for mark, _ in MARKS))
        if text.isascii() or marked or b"\0" in data:
            return None
        data.decode("utf-8")
    except UnicodeDecodeError:
        at = next(at for at, character in enumerate(text) if not character.isascii())
        word = WORD.search(text, max(0, text.rfind("\n", 0, at) + 1, at - LONGEST_WORD), len(text))
        while word and word.end() <= at:
            word = WORD.search(text, word.end())
        line = text.count("\n", 0, at) + 1
        shown_word = shown(word[0][:LONGEST_WORD]) if word else "it"
        return (
            f"{Place(file, line)}: this file is not in UTF-8 and was read as Windows-1252; "
            f"if {shown_word} looks wrong there, save the file as UTF-8"
        )
    return None


def delimiter_of(
    text: str, chosen: Mapping[str, str | None], split_name: bool = False
) -> tuple[str, int]:
    """Choose the delimiter with which the header names most fields, and the first line to read."""
    first = text[:8].splitlines()[:1]
    if first and first[0].lower().startswith("sep=") and first[0][4:] in DELIMITERS:
        # A line that only Excel understands.
        return first[0][4:], 1

    def fit(delimiter: str) -> tuple[int, int]:
        rows = list(islice(_rows(text[:65536], delimiter, 0, "", strict=False), ABOVE_AT_MOST))
        at = header_among(rows, Wishes(chosen, split_name))
        if at is None or isinstance(header := rows[at], Mistake):
            return 0, 0
        return matches(header[1], chosen, split_name), len(header[1])

    return max(DELIMITERS, key=fit), 0


def _rows(
    text: str, delimiter: str, start: int, file: str, *, strict: bool = True
) -> Iterator[TableRow | Mistake]:
    """Go through the rows, each with the line it begins on; what is no row is a problem."""
    lines = (line[0] for line in LINE.finditer(text) if line[0])
    reader = csv.reader(islice(lines, start, None), delimiter=delimiter, strict=strict)
    begins = start + 1
    try:
        for row in reader:
            if len(row) > MOST_COLUMNS:
                message = f"this row has {len(row):,} columns, which no table of people needs"
                yield Mistake(Place(file, begins), message=message)
            else:
                yield begins, unguarded(row)
            begins = start + reader.line_num + 1
    except csv.Error as error:
        message = f"the rows cannot be told apart from here on, often for a stray quote ({error})"
        if "field limit" in str(error):
            limit = csv.field_size_limit()
            message = f"a cell has more than {limit:,} characters, often for a stray quote"
        yield Mistake(Place(file, begins), message=message)
