"""Cells of workbooks and web pages: what a person sees in them, and what is odd about them."""

import io
import re
import zipfile
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.comments import Comment
from openpyxl.styles import Color, Font, PatternFill

from config.sheets import workbook
from config.sheets.files import Source, read_file
from config.sheets.table import grids_of, read_table
from tests.config.sheets.conftest import Read, said, sent, short

HEAD = ["First name", "Last name", "Email", "Source"]
ADA = ["Ada", "Lovelace", "ada@people.test", "Fair"]
BOB = ["Bob", "Byron", "bob@people.test", "Web"]
ELSEWHERE = "also on another sheet: "
GREY = Color(theme=0, tint=-0.35)
MARKED = "C3: Decide who is invited. struck through or…"
OUT = "its title says that these people are out; to invite them:  sheet: On hold"
STRUCK = TextBlock(InlineFont(strike=True), "old@people.test ")
at = datetime.fromisoformat


def saved(*rows: list[Any], change: Callable[[Any], None] = lambda sheet: None) -> bytes:
    """A workbook with a sheet Candidates, by openpyxl."""
    book, file = Workbook(), io.BytesIO()
    book.active.title = "Candidates"
    for row in rows:
        book.active.append(row)
    change(book.active)
    book.save(file)
    return file.getvalue()


def with_part(data: bytes, part: str, change: Callable[[str], str]) -> bytes:
    """Change the text of one part of a workbook."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            new.writestr(name, change(text.decode()) if part in name else text)
    return file.getvalue()


def cell(value: Any, number_format: str = "General") -> str:
    """What is read of one cell."""

    def change(sheet: Any) -> None:
        sheet["A1"] = value
        sheet["A1"].number_format = number_format

    (grid,) = grids_of(Source(Path("x.xlsx"), saved(change=change)))
    return grid.rows[0][1][0] if grid.rows else ""


@pytest.mark.parametrize(
    ("value", "number_format", "seen"),
    [
        ("text", "General", "text"),
        ("=1+1", "@", "#UNCALCULATED!"),
        ("'quoted", "General", "'quoted"),
        ("a_x000D_b", "General", "a\rb"),
        (3.0, "General", "3"),
        (2.5, "General", "2.5"),
        (True, "General", "TRUE"),
        (at("2026-12-01T00:00"), "yyyy-mm-dd", "2026-12-01"),
        (at("2026-12-01T09:30"), "yyyy-mm-dd hh:mm", "2026-12-01 09:30:00"),
        (timedelta(hours=30), "[h]:mm", "1 day, 6:00:00"),
    ],
)
def test_a_cell_is_text_as_a_person_sees_it(value: Any, number_format: str, seen: str) -> None:
    """Whole numbers without a fraction, dates as dates, every digit."""
    assert cell(value, number_format) == seen


def error(sheet: Any, name: str) -> None:
    sheet[name] = "#N/A"
    sheet[name].data_type = "e"


def struck(sheet: Any, name: str) -> None:
    sheet[name].font = Font(strike=True)


def filtered(sheet: Any) -> None:
    sheet.auto_filter.ref = "A1:D3"
    sheet.auto_filter.add_filter_column(3, ["Fair"])
    sheet.row_dimensions[3].hidden = True


@pytest.mark.parametrize(
    ("change", "mistakes"),
    [
        (lambda sheet: sheet.__setitem__("C3", "=A1"), ["C3, email1: found a formula without a…"]),
        (lambda sheet: error(sheet, "C3"), ["C3, email1: found the error #N/A, wanted an email…"]),
        (lambda sheet: error(sheet, "D2"), ["D2, source: found the error #N/A, wanted a text th…"]),
        (
            lambda sheet: sheet.__setitem__("C3", CellRichText(STRUCK, "bob@people.test")),
            [
                "C3: Decide who is invited. struck through or red: row 3…",
                'C3, email1: found "old@people.test bob@people.test", wanted an email address…',
            ],
        ),
        (
            lambda sheet: setattr(sheet.row_dimensions[3], "hidden", True),
            [
                "C3: Decide who is invited. hidden: row 3 (Bob Byron).\n"
                "    To leave these rows out:  hidden_rows: skip  "
                "To invite them:  hidden_rows: read"
            ],
        ),
        (filtered, ["C3: Decide who is invited. hidden: row 3…"]),
        (lambda sheet: struck(sheet, "A3"), [MARKED]),
        (lambda sheet: struck(sheet, "D3"), []),
        (lambda sheet: (sheet.__setitem__("D1", "Candidate"), struck(sheet, "D3")), [MARKED]),
        (
            lambda sheet: [sheet.__setitem__(*each) for each in (("E1", "On hold?"), ("E3", "x"))],
            [
                "E1: Decide who is invited. On hold? has empty 1, x 1. Write one of these lines "
                "under candidates:\n"
                '    To invite only those without it:  where: {On hold?: ""}\n'
                "    If a column decides nothing:  ignore: [On hold?]"
            ],
        ),
    ],
)
def test_what_is_odd_about_a_cell_is_a_mistake_there(
    read: Read, tmp_path: Path, change: Callable[[Any], None], mistakes: list[str]
) -> None:
    """Never a blank, and never a person whom the sheet calls out."""
    found = said(read(saved(HEAD, ADA, BOB, change=change), "people.xlsx"), tmp_path)
    assert len(found) == len(mistakes), found
    for message, wanted in zip(found, mistakes, strict=True):
        whole, cut, _ = f"people.xlsx, Candidates!{wanted}".partition("…")
        assert message.startswith(whole) if cut else message == whole


def noted(sheet: Any, name: str, text: str, author: str = "Mara") -> None:
    sheet[name].comment = Comment(text, author)


def filled(*rows: int, color: str | Color = "FFFF0000") -> Callable[[Any], None]:
    def fill(sheet: Any) -> None:
        for row in rows:
            for one in sheet[row]:
                one.fill = PatternFill("solid", fgColor=color)

    return fill


def on(title: str, *cells: str) -> Callable[[Any], None]:
    return lambda sheet: sheet.parent.create_sheet(title).append(cells)


def with_red_among_bands(sheet: Any) -> None:
    filled(2, 4, 6, 8, color="FFDDDDDD")(sheet)
    filled(6)(sheet)


@pytest.mark.parametrize(
    ("change", "out"),
    [
        (filled(3, color=GREY), "coloured differently: row 3 (Ac Byron)."),
        (filled(2, 3, 4, 5), "rows 2 (Ab Byron), 3 (Ac Byron), 4 (Ad Byron), 5 (Ae Byron)."),
        (with_red_among_bands, "coloured differently: row 6 (Af Byron)."),
        (filled(2, 4, 6, 8), None),  # styling
        (filled(*range(1, 9)), None),
        (filled(3, color="FFFFFFFF"), None),
        (lambda sheet: noted(sheet, "D3", "DO NOT INVITE"), 'commented: row 3 (Ac Byron) "DO NOT'),
        (lambda sheet: noted(sheet, "C3", "rejected", "campaign"), None),  # of a marked copy
        (
            lambda sheet: setattr(sheet["A3"], "font", Font(color="FF9C0006")),
            "struck through or red: row 3 (Ac Byron).",
        ),
        (lambda s: (filled(3)(s), on("Sent", "a3+hr@a.test")(s)), f"{ELSEWHERE}row 3 (Ac"),
        (on("On hold", "BYRON, Ac - she asked"), f'{ELSEWHERE}row 3 (Ac Byron) "On hold".'),
        (on("Inactive", "7", "byron", "Ac"), f'{ELSEWHERE}row 3 (Ac Byron) "Inactive".'),
        (on("Do not contact", "*@B.test"), f'{ELSEWHERE}row 8 (Ah Byron) "Do not'),
        (on("Blocked", "b.test", "all of it"), f'{ELSEWHERE}row 8 (Ah Byron) "Blocked".'),
        (on("Blocked", "Ac Anna Byron"), f'{ELSEWHERE}row 3 (Ac Byron) "Blocked".'),
        (on("Blocked", "Ac Lee", "b.test@x.org", "Mac Byron", "a9@b.test", "to b.test"), None),
    ],
)
def test_a_row_may_be_marked(read: Read, change: Callable[[Any], None], out: str | None) -> None:
    """By a colour, a comment, or another sheet; `hidden_rows` decides."""
    rows = [[f"A{chr(96 + n)}", "Byron", f"a{n}@{'ab'[n > 7]}.test", "Web"] for n in range(2, 9)]
    data = saved(HEAD, *rows, change=lambda s: (noted(s, "B1", "Ac withdrew"), change(s)))
    questions = [each.message for each in read(data, "people.xlsx").mistakes]
    assert [out in each for each in questions if out] == ([True] if out else [])
    assert out or questions == []
    as_read = read(data, "people.xlsx", hidden_rows="read")
    assert as_read.remarks == ['row 1 says "Ac withdrew"']  # of the header, so it marks no row
    skip = read(data, "people.xlsx", hidden_rows="skip")
    elsewhere = "another sheet" in (out or "")  # a question until that sheet is changed
    assert [len(as_read.ignored), len(as_read.mistakes)] == [bool(out) - elsewhere, elsewhere]
    invited = {"read": as_read.listed, "skip": skip.listed}
    assert len(invited["read"]) == 7
    skipped = {each.key for each in invited["read"]} - {each.key for each in invited["skip"]}
    assert {key[1] for key in skipped} == {*re.findall(r"(\d) \(", out or "")}


def test_a_long_number_keeps_every_digit(read: Read) -> None:
    """As a workbook stores it, where floating-point numbers end after fifteen digits."""
    book = saved(HEAD, [*ADA[:3], 77])
    long = with_part(book, "sheet1", lambda text: text.replace(">77<", ">12345678901234567890<"))
    (ada,) = read(long, "people.xlsx").listed
    assert ada.candidate.source == "12345678901234567890"


def test_cells_without_places_are_counted(tmp_path: Path) -> None:
    """Some programs leave out the places of rows and cells, which is allowed."""
    bare = with_part(saved(HEAD, ADA), "sheet1", lambda x: re.sub(r' r="[A-Z]*\d+"', "", x))
    (tmp_path / "people.xlsx").write_bytes(bare)
    table = read_table(read_file(tmp_path / "people.xlsx"))
    assert [*table.frame.loc[2]] == ["Ada", "Lovelace", "ada@people.test", "Fair"]


def two_sheets(*names: str, head: list[str] = HEAD, last: list[str] = ADA) -> bytes:
    book, file = Workbook(), io.BytesIO()
    book.remove(book.active)
    for name in names:
        sheet = book.create_sheet(name)
        sheet.append([name] if name in {"Summary", "Bare"} else head)
        person = last if name == names[-1] else ADA
        sheet.append([] if name in {"Summary", "Template"} else person)
    book.save(file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("book", "sheet", "wanted"),
    [
        (two_sheets("Summary", "People"), None, None),
        (two_sheets("People", "CANDIDATES"), None, None),
        (two_sheets("People", "Others"), "others", None),
        (two_sheets("Template", "People"), None, None),
        (two_sheets("On hold"), None, OUT),
        (two_sheets("Rejected"), "rejected", None),
        (
            two_sheets("People", "Others", head=["Name", "Email"]),
            None,
            'several sheets have email addresses; found "People" ("Name", "Email"); "Others" '
            '("Name", "Email"). Say which in the definition, as in  sheet: People; of a list, keep '
            "only one",
        ),
        (
            two_sheets("Summary", "People", head=["Name", "Email"]),
            "x",
            'there is no sheet "x"; found "Summary" (no headers); "People" ("Name", "Email")',
        ),
        (
            two_sheets("Summary", "People", head=["Name", "Phone"]),
            None,
            'no sheet has a column for email1; found "Summary" (no headers); "People" ("Name", '
            '"Phone"). Say which in the definition, as in  columns: {email1: "…"}, or rename the '
            "header of that column to Email",
        ),
    ],
    ids=short,
)
def test_the_sheet_with_the_people_is_found(
    read: Read, book: bytes, sheet: str | None, wanted: str | None
) -> None:
    """The one that is named, or candidates, or the only one with addresses."""
    people = read(book, "people.xlsx", **({"sheet": sheet} if sheet else {}))
    assert [mistake.message for mistake in people.mistakes] == ([wanted] if wanted else [])
    assert len(people.listed) == (wanted in {None, OUT})


@pytest.mark.parametrize("names", [("Candidates", "More"), ("People", "Bare")])
def test_people_in_another_sheet_are_not_lost_without_a_word(
    read: Read, names: tuple[str, str]
) -> None:
    """If the sheet candidates is taken because of its name, or the only one with a header."""
    notes, say = read(two_sheets(*names), "people.xlsx").notes, "this sheet has email addresses"
    assert any(f"{names[1]}: {say} as well, and is" in note for note in notes)


@pytest.mark.parametrize("cell", ["ada@people.test;", "mailto:ada@people.test", "#N/A", "Ada"])
def test_which_of_two_sheets_is_meant_is_asked_whatever_is_wrong_with_one(
    read: Read, cell: str
) -> None:
    book = two_sheets("All", "To invite", last=["Ada", "Lovelace", cell])
    (mistake,) = read(book, "people.xlsx").mistakes
    assert mistake.message.startswith("several sheets have email addresses")


PAGE = "<table><tr><th>First name<th>Last name<th>Email</tr>{}</table>"
HARD = "cells of this page are hidden, struck or over several rows; open it in a spreadsheet"
ROW = "<tr{}><td>Ada</td><td>Lovelace</td><td>{}</td></tr>"


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        (ROW.format("", "ada@people.test"), None),
        (ROW.format("", "<b>ada@</b>people.test<script>x</script>"), None),
        (ROW.format(" style='display: none'", "ada@people.test"), HARD),
        (ROW.format(" hidden", "ada@people.test"), HARD),
        (ROW.format("", "<del>ada@people.test</del>"), HARD),
        (ROW.format(" class=x", "a@x.test<style>.x {text-decoration:line-through}</style>"), HARD),
    ],
)
def test_a_page_named_xls_is_read_as_its_reader_sees_it(
    read: Read, rows: str, wanted: str | None
) -> None:
    """Hidden and struck rows are refused; scripts do not count."""
    people = read(PAGE.format(rows), "people.xls")
    if wanted:
        assert wanted in people.mistakes[0].message
    else:
        assert sent(people) == [("Ada", "Lovelace", "ada@people.test")]


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (saved(HEAD, ADA)[:2000], workbook.DAMAGED),
        (bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600), "this is an old .xls workbook; open it"),
        (b"<?xml?><Workbook xmlns='urn:x:office:spreadsheet'>", "this is an old .xls workbook;"),
        (
            bytes.fromhex("d0cf11e0a1b11ae1") + "EncryptedPackage".encode("utf-16-le"),
            "this workbook is protected by a password; save it without one",
        ),
        (
            b"PK\x03\x04" + bytes(26) + b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet",
            "this is an OpenDocument file; open it in a spreadsheet program and save it as .xlsx",
        ),
    ],
    ids=short,
)
def test_a_workbook_that_cannot_be_read_says_what_to_do(
    read: Read, data: bytes, wanted: str
) -> None:
    """One sentence, whatever is wrong inside."""
    (mistake,) = read(data, "people.xlsx").mistakes
    assert mistake.message.startswith(wanted)
