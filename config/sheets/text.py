"""Read tables in text, with comma, semicolon, tab or bar between the cells.

Encodings are never guessed: if a text is not Unicode, a person sees how some of them read it.
"""

import csv
import io
import itertools
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from unicodedata import category

from config.errors import BadInput, Mistake, Place, shown
from config.sheets.cells import MOST_CELLS, FileRow, Grid
from config.sheets.files import SAVE_AS, TOO_LARGE, Format, Source, marked_encoding
from config.sheets.headers import header_among

HEAD = 65_536  # the header must be within so many characters
ASK = ", or write the right one under candidates:  encoding: …"
MOST_SHOWN, WORDS = 6, 3  # encodings that a question shows, and words of each
MOST_WORDS, LONGEST = 50_000, 200  # the most words that are compared, and bytes of each
LIKELY = (
    *("windows-1252", "windows-1250", "windows-1251", "windows-1253", "windows-1254"),
    *("mac_roman", "cp850", "cp932", "gb18030", "cp949", "cp950"),
)
STRAY_QUOTE = 'the rows cannot be told apart from here on; close or remove the open quote (")'


def read_text(source: Source, columns: Mapping[str, str]) -> Grid:
    """Read a text with the delimiter by which its header names most fields. Raises BadInput."""
    text = decoded(source)

    def fit(delimiter: str) -> tuple[int, int]:
        rows = [cells for _, cells in _rows(text[:HEAD], delimiter)]
        at, fields = header_among(rows, columns)
        return fields, len(rows[at]) if rows else 0

    delimiter, room = max(",;\t|", key=fit), MOST_CELLS
    grid = Grid(source.file, [], delimiter=delimiter, encoding=source.encoding)
    for number, cells in _rows(text, delimiter, strict=True):
        room -= len(cells)
        if room < 0 or not cells:
            why = TOO_LARGE if cells else STRAY_QUOTE
            grid.mistakes.append(Mistake(grid.place(number), why))
            break
        grid.rows.append((number, cells))
    return grid


def _rows(text: str, delimiter: str, *, strict: bool = False) -> Iterator[FileRow]:
    """Yield the rows that are not empty, each with the line on which it begins.

    If a row cannot be parsed, it is the last one, with its line and no cells.
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=strict)
    begins = 1
    try:
        for row in reader:
            if any(map(str.strip, row)):
                yield begins, [cell[1:] if cell.startswith(_GUARDED) else cell for cell in row]
            begins = 1 + reader.line_num
    except csv.Error:  # also for a cell of more than 131,072 characters
        yield begins, []


def decoded(source: Source) -> str:
    """Decode by the byte-order mark, as UTF-8, or as the definition or the page itself says.

    Raises BadInput if it is no text, or to ask in which encoding its words read right.
    """
    data, mark = source.data, marked_encoding(source.data)
    page = _DECLARED.search(data[:HEAD]) if source.format is Format.PAGE else None
    for name in [mark] if mark else ["utf-8", source.encoding, page and page[1].decode()]:
        odd = "\0" if name in {mark, "utf-8"} else _ODD
        if name and (text := _as(name, data)) and not re.search(odd, text):
            return text
    if mark or not (readings := _readings(data)):
        raise BadInput.at(Place(source.file), f"this is no text and no workbook; {SAVE_AS}")
    nor = f", nor in {source.encoding}" if source.encoding else ""
    each = "; ".join(f"{name} {shown(words)}" for words, name in readings)
    why = f"this text is not in UTF-8{nor}. Its words, by encoding:  {each}.  Save it as UTF-8"
    why += "" if source.encoding is None else ASK
    raise BadInput.at(Place(source.file), why, field="encoding")


def _as(encoding: str, data: bytes) -> str:
    with suppress(LookupError, ValueError):
        return data.decode(encoding)
    return ""


def _readings(data: bytes) -> list[tuple[str, str]]:
    """Some words as each likely encoding decodes them, with its name; fewest symbols come first.

    Encodings that agree on all words count once. The words are those with most different readings.
    """
    # In all these encodings separators are ASCII, and never part of another character.
    found = (each[0] for each in _WORD.finditer(data))
    words = (each for each in found if not each.isascii() and len(each) < LONGEST)
    sample = b"\n".join(dict.fromkeys(itertools.islice(words, MOST_WORDS)))
    read: dict[str, str] = {}
    for name in LIKELY:
        letters = {*(text := _as(name, sample))} - {"\n"}
        says = any(each.isalpha() and not each.isascii() for each in letters)
        if says and not any(category(each) in {"Cc", "Cn", "Co", "Cs"} for each in letters):
            read.setdefault(text, name)
    each_word = [*zip(*(text.split("\n") for text in read), strict=False)]
    telling = sorted(each_word, key=lambda word: len({*word}), reverse=True)[:WORDS]
    said = map(" ".join, zip(*filter(telling.__contains__, each_word), strict=True))

    def signs(reading: tuple[str, str]) -> int:
        return sum(not (c.isascii() or c.isalpha()) for c in reading[0])

    return sorted(zip(said, read.values(), strict=True), key=signs)[:MOST_SHOWN]


_ODD = "[\0\x80-\x9f\ud800-\udfff]"  # characters that a text has only if it was decoded wrongly
_WORD = re.compile(rb'[^ \t\r\n",;<>]+')
_DECLARED = re.compile(
    rb"<(?:meta|\?xml)\b[^>]{0,200}?(?:charset|encoding)\s*=[\s\"']*([\w.:-]+)", re.I
)
# Programs put an apostrophe before text that looks like a formula.
_GUARDED = tuple(f"'{sign}" for sign in "=+-@\t\r\n")
