"""Hyperlinks in a sheet: a cell that shows a name writes to somebody, and that is the address."""

import struct
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from xml.sax.saxutils import escape

import openpyxl
import pytest
import xlsxwriter

from config.mistakes import Mistake
from config.reading.own_tables import Named, own_tables, people_at
from config.reading.reading import read_campaigns
from config.tables.workbook import read_sheets
from config.workbooks.__main__ import TOO_LARGE
from config.workbooks.shapes import Layout, mailto_in
from config.workbooks.xls import HYPERLINK, take
from tests.config.refusals import messages
from tests.sheets.broken import changed
from tests.sheets.shapes import Book, Formula, Outcome, Sheet
from tests.sheets.writers import by_hand
from tests.support.documents import fits

HEAD = "campaign: a\nproject: {name: A}\nproblem: 42\n"
HEADER = ("First name", "Last name", "Email", "Source")
# What the cell of the address shows, and where it links to.
Rows = list[tuple[str, str | None]]


def by_openpyxl(rows: Rows, path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(HEADER)
    for number, (text, target) in enumerate(rows, start=2):
        sheet.append(("Ada", "Lovelace", text, "Bob"))
        if target:
            sheet.cell(number, 3).hyperlink = target
        sheet.cell(number, 4).hyperlink = "mailto:bob@work.org"
    book.save(path)


def by_xlsxwriter(rows: Rows, path: Path) -> None:
    with xlsxwriter.Workbook(path, {"strings_to_urls": False}) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, HEADER)
        for number, (text, target) in enumerate(rows, start=1):
            sheet.write_row(number, 0, ("Ada", "Lovelace", text, "Bob"))
            if target:
                sheet.write_url(number, 2, target, string=text)
            sheet.write_url(number, 3, "mailto:bob@work.org", string="Bob")


def as_opendocument(rows: Rows, path: Path) -> None:
    table = [HEADER, *(("Ada", "Lovelace", f"<{n}>", "Bob") for n in range(len(rows)))]
    whole = by_hand(Book("links", [Sheet("people", table)], Outcome()))

    def change(name: str, data: bytes) -> bytes:
        text = data.decode()
        xlink = 'xmlns:xlink="http://www.w3.org/1999/xlink" '
        text = text.replace("<office:document-content ", f"<office:document-content {xlink}")
        for number, (shown, target) in enumerate(rows):
            plain = escape(shown)
            link = f'<text:a xlink:href="{target}">{plain}</text:a>' if target else plain
            text = text.replace(f"&lt;{number}&gt;", link)
        bob = '<text:p><text:a xlink:href="mailto:bob@work.org">Bob</text:a></text:p>'
        return text.replace("<text:p>Bob</text:p>", bob).encode()

    path.write_bytes(changed(whole, change))


def by_formula(rows: Rows, path: Path) -> None:
    with xlsxwriter.Workbook(path, {"strings_to_urls": False}) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, HEADER)
        for number, (text, target) in enumerate(rows, start=1):
            sheet.write_row(number, 0, ("Ada", "Lovelace", text))
            if target:
                sheet.write_formula(number, 2, f'=HYPERLINK("{target}","{text}")', None, text)
            sheet.write_formula(number, 3, '=HYPERLINK("mailto:bob@work.org","Bob")', None, "Bob")


def by_formula_as_opendocument(rows: Rows, path: Path) -> None:
    """With semicolons between the arguments, and in lower case, as a person typed it."""
    table = [
        HEADER,
        *(
            (
                *("Ada", "Lovelace"),
                Formula(f'hyperlink("{target}";"{text}")', text) if target else text,
                Formula('HYPERLINK("mailto:bob@work.org";"Bob")', "Bob"),
            )
            for text, target in rows
        ),
    ]
    path.write_bytes(by_hand(Book("links", [Sheet("people", table)], Outcome())))


WRITERS: dict[str, tuple[Callable[[Rows, Path], None], str]] = {
    "formula": (by_formula, "people.xlsx"),
    "formula by hand": (by_formula_as_opendocument, "people.ods"),
    "openpyxl": (by_openpyxl, "people.xlsx"),
    "xlsxwriter": (by_xlsxwriter, "people.xlsx"),
    "by-hand": (as_opendocument, "people.ods"),
}


@pytest.fixture(params=WRITERS)
def written(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Rows], Path]:
    """Write people with links into a workbook; its definition lies beside it."""
    monkeypatch.chdir(tmp_path)
    write, name = WRITERS[request.param]

    def to_file(rows: Rows) -> Path:
        write(rows, Path(name))
        Path("a.yaml").write_text(f"{HEAD}candidates: {{file: {name}}}\n")
        return Path(name)

    return to_file


LINKED: Rows = [
    ("Ada Lovelace", "mailto:ada@work.org"),
    ("write to Ada", "mailto:Ada.B%2Bjobs@work.org?subject=Your%20test"),
    ("c@work.org", "mailto:c@work.org"),
    ("D@Work.org", "mailto:d@work.org"),
    ("E <e@work.org>", "mailto:e@work.org"),
    ("f@work.org", "https://jobs.example.org/people/6"),
    ("g@work.org", None),
]


def test_the_target_of_a_link_is_the_address_where_the_cell_shows_none(
    written: Callable[[Rows], Path],
) -> None:
    """What is shown counts where it is an address; other columns keep what they show."""
    file = written(LINKED)
    people = read_campaigns(Path("a.yaml")).definitions[0].candidates
    assert [person.email1 for person in people] == [
        *("ada@work.org", "Ada.B+jobs@work.org", "c@work.org", "D@Work.org"),
        *("e@work.org", "f@work.org", "g@work.org"),
    ]
    assert {(type(person.source), person.source) for person in people} == {(str, "Bob")}
    # What is written back finds the same people.
    _, tables = own_tables(Named(file))
    rows = people_at(Named(file), tables).people()
    assert [fields["email1"] for _, fields in rows] == [person.email1 for person in people]


def test_a_cell_that_shows_another_address_than_its_link_is_a_mistake(
    written: Callable[[Rows], Path],
) -> None:
    """Nobody can tell which the person logs in with; a link to a page is no address."""
    file = written(
        [
            ("ada@work.org", "mailto:grace@work.org"),
            ("Ada", "https://jobs.example.org/people/1"),
            ("Ada", "mailto:ada@work.org,grace@work.org"),
        ]
    )
    mistakes = messages(read_campaigns, Path("a.yaml"))
    sheet = next(iter(read_sheets(file.read_bytes(), str(file)).values())).name
    shown = f'{file}, {sheet}!C2, email1: found "ada@work.org" … "grace@work.org", …'
    assert fits(shown, mistakes[0])
    assert "C3" in mistakes[1] and "Ada" in mistakes[1]
    assert "C4" in mistakes[2] and "not 2: " in mistakes[2]


def test_a_link_over_many_cells_is_that_of_each() -> None:
    """As a program writes it for a whole column; one over everything is no link of a person."""

    def read(area: str) -> list[str]:
        file = BytesIO()
        book = openpyxl.Workbook()
        sheet = book.active
        assert sheet is not None
        sheet.append(("Email",))
        sheet.append(("Ada",))
        sheet.append(("Ada",))
        sheet["A2"].hyperlink = "mailto:ada@work.org"
        book.save(file)
        old, new = b'ref="A2"', f'ref="{area}"'.encode()
        whole = changed(file.getvalue(), lambda _, data: data.replace(old, new))
        (sheet_read,) = read_sheets(whole, "a.xlsx").values()
        rows = [row for row in sheet_read.rows() if not isinstance(row, Mistake)]
        return [str(getattr(cells[0], "target", None)) for _, cells in rows]

    assert read("A2:A1048576") == ["None", "mailto:ada@work.org", "mailto:ada@work.org"]
    assert TOO_LARGE in messages(read, "A1:XFD1048576")[0]


def test_a_link_of_an_old_workbook_is_found_in_its_record() -> None:
    """As Excel writes one: cells, ids, a text that is shown, the target (MS-XLS)."""
    shown = "Ada Lovelace\0"
    target = "mailto:ada@work.org?subject=x\0".encode("utf-16-le")
    record = struct.pack("<HHHH", 4, 5, 2, 2) + bytes(16) + struct.pack("<IIi", 2, 0x17, len(shown))
    record += shown.encode("utf-16-le") + bytes(16) + struct.pack("<I", len(target)) + target
    elsewhere = "https://jobs.example.org\0".encode("utf-16-le")
    layout = Layout()
    take({}, layout, HYPERLINK, record)
    take({}, layout, HYPERLINK, struct.pack("<HHHH", 6, 6, 2, 2) + bytes(28) + elsewhere)
    assert layout.links == [(5, 6, 2, 2, "mailto:ada@work.org?subject=x")]


@pytest.mark.parametrize(
    ("formula", "target"),
    [
        ('=HYPERLINK("mailto:a@x.org","A")', "mailto:a@x.org"),
        ('of:=HYPERLINK( "MAILTO:a@x.org" )', "MAILTO:a@x.org"),
        ('HYPERLINK("mailto:"&C2,"A")', ""),
        ('HYPERLINK("https://x.org","A")', ""),
        ('"HYPERLINK"&"mailto:a@x.org"', ""),
    ],
)
def test_only_an_address_that_is_written_out_is_taken(formula: str, target: str) -> None:
    """What has to be calculated is not guessed at."""
    assert mailto_in(formula) == target
