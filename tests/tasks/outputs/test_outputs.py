"""Links, results, pages and the report: what is in them, and that nothing in them acts."""

import csv
import io
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.chart import BarChart, Reference
from openpyxl.worksheet.datavalidation import DataValidation

from config.errors import BadInput
from data.campaigns.history import Event
from tasks.outputs.embed_pages import write_pages
from tasks.outputs.exports import CannotWrite, write_file
from tasks.outputs.links import COLUMNS, FORMATS, embed_url, links_as
from tasks.outputs.overwriting import NotOurs, check_output, remember, written_by_us
from tasks.outputs.report import moments, report_page
from tasks.outputs.results import Result, WrongCopy, results_of, write_results
from tasks.service.messages import masked
from tests.tasks.outputs.standing import standing, stands

APP = "https://app.test/"
EVIL = [
    "=1+1",
    "+1+1",
    "-1+2",
    "@SUM(A1)",
    "\t=1",
    "＝1+1",
    "=HYPERLINK('http://x','y')",
    "</td><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }}",
    "a\x00b\x1b[31m\u202egnp.exe",
    'O"Neil, "Bo"; x',
    "two\nlines",
]


def person(
    name: str, email: str, number: int | None = None, invite: str = "done", why: str | None = None
) -> dict[str, Any]:
    """One of the candidates of a status."""
    first, _, last = name.partition(" ")
    url = embed_url(APP, 101, number)
    them = {"first_name": first, "last_name": last, "candidate_id": number, "embed_url": url}
    return {"source": "a fair"} | stands(email, invite, why) | them


URL = "https://app.test/embedded/welcome?projectId=101&candidateId={}"
BOB = person("Bob Ng", "bob@x.org", 2**60, "refused", "=cmd|' /C calc'!A0")
PEOPLE = [
    person("Ada Byron", "Ada@x.org", 5001),
    BOB,
    person("Cem Ay", "cem@x.org", None, "waiting"),
    person("Dee Li", "dee@x.org", 5004, "withdrawn"),
]
OTHERS = [person("", "x@x.org") | {"first_name": text} for text in EVIL]


def test_csv_calculates_nothing() -> None:
    text = links_as("csv", OTHERS, "").decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["first_name"].removeprefix("'") for row in rows] == EVIL
    assert not any(row["first_name"][0] in "=+-@\t＝" for row in rows)
    with_urls = csv.DictReader(io.StringIO(links_as("csv", PEOPLE, "").decode()))
    assert [row["embed_url"] for row in with_urls] == [each["embed_url"] or "" for each in PEOPLE]


def test_a_workbook_of_links_calculates_nothing_and_keeps_every_digit() -> None:
    sheet = load_workbook(io.BytesIO(links_as("xlsx", [*PEOPLE, *OTHERS], ""))).active
    rows = list(sheet.iter_rows(min_row=2, max_col=6))
    assert [cell.value for cell in sheet[1]] == list(COLUMNS)
    assert {cell.data_type for row in rows for cell in row} <= {"s", "inlineStr", "n"}
    assert [row[3].value for row in rows[:4]] == [5001, str(2**60), None, 5004]
    assert rows[0][4].hyperlink.target == URL.format(5001)
    shown = [row[0].value for row in rows[4:]]
    assert shown[:4] == EVIL[:4]
    assert "\u202e" not in "".join(shown)


@pytest.mark.parametrize("form", FORMATS)
def test_our_own_files_are_known_and_private(form: str, tmp_path: Path) -> None:
    ours = tmp_path / f"links.{form}"
    write_file(ours, links_as(form, PEOPLE, "Backend"))
    write_file(ours, links_as(form, PEOPLE[:1], "Backend"))
    assert written_by_us(ours)
    assert ours.stat().st_mode & 0o077 == 0


def test_no_output_replaces_what_is_not_as_we_wrote_it(tmp_path: Path) -> None:
    """Whatever it holds, and unless --force says so."""
    file = tmp_path / "links.csv"
    check_output(file)
    for ours in (b"first_name,candidate_id,embed_url\n", b'[{"embed_url": null}]'):
        file.write_bytes(ours)
        with pytest.raises(NotOurs, match="was not changed"):
            check_output(file)
        remember(ours)
        check_output(file)
        file.write_bytes(ours + b"a note of somebody's")
        with pytest.raises(NotOurs):
            check_output(file)
        check_output(file, force=True)


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for place in (tmp_path / each for each in ("file/below.csv", "link", "pipe", "folder")):
        with pytest.raises(CannotWrite):
            write_file(place, b"x", force=True)
    with pytest.raises(CannotWrite):
        write_pages(tmp_path / "file", PEOPLE, "x", "key", "secret")
    assert (tmp_path / "file").read_text() == "x"


# --- results in a copy of one's own sheet ---------------------------------------------------------

RESULTS = results_of(PEOPLE)


def test_results_go_into_a_text_by_address(tmp_path: Path) -> None:
    own, copy = tmp_path / "own.csv", tmp_path / "copy.csv"
    own.write_text(
        "Candidates of May\nName;Phone;E-mail;candidate_id;embed_url;status;why;Feedback\n"
        "Cem Ay;+49 30 1;cem@x.org\n"
        "Ola;;;;;;;call her\n"
        'Bob Ng;=1+1;"Bob <BOB@x.org>"\n'
        "Eve Li;;eve@x.org\n"
    )
    copied = write_results(own, copy, RESULTS, columns={"full_name": "Name"})
    rows = list(csv.reader(io.StringIO(copy.read_text("utf-8-sig"), newline=""), delimiter=";"))
    assert rows == [
        ["Candidates of May"],
        ["Name", "Phone", "E-mail", *Result._fields, "Feedback"],
        ["Cem Ay", "+49 30 1", "cem@x.org", "", "", "waiting", ""],
        ["Ola", *[""] * 6, "call her"],
        ["Bob Ng", "'=1+1", "Bob <BOB@x.org>", str(2**60), URL.format(2**60), "refused",
         f"'{BOB['why']}"],
        ["Eve Li", "", "eve@x.org", "", "", "not in the campaign",
         "not among the people of its last run"],
    ]  # fmt: skip
    assert (copied.absent, copied.statuses["refused"], copied.lost) == (2, 1, "")
    assert written_by_us(copy)


def own_workbook(file: Path) -> None:
    """A workbook as people have them, with a chart, a validation, a filter and hidden rows."""
    book = Workbook()
    book.active.title = "Notes"
    sheet = book.create_sheet("candidates")
    for row in (
        ["Candidates of May", None, None],
        ["First name", "Last name", "Email", "Out"],
        ["Dee", "Li", "DEE@x.org", "x"],
        ["Ada", "Byron", "ada@x.org"],
        ["Bob", "Ng", "bob@x.org"],
        ["Total", "=COUNTA(C3:C5)", None],
    ):
        sheet.append(row)
    sheet["B4"] = CellRichText(TextBlock(InlineFont(b=True), "Byron"), " (née King)")
    sheet.row_dimensions[5].hidden = True
    sheet.auto_filter.ref = "A2:C5"
    sheet.freeze_panes = "A3"
    sheet.merge_cells("A1:F1"), sheet.merge_cells("D3:F4")  # which is in the way of results
    rule = DataValidation(type="list", formula1='"a,b"')
    rule.add("A3:A5")
    sheet.add_data_validation(rule)
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=2, min_row=3, max_row=6))
    sheet.add_chart(chart, "H2")
    book.save(file)


def test_results_go_into_a_workbook_and_the_rest_stays(tmp_path: Path) -> None:
    own, copy = tmp_path / "own.xlsx", tmp_path / "copy.xlsx"
    own_workbook(own)
    before = own.read_bytes()
    for _ in range(2):  # again: earlier results are replaced
        copied = write_results(own, copy, RESULTS)
        own, copy = copy, tmp_path / "again.xlsx"
    assert (tmp_path / "own.xlsx").read_bytes() == before
    assert copied.lost.startswith("the stored results of formulas")
    assert copied.absent == 1
    book = load_workbook(own, rich_text=True)
    sheet = book["candidates"]
    assert [[cell.value for cell in row] for row in sheet["E2:H6"]] == [
        list(Result._fields),
        [5004, URL.format(5004), "withdrawn", "logs in as dee@x.org"],
        [5001, URL.format(5001), "invited", "logs in as Ada@x.org"],
        [str(2**60), URL.format(2**60), "refused", BOB["why"]],
        [None, None, None, None],
    ]
    assert sheet["H5"].data_type == "s"
    assert sheet["F4"].hyperlink.target == URL.format(5001)
    assert sheet.max_column == 8
    assert sheet.row_dimensions[5].hidden
    assert (sheet.auto_filter.ref, sheet.freeze_panes) == ("A2:C5", "A3")
    assert (len(sheet._charts), len(sheet.data_validations.dataValidation)) == (1, 1)
    assert [str(each) for each in sheet.merged_cells.ranges] == ["A1:F1"]
    assert isinstance(sheet["B4"].value, CellRichText)
    assert [sheet["B6"].value, sheet["D4"].value] == ["=COUNTA(C3:C5)", "x"]
    assert written_by_us(own)


def test_a_copy_of_a_text_or_a_web_page_may_be_a_workbook(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("Name,Email\n=1+1,ada@x.org\n")
    page = "<table><tr><td>Name<td>Email<tr><td>=1+1<td>ada@x.org</table>"
    (tmp_path / "own.xls").write_text(f"<html>{page}</html>")
    for own in ("own.csv", "own.xls"):
        write_results(tmp_path / own, tmp_path / "copy.xlsx", RESULTS)
        sheet = load_workbook(tmp_path / "copy.xlsx").active
        row = ["=1+1", "ada@x.org", 5001, URL.format(5001)]
        assert [cell.value for cell in sheet[2]][:4] == row
        assert not [cell for row in sheet for cell in row if cell.data_type == "f"]


COPIES = [
    ("own.csv", "own.csv", "the table itself"),
    ("own.csv", "copy.html", "must end in .csv"),
    ("own.xlsx", "copy.csv", "must end in .xlsx"),
    ("own.xls", "copy.xls", "must end in .xlsx"),
]


@pytest.mark.parametrize(("own", "copy", "why"), COPIES)
def test_a_copy_that_cannot_be_is_refused(own: str, copy: str, why: str, tmp_path: Path) -> None:
    own_workbook(tmp_path / "own.xlsx")
    (tmp_path / "own.csv").write_text("Name,Email\nAda,ada@x.org\n")
    (tmp_path / "own.xls").write_text("<html><table><tr><td>Email</td></tr></table></html>")
    before = (tmp_path / own).read_bytes()
    with pytest.raises(WrongCopy, match=why):
        write_results(tmp_path / own, tmp_path / copy, RESULTS, force=True)
    assert (tmp_path / own).read_bytes() == before
    assert copy == own or not (tmp_path / copy).exists()


def test_a_sheet_that_is_not_there_is_a_mistake(tmp_path: Path) -> None:
    own_workbook(tmp_path / "own.xlsx")
    with pytest.raises(BadInput):
        write_results(tmp_path / "own.xlsx", tmp_path / "copy.xlsx", RESULTS, sheet="People")


# --- pages ----------------------------------------------------------------------------------------


def test_a_page_says_who_logs_in_and_names_nobody(tmp_path: Path) -> None:
    index = write_pages(tmp_path, PEOPLE, 'Back"end', "key", "secret")
    first = sorted(path.name for path in (tmp_path / "pages").iterdir())
    write_pages(tmp_path, PEOPLE, 'Back"end', "key", "secret")
    pages = sorted((tmp_path / "pages").iterdir())
    assert [path.name for path in pages] == first
    assert len(pages) == 3  # Cem has no link yet
    for path in pages:
        text = path.read_text()
        assert 'allow="fullscreen; clipboard-read; clipboard-write; keyboard-map"' in text
        assert text.count("@x.org") == 1
        assert not any(name in text for name in ("Byron", "Bob", "Dee"))
        assert path.stat().st_mode & 0o777 == 0o644
    assert all(f'href="pages/{path.name}"' in index.read_text() for path in pages)
    assert "cem@x.org" in index.read_text()
    assert "<iframe" not in index.read_text()
    assert index.stat().st_mode & 0o077 == 0
    write_pages(tmp_path / "b", PEOPLE, "x", "key", "other")
    assert not {path.name for path in (tmp_path / "b" / "pages").iterdir()} & {*first}


def test_a_page_of_somebody_else_stays(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<html>mine</html>")
    with pytest.raises(NotOurs):
        write_pages(tmp_path, PEOPLE, "x", "key", "secret")
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]


# --- the report -----------------------------------------------------------------------------------

AT = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)


def test_a_report_tells_each_doubt_and_names_nobody_unless_asked() -> None:
    lost = Event(AT, "invite", "ada@x.org", "unsure", status=502, words="<b>gateway</b>")
    word = Event(AT, "sent", "bob@x.org", who="mara", words="it arrived")
    stories = [("bob@x.org", False, [word]), ("ada@x.org", True, [lost])]
    shown = standing(
        stands("ada@x.org", "unsure", f"{EVIL[7]} like bob@x.org"), stands("bob@x.org", "done"),
        added=10_000, invited=9_998, unsure=1, refused=1,
    )  # fmt: skip
    text = report_page(shown, EVIL[8], stories, [lost, word], AT).decode()
    assert text.index("a…@x…: open") < text.index("b…@x…: settled")
    assert all(said in text for said in ("status 502", "mara: sent", "9,998"))
    assert not any(part in text for part in ("ada@", "bob@", "gateway", "<img", "http://"))
    text = report_page(shown, "x", stories, [], AT, names=True).decode()
    assert "ada@x.org" in text and "&lt;b&gt;gateway" in text and "<script>alert" not in text


def test_a_story_counts_what_came_to_the_same() -> None:
    came = ("done", "done", "unsure", "done")
    events = [Event(AT, "invite", f"{n}@x.org", each) for n, each in enumerate(came)]
    events += [Event(AT, "correct", "a@x.org, now b@y.org", who="mara") for _ in range(2)]
    assert [text for _, text, _ in moments(events, masked)] == [
        "invite 2 requests: done",
        "invite 2…@x…: unsure",
        "invite 3…@x…: done",
        "mara: correct a…@x…, now b…@y…",
        "mara: correct a…@x…, now b…@y…",
    ]


def test_a_report_with_names_says_who_they_are_and_an_account_is_no_name() -> None:
    them = {"first_name": "Ada", "last_name": "Byron"} | stands("ada@x.org", "unsure")
    events = [Event(AT, "sent", "ada@x.org", who=who) for who in ("root", "mara")]
    page = report_page(standing(them), "x", [], events, AT, names=True).decode()
    assert page.count("Ada Byron (ada@x.org)") == 3
    assert (
        "a person: sent" in page and "mara: sent" in page and "root" not in page.split("</head>")[1]
    )
