"""What `new` writes cannot be sent as it is; filled in, it invites whom the export has in."""

from pathlib import Path

import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.comments import Comment

from config.definition import PeopleTable
from config.errors import BadInput, CampaignError
from config.reading import read_campaign
from config.sheets.people import read_people
from config.sheets.table import NO_HEADER
from flows.new_definition import write_definition, write_each

EXPORT = """\
Name,E-mail,Stage,Disqualified
Ada Lovelace,ada@people.test,Offer,No
Grace Hopper,grace@people.test,Test,Yes
Alan Turing,alan@people.test,Test,No
Mary Somerville,mary@people.test,Test,
Total,4 candidates,,
"""
FILLED = {
    "<name of the project>": "Engineers",
    "<2026-12-01 09:00>": "2098-12-01 09:00",
    "<2026-12-14 18:00>": "2098-12-14 18:00",
    "<such as Europe/Paris>": "Europe/Paris",
    "<number of the problem>": "42",
}
IN = ["alan@people.test", "mary@people.test"]
STAGE = "<keep which? Test 3, Offer 1>"
DISQUALIFIED = "<keep which? No 2, Yes 1, empty 1>"
IGNORE = "<name a column here if it decides nothing, or delete this>"


@pytest.fixture
def export(tmp_path: Path) -> Path:
    file = tmp_path / "export.csv"
    file.write_text(EXPORT)
    return file


def said(file: Path) -> str:
    with pytest.raises(BadInput) as refused:
        read_campaign(file)
    return "\n".join(map(str, refused.value.mistakes))


def fill_in(file: Path, changes: dict[str, str]) -> None:
    """Replace texts of a definition; in a workbook, those of its cells."""
    if file.suffix == ".yaml":
        for old, new in changes.items():
            file.write_text(file.read_text().replace(old, new))
        return
    book = load_workbook(file)
    for row in book["campaign"].iter_rows(min_row=2, max_col=2):
        for old, new in changes.items():
            row[1].value = (row[1].value or "").replace(old, new)
    book.save(file)


@pytest.mark.parametrize("name", ["Hiring (Zürich).yaml", "Hiring (Zürich).xlsx"])
def test_nobody_is_chosen_until_a_person_does(tmp_path: Path, export: Path, name: str) -> None:
    """A column that can decide is a blank with its values; filled in, it keeps who has them."""
    file = tmp_path / name
    write_definition(file, export)
    quoted = '"{}"' if file.suffix == ".yaml" else "{}"
    chosen = {STAGE: "Test", quoted.format(DISQUALIFIED): '["No", ""]', quoted.format(IGNORE): ""}
    for blank in (*FILLED, STAGE, DISQUALIFIED, IGNORE):
        assert f"fill in {blank}" in said(file)
    chosen = {key: value.strip("[]") if "[" in key else value for key, value in chosen.items()}
    fill_in(file, {**FILLED, **chosen, '[["No", ""]]': '["No", ""]'})
    campaign = read_campaign(file)
    assert campaign.definition.campaign == "hiring-zurich"
    assert [each.key for each in campaign.listed] == IN


HURRIED = {
    # what is written in place of the blank, and what is said then
    "deleted the entry": (f'["{STAGE}"]', "[]", "where.Stage: found a list"),
    "deleted the values": (f' ["{STAGE}"]', "", "where.Stage: missing"),
    "deleted the line": (f'    Stage: ["{STAGE}"]\n', "", "Stage has Offer 1, Test 1"),
    "left quotes": (STAGE, "", "where keeps nobody"),
    "took the counts along": (STAGE, "Test 3, Offer 1", "where keeps nobody"),
    "left brackets": (STAGE, "<Test>", "where.Stage: fill in <Test>"),
    "wrote yes": (STAGE, "yes", "where keeps nobody"),
}


@pytest.mark.parametrize("hurried", HURRIED)
def test_whatever_is_done_in_a_hurry_invites_nobody(
    tmp_path: Path, export: Path, hurried: str
) -> None:
    file = tmp_path / "hiring.yaml"
    write_definition(file, export)
    old, new, wanted = HURRIED[hurried]
    rest = {DISQUALIFIED: "No", f'  ignore: ["{IGNORE}"]\n': ""}
    fill_in(file, {**FILLED, **rest, old: new})
    assert wanted in said(file)


def test_a_column_that_decides_nothing_moves_to_ignore(tmp_path: Path, export: Path) -> None:
    """Then everybody is invited, whatever it says."""
    file = tmp_path / "hiring.xlsx"
    write_definition(file, export)
    fill_in(file, {**FILLED, STAGE: "", DISQUALIFIED: "", IGNORE: "disqualified; Stage"})
    campaign = read_campaign(file)
    assert (len(campaign.listed), campaign.ignored) == (4, ["Stage", "Disqualified"])
    assert campaign.apart["Stage"] == {"Test": 3, "Offer": 1}


def test_a_definition_for_each_value_of_a_column(tmp_path: Path) -> None:
    """Each keeps its own people; names that collide get numbers; nothing is written twice."""
    export, folder = tmp_path / "export.csv", tmp_path / "jobs"
    jobs = ["C++", "c++", "C#", "", "Data (Paris)"]
    rows = [f"A{chr(97 + n)},L,a{n}@people.test,{job},x" for n, job in enumerate(jobs)]
    export.write_text("\n".join(["First name,Last name,Email,Job Name,Status", *rows]))
    files = write_each(folder, export, "job name")
    people = {}
    for file in files:
        fill_in(file, FILLED)
        campaign = read_campaign(file)
        people[campaign.definition.campaign] = [each.key[:2] for each in campaign.listed]
    assert people == {"c": ["a0", "a1"], "c-2": ["a2"], "no-job-name": ["a3"], "data-paris": ["a4"]}
    with pytest.raises(CampaignError, match="exists already"):
        write_each(folder, export, "Job Name")
    with pytest.raises(BadInput) as refused:
        write_each(tmp_path / "other", export, "Jobs")
    assert 'there is no column "Jobs"; the columns are "Job Name"' in str(refused.value.mistakes[0])
    with pytest.raises(BadInput) as refused:
        write_each(folder, export, "Status")
    assert "already reads this table" in str(refused.value.mistakes[0])
    assert len(write_each(folder, export, "Job Name", force=True)) == 4
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(CampaignError, match="cannot be written"):
        write_each(tmp_path / "loop", export, "Job Name", force=True)
    export.write_text(export.read_text().replace("Data (Paris)", "Data - withdrew"))
    with pytest.raises(BadInput) as refused:
        write_each(folder, export, "Job Name", force=True)
    assert 'Job Name has "Data - withdrew", a remark' in str(refused.value.mistakes[0])


def test_one_of_several_sheets(tmp_path: Path) -> None:
    """Whoever does not say which is told what to type; another sheet is another table."""
    name, book, export = "hiring.xlsx", Workbook(), tmp_path / "export.xlsx"
    for title in ("Data", "Ops team", "campaign"):
        sheet = book.create_sheet(title)
        for row in (("First name", "Last name", "Email"), ("Ada", title, "ada@people.test")):
            sheet.append(row)
    book.save(export)
    for sheet_name in (None, "Dat"):
        with pytest.raises(BadInput) as refused:
            write_definition(tmp_path / name, export, sheet_name)
        assert str(refused.value.mistakes[0]).endswith(". Say which, with --sheet")
        typed = f"campaign new {tmp_path / name} --from {export} --sheet Data"
        assert refused.value.then == f"Then type: {typed}"
    book.create_sheet("Candidates").append(("Email",))
    book.save(export)
    write_definition(tmp_path / name, export, "data")
    write_definition(tmp_path / "ops.yaml", export, "Ops team")
    assert "sheet: Ops team" in (tmp_path / "ops.yaml").read_text()
    with pytest.raises(BadInput, match="mistake") as refused:
        write_definition(tmp_path / "again.yaml", export, "OPS TEAM")
    assert "ops.yaml already reads" in str(refused.value.mistakes[0])
    assert str(refused.value.mistakes[0]).endswith("add --force")
    write_definition(tmp_path / "again.yaml", export, "OPS TEAM", force=True)
    (ada,) = read_people(PeopleTable(file=name, sheet="candidates"), tmp_path).listed
    assert ada.candidate.last_name == "Data"
    for sheet in book:
        sheet.title = sheet["C1"].value = f"{sheet.title} (rejected)"
    sheet["A1"].value = "Email"
    book.save(export)
    with pytest.raises(BadInput, match="mistake") as refused:
        write_each(tmp_path / "each", export, "Job")
    assert refused.value.then.endswith("--each Job --sheet NAME")


@pytest.mark.parametrize("name", ["hiring.yaml", "hiring.xlsx"])
def test_an_export_that_is_no_unicode(tmp_path: Path, name: str) -> None:
    """Whoever does not say its encoding is asked; what is said stands in the definition."""
    export = tmp_path / "export.csv"
    export.write_bytes("First name,Last name,Email\nŁukasz,Żółć,l@people.test\n".encode("cp1250"))
    with pytest.raises(BadInput) as refused:
        write_definition(tmp_path / name, export)
    question = refused.value.mistakes[0].message
    assert 'windows-1250 "Łukasz Żółć"' in question
    assert question.endswith("Save it as UTF-8, or say which is right, with --encoding")
    typed = f"campaign new {tmp_path / name} --from {export} --encoding NAME"
    assert refused.value.then == f"Then type: {typed}"
    write_definition(tmp_path / name, export, encoding="windows-1250")
    spec: dict[str, str] = {"file": "export.csv", "encoding": "windows-1250"}
    if name == "hiring.yaml":
        assert "\n  encoding: windows-1250\n" in (tmp_path / name).read_text().replace('"', "")
    else:
        spec = {"file": name, "sheet": "candidates"}
        assert "encoding" not in said(tmp_path / name)
    (one,) = read_people(PeopleTable.model_validate(spec), tmp_path).listed
    assert one.candidate.last_name == "Żółć"


def test_an_export_without_a_header_is_refused(tmp_path: Path) -> None:
    """Nobody's row is written into a definition as if it were headers."""
    (tmp_path / "export.csv").write_text("Name,Lovelace,ada@people.test\nBob,B,bob@people.test\n")
    with pytest.raises(BadInput, match="export") as refused:
        write_definition(tmp_path / "hiring.yaml", tmp_path / "export.csv")
    assert refused.value.mistakes[0].message == NO_HEADER
    assert not (tmp_path / "hiring.yaml").exists()


def test_a_workbook_has_whoever_the_export_has_or_is_not_written(tmp_path: Path) -> None:
    export = tmp_path / "export.csv"
    export.write_text('First name,Last name,Email\nAda,L,a@people.test\nBob,"S,b@people.test\n')
    with pytest.raises(BadInput, match=r"export\.csv"):
        write_definition(tmp_path / "hiring.xlsx", export)
    assert not (tmp_path / "hiring.xlsx").exists()
    export.write_text("First name,Last name,Email,Notes\nAda,L,a@people.test,from\x0bWord\n")
    write_definition(tmp_path / "hiring.xlsx", export)
    assert "fill in" in said(tmp_path / "hiring.xlsx")


def test_a_workbook_keeps_what_is_read_of_an_export(tmp_path: Path) -> None:
    """A row may be marked there."""
    book = Workbook()
    for row in (("First name", "Last name", "Email"), ("Ada", "Lovelace", "ada@people.test")):
        book.active.append(row)
    book.active.append(["Grace", "Hopper", "grace@people.test"])
    book.active["A3"] = CellRichText(TextBlock(InlineFont(strike=True), "Grace"))
    book.active.append(["Alan", "Turing", "alan@people.test"])
    book.active["C4"].comment = Comment("withdrew", "Mara")
    book.active.append(["Mary", "Somerville", "mary@people.test"])
    book.save(tmp_path / "export.xlsx")
    write_definition(tmp_path / "hiring.xlsx", tmp_path / "export.xlsx")
    assert "fill in <skip or read>" in said(tmp_path / "hiring.xlsx")
    spec = PeopleTable(file="hiring.xlsx", sheet="candidates", hidden_rows="skip")
    people = read_people(spec, tmp_path)
    assert [each.key for each in people.listed] == ["ada@people.test", "mary@people.test"]
    assert [*people.left_out] == [
        "the row is struck through or red",
        'the row is commented "withdrew"',
    ]


def test_marked_rows_and_unknown_headers_are_left_to_a_person(tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    people = "Ada,Lovelace,ada@people.test,Active\nAlan,Turing,alan@people.test,Rejected\n"
    table.write_text(f"Vn,Nn,Kontakt,Status\n{people}Total,2 candidates,,\n")
    write_definition(tmp_path / "people.yaml", table)
    text = (tmp_path / "people.yaml").read_text()
    assert '"email1": "<header of email1>"' in text
    assert 'it has "Vn", "Nn", "Kontakt"' in text
    assert 'Status: ["<keep which? Active 1, Rejected 1>"]' in text
    assert "<header of first_name>" in said(tmp_path / "people.yaml")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("other.yaml", "hiring.yaml already reads"),
        ("hiring.txt", "wanted a name that ends in"),
        ("no/hiring.yaml", "there is no folder"),
    ],
)
def test_nothing_is_written_twice(tmp_path: Path, export: Path, name: str, why: str) -> None:
    """A second definition of one table would invite everybody again; a file stays as it is."""
    write_definition(tmp_path / "hiring.yaml", export)
    before = (tmp_path / "hiring.yaml").read_text()
    with pytest.raises(BadInput) as refused:
        write_definition(tmp_path / name, export)
    assert why in str(refused.value.mistakes[0])
    with pytest.raises(CampaignError):
        write_definition(tmp_path / "hiring.yaml")
    assert (tmp_path / "hiring.yaml").read_text() == before
