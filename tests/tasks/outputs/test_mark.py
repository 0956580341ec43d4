"""The table handed back: bad cells coloured with a note, and everything else as it was."""

import warnings
import zipfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter

from config.errors import BadInput
from config.mistakes import Mistake, Place
from config.reading.own_tables import Named, named_table, own_tables
from config.reading.reading import read_campaigns
from tasks.outputs.marking import Marked, marked_copy
from tasks.outputs.workbook_copy.fills import LIGHT_RED, LIGHT_YELLOW

HEADER = ("First name", "Last name", "E-mail")
SHEETS = Path(__file__).parents[2] / "sheets"
BEGINS = "campaign check:\n"
BAD_EMAIL = 'email1: found "bob@", wanted an email address'
PEOPLE = (("Ada", "Lovelace", "ada@example.com"), ("Bob", "Byte", "bob@"), ("", "C", "c@x.org"))


def write_book(path: Path, people: Any = PEOPLE, more: Callable[..., None] | None = None) -> Path:
    """A campaign workbook; `more` puts other content into its sheet of candidates."""
    with xlsxwriter.Workbook(path) as book:
        campaign = book.add_worksheet("campaign")
        for number, row in enumerate(
            [("campaign", "backend"), ("project.name", "Backend"), ("problem", 42)]
        ):
            campaign.write_row(number, 0, row)
        sheet = book.add_worksheet("Candidates")
        sheet.write_row(0, 0, HEADER, book.add_format({"bold": True, "bg_color": "#ddeeff"}))
        style = book.add_format({"italic": True, "num_format": "@"})
        for number, person in enumerate(people, start=1):
            sheet.write_row(number, 0, person, style)
        if more:
            more(book, sheet)
    return path


def everything_else(book: Any, sheet: Any) -> None:
    """What loading and saving with a library would drop or change."""
    sheet.insert_textbox("H2", "mind the gap")
    chart = book.add_chart({"type": "column"})
    chart.add_series({"values": "=Candidates!$E$2:$E$4"})
    sheet.insert_chart("H14", chart)
    sheet.add_sparkline("G2", {"range": "Candidates!E2:E4"})
    sheet.conditional_format("E2:E4", {"type": "data_bar", "data_bar_2010": True})
    sheet.data_validation("E2:E9", {"validate": "list", "source": [1, 2, 3]})
    sheet.write_formula("F2", "=E2*2", None, 2)
    sheet.add_table("J1:K3")
    sheet.freeze_panes(1, 0)


def problems_of(path: Path) -> tuple[Mistake, ...]:
    with pytest.raises(BadInput) as raised:
        read_campaigns(path)
    return raised.value.problems


def marked(path: Path) -> Marked:
    named = named_table(path, None)
    assert named is not None
    copy = marked_copy(named, problems_of(path))
    assert copy is not None
    return copy


def opened(content: bytes) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about what openpyxl itself would drop
        return openpyxl.load_workbook(BytesIO(content))


def marks(content: bytes) -> Iterator[tuple[str, str, bool, str | None]]:
    """Every cell that is coloured or has a note: sheet, cell, coloured, note."""
    for sheet in opened(content):
        for row in sheet.iter_rows():
            for cell in row:
                red = cell.fill.fgColor.rgb == LIGHT_RED
                if red or cell.comment:
                    note = cell.comment.text if cell.comment else None
                    yield sheet.title, cell.coordinate, red, note


def starting(content: bytes) -> list[tuple[str, str, bool, str]]:
    """The marks, each note without who wrote it and cut after its first clause."""
    return [
        (*mark, (note or "").removeprefix(BEGINS).split(" (")[0]) for *mark, note in marks(content)
    ]  # type: ignore[misc]


EXPECTED = [
    ("Candidates", "C3", True, BAD_EMAIL),
    ("Candidates", "A4", True, "first_name: missing, wanted a first name"),
]


def test_each_bad_cell_is_coloured_and_says_what_is_wrong(tmp_path: Path) -> None:
    """Those cells and no others; a missing value is marked where it belongs."""
    copy = marked(write_book(tmp_path / "people.xlsx"))
    assert starting(copy.content) == EXPECTED
    assert (copy.cells, copy.notes, copy.elsewhere) == (2, 2, 0)


def test_a_marked_cell_keeps_its_own_format(tmp_path: Path) -> None:
    """Only the colour behind the text differs from what it was."""
    content = marked(write_book(tmp_path / "people.xlsx")).content
    with zipfile.ZipFile(BytesIO(content)) as book:
        formats = book.read("xl/styles.xml").split(b"<cellXfs")[1].split(b"</cellXfs>")[0]
        assert b'applyFill="1"' in formats.rpartition(b"<xf ")[2]
    sheet = opened(content)["Candidates"]
    assert (sheet["C3"].value, sheet["C3"].font.i, sheet["C3"].number_format) == ("bob@", True, "@")
    assert sheet["C2"].fill.fill_type is None and sheet["C2"].font.i


def test_everything_else_is_the_same_byte_for_byte(tmp_path: Path) -> None:
    """Charts, text boxes, sparklines, drop-downs, formulas, other sheets: nothing is lost."""
    path = write_book(tmp_path / "people.xlsx", more=everything_else)
    copy = marked(path)
    assert starting(copy.content) == EXPECTED
    with zipfile.ZipFile(path) as before, zipfile.ZipFile(BytesIO(copy.content)) as after:
        assert after.testzip() is None
        sheet = "xl/worksheets/sheet2.xml"
        differing = {n for n in before.namelist() if before.read(n) != after.read(n)}
        assert differing == {
            sheet,
            f"xl/worksheets/_rels/{Path(sheet).name}.rels",
            "xl/styles.xml",
            "[Content_Types].xml",
        }
        for kept in (b"<extLst>", b"<dataValidations", b"<tableParts", b"<f>E2*2</f>", b"<drawing"):
            assert kept in before.read(sheet) and kept in after.read(sheet)
        order = (b"<pageMargins", b"<drawing", b"<legacyDrawing", b"<tableParts", b"<extLst>")
        places = [after.read(sheet).rindex(tag) for tag in order]
        assert places == sorted(places)  # a spreadsheet program calls another order damaged


def test_a_macro_workbook_keeps_its_macros(tmp_path: Path) -> None:
    """The program in an .xlsm comes back with it."""
    plain = write_book(tmp_path / "plain.xlsx").read_bytes()
    path = tmp_path / "people.xlsm"
    with zipfile.ZipFile(BytesIO(plain)) as source, zipfile.ZipFile(path, "w") as book:
        for name in source.namelist():
            book.writestr(name, source.read(name))
        book.writestr("xl/vbaProject.bin", b"a program")
    with zipfile.ZipFile(BytesIO(marked(path).content)) as after:
        assert after.read("xl/vbaProject.bin") == b"a program"


def test_notes_join_those_that_are_there(tmp_path: Path) -> None:
    """A person's own notes stay, also on the very cell that is marked."""

    def notes(book: Any, sheet: Any) -> None:
        sheet.write_comment("A2", "knows Grace")
        sheet.write_comment("C3", "told me on the phone")

    copy = marked(write_book(tmp_path / "people.xlsx", more=notes))
    found = {cell: note for _, cell, _, note in marks(copy.content)}
    assert found["A2"] == "knows Grace"
    assert found["C3"] is not None
    assert found["C3"].startswith(f"told me on the phone\n\n{BEGINS}{BAD_EMAIL}")
    with zipfile.ZipFile(BytesIO(copy.content)) as book:
        drawing = book.read("xl/drawings/vmlDrawing1.vml")
        boxes = [int(part.split(b"<")[0]) for part in drawing.split(b"<x:Row>")[1:]]
        assert sorted(boxes) == [1, 2, 3]  # one box for each cell with a note


def test_marks_of_an_earlier_copy_go(tmp_path: Path) -> None:
    """What was mended in the copy looks good in the next one; a person's own notes stay."""

    def notes(book: Any, sheet: Any) -> None:
        sheet.write_comment("A2", "knows Grace")
        sheet.insert_textbox("H2", "mind the gap")

    path = write_book(tmp_path / "people.xlsx", more=notes)
    path.write_bytes(marked(path).content)
    problem = Mistake(Place(str(path), sheet="Candidates", cell="B2"), message="what a name")
    copy = marked_copy(Named(path), [problem])
    assert copy is not None
    assert list(marks(copy.content)) == [
        ("Candidates", "A2", False, "knows Grace"),
        ("Candidates", "B2", True, f"{BEGINS}what a name"),
    ]
    sheet = opened(copy.content)["Candidates"]
    assert sheet["C3"].fill.fill_type is None and sheet["C3"].font.i
    with zipfile.ZipFile(BytesIO(copy.content)) as book:
        assert book.read("xl/drawings/vmlDrawing1.vml").count(b"<x:Row>") == 2


def test_what_a_note_says_is_text(tmp_path: Path) -> None:
    """What somebody typed into a cell cannot break the copy."""
    people = [("Ada", "Lovelace", '<a&"]]>@')]
    copy = marked(write_book(tmp_path / "people.xlsx", people))
    [(_, cell, red, note)] = marks(copy.content)
    assert (cell, red) == ("C2", True)
    assert note is not None and '<a&\\"]]>@' in note.replace('"', '\\"')


def test_what_has_no_cell_is_told_on_the_sheet_or_not_at_all(tmp_path: Path) -> None:
    """A complaint about a whole sheet stands on its first cell; the rest is counted."""
    path = write_book(tmp_path / "people.xlsx")
    problems = [
        Mistake(Place(str(path), sheet="Candidates"), "candidates", message="nobody here"),
        Mistake(Place(str(path)), "sheets", message="too many"),
        Mistake(Place(str(tmp_path / "hiring.yaml"), 3, 1), "problem", message="no such"),
    ]
    copy = marked_copy(Named(path), problems)
    assert copy is not None and copy.elsewhere == 2
    assert list(marks(copy.content)) == [
        ("Candidates", "A1", True, f"{BEGINS}candidates: nobody here")
    ]
    assert marked_copy(Named(path), problems[1:]) is None


def test_a_row_that_is_not_there_can_be_marked(tmp_path: Path) -> None:
    """An empty sheet has no cell to colour, and gets one."""
    path = write_book(tmp_path / "people.xlsx")
    problems = [
        Mistake(Place(str(path), sheet="candidates", cell=cell), message=cell)
        for cell in ("B9", "A3", "E3", "B1")
    ]
    copy = marked_copy(Named(path), problems)
    assert copy is not None
    assert [(cell, red) for _, cell, red, _ in marks(copy.content)] == [
        ("B1", True),
        ("A3", True),
        ("E3", True),
        ("B9", True),
    ]
    sheet = opened(copy.content)["Candidates"]
    assert sheet["A3"].value == "Bob" and sheet.dimensions == "A1:E9"


def test_a_text_comes_back_as_a_workbook(tmp_path: Path) -> None:
    """A CSV has no colours: its rows are written into a workbook, line breaks and all."""
    table = tmp_path / "people.csv"
    table.write_text(
        'first_name,last_name,email1,notes\nAda,L,ada@x.org,"two\nlines"\n=1+1,B,bob@,\n,C,c@x.org,\n'
    )
    (tmp_path / "hiring.yaml").write_text(
        "campaign: backend\nproject: {name: Backend}\nproblem: 42\ncandidates: {file: people.csv}\n"
    )
    copy = marked(tmp_path / "hiring.yaml")
    assert starting(copy.content) == [
        ("candidates", "C3", True, BAD_EMAIL),
        ("candidates", "A4", True, "first_name: missing, wanted a first name"),
    ]
    sheet = opened(copy.content)["candidates"]
    assert (sheet["A3"].value, sheet["A3"].data_type) == ("=1+1", "s")
    assert sheet["D2"].value == "two\nlines"


def test_what_to_look_at_has_another_colour(tmp_path: Path) -> None:
    """A doubt is no mistake: the cell is yellow, and the note asks to look."""
    path = write_book(tmp_path / "people.xlsx", [("Ada", "Lovelace", "ada@gmial.com")])
    warnings_found = read_campaigns(path).warnings
    copy = marked_copy(Named(path), (), warnings_found)
    assert copy is not None
    cell = opened(copy.content)["Candidates"]["C2"]
    assert cell.fill.fgColor.rgb == LIGHT_YELLOW and "gmail.com" in cell.comment.text


def test_doubts_are_marked_beside_mistakes(tmp_path: Path) -> None:
    """Whoever mends the red cells sees in the same copy what to look at; red wins in one cell."""
    people = [
        ("Ada", "Lovelace", "ada@gmial.com"),
        ("Bob", "Bee", "bob@"),
        ("", "C", "c@gmial.com"),
    ]
    path = write_book(tmp_path / "people.xlsx", people)
    with pytest.raises(BadInput) as raised:
        read_campaigns(path)
    doubt = Mistake(Place(str(path), sheet="Candidates", cell="C3"), message="look")
    copy = marked_copy(Named(path), raised.value.problems, [*raised.value.warnings, doubt])
    assert copy is not None
    sheet = opened(copy.content)["Candidates"]
    colours = [sheet[cell].fill.fgColor.rgb for cell in ("C2", "C3", "A4")]
    assert colours == [LIGHT_YELLOW, LIGHT_RED, LIGHT_RED]
    assert sheet["C3"].comment.text.endswith("\nlook")
    assert (copy.cells, copy.elsewhere) == (3, 0)


def test_a_workbook_is_what_it_holds_whatever_it_is_called(tmp_path: Path) -> None:
    """Programs export old workbooks under new names; they come back as what can be written."""
    path = tmp_path / "people.xlsx"
    path.write_bytes(next(SHEETS.rglob("*.xls")).read_bytes())
    sheet = own_tables(Named(path))[1][0].name
    copy = marked_copy(
        Named(path), [Mistake(Place(str(path), sheet=sheet, cell="B2"), message="!")]
    )
    assert copy is not None and copy.anew
    assert list(marks(copy.content)) == [(sheet, "B2", True, f"{BEGINS}!")]


@pytest.mark.parametrize("kind", ["ods", "xls", "xlsx"])
def test_an_error_in_a_cell_is_still_one_in_the_copy(tmp_path: Path, kind: str) -> None:
    """Were it left empty, its person would be left out by `where`, or take a default."""
    path = tmp_path / f"people.{kind}"
    path.write_bytes((SHEETS / "libreoffice" / f"errors.{kind}").read_bytes())
    again = tmp_path / "copy.xlsx"
    again.write_bytes(marked(path).content)
    assert [(each.place.cell, each.found) for each in problems_of(again)] == [
        (each.place.cell, each.found) for each in problems_of(path)
    ]


def test_many_bad_cells_are_all_coloured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond a number that spreadsheet programs bear, only the colour says it."""
    monkeypatch.setattr("tasks.outputs.marking.MOST_NOTES", 3)
    copy = marked(write_book(tmp_path / "people.xlsx", [("A", "B", f"{n}@") for n in range(9)]))
    found = list(marks(copy.content))
    assert (copy.cells, copy.notes) == (9, 3)
    assert [red for *_, red, _ in found] == [True] * 9
    assert [note is not None for *_, note in found] == [True] * 3 + [False] * 6


def test_other_writers_books_are_marked_as_well(tmp_path: Path) -> None:
    """Rows and cells without their names, prefixed tags, two bytes to a letter: all are valid."""
    path = write_book(tmp_path / "people.xlsx")
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    sheet = parts["xl/worksheets/sheet2.xml"].decode()
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    for tag in ("worksheet", "sheetData", "row", "c", "v", "dimension", "sheetViews", "sheetView"):
        sheet = sheet.replace(f"<{tag}", f"<x:{tag}").replace(f"</{tag}>", f"</x:{tag}>")
    sheet = sheet.replace(f'xmlns="{main}"', f'xmlns:x="{main}" xmlns="{main}"')
    sheet = sheet.replace("<x:cols", "<cols")
    for row in range(1, 5):
        sheet = sheet.replace(f' r="{row}"', "")
        for letter in "ABC":
            sheet = sheet.replace(f' r="{letter}{row}"', "")
    sheet = sheet.replace('encoding="UTF-8"', 'encoding="UTF-16"')
    parts["xl/worksheets/sheet2.xml"] = sheet.encode("utf-16")
    with zipfile.ZipFile(path, "w") as book:
        for name, content in parts.items():
            book.writestr(name, content)
    problem = Mistake(Place(str(path), sheet="Candidates", cell="C3"), message="here")
    copy = marked_copy(Named(path), [problem])
    assert copy is not None
    assert list(marks(copy.content)) == [("Candidates", "C3", True, f"{BEGINS}here")]
    assert opened(copy.content)["Candidates"]["C3"].value == "bob@"
