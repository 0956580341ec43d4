"""What is wrong with a table, at its line and in the words that a person reads."""

from pathlib import Path
from typing import Any

import pytest

from config.sheets import table as rules
from tests.config.sheets.conftest import Read, said, sent, short

HEAD = "First name,Last name,Email\n"
ADA = "Ada,Lovelace,ada@people.test\n"
BOB = "Bob,Byron,bob@people.test\n"
EVE = "Eve,Epsilon,eve@people.test\n"
NO_NAME = ", which is no number, no date, no TRUE, no address and has no :"
STRUCK = "; ~ looks like a strike-through: delete this row, or the ~"
REMARK = " without ~ in it; correct it, or delete this row"
MISTAKES: list[tuple[str | bytes, dict[str, Any], list[str]]] = [
    # Nothing is quoted of what may be no table: it may be a secret.
    (
        "[x]\nPASSWORD=hush,b\n",
        {},
        [":1, email1: no column for email1; found no headers. This may be no table of people"],
    ),
    ('{"password": "hush", "b": 2}\n', {}, [":1, email1: no column for email1; found no headers…"]),
    ("Kontakt;Wer\n-;x\n", {}, [':1, email1: no column for email1; found "Kontakt", "Wer"…']),
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
        "Name,Email\nMadonna,m@people.test\n",
        {"split_name": True},
        [
            ':2, last_name: found "Madonna", one word only. Write it twice (Madonna Madonna) or '
            "add a column"
        ],
    ),
    (
        HEAD + "2026-05-04,April,a@x.test\nTRUE,Bool,b@x.test\nCid,12345,c@x.test\n"
        "Dan,d@home.test,d@x.test\n~Ivan,Petrov,e@x.test\nRecruiter: Jo,Li,jo@x.test\n"
        "Ann,S:t Clair,ann@x.test\n",
        {},
        [
            f":{line}, {name}: found {found}, wanted a name{rest}"
            for line, name, found, rest in [
                (2, "first_name", '"2026-05-04"', NO_NAME),
                (3, "first_name", '"TRUE"', NO_NAME),
                (4, "last_name", '"12345"', NO_NAME),
                (5, "last_name", '"d@home.test"', NO_NAME),
                (6, "first_name", '"~Ivan"', REMARK),
                (7, "first_name", '"Recruiter: Jo"', NO_NAME),
            ]
        ],
    ),
    (
        "Name,Email\nIvan Petrov*,~i@x.test~\n2026-05-04 April,a@x.test\nA B / out,b@x.test\n",
        {"split_name": True},
        [
            f':2, full_name: found "Ivan Petrov*", wanted a name{REMARK.replace("~", "*")}',
            f':2, email1: found "~i@x.test~", wanted an email address{STRUCK}',
            f':3, full_name: found "2026-05-04 April", wanted a name{NO_NAME}',
            f':4, full_name: found "A B / out", wanted a name{REMARK.replace("~", "/")}',
        ],
    ),
    (
        HEAD + "Ada,Lovelace,Test@x.test\nTest,Candidate,t@x.test\nMax,Mustermann,m@x.test\n"
        "John,Doe,jd@example.com\n",
        {},
        [":2: Decide who is invited. like a test: rows 2 (Ada Lovelace), 3 (Test Candidate), 4 (…"],
    ),
    # Columns.
    (
        "Ada,Byron,ada@people.test\nBob,S,bob@people.test\n",
        {"columns": {"first_name": "Ada", "last_name": "Byron", "email1": "ada@people.test"}},
        [":1: this row has an address, so it is no header; add one above it that names the…"],
    ),
    (
        "Name,Email\nAda,ada@people\n",
        {},
        [':1, first_name: only whole names, under "Name"; to split…', ':2, email1: found "ada@p…'],
    ),
    ("Full name,Surname,Email\nA Bö,BO,a@x.test\n", {"split_name": True}, []),
    ("Name,Surname,Email\nA B,C,a@x.test\n", {"split_name": True}, [":1, full_name: no column…"]),
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
            ':1, email1: 2 columns for email1: "E-mail", "Work email"; rename one, or say which, '
            'as in  columns: {email1: "E-mail"}'
        ],
    ),
    (
        "First name,Last name,Email,Email\nA,B,a@x.test,b@x.test\n",
        {},
        [':1, email1: 2 columns for email1: "Email", "Email"; rename all but the one to use'],
    ),
    (
        HEAD + ADA,
        {"columns": {"first_name": "Remark"}},
        [
            ':1, first_name: no column has the header "Remark"; they are "First name", '
            '"Last name", "Email"'
        ],
    ),
    ("Ada,Lovelace,ada@people.test\n" + BOB, {}, [":1: this row has an address, so it is no…"]),
    # Whoever is called like a field is a person, whose row is not quoted.
    (
        "Wer,Nn,Wo\nEmail,Name,ada@people.test\n",
        {},
        [f':1, {name}: no column for {name}; found "Wer", "Nn", "Wo". If…' for name in ("email1",)],
    ),
    (HEAD, {}, [", candidates: found no candidates, wanted at least one row below the header…"]),
    (HEAD + ADA, {"sheet": "x"}, [", sheet: this is a text without sheets; leave out sheet"]),
    # Rows of one person, and people of one name.
    (
        "First name,Last name,Email,Source,Shoes,Hobby,Team\nA,B,a@x.test,Fair,01,,Cook\n"
        "C,D,c@x.test,Web,02,,Cook\nA,B,a@x.test,Web,03,Go,Baker\n",
        {},
        [
            ':4, email1: found "a@x.test", the person at line 2 with another source; delete one '
            "of the two rows, or choose by a column (where)"
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
        HEAD[:-1] + ",Note\n" + ADA + ",,,Please delete these\n" + BOB,
        {},
        [':3: only "Please delete these" stands…'],
    ),
    (
        HEAD[:-1] + ',Team,Sent?,"City\nof (HR)"\nAda,Lovelace,ada@people.test,A,TRUE,No\n'
        ",,,A\nBob,Byron,bob@people.test,A,TRUE,No\n,,,A,FALSE\n,,,OUT,(by HR)\n",
        {"ignore": ["City of (HR)", "Sent?"]},
        [':4: only "A" st…', ':7: only "OUT", "(by HR)" st…'],
    ),
    (HEAD[:-1] + ",Team\n,,,½\n", {}, [", candidates: found no candidates, wanted at least…"]),
    (HEAD + ADA + "Eve,,\n", {}, [':3: only "Eve" stands in this row. If it is a leg…']),
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
        [":2: Decide who is invited. A column without…", f":3: {rules.BESIDE}"],
    ),
    (HEAD + ADA + '"Bob,B,bob@x.test\n' + EVE, {}, [":3: the rows cannot be told apart from he…"]),
    (HEAD + "A,B,C,a@x.test\n", {}, [":2: this row has 4 columns, the header has 3; put quotes…"]),
    # Files that are no table.
    (b"\x7fELF\0\0\0", {}, [": this is no text and no workbook; open it in a spre…"]),
    (b"\n \n", {}, [": this file is empty"]),
    (b"\xff\xfeA\0B", {}, [": this is no text and no workbook; open it in a spre…"]),
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
    ("Name,First name,Last name,Email\nB C,Ada,Lovelace,ada@people.test\n", {}, ["not sent: Name"]),
    ("Name,First name,Last name,Email\nAda Lovelace,,,ada@people.test\nAl O,,,a@x.test\n"
     "Eve Ros,Eve,Ros,e@x.test\n", {"split_name": True}, ["not sent: First name, Last name"]),
    # Blank lines, totals and footers.
    (HEAD + "\n\n,,\n" + ADA + "\n \n", {}, []),
    (HEAD + ADA + "\nTotal,,1\nPage 1 of 3,,\n", {}, ['"Total"', '"Page 1 of 3"']),
    (HEAD + ADA + "Total,11 candidates,\n", {}, ['"Total"']),
    (HEAD + ADA + "1,candidates of 3,\nSum,#N/A,-\n\n17,,\n", {}, ['"1"', '"Sum"', '"17"']),
    (HEAD + ADA + "Report by Mia,1 May 2026,Page 1 of 2\n", {}, ['"Report by Mia"']),
    # Ways to write a text.
    (("\ufeff" + HEAD + ADA).encode(), {}, []),
    ((HEAD + ADA).encode("utf-16"), {}, []),
    ((HEAD + ADA).replace(",", ";").encode(), {}, []),
    ((HEAD + ADA).replace(",", "\t").replace("\n", "\r").encode(), {}, []),
    (("sep=|\r\n" + (HEAD + ADA).replace(",", "|")).encode(), {}, []),
    ("Nazwisko i imię,Email\nLovelace Ada,ada@people.test\nBob STONE,b@x.test\nFox Eve A,e@x.org\n",
     {"split_name": True}, ["first name Bob, last name STONE", "first name Eve A, last name Fox"]),
    # Ways to write an address.
    (HEAD + "Ada,Lovelace, Ada L <ada@people.test> \n", {}, []),
    (HEAD + "Ada,Lovelace,ada@people.test; a@home.test\n", {"several": "first"},
     [':2, email1: ada@people.test is used, of "ada@people.test; a@home.test"']),
    (HEAD + "Ada,Lovelace,ada@people.test/a@home.test (Home)\n", {"several": "first"},
     [":2, email1: ada@people.test is used, of"]),
    (HEAD + ADA + "Ada,Byron,sales/ada@people.test\n", {"several": "first"}, []),
    (HEAD + "Ada,Lovelace,ada@people.test; ada@people.test\n", {}, []),
    # One person in several rows that are alike, and who looks like a test.
    (HEAD + ADA + BOB + ADA, {}, ["people.csv: line 4 is the same person as line 2; each is rea"]),
    (HEAD + ADA + "Mary,Test,mary.test@x.test\nJohn,Doe,jd@x.test\n", {}, []),
    # Columns that are sent or named.
    (HEAD[:-1] + ",Notes,Salary\n" + ADA[:-1] + ",good,90\n", {}, ["not sent: Notes, Salary"]),
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


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("X Æ", "A-12"), ("Liam", "O'Neil 3rd"), ("John", "Smith III"), ("Thị", "Nguyễn"),
        ("O", "A"), ("True", "Truman"), ("May", "April"), ("June", "Null"), ("Mary", "Test"),
        ("李", "娜"), ("Prince", "-"), ("No", "False"), ("NA", "Nan"), ("Siva A/L", "Raman"),
    ],
)  # fmt: skip
def test_a_name_is_read_as_it_is(read: Read, tmp_path: Path, first: str, last: str) -> None:
    """However much it looks like something else."""
    people = read(f"{HEAD}{first},{last},a@people.test\n")
    assert (said(people, tmp_path), sent(people)) == ([], [(first, last, "a@people.test")])


def test_who_looks_like_a_test_is_skipped_or_invited(read: Read) -> None:
    """As the definition says: somebody may be called so."""
    table = HEAD + ADA + "Test,Candidate,t@people.test\n"
    people = read(table, hidden_rows="skip")
    assert [name for name, *_ in sent(people)] == ["Ada"]
    assert people.left_out == {"the row is like a test": ["Test Candidate"]}
    assert [name for name, *_ in sent(read(table, hidden_rows="read"))] == ["Ada", "Test"]
    (again,) = read(HEAD + ADA + "Test,Candidate,ada@people.test\n", hidden_rows="skip").mistakes
    assert "(the row is like a test), but row 2 is kept; delete one" in again.message


@pytest.mark.parametrize(
    "titles",
    [
        "Attendee First Name,Attendee Last Name,Attendee Email",
        "Candidate: First Name,Candidate: Last Name,Candidate: Email",
        "Имя,Фамилия,Эл. почта",
    ],
)
def test_a_header_may_say_whose_it_is(read: Read, tmp_path: Path, titles: str) -> None:
    people = read(f"Order,{titles},Buyer Email\n1,{ADA[:-1]},buyer@people.test\n")
    assert (said(people, tmp_path), sent(people)) == ([], [("Ada", "Lovelace", "ada@people.test")])
