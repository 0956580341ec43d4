"""What is wrong with a table, at its line and in the words that a person reads."""

from pathlib import Path
from typing import Any

import pytest

from config.errors import BadInput
from config.sheets import files
from config.sheets import table as rules
from config.sheets.files import read_file
from config.sheets.table import table_of
from tests.config.sheets.conftest import Read, said, sent, short

HEAD = "First name,Last name,Email\n"
ADA = "Ada,Lovelace,ada@people.test\n"
BOB = "Bob,Byron,bob@people.test\n"
EVE = "Eve,Epsilon,eve@people.test\n"
MISTAKES: list[tuple[str | bytes, dict[str, Any], list[str]]] = [
    # Addresses and names.
    (
        HEAD + "Ana,A,ana@\n",
        {},
        [':2, email1: found "ana@", wanted an email address (…'],
    ),
    (HEAD + "Ana,,ana@people.test\n", {}, [":2, last_name: missing, wanted a last name…"]),
    (HEAD + ADA + "Total,Count,\n", {}, [":3, email1: missing, wanted an email address…"]),
    (
        HEAD + "Ana,A,ana@people.test and ann@people.test\n",
        {},
        [':2, email1: found "ana@people.test and ann@people.test", wanted an email address …'],
    ),
    (
        HEAD + '#N/A,B,b@people.test\nC,Err:502,"#REF!"\n',
        {},
        [
            ":2, first_name: found the error #N/A, wanted a first name…",
            ":3, last_name: found the error Err:502, wanted a last name…",
            ":3, email1: found the error #REF!, wanted an email address…",
        ],
    ),
    (
        "Name,Email\nMadonna,m@people.test\n",
        {"split_name": True},
        [':2, last_name: found "Madonna", wanted a first and a last name, as in two columns'],
    ),
    # Columns.
    (
        "Ada,Byron,ada@people.test\nBob,S,bob@people.test\n",
        {"columns": {"first_name": "Ada", "last_name": "Byron", "email1": "ada@people.test"}},
        [":1: this row has an address, so it is no header; add one above it that names the…"],
    ),
    (
        "Name,Email\nAda Lovelace,a@people.test\n",
        {},
        [':1, first_name: only whole names, under "Name"; to split them, write  split_name: true'],
    ),
    (
        "First name,Surname,Shoes\nA,B,1\n",
        {},
        [
            ':1, email1: no column for email1; found "First name", "Surname", "Shoes". If it is '
            'one of these, write  columns: {email1: "…"}'
        ],
    ),
    (
        "First name,Last name,E-mail,Work email\nA,B,a@x.test,b@x.test\n",
        {},
        [
            ':1, email1: 2 columns for email1: "E-mail", "Work email"; say which, as in  '
            'columns: {email1: "E-mail"}'
        ],
    ),
    (
        "First name,Last name,Email,Email\nA,B,a@x.test,b@x.test\n",
        {},
        [':1, email1: 2 columns for email1: "Email", "Email"; rename all but the one to use'],
    ),
    (
        HEAD + ADA,
        {"columns": {"notes": "Remark"}},
        [
            ':1, notes: no column has the header "Remark"; the headers are "First name", '
            '"Last name", "Email"'
        ],
    ),
    ("Ada,Lovelace,ada@people.test\n" + BOB, {}, [":1: this row has an address, so it is no…"]),
    (HEAD, {}, [", candidates: found no candidates, wanted at least one row below the header"]),
    (HEAD + ADA, {"sheet": "x"}, [", sheet: this is a text without sheets; leave out sheet"]),
    # Rows of one person, and people of one name.
    (
        "First name,Last name,Email,Source,Shoes,Hobby,Team\nA,B,a@x.test,Fair,01,,Cook\n"
        "C,D,c@x.test,Web,02,,Cook\nA,B,a@x.test,Web,03,Go,Baker\n",
        {},
        [
            ':4, email1: found "a@x.test", the person at line 2 with another source; delete one '
            "of the two rows, or choose by a column, as in  where: {Team: Cook}"
        ],
    ),
    (
        HEAD + "A,B,strasse@x.test\nA,B,straße@x.test\n",
        {},
        [
            ':3, email1: found "straße@x.test", the person at line 2 with another email1; delete '
            'one of the two rows, or write "strasse@x.test" as they log in'
        ],
    ),
    (
        HEAD + ADA + "ada,lovelace,ada@home.test\n",
        {},
        [
            ':3, email1: found "ada@home.test", but ada lovelace stands at line 2 with '
            '"ada@people.test"; delete one of the rows, or choose by a column (where); if they '
            "are two people, tell their names apart, as with an initial"
        ],
    ),
    # Whoever would be lost.
    (
        ADA + ",,bob@people.test\n" + BOB + "\n" + HEAD + EVE,
        {},
        [f":{line}: {rules.ABOVE}" for line in (1, 3)],
    ),
    (
        "Email,First name,Last name\nada@x.test,A,B\n\nSecond batch\n"
        "First name,Last name,Email,Source\nC,D,c@x.test,web\n",
        {},
        [f":5: {rules.SECOND}"],
    ),
    (HEAD + ADA + "\nMore of them,,\n" + HEAD + BOB, {}, [f":5: {rules.SECOND}"]),
    (
        HEAD[:-1] + ',Remark\nA,B,a@x.test,"see\nBob,B,bob@x.test,ok\nCid,C,cid@x.test,mail"\n',
        {},
        [f":2: {rules.SWALLOWED}"],
    ),
    (
        HEAD[:-1] + ',Remark\nA,B,a@x.test,"see\nBob,,bob@x.test,ok"\n',
        {},
        [f":2: {rules.SWALLOWED}"],
    ),
    (
        'Remark,First name,Surname,Email\n"see,Ada,A,ada@x.test\nmail",Bob,B,bob@x.test\n',
        {},
        [f":2: {rules.SWALLOWED}"],
    ),
    # A table beside the first, with a header of its own or without, lower or longer.
    (
        "First name,Last name,Email,,,\n" + ADA[:-1] + ",,,\n,,,Bob,B,bob@x.test\n",
        {},
        [f":3: {rules.BESIDE}"],
    ),
    (
        HEAD[:-1] + ",,,,\n" + ADA[:-1] + ",," + HEAD + EVE[:-1] + ",," + BOB,
        {},
        [f":3: {rules.BESIDE}"],
    ),
    (HEAD + ADA + '"Bob,B,bob@x.test\n' + EVE, {}, [":3: the rows cannot be told apart from he…"]),
    (HEAD + "A,B,C,a@x.test\n", {}, [":2: this row has 4 columns, the header has 3; put quotes…"]),
    # Files that are no table.
    (b"\x7fELF\0\0\0", {}, [": this is a binary file, wanted a table"]),
    (b"\n \n", {}, [": this file is empty"]),
    (b"\xff\xfeA\0B", {}, [": this is a binary file, wanted a table"]),
    (b"%PDF-1.7", {}, [": this is a PDF; export the table as .xlsx or .csv instead"]),
    (b"<html><p>Log in</p></html>", {}, [": this is a web page without a table; export the tab…"]),
]


@pytest.mark.parametrize(("table", "options", "wanted"), MISTAKES, ids=short)
def test_a_mistake_stands_at_its_line(
    read: Read, tmp_path: Path, table: str, options: dict[str, Any], wanted: list[str]
) -> None:
    """Every mistake of a table at once, and nothing else."""
    found = said(read(table, **options), tmp_path)
    assert len(found) == len(wanted), found
    for message, sentence in zip(found, wanted, strict=True):
        whole, cut, _ = f"people.csv{sentence}".partition("…")
        assert message.startswith(whole) if cut else message == whole


FINE: list[tuple[str | bytes, dict[str, Any], list[str]]] = [
    # Others' addresses are not in the way: who exported the table, recruiters, referrers.
    ("Exported by mia@corp.test\nContact:,mia@corp.test\n" + HEAD + ADA, {}, []),
    ("Recruiter:,Mia,mia@corp.test\n\n" + HEAD + ADA, {}, [f"{rules.ELSEWHERE}: "]),
    (HEAD + ADA + "Exported by mia@corp.test,,\n", {}, ["Exported by mia@corp.test"]),
    (HEAD[:-1] + ",Referred by\n" + ADA[:-1] + ",mia@corp.test\n,,,noa@corp.test\n",
     {}, [f"{rules.ELSEWHERE}: "]),
    (HEAD[:-1] + ",Cover\n" + ADA[:-1] + ',"Hi,\n\nwrite to ada@home.test\nAda, Bonn"\n', {}, []),
    (
        "Name,First name,Last name,Email\nB. C,Ada,Lovelace,ada@people.test\n",
        {},
        ["not sent: Name"],
    ),
    # Blank lines, totals and footers.
    (HEAD + "\n\n,,\n" + ADA + "\n \n", {}, []),
    (HEAD + ADA + "\nTotal,,1\nPage 1 of 3,,\n", {}, ['"Total"', '"Page 1 of 3"']),
    (HEAD + ADA + "Total,11 candidates,\n", {}, ['"Total"']),
    (HEAD + ADA + "1,candidates of 3,\nSum,#N/A,-\n\n17,,\n", {}, ['"1"', '"Sum"', '"17"']),
    (HEAD + ADA + "Report by Mia,1 May 2026,Page 1 of 2\n", {}, ['"Report by Mia"']),
    (HEAD + ADA + "Showing 1 to 11 of 11 entries,,\n", {}, ['"Showing 1 to 11 of 11 entries"']),
    # Ways to write a text.
    (("\ufeff" + HEAD + ADA).encode(), {}, []),
    ((HEAD + ADA).encode("utf-16"), {}, []),
    ((HEAD + ADA).replace(",", ";").encode(), {}, []),
    ((HEAD + ADA).replace(",", "\t").replace("\n", "\r").encode(), {}, []),
    (("sep=|\r\n" + (HEAD + ADA).replace(",", "|")).encode(), {}, []),
    (
        ("Firma: Müller\n" + HEAD + ADA).encode("cp1252"),
        {},
        ["people.csv: this file is not in UTF-8 and was read as Windows-1252; if"],
    ),
    # Ways to write an address.
    (HEAD + "Ada,Lovelace, Ada L <ada@people.test> \n", {}, []),
    (HEAD + "Ada,Lovelace,mailto:ada@people.test?subject=x\n", {}, []),
    (HEAD + "Ada,Lovelace,ada@people.test; a@home.test\n", {"several": "First"},
     [':2, email1: ada@people.test is used, of "ada@people.test; a@home.test"']),
    (HEAD + "Ada,Lovelace,ada@people.test/a@home.test (Home)\n", {"several": "first"},
     [":2, email1: ada@people.test is used, of"]),
    (HEAD + ADA + "Ada,Byron,sales/ada@people.test\n", {"several": "first"}, []),
    (HEAD + "Ada,Lovelace,ada@people.test; ada@people.test\n", {}, []),
    # Columns that are sent or named.
    (
        HEAD[:-1] + ",Notes,Salary\n" + ADA[:-1] + ",good,90\n",
        {},
        ["columns that are not sent: Notes, Salary", 'write  columns: {notes: "Notes"}'],
    ),
    ("Who,Last,Mail,Contact\nAda,Lovelace,x,ada@people.test\n", {"columns": {"first_name": "who",
     "last_name": "LAST", "email1": "Contact"}}, ["not sent: Mail"]),
]  # fmt: skip


@pytest.mark.parametrize(("table", "options", "notes"), FINE, ids=short)
def test_a_table_is_read_as_people_write_it(
    read: Read, tmp_path: Path, table: str, options: dict[str, Any], notes: list[str]
) -> None:
    """Ada is read, and a person sees what was not taken for a person."""
    people = read(table, **options)
    assert said(people, tmp_path) == []
    assert sent(people)[0] == ("Ada", "Lovelace", "ada@people.test")
    assert all(any(each in note for note in people.notes) for each in notes), people.notes


def test_a_table_stands_alone_without_a_definition(tmp_path: Path) -> None:
    """As links, doubts and lists of addresses need it: every cell, and where it stands."""
    file = tmp_path / "doubts.csv"
    file.write_text("Doubts of Monday\n\nEmail,Verdict\nada@people.test,sent\n,\nb@people.test,\n")
    table = table_of(read_file(file))
    assert table.mistakes == []
    assert (table.header, table.headers, table.by_field) == (3, ["Email", "Verdict"], {"email1": 0})
    assert [*table.frame["email1"].items()] == [(4, "ada@people.test"), (6, "b@people.test")]
    assert [*table.cells[1]] == ["sent", ""]
    assert str(table.place(6, "email1")) == f"{file}:6"
    assert len(table.digest) == 64


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: None, "there is no such file"),
        (lambda path: path.mkdir(), "this is a folder or a device"),
        (lambda path: path.symlink_to("/dev/zero"), "this is a folder or a device"),
        (lambda path: path.symlink_to(path.name), "there is no such file"),
    ],
)
def test_what_is_no_file_is_said(tmp_path: Path, make: Any, why: str) -> None:
    """A missing file, a folder, a device that never ends, a link to itself."""
    path = tmp_path / "people.csv"
    make(path)
    with pytest.raises(BadInput) as error:
        read_file(path)
    assert error.value.mistakes[0].message.startswith(why)


def test_a_table_that_is_being_written_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two looks must find it untouched; whoever writes on and on is told so."""
    file = tmp_path / "people.csv"
    file.write_text(HEAD)
    monkeypatch.setattr(files, "REST", 60)
    monkeypatch.setattr(files, "PATIENCE", 0)
    with pytest.raises(BadInput) as error:
        read_file(file)
    assert "is being written right now" in error.value.mistakes[0].message
