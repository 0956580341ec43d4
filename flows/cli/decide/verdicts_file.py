"""Verdicts as a file: what is unsure goes out as a CSV and comes back with a person's verdicts.

It may come back in any format that a spreadsheet program saves.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path

from config.email_key import email_key
from config.errors import BadInput
from config.mistakes import Mistake, Place, shown
from config.tables.cells import as_text, guarded, is_blank
from data.decisions.verdicts import WORDS, Decided, Doubt
from data.store.states import Word
from flows.words.doubts import STEPS, Standing, by_place, meaning, reached, sent_at, words

COLUMNS = (
    *("call", "step", "email1", "first_name", "last_name"),
    *("sent", "reached", "meaning", "words", "verdict", "value"),
)
NEEDED = ("call", "step", "email1", "verdict", "value")
OURS = {"call", "step", "verdict"}  # what a list of candidates has no columns for
Row = Mapping[str, str]


def is_one(path: Path) -> bool:
    """Whether a file has verdicts, in whatever state, and is not a list of candidates.

    Raises BadInput if it is not a table.
    """
    header = next(_lines(path), (0, []))[1]
    return not OURS.isdisjoint(map(str.casefold, header))


def is_filled_in(path: Path) -> bool:
    """Whether somebody has written verdicts into a file that `write` made.

    A stray quote, for which `read` refuses the whole file, does not make it a file without any.
    """
    try:
        header, *rows = [cells for _, cells in _lines(path, strict=False)] or [[]]
    except BadInput:
        return False
    names = [*map(str.casefold, header)]
    theirs = [at for at, name in enumerate(names) if name in ("verdict", "value")]
    is_ours = not OURS.isdisjoint(names)
    return is_ours and any(cells[at] for cells in rows for at in theirs if at < len(cells))


def write(doubts: Sequence[Doubt]) -> bytes:
    """Write one row per doubt with verdict and value empty, in UTF-8 without a mark."""
    text = StringIO(newline="")
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for doubt in doubts:
        about = (doubt.attempt, STEPS[doubt.operation], doubt.email1)
        names = (doubt.first_name, doubt.last_name)
        seen = (sent_at(doubt), reached(doubt), meaning(doubt), words(doubt))
        rows.writerow([guarded(cell) for cell in (*about, *names, *seen, "", "")])
    return text.getvalue().encode()


def read(path: Path, standing: Standing) -> tuple[list[tuple[int, Decided]], list[Mistake]]:
    """Read the verdicts, each with its line, and what is wrong on other lines.

    Rows without a verdict are left out. Raises BadInput for a file that `write` did not make.
    """
    doubts = by_place(standing.doubts.steps)
    decided: list[tuple[int, Decided]] = []
    problems: list[Mistake] = []
    for line, row in _rows(path):
        if not (row["verdict"] or row["value"]):
            continue
        place = (row["step"].casefold(), _person(row["email1"], standing))
        doubt = doubts.get(place)
        wrong = _not_unsure(row, place, doubt, standing)
        if doubt is not None and wrong is None:
            wrong = _wrong_words(row, doubt)
        if doubt is None or wrong is not None:
            field, message = wrong or ("step", "this is not unsure")
            problems.append(Mistake(Place(str(path), line), field, message=message))
        else:
            value = int(row["value"]) if row["value"] else None
            word = Word(row["verdict"].casefold())
            decided.append((line, Decided(doubt.attempt, doubt.row, word, value)))
    return decided, problems


def _person(typed: str, standing: Standing) -> str:
    """Find the email key; an apostrophe in front may be the one that keeps formulas away."""
    key = email_key(typed)
    return key if key in standing.emails else email_key(typed.removeprefix("'"))


def _not_unsure(
    row: Row, place: tuple[str, str], doubt: Doubt | None, standing: Standing
) -> tuple[str, str] | None:
    if place not in standing.steps:
        field = "email1" if ("add", place[1]) not in standing.steps and place[1] else "step"
        return field, f"this campaign has no {place[0]} {shown(row['email1'])}"
    if doubt is None:
        return "step", f"this is {standing.steps[place]}; only what is unsure can be settled"
    if row["call"] != str(doubt.attempt):
        return "call", "this row is about an earlier request; export the file again"
    return None


def _wrong_words(row: Row, doubt: Doubt) -> tuple[str, str] | None:
    fitting = WORDS[doubt.operation]
    verdict, value = row["verdict"].casefold(), row["value"]
    if verdict not in fitting:
        return "verdict", f"found {shown(row['verdict'])}, wanted one of {', '.join(fitting)}"
    if value and not (value.isascii() and value.isdigit()):
        return "value", f"found {shown(value)}, wanted the id as a whole number"
    return None


def _rows(path: Path) -> Iterator[tuple[int, Row]]:
    """Go through the rows below the header, each with the line it begins on."""
    lines = _lines(path)
    header = [name.casefold() for name in next(lines, (0, []))[1]]
    if missing := [name for name in NEEDED if name not in header]:
        message = f"no column for {', '.join(missing)}; wanted the file from --export"
        raise BadInput([Mistake(Place(str(path), 1), message=message)])
    for line, cells in lines:
        yield line, dict(zip(header, [*cells, *[""] * len(header)], strict=False))


def _lines(path: Path, *, strict: bool = True) -> Iterator[tuple[int, list[str]]]:
    """Go through the lines of the first sheet that are not blank, as texts."""
    from config.reading.own_tables import Named, own_tables

    for first in own_tables(Named(path), strict=strict)[1][:1]:
        for line, cells in first.rows:
            texts = ["" if is_blank(cell) else str(as_text(cell)).strip() for cell in cells]
            if any(texts):
                yield line, texts
