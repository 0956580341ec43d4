"""Starters: what `campaign new` writes passes `check`, and nothing is ever overwritten."""

import errno
import os
import resource
from pathlib import Path

import openpyxl
import pytest

from config.reading.reading import read_campaigns
from config.reading.starter import write_starter
from config.timetable.moments import timezone_known
from tests.config.refusals import messages


@pytest.mark.parametrize("name", ["new.yaml", "New.yml", "new.xlsx"])
def test_a_starter_is_a_good_sample(tmp_path: Path, name: str) -> None:
    """Sample people at example.com, every field shown, nothing left to mend."""
    write_starter(tmp_path / name)
    (definition,) = read_campaigns(tmp_path / name).definitions
    assert definition.campaign == "new"
    assert [p.key for p in definition.candidates] == ["ada@example.com", "grace@example.com"]
    assert definition.project.timezone == "Europe/Paris"


KEYS = {
    "hiring": "hiring",
    "Hiring 2030 (Zürich)": "hiring-2030-zurich",
    "2030": "2030",
    "2030-01": "2030-01",
    "no": "no",
    "1e5": "1e5",
    "_x_": "x",
    "採用": "my-campaign",
    "a" * 200: "a" * 100,
}


@pytest.mark.parametrize(("stem", "key"), KEYS.items(), ids=str)
@pytest.mark.parametrize("suffix", [".yaml", ".xlsx"])
def test_the_key_comes_from_the_name(tmp_path: Path, stem: str, key: str, suffix: str) -> None:
    """Two new files are two campaigns, whatever they are called."""
    write_starter(tmp_path / f"{stem}{suffix}")
    (definition,) = read_campaigns(tmp_path / f"{stem}{suffix}").definitions
    assert definition.campaign == key


@pytest.mark.parametrize("name", ["new.yaml", "new.xlsx"])
def test_a_starter_never_overwrites(tmp_path: Path, name: str) -> None:
    """Somebody's campaign may be in the file of that name."""
    (tmp_path / name).write_bytes(b"mine")
    assert "already exists" in messages(write_starter, tmp_path / name)[0]
    assert (tmp_path / name).read_bytes() == b"mine"


def test_a_starter_that_cannot_be_written(tmp_path: Path) -> None:
    """A folder that is missing, or another kind of file, is a sentence."""
    (tmp_path / "file").write_text("")
    for path, said in [
        (tmp_path / "missing" / "new.yaml", f" {tmp_path / 'missing'};"),
        (tmp_path / "file" / "new.yaml", os.strerror(errno.ENOTDIR)),
        (tmp_path / "new.csv", 'found "new.csv", '),
    ]:
        assert said in messages(write_starter, path)[0]
        assert not path.exists()


@pytest.mark.parametrize("name", ["new.yaml", "new.xlsx"])
def test_a_starter_on_a_full_disk_leaves_nothing_in_the_way(tmp_path: Path, name: str) -> None:
    """The same command works as soon as there is room."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        said = messages(write_starter, tmp_path / name)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert os.strerror(errno.EFBIG) in said[0]
    write_starter(tmp_path / name)


def test_a_starter_workbook_helps_to_fill_it_in(tmp_path: Path) -> None:
    """Every field says what it is for, and offers or limits what its cell takes."""
    write_starter(tmp_path / "new.xlsx")
    book = openpyxl.load_workbook(tmp_path / "new.xlsx")
    assert book.sheetnames == ["campaign", "candidates", "help", "timezones"]
    assert book["timezones"].sheet_state == "hidden"
    campaign, people = book["campaign"], book["candidates"]
    checks = {str(v.sqref): v for v in campaign.data_validations.dataValidation}
    for row in campaign.iter_rows(min_row=2):
        assert row[2].value and checks[row[1].coordinate].prompt == row[2].value
    rows = {row[0].value: row[1].coordinate for row in campaign.iter_rows(min_row=2)}
    assert checks[rows["invites.send"]].formula1 == '"TRUE,FALSE"'
    assert checks[rows["project.timezone"]].formula1 == "timezones"
    assert checks[rows["problem"]].type == "whole"
    names = [cell.value for cell in people[1]]
    of_people = {str(v.sqref).partition(":")[0]: v for v in people.data_validations.dataValidation}
    assert len(of_people) == len(names)
    assert people.column_dimensions["A"].width > 10
    assert of_people["C2"].errorStyle == "warning" and "COUNTIF" in of_people["C2"].formula1
    assert any("campaign check new.xlsx" in str(row[0].value) for row in book["help"].rows)


def test_a_starter_workbook_passes_check_once_filled_in(tmp_path: Path) -> None:
    """What a person types into it in a spreadsheet program is read as it was meant."""
    write_starter(tmp_path / "new.xlsx")
    book = openpyxl.load_workbook(tmp_path / "new.xlsx")
    values = {row[0].value: row[1] for row in book["campaign"].iter_rows(min_row=2)}
    values["campaign"].value = "frontend-2031"
    values["project.timezone"].value = book["timezones"]["A9"].value
    values["invites.send"].value = False
    values["problem"].value = 7
    book["candidates"].append(["Zoë", "0049", "zoe@example.com", "fair", None, 3])
    book.save(tmp_path / "filled.xlsx")
    (definition,) = read_campaigns(tmp_path / "filled.xlsx").definitions
    assert (definition.campaign, definition.invites.send) == ("frontend-2031", False)
    assert [p.key for p in definition.candidates][2:] == ["zoe@example.com"]
    assert (definition.candidates[2].last_name, definition.candidates[2].stage_id) == ("0049", 3)


def test_every_timezone_offered_is_one_we_take(tmp_path: Path) -> None:
    """What the drop-down lists, `check` knows."""
    write_starter(tmp_path / "new.xlsx")
    book = openpyxl.load_workbook(tmp_path / "new.xlsx")
    names = [row[0].value for row in book["timezones"].rows]
    assert "Europe/Paris" in names and "UTC" in names
    assert [name for name in names if not timezone_known(str(name))] == []
