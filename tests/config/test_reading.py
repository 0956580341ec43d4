"""From a file of any kind to a campaign, and what in a folder is one."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from openpyxl import Workbook, load_workbook

from config import reading
from config.campaign_sheet import campaign_sheet
from config.errors import BadInput, Bug
from config.reading import key_of, read_campaign
from config.sheets.files import read_file
from flows.folder import campaigns_in
from tasks.outputs.exports import COPY
from tasks.outputs.overwriting import remember

HEAD = "campaign: {key}\nproject: {{name: X, endtime: 2099-01-01 09:00}}\nproblem: 42\n"
PEOPLE = "first_name,last_name,email1\nAda,Lovelace,ada@people.test\n"
FIELDS = {"campaign": "Hiring", "project.name": "X", "problem": "42"}
NAMES = {"f": "first_name: ", "l": "last_name: ", "e": "email1: "}
Sheets = Callable[..., Path]


@pytest.fixture
def workbook(tmp_path: Path) -> Sheets:
    """Write a workbook with a sheet of fields and one of people."""

    def write(
        fields: Mapping[str, str] | Sequence[tuple[str, ...]] = FIELDS, name: str = "year.xlsx"
    ) -> Path:
        book = Workbook()
        book.active.title = "Campaign"
        rows = [*fields.items()] if isinstance(fields, Mapping) else fields
        for row in [("Field", "Value", "Help"), *rows]:
            book.active.append(row)
        people = book.create_sheet("Candidates")
        for line in PEOPLE.splitlines():
            people.append(
                [*line.split(","), "Stage" if line.startswith("first") else "Offer; Test"]
            )
        book.save(tmp_path / name)
        return tmp_path / name

    return write


def write(folder: Path, key: str = "hiring", candidates: str = "{file: people.csv}") -> Path:
    file = folder / f"{key}.yaml"
    file.write_text(f"{HEAD.format(key=key)}candidates: {candidates}\n")
    (folder / "people.csv").write_text(PEOPLE)
    return file


def mistakes(file: Path) -> list[str]:
    with pytest.raises(BadInput) as refused:
        read_campaign(file)
    return [str(each).replace(f"{file.parent}/", "") for each in refused.value.mistakes]


def test_a_definition_with_its_table(tmp_path: Path) -> None:
    """Everybody with their key, place and stage; the digest is of both files."""
    file = write(tmp_path)
    campaign = read_campaign(file)
    (ada,) = campaign.listed
    assert (ada.key, ada.place.line, ada.candidate.stage_id) == ("ada@people.test", 2, 1)
    assert campaign.columns["email1"] == "email1"
    (tmp_path / "people.csv").write_text(PEOPLE.replace("Ada", "Eda"))
    assert read_campaign(file).digest != campaign.digest
    assert key_of(file) == "hiring"


def test_a_missing_table_is_a_mistake_of_its_definition_unless_people_are_to_be_ordered(
    tmp_path: Path,
) -> None:
    file, orders = write(tmp_path), tmp_path / "hiring.orders.csv"
    (tmp_path / "people.csv").unlink()
    assert mistakes(file) == ["hiring.yaml:4:20: there is no file people.csv"]
    file = write(tmp_path, candidates='{file: hiring.orders.csv, where: {withdrawn: ""}}')
    assert read_campaign(file).listed == []
    orders.write_text("first_name,last_name,email1,withdrawn\nAda,Byron,a@people.test,yes\n")
    assert read_campaign(file).listed == []


def test_mistakes_of_both_files_are_told_at_once(tmp_path: Path) -> None:
    file = write(tmp_path)
    file.write_text(file.read_text() + "foo: 1\n")
    (tmp_path / "people.csv").write_text(PEOPLE + "Eve,Adams,eve@\n")
    found = mistakes(file)
    assert [each.partition(",")[0] for each in found] == ["hiring.yaml:5:1", "people.csv:3"]


def test_the_key_must_be_the_one_that_is_expected(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="mistake"):
        read_campaign(write(tmp_path), "spring")


@pytest.mark.parametrize(
    ("people", "wanted"),
    [
        ("[{f: A, l: B, e: a@b.test},\n {f: C, l: D, e: A@b.test}]", "first at hiring.yaml:4:"),
        ("[{f: A, l: B, e: a@b.test},\n {f: a, l: B, e: c@b.test}]", "a B stands at line 4 with"),
    ],
)
def test_people_in_the_definition_itself(tmp_path: Path, people: str, wanted: str) -> None:
    """A person twice, and one name with two addresses: each names both places."""
    people = re.sub(r"\b(f|l|e): ", lambda short: NAMES[short[1]], people)
    (found,) = mistakes(write(tmp_path, candidates=people))
    assert wanted in found
    assert found.startswith("hiring.yaml:5:2, email1")


def test_a_table_alone_names_the_definition_that_reads_it(tmp_path: Path) -> None:
    """A second definition would invite everybody again."""
    file = write(tmp_path)
    (found,) = mistakes(tmp_path / "people.csv")
    assert re.search(r"which \S*hiring.yaml reads; type  campaign check \S*hiring.yaml$", found)
    file.unlink()
    assert "people.yaml --from" in mistakes(tmp_path / "people.csv")[0]


def test_a_fault_of_ours_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that nobody foresaw ends this file, and no other campaign."""
    monkeypatch.setattr(reading, "build", lambda *_: {}["x"])
    with pytest.raises(Bug, match=r"KeyError .*Reading .*hiring.yaml failed. Nothing was sent"):
        read_campaign(write(tmp_path))


def test_a_workbook_says_the_same(workbook: Sheets) -> None:
    """Names of sheets and fields in any case; a column of values for `where`."""
    more = {"Invites.Send": "FALSE", "where.Stage": "Take-home", "Stage_ID": "3"}
    assert "where keeps nobody" in mistakes(workbook({**FIELDS, **more}))[0]
    campaign = read_campaign(workbook({**FIELDS, "invites.send": "FALSE", "Stage_ID": "3"}))
    assert campaign.definition.campaign == "hiring"
    assert campaign.listed[0].candidate.stage_id == 3
    assert not campaign.definition.invites.send
    assert campaign.listed[0].place.cell == "C2"


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        ([("projct.name", "X")], "Campaign!A5, projct: there is no field projct; did you mean"),
        ([("Problem", "43")], "Campaign!A5, Problem: Problem is written twice, first at"),
        ([("invites.hours", "x")], 'Campaign!B5, invites.hours: found "x", wanted days and'),
        ([("", "43")], "Campaign!B5: a value without a field beside it, in column A"),
        ([("where", "{Stage: [x}")], "Campaign!B5: a list or mapping is not closed"),
        (
            [("where.Stage", "x"), ("where", "{Stage: y}")],
            "Campaign!A6, where.Stage: where.Stage is written twice, first at",
        ),
        ([("hidden_rows", "<skip or read>")], "Campaign!B5, hidden_rows: fill in <skip or"),
        ([("project.endtime", "2001-01-01 09:00")], "Campaign!B5, project.endtime: the project"),
    ],
)
def test_mistakes_in_a_sheet_are_at_their_cells(
    workbook: Sheets, rows: list[tuple[str, ...]], wanted: str
) -> None:
    found = mistakes(workbook([*FIELDS.items(), *rows]))
    assert found[0].startswith(f"year.xlsx, {wanted}"), found


@pytest.mark.parametrize(
    ("rows", "where"),
    [
        ([("where.Stage", "Offer; Test")], {"Stage": ["Offer", "Test"]}),
        ([("where.Stage", "Offer; ; ")], {"Stage": ["Offer"]}),
        ([("where.Stage", "; Offer")], {"Stage": ["", "Offer"]}),
        ([("where.Stage", ";")], {"Stage": [""]}),
        ([("where.Stage", '["Offer; Test"]')], {"Stage": ["Offer; Test"]}),
        ([("where.Stage", "<which? a;b 2>")], {"Stage": "<which? a;b 2>"}),
        ([('where: {Stage: "Offer; Test"}', "")], {"Stage": "Offer; Test"}),
        (
            [("where", '{"Stage: now": [No, ""]}'), ("where.Job", "x")],
            {"Stage: now": ["No", ""], "Job": ["x"]},
        ),
    ],
)
def test_values_in_a_sheet(
    workbook: Sheets, rows: list[tuple[str, str]], where: Mapping[str, Sequence[str]]
) -> None:
    """With semicolons between, or as YAML, also whole lines of it; a semicolon that is left at the
    end means nothing, and a blank is one text.
    """
    written = campaign_sheet(read_file(workbook([*FIELDS.items(), *rows])))
    assert written
    assert written.fields["candidates"]["where"] == where


def test_what_in_a_folder_is_a_campaign(tmp_path: Path, workbook: Sheets) -> None:
    """Definitions and workbooks; not tables, drafts, our own output, or YAML of something else."""
    good = [write(tmp_path), workbook(FIELDS | {"campaign": "round-2"}, "round2.xlsx"), workbook()]
    (tmp_path / "compose.yaml").write_text("services: {}")
    (tmp_path / "~$year.xlsx").write_text("lock")
    for copy in (good[1], workbook(name="results.xlsx")):
        book = load_workbook(copy)
        book.properties.category = f"{COPY}year.xlsx"
        book.save(copy)
    Workbook().save(tmp_path / "notes.xlsx")
    found = campaigns_in(tmp_path)
    assert (found.files, found.mistakes) == (good, [])


def test_a_copy_under_the_name_of_its_original_is_a_campaign(
    tmp_path: Path, workbook: Sheets
) -> None:
    """As after somebody mended the marked copy, in the original's place or alone. Unchanged: no."""
    file = workbook(name="R & D.xlsx")
    book = load_workbook(file)
    book.properties.category = f"{COPY}{file.name}"
    book.save(file)
    assert campaigns_in(tmp_path).files == [file]
    copy = file.rename(tmp_path / "marked.xlsx")
    assert campaigns_in(tmp_path).files == [copy]
    Workbook().save(file)  # no campaign
    assert campaigns_in(tmp_path).files == [copy]
    remember(copy.read_bytes())
    assert campaigns_in(tmp_path).files == []
