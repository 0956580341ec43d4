"""`check` and `new` as they are typed: what they print, write and refuse."""

import json
from pathlib import Path

import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.comments import Comment

from flows.cli import app

HEAD = (
    "campaign: {key}\nproblem: 42\n"
    "project: {{name: Engineers, timezone: Europe/Paris, endtime: 2099-12-14 18:00}}\n"
)
PEOPLE = "First name,Last name,Email,Status\nAda,Lovelace,ada@people.test,\n"
BAD = "Eve,Adams,eve@,\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(rows: str = "", key: str = "hiring", candidates: str = "file: people.csv") -> None:
    Path(f"{key}.yaml").write_text(HEAD.format(key=key) + f"candidates: {{{candidates}}}\n")
    Path("people.csv").write_text(PEOPLE + rows)


def test_a_folder_is_checked_file_by_file(capsys: pytest.CaptureFixture[str]) -> None:
    """One key in two files is a mistake, and so is a folder without campaigns."""
    write()
    Path("empty").mkdir()
    assert app.run(["check", ".", "empty"]) == 2
    shown = capsys.readouterr()
    assert "hiring.yaml: OK" in shown.out
    assert "empty: there is no campaign in this folder" in shown.err
    Path("again.yaml").write_text(Path("hiring.yaml").read_text())
    for places in (["hiring.yaml", "again.yaml"], ["."]):
        assert app.run(["check", *places]) == 2
        shown = capsys.readouterr()
        assert "hiring is in hiring.yaml as well" in shown.err
        assert "OK" not in shown.out


def test_mistakes_are_marked_in_a_copy_of_a_text(capsys: pytest.CaptureFixture[str]) -> None:
    """The copy is a workbook with the values."""
    write(BAD)
    assert app.run(["check", "hiring.yaml", "--mark", "marked.xlsx"]) == 2
    cell = load_workbook("marked.xlsx").active["C3"]
    assert (cell.value, cell.fill.fgColor.rgb) == ("eve@", "FFFFC7CE")
    assert "wanted an email address" in cell.comment.text
    assert "cells marked: 1 " in capsys.readouterr().out


def test_a_copy_is_read_as_the_definition_reads_the_table() -> None:
    """Wherever the command is typed, and wherever the table is."""
    for name in ("campaigns", "exports"):
        Path(name).mkdir()
    write(candidates="file: ../exports/people.csv, encoding: windows-1250")
    Path("hiring.yaml").rename("campaigns/hiring.yaml")
    Path("exports/people.csv").write_bytes(f"{PEOPLE}Łucja,Żak,eve@,\n".encode("cp1250"))
    assert app.run(["check", "campaigns", "--mark", "marked.xlsx"]) == 2
    row = load_workbook("marked.xlsx").active[3]
    assert [cell.value for cell in row[:3]] == ["Łucja", "Żak", "eve@"]


def test_mistakes_are_marked_in_a_copy_of_a_workbook() -> None:
    """Corrected and saved, a marked copy is clean: its marks go when it is marked again."""
    book = Workbook()
    for line in (PEOPLE + BAD).splitlines():
        book.active.append(line.split(","))
    book.save("people.xlsx")
    write(candidates="file: people.xlsx")
    assert app.run(["check", "hiring.yaml", "--mark", "marked.xlsx"]) == 2
    book = load_workbook("marked.xlsx")
    book.active["C3"].value = "eve@people.test"
    book.active.merge_cells("A3:B3")  # its first cell takes the note
    book.active["C2"].comment = Comment("has withdrawn", "Mara")
    book.save("people.xlsx")
    assert app.run(["check", "hiring.yaml", "--mark", "marked.xlsx"]) == 2
    sheet = load_workbook("marked.xlsx").active
    assert (sheet["C3"].comment, sheet["C3"].fill.fill_type) == (None, None)
    assert "last_name" in sheet["A3"].comment.text
    note = sheet["C2"].comment  # hers stays, so `check` asks about it again
    assert [note.author, *note.text.splitlines()][:2] == ["Mara", "has withdrawn"]


@pytest.mark.parametrize(
    ("rows", "key", "copy", "said", "code"),
    [
        ("", "hiring", "marked.xlsx", "no mistake is in a cell", 0),
        ("", "no key", "marked.xlsx", "no mistake is in a cell", 2),
        (BAD, "hiring", "marked.csv", "ends in .xlsx", 2),
    ],
)
def test_when_there_is_nothing_to_mark(capsys, rows, key, copy, said, code) -> None:
    write(rows, key)
    assert app.run(["check", f"{key}.yaml", "--mark", copy]) == code
    told = capsys.readouterr()
    assert said in told.out + told.err
    assert not Path(copy).exists()


def test_new_says_what_to_type_next(capsys: pytest.CaptureFixture[str]) -> None:
    Path("an export.csv").write_text(PEOPLE)
    assert app.run(["new", "--from", "an export.csv"]) == 0
    assert "Then type: campaign check 'an export.yaml'" in capsys.readouterr().out
    words = ["new", "jobs.yaml", "--from", "an export.csv", "--each", "Status", "--force"]
    assert app.run(words) == 0  # a folder
    assert "Then type: campaign check jobs\n" in capsys.readouterr().out


def test_the_schema_is_printed_for_an_editor(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["new", "--schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert set(schema["required"]) == {"campaign", "project", "problem", "candidates"}
