"""What `new` writes cannot be sent as it is; filled in, it invites whom the export has in."""

from pathlib import Path

import pytest
from openpyxl import Workbook, load_workbook

from config.definition import Table
from config.errors import BadInput, CampaignError
from config.reading import read_campaign
from config.sheets.people import read_people
from config.sheets.table import NO_HEADER
from flows.starter import write_starter

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
IN = ["ada@people.test", "alan@people.test", "mary@people.test"]
CONFIRM = "<delete this once the line is right>"
PLACEHOLDERS = [*FILLED, CONFIRM]


@pytest.fixture
def export(tmp_path: Path) -> Path:
    file = tmp_path / "export.csv"
    file.write_text(EXPORT)
    return file


def said(file: Path) -> str:
    with pytest.raises(BadInput) as refused:
        read_campaign(file)
    return "\n".join(map(str, refused.value.mistakes))


@pytest.mark.parametrize("name", ["hiring.yaml", "hiring.xlsx"])
def test_every_placeholder_is_refused_by_name(tmp_path: Path, name: str) -> None:
    write_starter(tmp_path / name)
    mistakes = said(tmp_path / name)
    for placeholder in (*FILLED, "<first name>", "<last name>", "<address they log in with>"):
        assert placeholder.strip("<>") in mistakes


def test_a_definition_from_an_export(tmp_path: Path, export: Path) -> None:
    """The line that leaves people out is a proposal: it is refused until somebody confirms it."""
    file = tmp_path / "Hiring (Zürich).yaml"
    write_starter(file, export)
    assert f'Disqualified: ["No", "", "{CONFIRM}"]' in file.read_text()
    for placeholder in PLACEHOLDERS:
        assert placeholder in said(file)
        filled = FILLED.get(placeholder, "")
        quoted = f', "{placeholder}"' if not filled else placeholder
        file.write_text(file.read_text().replace(quoted, filled))
    campaign = read_campaign(file)
    assert campaign.definition.campaign == "hiring-zurich"
    assert [each.key for each in campaign.people] == IN


def test_a_workbook_from_an_export(tmp_path: Path, export: Path) -> None:
    """The people are beside the fields; nobody needs to write YAML."""
    file = tmp_path / "hiring.xlsx"
    write_starter(file, export)
    assert CONFIRM in said(file)
    book = load_workbook(file)
    for row in book["campaign"].iter_rows(min_row=2, max_col=2):
        for placeholder, value in FILLED.items():
            row[1].value = (row[1].value or "").replace(placeholder, value)
        row[1].value = row[1].value.replace(CONFIRM, "")
    book.save(file)
    campaign = read_campaign(file)
    assert [each.key for each in campaign.people] == IN


@pytest.mark.parametrize("name", ["hiring.yaml", "hiring.xlsx"])
def test_one_of_several_sheets(tmp_path: Path, name: str) -> None:
    """Whoever does not say which is told what to type; another sheet is another table."""
    book, export = Workbook(), tmp_path / "export.xlsx"
    for title in ("Data", "Ops team"):
        sheet = book.create_sheet(title)
        for row in (("First name", "Last name", "Email"), ("Ada", title, "ada@people.test")):
            sheet.append(row)
    book.save(export)
    for sheet_name in (None, "Dat"):
        with pytest.raises(BadInput) as refused:
            write_starter(tmp_path / name, export, sheet_name)
        assert str(refused.value.mistakes[0]).endswith(". Say which, with --sheet")
        typed = f"campaign new {tmp_path / name} --from {export} --sheet Data"
        assert refused.value.then == f"Then type: {typed}"
    write_starter(tmp_path / name, export, "data")
    write_starter(tmp_path / "ops.yaml", export, "Ops team")
    assert "sheet: Ops team" in (tmp_path / "ops.yaml").read_text()
    with pytest.raises(BadInput, match="mistake") as refused:
        write_starter(tmp_path / "again.yaml", export, "OPS TEAM")
    assert "ops.yaml already reads" in str(refused.value.mistakes[0])
    assert str(refused.value.mistakes[0]).endswith("add --force")
    write_starter(tmp_path / "again.yaml", export, "OPS TEAM", force=True)
    if name == "hiring.xlsx":
        (ada,) = read_people(Table(file=name, sheet="candidates"), tmp_path).listed
        assert ada.candidate.last_name == "Data"


@pytest.mark.parametrize("name", ["hiring.yaml", "hiring.xlsx"])
def test_an_export_that_is_no_unicode(tmp_path: Path, name: str) -> None:
    """Whoever does not say its encoding is asked; what is said stands in the definition."""
    export = tmp_path / "export.csv"
    export.write_bytes("First name,Last name,Email\nŁukasz,Żółć,l@people.test\n".encode("cp1250"))
    with pytest.raises(BadInput) as refused:
        write_starter(tmp_path / name, export)
    question = refused.value.mistakes[0].message
    assert 'windows-1250 "Łukasz Żółć"' in question
    assert question.endswith("Save it as UTF-8, or say which is right, with --encoding")
    typed = f"campaign new {tmp_path / name} --from {export} --encoding NAME"
    assert refused.value.then == f"Then type: {typed}"
    write_starter(tmp_path / name, export, encoding="windows-1250")
    spec: dict[str, str] = {"file": "export.csv", "encoding": "windows-1250"}
    if name == "hiring.yaml":
        assert "\n  encoding: windows-1250\n" in (tmp_path / name).read_text().replace('"', "")
    else:
        spec = {"file": name, "sheet": "candidates"}
        assert "encoding" not in said(tmp_path / name)
    (one,) = read_people(Table.model_validate(spec), tmp_path).listed
    assert one.candidate.last_name == "Żółć"


def test_an_export_without_a_header_is_refused(tmp_path: Path) -> None:
    """Nobody's row is written into a definition as if it were headers."""
    (tmp_path / "export.csv").write_text("Name,Lovelace,ada@people.test\nBob,B,bob@people.test\n")
    with pytest.raises(BadInput, match="export") as refused:
        write_starter(tmp_path / "hiring.yaml", tmp_path / "export.csv")
    assert refused.value.mistakes[0].message == NO_HEADER
    assert not (tmp_path / "hiring.yaml").exists()


def test_a_workbook_has_whoever_the_export_has_or_is_not_written(tmp_path: Path) -> None:
    export = tmp_path / "export.csv"
    export.write_text('First name,Last name,Email\nAda,L,a@people.test\nBob,"S,b@people.test\n')
    with pytest.raises(BadInput, match=r"export\.csv"):
        write_starter(tmp_path / "hiring.xlsx", export)
    assert not (tmp_path / "hiring.xlsx").exists()


def test_a_workbook_keeps_the_links_of_an_export(tmp_path: Path) -> None:
    """A cell may show other words than the address that it links to."""
    book = Workbook()
    for row in (("First name", "Last name", "Email"), ("Ada", "Lovelace", "write to her")):
        book.active.append(row)
    book.active["C2"].hyperlink = "mailto:ada@people.test"
    book.save(tmp_path / "export.xlsx")
    write_starter(tmp_path / "hiring.xlsx", tmp_path / "export.xlsx")
    people = read_people(Table(file="hiring.xlsx", sheet="candidates"), tmp_path)
    assert [each.key for each in people.listed] == ["ada@people.test"]


def test_marked_rows_and_unknown_headers_are_left_to_a_person(tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    people = "Ada,Lovelace,ada@people.test,Active\nAlan,Turing,alan@people.test,Rejected\n"
    table.write_text(f"Vn,Nn,Kontakt,Status\n{people}Total,2 candidates,,\n")
    write_starter(tmp_path / "people.yaml", table)
    text = (tmp_path / "people.yaml").read_text()
    assert '"email1": "<header of email1>"' in text
    assert "it has Vn, Nn, Kontakt" in text
    assert f'Status: ["Active", "{CONFIRM}"]' in text
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
    write_starter(tmp_path / "hiring.yaml", export)
    before = (tmp_path / "hiring.yaml").read_text()
    with pytest.raises(BadInput) as refused:
        write_starter(tmp_path / name, export)
    assert why in str(refused.value.mistakes[0])
    with pytest.raises(CampaignError):
        write_starter(tmp_path / "hiring.yaml")
    assert (tmp_path / "hiring.yaml").read_text() == before
