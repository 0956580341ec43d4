"""Results beside each person's row, in a copy of somebody's own table."""

import asyncio
import csv
import zipfile
from collections.abc import Mapping
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter

from config.errors import BadInput
from config.mistakes import Unusable
from config.reading.own_tables import Named, OwnTable, PeopleAt, named_table, own_tables, people_at
from config.tables.headers import Wishes, wishes_of
from data.campaigns import queries
from flows.cli.see.writing_back import WritingBack
from flows.run.order import RunContext, conduct
from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from tasks.outputs.exports import RESULT_COLUMNS, Link, Result, as_xlsx
from tasks.outputs.links import results_of
from tasks.outputs.writing_back import (
    NOT_HERE,
    absent,
    as_text_file,
    as_workbook,
    into_workbook,
    of_one_campaign,
    only_unfinished,
    results_by_row,
    with_results,
)
from tasks.plan.target import CampaignSource
from tests.support.campaigns import Office, settings_of

URL = "https://app.example.com/embedded/welcome?projectId=101&candidateId="
KNOWN = {
    "ada@example.com": Result(5001, f"{URL}5001", "invited", None, True),
    "bob@example.com": Result(None, None, "refused", '=cmd|"/c calc"!A1', False),
    "cy@example.com": Result(2**62, f"{URL}{2**62}", "unsure", "no answer came", False),
}
# In no order that anybody ever sent.
ROWS = [
    ("Phone", "E-Mail", "Given name", "Surname", "Start"),
    ("+49 30 1234", "CY@Example.com ", "Cy", "Young", "=1+1"),
    ("-", "ada@example.com", "Ada", "Lovelace", "-2"),
    ("@home", "ann@", "Ann", "Wrong", ""),
    ("1", "bob@example.com", "Bob", "=1+1", ""),
    ("2", "dan@example.com", "Dan", "New", ""),
]


def write_book(path: Path, sheets: Mapping[str, Any]) -> Path:
    """A workbook with these sheets of rows."""
    options = {"strings_to_formulas": False}
    with xlsxwriter.Workbook(path, options) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
            if name == "Candidates":
                sheet.write_formula("G3", "=1+1", None, 2)
                sheet.set_row(0, None, book.add_format({"bold": True}))
                sheet.insert_textbox("M2", "mind the gap")
    return path


def write_text(path: Path, rows: Any, delimiter: str = ",") -> Path:
    text = StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
    return path


def read(path: Path, named: Named | None = None) -> tuple[bytes, tuple[OwnTable, ...], PeopleAt]:
    named = named or Named(path)
    data, tables = own_tables(named)
    return data, tables, people_at(named, tables)


def into(path: Path) -> Any:
    """The sheet of candidates in the copy."""
    data, _, people = read(path)
    return opened(into_workbook(data, people, results_by_row(people, "backend", KNOWN)))


def opened(content: bytes) -> Any:
    return openpyxl.load_workbook(BytesIO(content))


def column(sheet: Any, name: str) -> list[Any]:
    """A column by its header, without it."""
    (at,) = [cell.column for cell in sheet[1] if cell.value == name]
    return [sheet.cell(row, at).value for row in range(2, sheet.max_row + 1)]


def test_each_person_gets_their_own_result_in_whatever_order(tmp_path: Path) -> None:
    """Matched by the email key: capitals and spaces do not matter, nor does the order of rows."""
    sheet = into(write_book(tmp_path / "people.xlsx", {"Candidates": ROWS}))["Candidates"]
    assert column(sheet, "candidate_id") == [str(2**62), 5001, None, None, None]
    assert column(sheet, "embed_url") == [f"{URL}{2**62}", f"{URL}5001", None, None, None]
    assert column(sheet, "status") == [
        "unsure",
        "invited",
        NOT_HERE,
        "refused",
        NOT_HERE,
    ]
    why = column(sheet, "why")
    assert why[:2] == ["no answer came", None]
    assert why[2].startswith("email1: wanted an email address")
    assert "backend" in why[4]


def test_the_rest_of_the_workbook_is_the_same_byte_for_byte(tmp_path: Path) -> None:
    """Other sheets, formats, formulas and drawings are carried over; one part has new cells,
    another one where they lead to."""
    path = write_book(tmp_path / "people.xlsx", {"Candidates": ROWS, "Budget": [["=A1", 1]]})
    data, _, people = read(path)
    copy = into_workbook(data, people, results_by_row(people, "backend", KNOWN))
    with zipfile.ZipFile(path) as before, zipfile.ZipFile(BytesIO(copy)) as after:
        assert before.namelist() == after.namelist()
        differing = [n for n in before.namelist() if before.read(n) != after.read(n)]
    assert sorted(differing) == ["xl/worksheets/_rels/sheet1.xml.rels", "xl/worksheets/sheet1.xml"]
    sheet = opened(copy)["Candidates"]
    assert [[cell.value for cell in row[:5]] for row in sheet.iter_rows()] == [
        [cell or None for cell in row] for row in ROWS
    ]
    assert sheet["G3"].value == "=1+1"  # the person's own
    assert [cell.value for cell in sheet[1][7:]] == list(RESULT_COLUMNS)


@pytest.mark.parametrize("name", ["people.csv", "people.xlsx"])
@pytest.mark.parametrize(("width", "fits"), [(996, True), (997, False)])
def test_a_copy_with_results_can_be_read_again(
    tmp_path: Path, name: str, width: int, fits: bool
) -> None:
    """A table so wide that it could not be is refused, and says what is too much."""
    rows = [["E-Mail", "First name", "Last name", *(f"c{n}" for n in range(3, width))]]
    rows.append(["ada@example.com", "Ada", "Lovelace", *["x"] * (width - 3)])
    path = tmp_path / name
    kind = path.suffix
    write_text(path, rows) if kind == ".csv" else write_book(path, {"People": rows})
    data, _, people = read(path)
    results = results_by_row(people, "backend", KNOWN)
    copy = tmp_path / f"copy{kind}"

    def write() -> None:
        if kind == ".csv":
            copy.write_bytes(as_text_file(with_results(people, results))[0])
        else:
            copy.write_bytes(into_workbook(data, people, results))

    if fits:
        write()
        assert read(copy)[2].width == width + len(RESULT_COLUMNS)
    else:
        with pytest.raises(BadInput) as refused:
            write()
        assert f"has {width};" in str(refused.value.problems[0])


def test_what_the_service_said_is_no_formula(tmp_path: Path) -> None:
    """A reason that begins like a formula is text in the copy."""
    sheet = into(write_book(tmp_path / "people.xlsx", {"Candidates": ROWS}))["Candidates"]
    assert column(sheet, "why")[3] == '=cmd|"/c calc"!A1'
    new = [cell for row in sheet.iter_rows(min_col=8) for cell in row if cell.value is not None]
    assert {cell.data_type for cell in new} == {"s", "n"}


def clicked(sheet: Any) -> list[str | None]:
    """Where the links lead to when they are clicked."""
    (at,) = [cell.column for cell in sheet[1] if cell.value == "embed_url"]
    links = (sheet.cell(row, at).hyperlink for row in range(2, sheet.max_row + 1))
    return [link and link.target for link in links]


def test_links_can_be_clicked_in_every_workbook(tmp_path: Path) -> None:
    """In a copy, in a copy of the copy, and in one made anew; a link of one's own stays."""
    urls = [f"{URL}{2**62}", f"{URL}5001", None, None, None]
    path = write_book(tmp_path / "people.xlsx", {"Candidates": ROWS})
    book = openpyxl.load_workbook(path)
    book["Candidates"]["B2"].hyperlink = "mailto:cy@example.com"
    book.save(path)
    for _ in range(2):
        sheet = into(path)["Candidates"]
        assert clicked(sheet) == urls
        assert sheet["B2"].hyperlink.target == "mailto:cy@example.com"
        data, _, people = read(path)
        path.write_bytes(into_workbook(data, people, results_by_row(people, "backend", KNOWN)))
    data, _, people = read(path)
    nobody = dict.fromkeys(
        results_by_row(people, "backend", {}), Result(None, None, "x", "", False)
    )
    assert clicked(opened(into_workbook(data, people, nobody))["Candidates"]) == [None] * 5
    text = write_text(tmp_path / "people.csv", ROWS)
    _, _, people = read(text)
    told = with_results(people, results_by_row(people, "backend", KNOWN))
    assert clicked(opened(as_workbook([told])).active) == urls


def test_the_workbook_of_links_can_be_clicked() -> None:
    """Where somebody has no link yet, there is none."""
    rows = [
        Link("A", "B", "a@x.org", 1, f"{URL}1", "done"),
        Link("C", "D", "c@x.org", None, None, "x"),
    ]
    assert clicked(opened(as_xlsx(rows)).active) == [f"{URL}1", None]


def test_results_written_twice_stand_once(tmp_path: Path) -> None:
    """A copy may be the table of the next time: its columns are brought up to date."""
    path = write_book(tmp_path / "people.xlsx", {"Candidates": ROWS})
    data, _, people = read(path)
    later = {**KNOWN, "bob@example.com": Result(5002, f"{URL}5002", "invited", None, True)}
    path.write_bytes(into_workbook(data, people, results_by_row(people, "backend", KNOWN)))
    data, _, people = read(path)
    sheet = opened(into_workbook(data, people, results_by_row(people, "backend", later)))[
        "Candidates"
    ]
    assert [cell.value for cell in sheet[1]].count("status") == 1
    assert column(sheet, "status")[3] == "invited"
    assert column(sheet, "why")[3] is None


def test_a_column_of_ones_own_is_never_written_over(tmp_path: Path) -> None:
    """One that happens to be called status is not ours."""
    rows = [("Status", "status", "email"), ("hired", "new", "ada@example.com")]
    sheet = into(write_book(tmp_path / "people.xlsx", {"people": rows}))["people"]
    ours = [5001, f"{URL}5001", "invited", None]
    assert [cell.value for cell in sheet[2]] == ["hired", "new", "ada@example.com", *ours]


def test_an_address_is_found_as_the_reader_finds_it(tmp_path: Path) -> None:
    """In what a mail program writes around it; the first of several only where that is said."""
    rows = [("email",), ("Ada <ada@example.com>",), ("bob@example.com, cy@example.com",)]
    path = write_book(tmp_path / "people.xlsx", {"people": rows})
    _, _, people = read(path)
    status = [result.status for result in results_by_row(people, "backend", KNOWN).values()]
    assert status == ["invited", NOT_HERE]
    wishes = wishes_of({"several": "first"})
    _, _, people = read(path, Named(path, wishes=wishes))
    status = [result.status for result in results_by_row(people, "backend", KNOWN).values()]
    assert status == ["invited", "refused"]


def test_people_of_another_campaign_are_left_alone(tmp_path: Path) -> None:
    """In a workbook of several campaigns only the rows of this one get a result."""
    rows = [("campaign", "email"), ("other", "ada@example.com"), ("backend", "ada@example.com")]
    path = write_book(tmp_path / "batch.xlsx", {"candidates": rows})
    _, _, people = read(path)
    assert list(results_by_row(people, "backend", KNOWN)) == [3]
    assert absent(people, "backend", KNOWN) == {"bob@example.com", "cy@example.com"}


def test_a_text_keeps_its_delimiter_and_gets_no_formula(tmp_path: Path) -> None:
    """Cells that a spreadsheet would calculate are guarded; numbers and telephones are not."""
    path = write_text(tmp_path / "people.csv", ROWS, ";")
    _, _, people = read(path)
    table = with_results(people, results_by_row(people, "backend", KNOWN))
    content, guarded = as_text_file(table)
    assert content.startswith(b"\xef\xbb\xbf")
    rows = list(csv.reader(StringIO(content.decode("utf-8-sig"), newline=""), delimiter=";"))
    assert rows[0] == [*ROWS[0], *RESULT_COLUMNS]
    assert rows[1][:5] == ["+49 30 1234", "CY@Example.com ", "Cy", "Young", "'=1+1"]
    assert rows[2] == [*ROWS[2], "5001", f"{URL}5001", "invited", ""]
    assert rows[4][3] == "'=1+1" and rows[4][-1].startswith("'=cmd")
    assert rows[3][0] == "'@home"
    assert guarded == 4


def test_lines_above_the_header_come_back_as_they_were(tmp_path: Path) -> None:
    """A title and a blank line get no empty cells, however wide the table below them is."""
    ada = ("Ada", "Lovelace", "ada@example.com", "")
    header = ("first_name", "last_name", "email1", "notes")
    path = write_text(tmp_path / "people.csv", [("Applicants",), (), header, ada[:3]])
    _, _, people = read(path)
    content, _ = as_text_file(with_results(people, results_by_row(people, "a", KNOWN)))
    title, blank, *rows = csv.reader(StringIO(content.decode("utf-8-sig"), newline=""))
    assert (title, blank) == (["Applicants"], [])
    assert [row[:4] for row in rows] == [list(header), list(ada)]


def test_a_guarded_text_is_read_as_it_was(tmp_path: Path) -> None:
    """What is handed back and sent again is the same person and the same name."""
    rows = [("first_name", "last_name", "email"), ("=1+1", "L", "+ada@example.com")]
    _, _, people = read(write_text(tmp_path / "people.csv", rows))
    content, guarded = as_text_file(people.table)
    (tmp_path / "again.csv").write_bytes(content)
    _, _, again = read(tmp_path / "again.csv")
    assert guarded == 2
    assert [fields for _, fields in again.people()] == [fields for _, fields in people.people()]


def test_only_the_rows_to_mend_are_kept(tmp_path: Path) -> None:
    """Who is done is left out; what stands above the people stays."""
    rows = [("Our people",), ("E-mail", "of our people"), *ROWS]
    path = write_book(tmp_path / "people.xlsx", {"Candidates": rows})
    _, _, people = read(path)
    results = results_by_row(people, "backend", KNOWN)
    unfinished = [number for number, result in results.items() if not result.finished]
    kept = only_unfinished(people, with_results(people, results), unfinished)
    sheet = opened(as_workbook([kept]))["Candidates"]
    emails = [row[1].value for row in sheet.iter_rows()]
    assert [email for email in emails if email] == [
        "of our people",
        "E-Mail",
        "CY@Example.com ",
        "ann@",
        "bob@example.com",
        "dan@example.com",
    ]
    assert all(c.data_type in "sn" for row in sheet.iter_rows() for c in row)


def test_an_error_stays_one_in_a_text_and_in_a_workbook() -> None:
    """Neither a blank, which takes a default, nor words, which could be a name."""
    cells = ("Ada", Unusable("the error #N/A", "#N/A"), Unusable("a text of 40,000 characters"))
    table = OwnTable("people", ((1, cells),))
    content, guarded = as_text_file(table)
    assert (content.decode("utf-8-sig"), guarded) == ('"Ada","#N/A","#VALUE!"\r\n', 0)
    [row] = openpyxl.load_workbook(BytesIO(as_workbook([table]))).active.iter_rows(values_only=True)
    assert row == ("Ada", "#N/A", "#VALUE!")


def test_one_campaign_of_a_batch_is_kept() -> None:
    """Without its people a campaign would be an error in the sheet that is sent again."""
    rows = ((1, ("key", "name")), (2, ("other", "Other")), (4, ("backend ", "Backend")))
    kept = of_one_campaign(OwnTable("campaigns", rows), "backend")
    assert [number for number, _ in kept.rows] == [1, 4]


@pytest.mark.parametrize(
    ("sheets", "said"),
    [
        ({"a": [["name"]]}, "no column for email1"),
        ({"a": [["email"]], "b": [["email"]]}, "the sheets a, b all have emails"),
        (
            {"a": [["email", "E-Mail"]]},
            "2 columns for email1: email (column 1, A), E-Mail (column 2, B)",
        ),
    ],
)
def test_a_table_without_its_people_is_a_complaint(
    tmp_path: Path, sheets: Mapping[str, Any], said: str
) -> None:
    """Which sheet is meant is not guessed."""
    with pytest.raises(BadInput) as raised:
        read(write_book(tmp_path / "people.xlsx", sheets))
    assert said in str(raised.value.problems[0])


def test_the_definition_says_which_column(tmp_path: Path) -> None:
    """`columns:` and `sheet:` hold for writing back as they do for reading."""
    sheets = {
        "archive": [("email",), ("ada@example.com",)],
        "now": [("email", "Work"), ("x@example.com", "ada@example.com")],
    }
    path = write_book(tmp_path / "people.xlsx", sheets)
    _, _, people = read(path, Named(path, "Now", Wishes({"email1": "work"})))
    assert results_by_row(people, "backend", KNOWN) == {2: KNOWN["ada@example.com"]}


def test_a_workbook_says_itself_which_column(tmp_path: Path) -> None:
    """Its own sheet of the campaign names the column, as it does for reading."""
    fields = [("campaign", "backend"), ("columns.email1", "Work")]
    people = [("email", "Work"), ("x@example.com", "ada@example.com")]
    path = write_book(tmp_path / "people.xlsx", {"campaign": fields, "candidates": people})
    _, _, found = read(path, named_table(path, None))
    assert list(found.people()) == [(2, {"email1": "ada@example.com"})]


def test_a_mended_sheet_is_sent_again_and_invites_nobody_twice(tmp_path: Path) -> None:
    """Only who was not done is in it; the address that was mended gets its one invitation."""
    people = [("first name", "last name", "email"), *((n, n, f"{n}@example.com") for n in "abc")]
    campaign = [("campaign", "backend"), ("project.name", "Backend"), ("problem", 42)]
    path = write_book(tmp_path / "people.xlsx", {"campaign": campaign, "candidates": people})
    refused = Fault("status", "add_candidates", None, email="b@example.com", status=422)
    with Sandbox(faults=[refused]) as service:
        office = Office.at(tmp_path, service)

        def run(file: Path) -> None:
            with office.ledger() as ledger:
                desk = RunContext(ledger, settings_of(service), office.local)
                asyncio.run(conduct(CampaignSource(file, "backend"), desk))

        run(path)
        with office.ledger() as ledger:
            row = ledger.read(queries.find_campaign, "backend")
            assert row is not None
            known = results_of(ledger, row)
            WritingBack(path, tmp_path / "failed.xlsx", row, known).unfinished()
        book = openpyxl.load_workbook(tmp_path / "failed.xlsx")
        [_, bob] = book["candidates"].iter_rows()
        assert [cell.value for cell in bob][:6] == [
            "b",
            "b",
            "b@example.com",
            None,
            None,
            "refused",
        ]
        assert "422" in str(bob[6].value)
        bob[2].value = "bee@example.com"
        book.save(tmp_path / "failed.xlsx")
        run(tmp_path / "failed.xlsx")
        assert office.emails() == {f"{n}@example.com": 1 for n in ("a", "bee", "c")}


def test_the_sheet_of_a_table_with_several_is_typed(tmp_path: Path) -> None:
    """Results go into the sheet that is named, where several have addresses."""
    path = write_book(tmp_path / "people.xlsx", {"Old": ROWS, "New": ROWS})
    with Sandbox() as service:
        office = Office.at(tmp_path, service)
        office.run(office.write("backend", "Ada,Lovelace,ada@example.com\n"))
        with office.ledger() as ledger:
            row = ledger.read(queries.find_campaign, "backend")
            assert row is not None
            known = results_of(ledger, row)
            (tmp_path / "backend.yaml").unlink()
            with pytest.raises(BadInput) as refused:
                WritingBack(path, tmp_path / "no.xlsx", row, known).whole()
            assert "name one with --sheet" in str(refused.value.problems[0])
            WritingBack(path, tmp_path / "done.xlsx", row, known, sheet="new").whole()
    book = openpyxl.load_workbook(tmp_path / "done.xlsx")
    assert column(book["New"], "status")[1] == "invited"
    assert "status" not in [cell.value for cell in book["Old"][1]]
