"""A corpus of spreadsheets, good and bad: the people read from each, or every complaint."""

from dataclasses import replace
from pathlib import Path

import pytest

from config.errors import BadInput
from config.reading.reading import read_campaigns
from tests.config.refusals import shortened
from tests.sheets import texts, writers
from tests.sheets.books import BOOKS, EMPTY_TEXT_MISSING, FORMULAS, WITHOUT_RESULTS
from tests.sheets.broken import BROKEN
from tests.sheets.shapes import Book, Outcome
from tests.sheets.tables import TABLES

LIBREOFFICE = Path(__file__).parents[2] / "sheets" / "libreoffice"
DEFINITION = "campaign: a\nproject: {{name: A}}\nproblem: 42\ncandidates: {{file: {}{}}}\n"
WRITERS = {
    "openpyxl": (writers.by_openpyxl, ".xlsx"),
    "xlsxwriter": (writers.by_xlsxwriter, ".xlsx"),
    "by-hand": (writers.by_hand, ".ods"),
}


def read(file: Path) -> Outcome:
    """Read a file from its own folder, and write down what came of it."""
    try:
        reading = read_campaigns(file)
    except BadInput as error:
        return Outcome(complaints=tuple(map(str, error.problems)))
    people = {
        definition.campaign: [
            (p.first_name, p.last_name, p.email1, p.source, p.notes, str(p.stage_id), str(p.place))
            for p in definition.candidates
        ]
        for definition in reading.definitions
    }
    start = reading.definitions[0].project.starttime
    warnings = tuple(map(str, reading.warnings))
    begins = f"{start:%Y-%m-%d %H:%M}" if start else None
    return Outcome(people, (), reading.notes, warnings, begins)


def expected(outcome: Outcome, file: str, sheet: str = "") -> Outcome:
    """Name the file wherever an outcome leaves a gap for it."""

    def named(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(
            text.replace("{file}", file).replace("{{", "{").replace("}}", "}") for text in texts
        )

    before = f"{file}, {sheet}!" if sheet else file
    people = {
        key: [(*person[:-1], before + person[-1]) for person in rows]
        for key, rows in outcome.people.items()
    }
    return Outcome(
        people,
        named(outcome.complaints),
        named(outcome.remarks),
        named(outcome.look_at),
        outcome.starttime,
    )


def assert_read(file: Path, wanted: Outcome) -> None:
    """Compare all but the words for which an outcome has `…`."""
    found = read(file)
    assert wanted == replace(
        found,
        complaints=shortened(found.complaints, wanted.complaints),
        remarks=shortened(found.remarks, wanted.remarks),
        look_at=shortened(found.look_at, wanted.look_at),
    )


def outcome_of(book: Book, writer: str) -> Outcome:
    """What a program that calculates nothing stores, is not what a spreadsheet program does."""
    if writer == "xlsxwriter" and book is FORMULAS:
        return EMPTY_TEXT_MISSING
    return WITHOUT_RESULTS.get(book.name, book.outcome) if writer == "openpyxl" else book.outcome


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file is named as a person would name it, without its folder."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.name)
@pytest.mark.parametrize("writer", WRITERS)
def test_a_workbook_reads_the_same_whoever_wrote_it(book: Book, writer: str) -> None:
    """The people, remarks and warnings, or each complaint at its cell."""
    write, suffix = WRITERS[writer]
    file = Path(f"book{suffix}")
    file.write_bytes(write(book))
    assert_read(file, expected(outcome_of(book, writer), file.name, book.sheets[-1].name))


@pytest.mark.parametrize("kind", ["xlsx", "xls", "ods"])
@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.name)
def test_a_workbook_from_libreoffice(book: Book, kind: str) -> None:
    """Its three formats, saved in three locales, hold the same people and the same mistakes."""
    file = Path(f"{book.name}.{kind}")
    file.write_bytes((LIBREOFFICE / file).read_bytes())
    assert_read(file, expected(book.outcome, file.name, book.sheets[-1].name))


@pytest.mark.parametrize("name", sorted(texts.FROM_LIBREOFFICE))
def test_a_text_table_from_libreoffice(name: str) -> None:
    """Numbers and dates are as the locale shows them; everything else is the same."""
    Path(name).write_bytes((LIBREOFFICE / name).read_bytes())
    Path("c.yaml").write_text(DEFINITION.format(name, ""))
    assert_read(Path("c.yaml"), expected(texts.FROM_LIBREOFFICE[name], name))


@pytest.mark.parametrize(
    ("table", "encoding", "delimiter"),
    [
        pytest.param(table, encoding, delimiter, id=f"{table.name}-{encoding}-{delimiter!r}")
        for table in TABLES
        for encoding in table.encodings
        for delimiter in table.delimiters
    ],
)
def test_a_text_table(table: "texts.Table", encoding: str, delimiter: str) -> None:
    """Any usual encoding and delimiter, quotes and line breaks inside cells."""
    name = "people.tsv" if delimiter == "\t" else "people.csv"
    Path(name).write_bytes(texts.written(table, encoding, delimiter))
    options = f", {table.options}" if table.options else ""
    Path("c.yaml").write_text(DEFINITION.format(name, options))
    outcome = table.outcome
    accents = any(not cell.isascii() for row in table.rows for cell in row)
    if encoding == "cp1252" and accents and not outcome.complaints:
        outcome = replace(outcome, remarks=(*outcome.remarks, "{file}:…: … Windows-1252; …"))
    assert_read(Path("c.yaml"), expected(outcome, name))


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_is_no_table(name: str) -> None:
    """One complaint, which says what it is instead."""
    content, said = BROKEN[name]
    file = Path(name)
    file.write_bytes(content())
    if file.suffix in {".csv", ".tsv"}:
        Path("c.yaml").write_text(DEFINITION.format(name, ""))
        (complaint,) = read(Path("c.yaml")).complaints
    else:
        (complaint,) = read(file).complaints
    assert said in complaint


def test_the_corpus_is_as_large_as_it_says() -> None:
    """At least 150 files, each with its outcome."""
    tables = sum(len(table.encodings) * len(table.delimiters) for table in TABLES)
    workbooks = len(BOOKS) * (len(WRITERS) + 3)
    assert tables + workbooks + len(texts.FROM_LIBREOFFICE) + len(BROKEN) >= 150
    assert {file.suffix for file in LIBREOFFICE.iterdir()} == {
        ".xlsx",
        ".xls",
        ".ods",
        ".csv",
        ".tsv",
    }
