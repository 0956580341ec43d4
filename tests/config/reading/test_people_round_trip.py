"""Whatever table of people is written, in whatever format and layout: reading gives the same."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from config.people.doubts import REMARK, name_doubts
from config.reading.reading import read_campaigns
from config.tables.cells import STARTS, is_error
from config.workbooks.shapes import column_letters
from tests.sheets import writers
from tests.sheets.shapes import Book, Sheet

HEADERS = {
    "first_name": ["first_name", "First Name", "GIVEN NAME", "Vorname", "Prénom", "fore-name"],
    "last_name": ["last_name", "Surname", "Family name", "Nachname", "Last name (legal)"],
    "email1": ["email1", "E-mail", "Email Address", "Courriel", " e mail* "],
    "source": ["source", "Lead source", "Herkunft"],
    "notes": ["notes", "Notes", "NOTES "],
    "stage_id": ["stage_id", "Stage", "Stage ID"],
}
UNUSED = ["Salary", "Phone", "Applied on", "#"]
# What a cell can hold and a person can write; line breaks are for the notes.
LETTERS = st.characters(
    codec="utf-8",
    categories=("L", "M", "N", "P", "S", "Zs"),
    exclude_characters="\u034f\ufffe\uffff",
)
# What a spreadsheet shows for an error is no text in any table; Hypothesis draws such words too, as
# it takes some from our code.
WORDS = st.text(LETTERS, min_size=1, max_size=12).map(str.strip)
TEXT = WORDS.filter(lambda text: not is_error(text))
NAME = TEXT.filter(
    lambda text: (
        any(c.isprintable() and not c.isspace() for c in text)
        and REMARK not in {doubt.kind for doubt in name_doubts(text)}
    )
)
NOTES = st.lists(TEXT, max_size=3).map(lambda lines: "\n".join(lines).strip())
CAMPAIGN = Sheet("campaign", [["campaign", "a"], ["name", "A"], ["problem", 1]])
DEFINITION = "campaign: a\nproject: {name: A}\nproblem: 1\n"


@dataclass(frozen=True)
class Written:
    """A table as somebody laid it out, and the people in it with the cell of their address."""

    rows: list[list[Any]]
    people: list[tuple[str, str, str, str, str, int, str]]


@st.composite
def tables(draw: st.DrawFn) -> Written:
    """People under headers of any wording and order, with all that surrounds a table."""
    fields = draw(st.permutations(list(HEADERS)))
    extra = draw(st.lists(st.sampled_from(UNUSED), max_size=2, unique=True))
    left = draw(st.integers(0, 2))
    header = [draw(st.sampled_from(HEADERS[field])) for field in fields] + extra
    rows: list[list[Any]] = [[] for _ in range(draw(st.integers(0, 3)))]
    if draw(st.booleans()):
        rows += [[*[None] * left, "Applicants, winter"], []]
    rows.append([None] * left + header)
    people = []
    email = left + fields.index("email1")
    for number in range(draw(st.integers(1, 4))):
        rows += [[]] * draw(st.integers(0, 1))
        first, last, source, notes = draw(st.tuples(NAME, NAME, TEXT, NOTES))
        stage = draw(st.integers(0, 10**6))
        address = f"p{number}@example.com"
        values = {
            "first_name": first,
            "last_name": last,
            "email1": draw(st.sampled_from([address, f" {address}", f"{address}\u00a0"])),
            "source": source,
            "notes": notes,
            "stage_id": draw(st.sampled_from([stage, float(stage), str(stage), f"0{stage}"])),
        }
        rows.append([None] * left + [values[field] for field in fields] + ["x"] * len(extra))
        place = f"{column_letters(email)}{len(rows)}"
        people.append((first, last, address, source, notes, stage, place))
    return Written(rows, people)


def read(file: Path) -> list[tuple[Any, ...]]:
    (definition,) = read_campaigns(file).definitions
    return [
        (p.first_name, p.last_name, p.email1, p.source, p.notes, p.stage_id, p.place.cell)
        for p in definition.candidates
    ]


quickly = settings(
    max_examples=25,
    # Every example writes over the same file.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.mark.parametrize(
    ("write", "suffix"),
    [
        (writers.by_openpyxl, ".xlsx"),
        (writers.by_xlsxwriter, ".xlsx"),
        (writers.by_hand, ".ods"),
    ],
    ids=["openpyxl", "xlsxwriter", "by-hand"],
)
@quickly
@given(written=tables())
def test_a_workbook_gives_back_its_people(
    tmp_path: Path, write: Any, suffix: str, written: Written
) -> None:
    """Names, notes and stages as typed, and the true cell of each person."""
    book = Book("any", [CAMPAIGN, Sheet("candidates", written.rows)], None)  # type: ignore[arg-type]
    file = tmp_path / f"any{suffix}"
    file.write_bytes(write(book))
    assert read(file) == written.people


@quickly
@given(
    written=tables(),
    delimiter=st.sampled_from(",;\t"),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    newline=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_a_text_table_gives_back_its_people(
    tmp_path: Path, written: Written, delimiter: str, encoding: str, newline: str, quoting: Any
) -> None:
    """The same for text, whichever delimiter, encoding, line end and quoting."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator=newline, quoting=quoting)
    writer.writerows([["" if cell is None else cell for cell in row] for row in written.rows])
    name = "any.csv" if delimiter != "\t" else "any.tsv"
    (tmp_path / name).write_bytes(text.getvalue().encode(encoding))
    (tmp_path / "c.yaml").write_text(f"{DEFINITION}candidates: {{file: {name}}}\n")
    # A text has lines instead of cells, and an apostrophe that guards a text is no part of it.
    found = [person[:-1] for person in read(tmp_path / "c.yaml")]
    assert found == [tuple(map(unguarded, person[:-1])) for person in written.people]


def unguarded(text: Any) -> Any:
    """What is left of a text behind such an apostrophe, trimmed as every text is."""
    guards = tuple(f"'{begins}" for begins in STARTS)
    return text[1:].strip() if isinstance(text, str) and text.startswith(guards) else text
