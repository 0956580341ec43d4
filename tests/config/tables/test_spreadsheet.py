"""Campaigns in workbooks: every complaint at the true name of its cell."""

import asyncio
import io
import zipfile
from collections.abc import Callable, Sequence
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.styles import Font

from config.definition.model import ProblemById
from config.reading.own_tables import named_table, own_tables, people_at
from config.reading.reading import Reading, read_campaigns
from config.reading.sources import sources_of
from config.tables.header_row import IN_ONE_CELL, NO_HEADER
from config.tables.unread import ABOVE
from config.workbooks.shapes import column_letters
from flows.run.order import RunContext, conduct
from sandbox.server import Sandbox
from tasks.plan.target import CampaignSource
from tests.config.refusals import messages, mistakes
from tests.sheets.shapes import Book, Outcome, Sheet
from tests.sheets.writers import by_hand, workbook
from tests.support import yaml_definition as sample
from tests.support.campaigns import Office, settings_of
from tests.support.documents import fits

Rows = Sequence[Sequence[Any]]
CAMPAIGN: Rows = [["field", "value"], ["campaign", "a "], ["name", "A"], ["problem", 42.0]]
HEADER = ["First name", "Surname", "E-mail", "Stage"]
ADA = ["Ada", "Lovelace", "ada@example.com", 3.0]
BOB = ["Null", "NA", "bob@example.com", None]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test writes its workbook into a folder of its own."""
    monkeypatch.chdir(tmp_path)


def book(**sheets: Rows) -> Path:
    Path("people.xlsx").write_bytes(workbook(sheets))
    return Path("people.xlsx")


complaints = partial(messages, read_campaigns)


def keys(reading: Reading) -> dict[str, list[str]]:
    return {d.campaign: [person.key for person in d.candidates] for d in reading.definitions}


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ([["First name,Last name,Email"], ["Ada,Lovelace,ada@corp.org"]], IN_ONE_CELL),
        ([["Ada", "Lovelace", "ada@corp.org"]], NO_HEADER),
    ],
)
def test_a_row_that_is_no_header_is_told_as_such(rows: Rows, what: str) -> None:
    """A text that was pasted into one column is split by the spreadsheet program."""
    found = complaints(book(campaign=CAMPAIGN, candidates=rows))
    assert found == [f"people.xlsx, candidates!A1: {what}"]


@pytest.mark.parametrize(("said", "again"), [(None, False), ("ask", False), ("add_again", True)])
def test_a_sheet_says_what_happens_to_unsure_adds(said: str | None, *, again: bool) -> None:
    """Of one campaign, and of one of several: the others' columns are read as before."""
    fields = [*CAMPAIGN, ["candidates.when_unsure", said]]
    reading = read_campaigns(book(campaign=fields, candidates=[HEADER, ADA]))
    assert [definition.add_again for definition in reading.definitions] == [again]
    rows = [
        ["campaign", "name", "problem", "when_unsure", "columns.email1"],
        ["a", "A", 1, said, None],
        ["b", "B", 2, None, "Where to"],
    ]
    table = [["campaign", *HEADER[:2], "Where to"], ["a", *ADA[:3]], ["b", *BOB[:3]]]
    reading = read_campaigns(book(campaigns=rows, candidates=table))
    assert [definition.add_again for definition in reading.definitions] == [again, False]


def test_a_campaign_sheet_says_what_a_definition_says() -> None:
    """Field and value; date-time cells, numbers kept as floats, names that look like nothing."""
    fields = [
        *CAMPAIGN,
        [],
        ["project.starttime", datetime(2026, 12, 1, 9)],  # noqa: DTZ001 - cells are wall times
        ["End time", "2026-12-14 18:00"],
        ["timezone", "Europe/Paris"],
        ["invites.send", "no"],
        ["description", 2026],
    ]
    fields = [[{"End time": "endtime"}.get(r[0], r[0]), *r[1:]] if r else r for r in fields]
    reading = read_campaigns(book(campaign=fields, Candidates=[HEADER, ADA, [], BOB]))
    (definition,) = reading.definitions
    assert definition.campaign == "a"
    assert definition.problem == ProblemById(42)
    assert definition.project.starttime == datetime.fromisoformat("2026-12-01T09:00")
    assert definition.project.endtime == datetime.fromisoformat("2026-12-14T18:00")
    assert definition.project.description == "2026"
    assert definition.invites.send is False
    ada, bob = definition.candidates
    assert (ada.stage_id, bob.stage_id) == (3, 1)
    assert (bob.first_name, bob.last_name) == ("Null", "NA")
    assert str(bob.place) == "people.xlsx, Candidates!C4"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (["nmae", "x"], "campaign!A5, nmae: … nmae; … project.name?"),
        (
            ["project.name", "B"],
            "campaign!B5, project.name: … campaign!B3",
        ),
        (["endtime", date(2026, 12, 2)], 'campaign!B5, project.endtime: found "2026-12-02", …'),
        (["problem.title", "x"], "campaign!B5, problem.title: …"),
        (["invites.send", "maybe"], 'campaign!B5, invites.send: found "maybe", …'),
        (["stage_id", "first"], 'campaign!B5, stage_id: found "first", …'),
    ],
)
def test_a_wrong_field_of_the_campaign_sheet(row: Sequence[Any], said: str) -> None:
    """The same rules as in YAML, told at the cell."""
    (complaint,) = complaints(book(campaign=[*CAMPAIGN, row], candidates=[HEADER, ADA]))
    assert fits(f"people.xlsx, {said}", complaint)


CAMPAIGNS: Rows = [["campaign", "name", "problem"], ["a", "A", 1], ["b", "B", 2]]


def test_one_workbook_may_hold_several_campaigns() -> None:
    """A row each; the campaign column of the people says whose they are, in any order."""
    people = [[*HEADER, "Campaign"], [*ADA, "b"], [*BOB, "a"], [*ADA, " a "]]
    reading = read_campaigns(book(campaigns=CAMPAIGNS, candidates=people))
    assert keys(reading) == {
        "a": ["bob@example.com", "ada@example.com"],
        "b": ["ada@example.com"],
    }


def test_nobody_in_a_batch_is_dropped_in_silence() -> None:
    """A person of no campaign, of an unknown one, or a campaign of nobody, is told."""
    people = [[*HEADER, "campaign"], [*ADA, "a"], [*BOB, None], [*BOB, "z"]]
    rows = [*CAMPAIGNS, ["a", "again", 1]]
    said = complaints(book(campaigns=rows, candidates=people))
    for shown in (
        "candidates!E3, campaign: missing, …",
        'candidates!E4, campaign: found "z", … a, b',
        'campaigns!A4, campaign: found "a", … people.xlsx, campaigns!A2',
        "campaigns!A3, candidates: found no candidates, …",
    ):
        assert any(fits(f"people.xlsx, {shown}", each) for each in said), shown
    (without,) = complaints(book(campaigns=CAMPAIGNS, candidates=[HEADER, ADA]))
    found = "found First name, Surname, E-mail, Stage"
    assert fits(f"people.xlsx, candidates!A1: … campaign; {found}", without)


def test_fields_beside_those_of_a_campaign_are_never_left_out() -> None:
    """A second block would say when to send, to whom, and who approves it."""
    fields: list[list[Any]] = [[*row, None] for row in CAMPAIGN]
    fields[0] += ["invites.approval", "required"]
    fields[1] += ["candidates.where.Job", "Cook"]
    fields.append([None, None, None, "invites.not_before", "2099-01-01 09:00"])
    said = complaints(book(campaign=fields, candidates=[HEADER, ADA]))
    cells = [each.partition(": ")[0] for each in said]
    assert cells == [f"people.xlsx, campaign!D{row}" for row in (1, 2, len(fields))]
    assert '"invites.approval"' in said[0]


@pytest.mark.parametrize(
    ("titles", "row", "cell"),
    [
        (["field", "value"], ["approval", None, "required"], "C5"),
        (["field", "value"], ["approval", None, None, "requierd"], "D5"),
        (["field", "value"], ["stage_id", None, 3], "C5"),
        (["field", "value"], ["invites.send", None, False], "C5"),
        (["field", "value"], ["description", None, "For the cooks"], "C5"),
        (["field", "value", "help"], ["approval", None, "required"], "C5"),
        (["field", "value", "help"], ["not_before", None, "2099-01-01 09:00"], "C5"),
        (["field", "value", "help"], ["hours", None, "Who", "9-18 Mon-Fri"], "D5"),
        (["field", "value", "help", "who"], ["waves", None, "", "5, rest"], "D5"),
    ],
)
def test_a_value_that_is_not_beside_its_field_is_never_left_out(
    titles: list[str], row: list[Any], cell: str
) -> None:
    """Without a word, the campaign would be sent at once, or without an approval."""
    said = complaints(book(campaign=[titles, *CAMPAIGN[1:], row], candidates=[HEADER, ADA]))
    assert [each.partition(": ")[0] for each in said] == [f"people.xlsx, campaign!{cell}, {row[0]}"]
    assert " B5;" in said[0]


def test_values_may_all_be_further_to_the_right() -> None:
    """As where the names are in two merged columns."""
    fields = [[row[0], None, row[1], "Mia asks"] for row in CAMPAIGN[1:]]
    fields.append(["approval", None, None, "Mia knows"])
    read = read_campaigns(book(campaign=fields, candidates=[HEADER, ADA]))
    assert keys(read) == {"a": ["ada@example.com"]}


def test_remarks_and_titles_of_a_campaign_are_not_in_the_way() -> None:
    """Words beside the fields, headers above them, and a value that is also a name."""
    fields = [
        ["Autumn"],
        ["Field", "Value", "Description"],
        *([*row, "as in the name above", "see Where. Also ask Mia"] for row in CAMPAIGN),
        ["description", "name"],
        ["approval", None, None, "not yet"],
        ["problem.title", None, "Mia wants the id"],
        ["hours", None, "Optional.", "optional"],
        ["pilot", None, "ask mia@corp.org"],
        ["Reviewed", None, "yes"],
    ]
    assert keys(read_campaigns(book(campaign=fields, candidates=[HEADER, ADA])))


def test_a_campaign_above_the_header_or_beside_it_is_never_left_out() -> None:
    """Of several tables of campaigns, only one is read."""
    rows = [
        ["campaign", "name", "problem"],
        ["spring", "S", 3],
        [],
        ["campaign", "name", "problem", "invites.send", None, None],
        ["a", "A", 1, "yes"],
        ["b", "B", 2, "yes", None, "approval"],
    ]
    people = [[*HEADER, "campaign"], [*ADA, "a"], [*BOB, "b"]]
    said = complaints(book(campaigns=rows, candidates=people))
    cells = [each.partition(": ")[0] for each in said]
    assert cells == [f"people.xlsx, campaigns!{cell}" for cell in ("A1", "B1", "C1", "F6")]


@pytest.mark.parametrize(
    ("names", "first", "second", "cell"),
    [
        (["columns.email1"], ["At work"], ["At home"], "D3"),
        (["columns.email1"], ["At work"], [None], "A3"),
        (["columns.source"], ["At work"], [None], "A3"),
        (["several"], ["first"], [None], "A3"),
        (["several", "columns.email1"], [None, "E-mail"], ["first", "E-mail"], "D3"),
        (["columns.email1", "columns.source"], ["E-mail", None], [None, "Stage"], "E3"),
    ],
)
def test_campaigns_that_read_one_table_differently_are_told(
    names: list[str], first: list[str | None], second: list[str | None], cell: str
) -> None:
    """Otherwise one of them would decide which address of another's people is invited."""
    rows = [[*CAMPAIGNS[0], *names], [*CAMPAIGNS[1], *first], [*CAMPAIGNS[2], *second]]
    header = ["campaign", *HEADER, "At work", "At home"]
    people = [["a", *ADA, "a@w.org", "a@p.org"], ["b", *BOB, "b@w.org", "b@p.org"]]
    path = book(campaigns=rows, candidates=[[*header[:3], "E-mail", *header[4:]], *people])
    (said,) = complaints(path)
    assert fits(f"people.xlsx, campaigns!{cell}, candidates: … candidates, …", said)


def test_campaigns_that_agree_how_to_read_one_table_are_sent() -> None:
    """In each row the same, whatever the capitals, or nothing where nothing else is possible."""
    rows = [
        [*CAMPAIGNS[0], "columns.email1"],
        [*CAMPAIGNS[1], "Mail to"],
        [*CAMPAIGNS[2], "mail to"],
    ]
    people = [["campaign", *HEADER[:2], "Mail to"], ["a", *ADA[:3]], ["b", *BOB[:3]]]
    assert len(keys(read_campaigns(book(campaigns=rows, candidates=people)))) == 2
    rows[2][3] = None
    assert len(keys(read_campaigns(book(campaigns=rows, candidates=people)))) == 2


def test_a_second_table_in_the_sheet_of_people_is_never_left_out() -> None:
    """Beside the one that is read, or above it; a remark with an address is no table."""
    beside = [HEADER, ADA, [*BOB, None, *HEADER], [None] * 5 + ["Cid", "C", "c@corp.org"]]
    said = complaints(book(campaign=CAMPAIGN, candidates=beside))
    cells = [each.partition(": ")[0] for each in said]
    assert cells == ["people.xlsx, candidates!H3", "people.xlsx, candidates!H4"]
    above = [HEADER[:3], ADA[:3], [], HEADER, BOB]
    (complaint,) = complaints(book(campaign=CAMPAIGN, candidates=above))
    assert complaint == f"people.xlsx, candidates!C2: {ABOVE}"
    remark = [HEADER, [*ADA, None, "mia@corp.org"], [*BOB, "referred by noa@corp.org"]]
    assert keys(read_campaigns(book(campaign=CAMPAIGN, candidates=remark)))


def struck_xlsx(rows: Rows, struck: Sequence[tuple[int, int]]) -> bytes:
    sheet = (book := openpyxl.Workbook()).active
    assert sheet is not None
    sheet.title = "candidates"
    for row in rows:
        sheet.append(row)
    for cell in struck:
        sheet.cell(*cell).font = Font(strike=True)
    sheet.cell(2, 2).font = Font(bold=True)
    book.save(file := io.BytesIO())
    return file.getvalue()


def struck_ods(rows: Rows, struck: Sequence[tuple[int, int]]) -> bytes:
    file, made = io.BytesIO(), by_hand(Book("", [Sheet("candidates", rows)], Outcome()))
    with zipfile.ZipFile(io.BytesIO(made)) as archive:
        content = archive.read("content.xml").decode()
    style = '<style:style style:name="out" style:family="table-cell"><style:text-properties {}/>'
    style = style.format('style:text-line-through-style="solid"')
    content = content.replace("</office:auto", f"{style}</style:style></office:auto")
    for row, column in struck:
        shown = f"><text:p>{rows[row - 1][column - 1]}<"
        before, _, after = content.partition(shown)
        cell, tag, rest = before.rpartition("<table:table-cell")
        content = f'{cell}{tag} table:style-name="out"{rest}{shown}{after}'
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("content.xml", content)
    return file.getvalue()


@pytest.mark.parametrize(("kind", "write"), [("xlsx", struck_xlsx), ("ods", struck_ods)])
def test_rows_that_are_struck_through_are_named(
    kind: str, write: Callable[[Rows, Sequence[tuple[int, int]]], bytes]
) -> None:
    """A name or an address counts, whatever else is struck through; each row is read."""
    rows = [
        ["Job", *HEADER[:3]],
        *([f"J{n}", f"N{n}", f"L{n}", f"n{n}@mail.com"] for n in range(6)),
    ]
    struck = [(1, 2), (2, 1), (3, 2), (4, 4), (5, 1), (5, 2), (5, 3), (5, 4)]
    Path("hiring.yaml").write_text(f"{sample.HEAD}candidates: {{file: people.{kind}}}\n")
    Path(f"people.{kind}").write_bytes(write(rows, struck))
    reading = read_campaigns(Path("hiring.yaml"))
    assert len(reading.definitions[0].candidates) == 6
    assert fits(f"people.{kind}, candidates: 3 rows … through, …: 3, 4, 5", reading.notes[-1])
    Path(f"people.{kind}").write_bytes(write(rows, struck[:2]))
    [unused] = read_campaigns(Path("hiring.yaml")).notes
    assert unused.endswith(": Job")


def test_mistakes_come_in_the_order_of_the_sheet() -> None:
    """From the top down, then to the right, whichever rule found them."""
    people = [[*HEADER, "campaign"], *([*ADA, f"z{row}"] for row in range(2, 12))]
    people[4] = ["", "Bee", "bob@", "first", "a"]
    people[7] = [*BOB, "b"]
    cells = [
        problem.place.cell
        for problem in mistakes(read_campaigns, book(campaigns=CAMPAIGNS, candidates=people))
    ]
    assert cells == ["E2", "E3", "E4", "A5", "C5", "D5", "E6", "E7", "E9", "E10", "E11"]


def test_sheets_that_are_missing_are_named() -> None:
    """The complaint lists the sheets there are."""
    (said,) = complaints(book(Tabelle1=[HEADER, ADA]))
    assert fits("people.xlsx, sheets: found the sheets Tabelle1, … candidates; …", said)
    (said,) = complaints(book(campaign=CAMPAIGN, candidates=[HEADER]))
    assert said.startswith("people.xlsx, candidates, candidates: found no candidates, ")
    (said,) = complaints(book(campaign=CAMPAIGN, candidates=[]))
    assert said.startswith("people.xlsx, candidates!A1: ")


def test_two_sheets_of_one_name_are_told() -> None:
    """Only a space tells them apart: one of them would be forgotten."""
    path = book(**{"campaign": CAMPAIGN, "candidates": [HEADER, ADA], "Candidates ": [HEADER, BOB]})
    (said,) = complaints(path)
    assert fits("people.xlsx: … candidates; …", said)


def test_a_definition_may_name_a_sheet_of_a_workbook() -> None:
    """`{file: people.xlsx, sheet: …}`; without a name the sheet candidates, or the only one."""
    definition = Path("campaign.yaml")
    book(Other=[HEADER, BOB], Leute=[HEADER, ADA])
    definition.write_text(sample.HEAD + "candidates: {file: people.xlsx, sheet: leute}\n")
    assert keys(read_campaigns(definition)) == {"a": ["ada@example.com"]}
    definition.write_text(sample.HEAD + "candidates: {file: people.xlsx, sheet: Leut}\n")
    assert complaints(definition) == [
        'people.xlsx, sheet: found the sheets Other, Leute, wanted "Leut"'
    ]
    definition.write_text(sample.HEAD + "candidates: {file: people.xlsx}\n")
    [said] = complaints(definition)
    assert fits('people.xlsx, sheet: the sheets Other, Leute …, sheet: "Other"}', said)
    book(Leute=[HEADER, BOB])
    assert keys(read_campaigns(definition)) == {"a": ["bob@example.com"]}
    definition.write_text(sample.HEAD)
    assert keys(read_campaigns(Path("people.xlsx"), definition)) == {"a": ["bob@example.com"]}


def test_words_under_stage_are_shown_by_their_cell() -> None:
    """They are no mistake; `null` in a campaign sheet leaves out any column."""
    candidates = [HEADER, [*BOB[:3], " "], [*ADA[:3], "Take Home Test"]]
    [note] = read_campaigns(book(campaign=CAMPAIGN, Candidates=candidates)).notes[1:]
    assert fits('people.xlsx, Candidates: … Stage … stage_id: … D3 "Take Home Test"', note)
    fields = [*CAMPAIGN, ["columns.stage_id", "null"], ["columns.source", None]]
    candidates[1][3] = 3
    reading = read_campaigns(book(campaign=fields, Candidates=candidates))
    (note,) = reading.notes
    assert fits("people.xlsx, Candidates: …: Stage", note)


def test_a_campaign_sheet_says_that_the_first_of_several_addresses_counts() -> None:
    """A row of its own, as in a definition."""
    several = [*ADA[:2], "ada@x.org; lovelace@x.org", 3]
    fields = [*CAMPAIGN, ["candidates.several", "first"]]
    assert keys(read_campaigns(book(campaign=fields, candidates=[HEADER, several]))) == {
        "a": ["ada@x.org"]
    }


def test_blank_sheets_and_pivots_are_not_in_the_way() -> None:
    """The only sheet with email addresses is meant, and it is said that it was found so."""
    definition = Path("campaign.yaml")
    definition.write_text(sample.HEAD + "candidates: {file: people.xlsx}\n")
    book(Sheet1=[], Leute=[["Our people"], HEADER, ADA], Pivot=[["Stage", "Number"], [1, 1]])
    reading = read_campaigns(definition)
    assert keys(reading) == {"a": ["ada@example.com"]}
    assert any(note.startswith("people.xlsx, Leute: ") for note in reading.notes)
    book(Sheet1=[], Sheet2=[["x"]])
    (said,) = complaints(definition)
    assert said.startswith("people.xlsx, sheet: found the sheets Sheet1, Sheet2, ")


def test_the_content_counts_and_not_the_name(tmp_path: Path) -> None:
    """Systems export one kind of workbook under the name of another."""
    whole = book(campaign=CAMPAIGN, candidates=[HEADER, ADA]).read_bytes()
    for name in ("a.xls", "b.ods", "c.xlsm"):
        (tmp_path / name).write_bytes(whole)
        assert keys(read_campaigns(tmp_path / name)) == {"a": ["ada@example.com"]}


@pytest.mark.parametrize(
    ("column", "letters"),
    [(0, "A"), (25, "Z"), (26, "AA"), (701, "ZZ"), (702, "AAA"), (16383, "XFD")],
)
def test_columns_are_named_as_spreadsheets_name_them(column: int, letters: str) -> None:
    """The complaint names the cell a person can go to."""
    assert column_letters(column) == letters


def definition(*more: Sequence[Any], **others: Rows) -> Path:
    """A workbook whose sheet `campaign` is the definition of people in another file."""
    book(campaign=[*CAMPAIGN, *more], **others).rename("hiring.xlsx")
    return Path("hiring.xlsx")


EXPORT = "Who,Stage,Mail,Other mail\n{}Ada Lovelace,Test,a@work.org,a@home.org\n"


def test_a_workbook_is_the_definition_of_a_table() -> None:
    """It says how the table is read, and whom of it; its own candidates are set aside."""
    Path("export.csv").write_text(EXPORT.format("Bob Lee,Applied,b@work.org,\n"))
    says = [
        ("columns.full_name", "Who"),
        ("columns.email1", "Other mail"),
        ("candidates.where.Stage", "test"),
    ]
    reading = read_campaigns(Path("export.csv"), definition(*says, candidates=[HEADER, BOB]))
    (campaign,) = reading.definitions
    assert (campaign.campaign, campaign.place.file) == ("a", "hiring.xlsx")
    assert [person.email1 for person in campaign.candidates] == ["a@home.org"]
    assert any(fits("… hiring.xlsx …; export.csv …", note) for note in reading.notes)
    named = named_table(Path("export.csv"), Path("hiring.xlsx"))
    assert named is not None
    rows = list(people_at(named, own_tables(named)[1]).people())
    assert [fields["email1"] for _, fields in rows] == ["a@home.org"]


def test_what_is_wrong_in_it_or_in_its_table_is_told_at_its_place() -> None:
    """In the cells of the workbook, and on the lines of the table."""
    Path("export.csv").write_text(EXPORT.format("Bob Lee,Test,b@,\n"))
    says = [("split_name", True), ("columns.full_name", "Who"), ("columns.email1", "Mail")]
    told = complaints(Path("export.csv"), definition(*says, ("where.Stage", "Tst")))
    assert fits('hiring.xlsx, campaign!B8, candidates.where.Stage: … "Tst" …', told[0])
    told = complaints(Path("export.csv"), definition(*says))
    assert told[0].startswith('export.csv:2, email1: found "b@"')
    told = complaints(Path("export.csv"), definition())
    assert fits("export.csv:1: … first_name; found Who, …", told[0])
    book(campaigns=CAMPAIGNS, candidates=[HEADER, ADA]).rename("hiring.xlsx")
    for path in (Path("hiring.xlsx"), book(people=[HEADER, ADA])):
        (told,) = complaints(Path("export.csv"), path)
        assert fits(f"{path}, sheets: found the sheets …, … campaign", told)


def test_a_workbook_and_its_table_are_sent_once(
    tmp_path: Path,
) -> None:
    """By the service's record, once each; other bytes of the definition are told from these."""
    table = tmp_path / "export.csv"
    table.write_text("First name,Last name,Email\nAda,Lovelace,a@work.org\n")
    workbook = definition()
    with Sandbox() as service:
        office = Office.at(tmp_path, service)
        for _ in range(2):
            with office.ledger() as ledger:
                desk = RunContext(ledger, settings_of(service), office.local)
                asyncio.run(conduct(CampaignSource(table, "a", workbook), desk))
        assert office.emails() == {"a@work.org": 1}
    before = sources_of(table, workbook).digest
    definition(("description", "another"))
    assert sources_of(table, workbook).digest != before
