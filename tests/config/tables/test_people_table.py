"""People in text tables: which column is which field, and where a row is wrong."""

from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.definition.model import Candidate
from config.errors import BadInput
from config.people.doubts import REMARK
from config.reading.folder import stray_files
from config.reading.reading import Reading, read_campaigns
from config.tables.address_cells import plain_address
from config.tables.cells import as_text, as_whole_number, as_yes_or_no
from config.tables.header_row import IN_QUOTES, NO_HEADER
from config.tables.headers import OR_RENAME
from config.tables.unread import ABOVE, BESIDE, SECOND, SECOND_PERSON, SWALLOWED
from tests.config.refusals import messages, mistakes, shortened
from tests.support import yaml_definition as sample
from tests.support.documents import fits

ADA = "Ada,Lovelace,ada@example.com\n"
HEADER = "first_name,last_name,email1\n"
UNUSED = "people.csv: …: {}"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a definition that leaves its people to a table."""
    monkeypatch.chdir(tmp_path)
    Path("campaign.yaml").write_text(sample.HEAD)


def read(table: str | bytes) -> Reading:
    data = table if isinstance(table, bytes) else table.encode()
    Path("people.csv").write_bytes(data)
    return read_campaigns(Path("people.csv"), Path("campaign.yaml"))


def people(table: str | bytes) -> tuple[Candidate, ...]:
    return read(table).definitions[0].candidates


complaints = partial(messages, people)


LOST = "first_name,last_name,email1,Remark\nAda,A,ada@corp.org,{}\nEve,E,eve@corp.org,ok\n"
SHIFTED = "first_name,last_name,email1,a,b,c\nAda,A,ada@corp.org,,,{}\n,,,Bob,B,bob@corp.org\n"


@pytest.mark.parametrize(
    ("table", "line", "what"),
    [
        (
            "Email,First name,Last name\nada@corp.org,Ada,A\n\nSecond batch\n"
            "First name,Last name,Email,Source\nCid,C,cid@corp.org,web\n",
            2,
            ABOVE,
        ),
        (SHIFTED.format(""), 3, BESIDE),
        (SHIFTED.format("").replace("a,b,c", ",,"), 3, BESIDE),
        ("email1,Name,,\na@corp.org,A B,,\n,,b@corp.org,Bob B\n", 3, BESIDE),
        (
            "first_name,last_name,email1,a,b,c\nA,B,a@corp.org,,,\n,,,Surname,First name,Mail\n",
            3,
            SECOND,
        ),
        (
            "first_name,last_name,email1,,,\nA,B,a@corp.org,First name,Surname,E-mail\n",
            2,
            SECOND,
        ),
        (LOST.format('"see\nBob,B,bob@corp.org,ok\nCid,C,cid@corp.org,mail"'), 2, SWALLOWED),
        (LOST.format('"see\r\nBob,B,bob@corp.org,mail"'), 2, SWALLOWED),
        (
            'Remark,First name,Surname,Email\n"see,Ada,A,ada@corp.org\nmail",Bob,B,bob@corp.org\n',
            2,
            SWALLOWED,
        ),
    ],
)
def test_people_whom_nobody_would_read_are_mistakes(table: str, line: int, what: str) -> None:
    """Above the header, in other columns, or inside a cell: nobody is left out in silence."""
    if "Name," in table:
        Path("campaign.yaml").write_text(f"{sample.HEAD}candidates: {{split_name: true}}\n")
    assert complaints(table) == [f"people.csv:{line}: {what}"]


TWO = "First name,Last name,Email,{0},Last name{1},Email{1}\nAda,A,ada@corp.org,{2}\n"


@pytest.mark.parametrize(
    "table",
    [
        TWO.format("First name 2", " 2", "Bob,B,bob@corp.org"),
        TWO.format("First name2", "2", "Bob,B,bob@corp.org"),
        TWO.format("Vorname.1", ".1", "Bob,A,bob@corp.org"),
        TWO.format("Candidate 2 first name", " (2)", "Bob,B,bob@corp.org"),
        TWO.format("First name 2", " 2", ",,") + ",,,Bob,B,bob@corp.org\n",
        "Email 2,Name 2,Email,Name\n,,ada@corp.org,Ada A\nbob@corp.org,Bob B,eve@corp.org,Eve E\n",
        "Name,Email,Name 2,Email 2,Name 3,Email 3\nAda A,ada@corp.org,,,Bob B,bob@corp.org\n",
    ],
)
def test_a_second_person_in_a_row_is_a_mistake(table: str) -> None:
    """Whoever renamed the second header is not told that its people are in no column of a field."""
    columns = "first_name: First name, last_name: Last name, email1: Email"
    wish = "split_name: true" if "Name" in table else f"columns: {{{columns}}}"
    Path("campaign.yaml").write_text(f"{sample.HEAD}candidates: {{{wish}}}\n")
    line = len(table.splitlines())
    assert complaints(table) == [f"people.csv:{line}: {SECOND_PERSON}"]


def test_a_header_that_stands_twice_side_by_side_says_what_helps() -> None:
    """Once, and nothing that would leave the second people out in silence."""
    [said] = complaints(TWO.format("First name", "", "Bob,B,bob@corp.org"))
    assert fits(
        f"people.csv:1: … 2 … First name (column 1, A), First name (… D); … {OR_RENAME}", said
    )


def test_a_header_that_was_sorted_among_the_people_is_a_mistake() -> None:
    """Nobody may be there to read a remark, so even one row that looks like a person stops all."""
    above = ["Ada,A,ada@corp.org\n", "Bob,B,bob@corp.org\n"]
    for rows in (above[:1], above):
        found = complaints("".join(rows) + HEADER + "Eve,E,eve@corp.org\n")
        assert found == [f"people.csv:{line}: {ABOVE}" for line in range(1, len(rows) + 1)]


@pytest.mark.parametrize(
    ("table", "what"),
    [
        ('"First name,Last name,Email"\n"Ada,Lovelace,ada@corp.org"\n', IN_QUOTES),
        ('"First name;Last name;Email"\n"Ada;Lovelace;ada@corp.org"\n', IN_QUOTES),
        ('"First name,""Last name"",Email",\n"Ada,""B, C"",ada@corp.org",\n', IN_QUOTES),
        ('"Ada,Lovelace,ada@corp.org"\n', IN_QUOTES),
        ("Ada,Lovelace,ada@corp.org\nBob,B,bob@corp.org\n", NO_HEADER),
        ("ada@corp.org\nbob@corp.org\n", NO_HEADER),
    ],
)
def test_a_row_that_is_no_header_is_told_as_such(table: str, what: str) -> None:
    """Nothing else is said of it: no column can be chosen from it by its name."""
    assert complaints(table) == [f"people.csv:1: {what}"]


@pytest.mark.parametrize("header", ["Vorname,Ort", '"Ort, Name"', "First name,Last name,a@b.org"])
def test_a_header_that_lacks_a_column_is_still_one(header: str) -> None:
    """It says which column is missing, and what there is."""
    assert "; found " in complaints(f"{header}\nAda,Lovelace,ada@corp.org\n")[0]


REFERRED = "first_name,last_name,email1,Referred by,{}\nAda,A,ada@corp.org,mia@corp.org,{}\n"
BOXED = "first_name,last_name,email1,,,,\nAda,A,ada@corp.org,,{}\nBob,B,bob@corp.org,,{}\n"
ATS = (
    "Candidate Name,Email,Recruiter,Recruiter Email,Hiring Manager\n"
    "Ada A,ada@corp.org,Mia M,mia@corp.org,noa@corp.org\n{}"
)


@pytest.mark.parametrize(
    "table",
    [
        # Above the header: who exported the table, or whom to ask.
        "Exported by mia@corp.org\nContact:,mia@corp.org\nReport,for,mia@corp.org by Mia\n" + LOST,
        "Contact:,Mia,mia@corp.org\n" + LOST,
        "Backend 2026\nRecruiter,Mia,mia@corp.org\nManager,Noa,noa@corp.org\n" + LOST,
        "Recruiter,Mia,mia@corp.org\nManager,Noa,noa@corp.org\n\n" + LOST,
        "Recruiter,Email,Phone\nMia,mia@corp.org,117\nNoa,noa@corp.org,118\n\n" + LOST,
        "Name,E-mail\nMia,mia@corp.org\n\n" + LOST,
        "Email,mia@corp.org\nEmail,noa@corp.org\n" + LOST,
        # Below or beside the people.
        LOST + ",,,Exported by mia@corp.org\n",
        LOST + ",,,mia@corp.org\n",
        "No," + HEADER + "1,Ada,A,ada@corp.org\nquestions? hr@corp.org\n",
        "No," + HEADER + "1,Ada,A,ada@corp.org\nhr@corp.org\n",
        "No,Job,Stage," + HEADER + "1,,,Ada,A,ada@corp.org\nContact,Mia,mia@corp.org\n",
        "No,Job,Name,Email\n1,Cook,Ada A,ada@corp.org\nHiring manager,mia@corp.org\n",
        BOXED.format("Ask,,", "Mia,M,mia@corp.org"),
        BOXED.format("Recruiter,Mia,mia@corp.org", ",,") + ",,,,Manager,Noa,noa@corp.org\n",
        BOXED.format("Role,Name,Email", "Recruiter,Mia,mia@corp.org"),
        # In columns of their own.
        REFERRED.format("Hiring manager", "noa@corp.org") + ",,,mia@corp.org,noa@corp.org\n",
        REFERRED.format("Notes", '"Mia, mia@corp.org"'),
        REFERRED.format("", "mia@corp.org"),
        SHIFTED.format("mia@corp.org"),
        ATS.format(""),
        ATS.format(",,Noa N,noa@corp.org,\n"),
        "Timestamp,Email Address,First name,Last name,Email of a friend\n"
        "1,ada@corp.org,Ada,A,mia@corp.org\n2,,,,bob@corp.org\n",
        # The same person once more: with a second address, or with other words for the name.
        "First name,Last name,Email,Email 2\nAda,A,ada@corp.org,ada@home.org\n",
        TWO.format("First name 2", " 2", "ada,A,ada@home.org"),
        TWO.format("First name 2", " 2", "Augusta,King,ADA@corp.org"),
        TWO.format("First name 2", " 2", "Bob,B,none") + "Eve,E,eve@corp.org,,,eve@home.org\n",
        TWO.format("Referrer 2 first name", " 2", "Mia,M,mia@corp.org"),
        TWO.format("Referrer first name", " of referrer", "Mia,M,mia@corp.org"),
        # In remarks of several lines.
        LOST.format('"Hi,\nwrite to me, Ada, at\nada@home.org\n1, High Street, Bonn"'),
        LOST.format('"from: mia@corp.org, noa@corp.org\nto: ada@corp.org, mia@corp.org"'),
        LOST.format('"first name, e-mail: see mia@corp.org"'),
        LOST.format('"Mia, Recruiter, mia@corp.org\n+49 1, Bonn\nMia, Team, x, mia@corp.org, 4"'),
    ],
)
def test_addresses_of_others_are_not_in_the_way(table: str) -> None:
    """Of whoever exported the table, of recruiters and referrers, in footers and in remarks."""
    if "Name," in table and HEADER[:10] not in table:
        Path("campaign.yaml").write_text(f"{sample.HEAD}candidates: {{split_name: true}}\n")
    assert people(table.replace("{}", ""))[0].email1 == "ada@corp.org"


def test_quotes_line_breaks_and_blank_rows() -> None:
    """A cell may hold the delimiter and line breaks; places stay true below it."""
    table = (
        "sep=,\n\nfirst_name,last_name,email1,notes\n"
        'A,B,a@example.com,"one, ""two""\nthree"\n\n,,,\n'
        "C,D,c@example.com\n"
        "E,F,bad,\n"
    )
    (complaint,) = complaints(table)
    assert complaint.startswith('people.csv:9, email1: found "bad", ')
    first, second = people(table.replace("E,F,bad,\n", ""))
    assert first.notes == 'one, "two"\nthree'
    assert (str(first.place), str(second.place)) == ("people.csv:4", "people.csv:8")


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (HEADER + '"A"x,B,a@example.com\n', ":2: … (',' expected after '\"')"),
        ("first,last_name,email1\n" + ADA, ":1: … first_name; found first, last_name, email1; …"),
        (
            "first_name,last_name,Email,E-mail\n",
            ":1: 2 … email1: Email (column 3, C), E-mail (column 4, D); …",
        ),
        (HEADER + "A,,a@example.com\n", ":2, last_name: missing, …"),
        (
            HEADER + "A,B,straße@example.com\nA,B,STRASSE@example.com\n",
            ':3, email1: found "STRASSE@example.com", … people.csv:2 … ß …',
        ),
        (
            HEADER + "Ad\u202ea,B,a@example.com\n",
            ':2, first_name: found "Ad\\u202ea", … RIGHT-TO-LEFT OVERRIDE',
        ),
        (
            HEADER.replace("\n", ",stage_id\n") + "A,B,a@example.com,2.5\n",
            ':2, stage_id: found "2.5", …',
        ),
    ],
)
def test_what_is_wrong_with_a_table_is_told_at_its_line(table: str | bytes, said: str) -> None:
    """No row is shifted, dropped or guessed at in silence."""
    assert fits(f"people.csv{said}", complaints(table)[0])


@pytest.mark.parametrize("end", ["\x1a", "\x1a\r\n"])
def test_the_end_mark_of_old_programs_is_no_row(end: str) -> None:
    """Nobody sees the last line that holds it; anywhere else it is a mistake."""
    table = (HEADER + ADA).replace("\n", "\r\n") + end
    assert len(people(table)) == 1
    [said] = complaints(HEADER + ADA.replace("Ada", "A\x1ada") + end)
    assert fits("people.csv:2, first_name: … U+001A", said)


def test_a_spoilt_name_is_pointed_at_and_sent_as_it_is() -> None:
    """The service has no update (interface 4): better seen before it is sent than after."""
    reading = read(HEADER + "JosÃ©,Jos?,a@example.com\n")
    first, last = map(str, reading.warnings)
    assert fits('people.csv:2, first_name: "JosÃ©": … "José", …', first)
    assert fits('people.csv:2, last_name: "Jos?": …', last)
    assert reading.definitions[0].candidates[0].first_name == "JosÃ©"


def test_a_remark_that_is_split_off_a_name_is_pointed_at() -> None:
    """As beside names that are not split; a degree is no remark."""
    names = ["Grace Hopper (opted out)", "Ada Lovelace [DO NOT INVITE]", '"Alan Turing, PhD"']
    rows = [f"{name},a{number}@corp.org" for number, name in enumerate(names)]
    Path("campaign.yaml").write_text(f"{sample.HEAD}candidates: {{split_name: true}}\n")
    problems = mistakes(people, "\n".join(["Name,Email", *rows]) + "\n")
    assert [(each.place.line, each.cause) for each in problems] == [(2, REMARK), (3, REMARK)]


@pytest.mark.parametrize(
    ("first_name", "encoding", "seen"),
    [
        ("Łukasz", "cp1250", "£ukasz"),
        ("(Zoë)", "cp1252", "(Zoë)"),
        ("Ada\u00a0B", "cp1252", "Ada\\xa0B"),
        ("JosÃ©", "cp1252", "JosÃ©"),
        (f"{'x' * 70}ë{'y' * 70}", "cp1252", f"{'x' * 25}ë{'y' * 24}"),
    ],
)
def test_a_guessed_encoding_is_shown_by_the_word_that_may_be_wrong(
    first_name: str, encoding: str, seen: str
) -> None:
    """With the character itself, be it a letter or not: it is what a person can judge."""
    table = f"{HEADER}Ada,Lovelace,ada@x.org\n{first_name},Żak,b@x.org\n"
    table = table if encoding == "cp1250" else table.replace("Ż", "Ž")
    [note] = read(table.encode(encoding)).notes
    assert fits(f'people.csv:3: … Windows-1252; if "{seen}" looks …', note)


def test_unused_columns_are_remarked_on_and_never_sent() -> None:
    """A salary in the sheet stays in the sheet."""
    reading = read("first_name,salary,last_name,email1,\nAda,100,Lovelace,ada@example.com,\n")
    (note,) = reading.notes
    assert fits(UNUSED.format("salary"), note)


def test_stages_are_whole_numbers_however_a_spreadsheet_writes_them() -> None:
    """`3.0` in an exported column is stage 3; an empty cell is the campaign's own stage."""
    rows = "A,B,a@example.com,3.0\nA,B,b@example.com, 4\nA,B,c@example.com,\n"
    table = "first_name,last_name,email1,Stage\n" + rows
    Path("campaign.yaml").write_text(sample.HEAD + "stage_id: 8\n")
    assert [person.stage_id for person in people(table)] == [3, 4, 8]


STAGED = "first_name,last_name,email1,Stage\n"


@given(
    words=st.lists(st.sampled_from(["Take Home Test", "Phone screen 1", "", " "]), max_size=9),
    numbers=st.lists(st.sampled_from(["3", "4.0", "2.5", "#N/A"]), max_size=3),
    at=st.integers(0, 9),
)
def test_words_under_stage_are_no_stage_id(words: list[str], numbers: list[str], at: int) -> None:
    """A column of words alone is told and not sent; one number in it, and each word is wrong."""
    cells = [*words[:at], *numbers, *words[at:]]
    rows = [f"A,B,a{number}@example.com,{cell}" for number, cell in enumerate(cells)]
    table = STAGED + "\n".join([*rows, "Z,Z,z@example.com,"]) + "\n"
    wrong = {at for at, cell in enumerate(cells, 2) if cell.strip() and cell not in {"3", "4.0"}}
    named = [(at, cell) for at, cell in enumerate(cells, 2) if cell.strip()]
    if named and not numbers:
        reading = read(table)
        assert {person.stage_id for person in reading.definitions[0].candidates} == {1}
        line, cell = named[0]
        shown = (UNUSED.format("Stage"), f'people.csv: … Stage … stage_id: … line {line} "{cell}"')
        assert shortened(reading.notes, shown) == shown
    elif wrong:
        places = {said.partition(",")[0] for said in complaints(table)}
        assert places == {f"people.csv:{line}" for line in wrong}
    else:
        assert read(table).notes == ()


@pytest.mark.parametrize(
    ("columns", "header", "wrong"),
    [
        ("{stage_id: null}", "stage_id", False),
        ("{stage_id: ~, notes: }", "Stage", False),
        ("{stage_id: }", "stage_id", True),
        ("{}", "Stage ID", True),
        ("{stage_id: Stage}", "Stage", True),
        ("{stage_id: Level}", "Level,Stage", True),
    ],
)
def test_columns_say_that_a_field_has_none_or_which_it_is(
    columns: str, header: str, wrong: bool
) -> None:
    """A null leaves the field out; a column that is named, or has the field's own name, is it."""
    Path("campaign.yaml").write_text(sample.HEAD + f"candidates: {{columns: {columns}}}\n")
    table = f"first_name,last_name,email1,{header}\n{ADA[:-1]},Applied\n"
    if wrong:
        (complaint,) = complaints(table)
        assert complaint.startswith('people.csv:2, stage_id: found "Applied", ')
    else:
        reading = read(table)
        (note,) = reading.notes
        assert fits(UNUSED.format(header), note)


def test_a_stage_of_words_beside_one_of_numbers_is_no_second_column() -> None:
    """Only what can be a stage_id counts."""
    (ada,) = people("first_name,last_name,email1,Stage,Stage ID\n" + ADA[:-1] + ",Applied,7\n")
    assert ada.stage_id == 7


def test_a_needed_field_without_a_column_is_a_mistake_and_says_why() -> None:
    """A null cannot leave out what the service needs."""
    text = sample.HEAD + "candidates: {columns: {first_name: null}}\n"
    Path("campaign.yaml").write_text(text)
    (said,) = complaints(HEADER + ADA)
    assert fits("people.csv:1: … first_name, … columns …; found …", said)


@pytest.mark.parametrize(
    ("cell", "address"),
    [
        ("Ada Lovelace <ada@x.org>", "ada@x.org"),
        ('"Lovelace, Ada" < Ada@x.org >', "Ada@x.org"),
        ("mailto:ada@x.org", "ada@x.org"),
        ("MailTo:ada%2Btest@x.org?subject=Hi", "ada+test@x.org"),
        ("<mailto:ada@x.org>", "ada@x.org"),
        ("ada@x.org <ada@x.org>", "ada@x.org"),
        ("ada@x.org; ada@x.org", "ada@x.org"),
        ("ada@x.org; ADA@x.org", None),
    ],
)
def test_an_address_is_found_in_what_is_written_around_it(cell: str, address: str | None) -> None:
    """As mail programs write it; what was typed twice in different letters is no other address."""
    quoted = '"' + cell.replace('"', '""') + '"'
    table = f"{HEADER}Ada,Lovelace,{quoted}\n"
    if address is None:
        assert "found" in complaints(table)[0]
    else:
        assert [person.email1 for person in people(table)] == [address]


LISTS = ["a@x.org, b@y.org", "a@x.org;b@y.org", "A <a@x.org>, B <b@y.org>", "a@x.org\nb@y.org"]


@pytest.mark.parametrize("cell", [*LISTS, "a@x.org (work) | b@y.org (home)", "b@y.org <a@x.org>"])
def test_several_addresses_in_a_cell_are_a_mistake_or_the_first_counts(cell: str) -> None:
    """As the definition says: nobody guesses which one a candidate logs in with."""
    table = f'{HEADER}Ada,Lovelace,"{cell}"\n'
    [said] = complaints(table)
    assert said.startswith("people.csv:2, email1: found ")
    assert ", not 2: " in said
    Path("campaign.yaml").write_text(sample.HEAD + "candidates: {several: first}\n")
    [ada] = people(table)
    assert ada.email1 == ("b@y.org" if cell.startswith("b") else "a@x.org")
    Path("campaign.yaml").write_text(sample.HEAD + "candidates: {several: last}\n")
    with pytest.raises(BadInput, match="mistake") as raised:
        read(table)
    assert 'candidates.several: found "last", ' in str(raised.value.problems[0])


ADDRESS = st.from_regex(r"[a-z]{1,4}@[a-z]{1,3}\.(org|com)", fullmatch=True)


@given(st.lists(ADDRESS, min_size=1, max_size=4), st.sampled_from([", ", ";", "\n", " | ", " "]))
def test_the_first_of_several_is_one_of_them(addresses: list[str], between: str) -> None:
    """One address typed again and again is one; of different ones the first, or none at all."""
    cell = between.join(addresses)
    assert plain_address(cell, first=True) == addresses[0]
    plain = plain_address(cell, first=False)
    assert plain == (cell if len(set(addresses)) > 1 else addresses[0])


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["", "x", "y"])), min_size=1))
def test_rows_that_say_the_same_are_one_person(rows: list[tuple[int, str]]) -> None:
    """One row for each application; what is not sent may differ, what is sent may not."""
    lines = [f"P,Q,p{who}@x.org,{source},{at}" for at, (who, source) in enumerate(rows)]
    table = "first_name,last_name,email1,source,Applied\n" + "\n".join(lines) + "\n"
    first: dict[int, int] = {}
    for at, (who, _) in enumerate(rows):
        first.setdefault(who, at)
    wrong = [at for at, (who, source) in enumerate(rows) if rows[first[who]][1] != source]
    if wrong:
        shown = [
            f'people.csv:{at + 2}, email1: found "p{rows[at][0]}@x.org", … '
            f"people.csv:{first[rows[at][0]] + 2}, … source"
            for at in wrong
        ]
        assert shortened(complaints(table), shown) == tuple(shown)
        return
    [definition] = read(table).definitions
    assert [person.email1 for person in definition.candidates] == [f"p{n}@x.org" for n in first]
    assert (definition.rows, definition.people) == (len(rows), len(first))


ROW = st.tuples(st.integers(0, 3), st.sampled_from(["", "x", "y"]), st.booleans())


@given(st.lists(ROW, min_size=1))
def test_a_wrong_cell_hides_no_other_mistake(rows: list[tuple[int, str, bool]]) -> None:
    """What is wrong in a sheet is told in one go: once its cells are mended, nothing new is."""

    def table(stage: str) -> str:
        lines = [f"P,Q,p{who}@x.org,{source},{stage if bad else 1}" for who, source, bad in rows]
        return "first_name,last_name,email1,source,stage_id\n" + "\n".join(lines) + "\n"

    def of(text: str) -> list[str]:
        try:
            people(text)
        except BadInput as error:
            return [str(problem) for problem in error.problems if problem.field == "email1"]
        return []

    assert of(table("late")) == of(table("1"))


@pytest.mark.parametrize("wrong", [0, 1])
def test_who_stands_twice_in_a_definition_is_told_beside_another_mistake(wrong: int) -> None:
    """Whichever of the two rows has it, and whatever it is."""
    person = sample.MINIMAL.removeprefix(f"{sample.HEAD}candidates:\n")
    rows = [person, person]
    rows[wrong] = person.replace("email1", "stage_id: late, email1")
    Path("campaign.yaml").write_text(f"{sample.HEAD}candidates:\n{''.join(rows)}")
    assert {each.field for each in mistakes(read_campaigns, Path("campaign.yaml"))} == {
        "stage_id",
        "email1",
    }


def test_capitals_make_another_address_to_log_in_with() -> None:
    """One person at two spellings: nobody guesses which one is sent (interface 4.7)."""
    [said] = complaints(HEADER + ADA + ADA.replace("ada@", "Ada@"))
    assert fits(
        'people.csv:3, email1: found "Ada@example.com", … people.csv:2 with other capitals', said
    )


def test_people_of_another_campaign_are_refused() -> None:
    """A campaign column is believed: nobody is invited to what they did not apply for."""
    table = HEADER.replace("\n", ",campaign\n") + "A,B,a@example.com,a\nA,B,b@example.com,other\n"
    (said,) = complaints(table)
    assert said.startswith('people.csv:3, campaign: found "other", wanted "a"')


def test_a_definition_names_its_table_beside_itself(tmp_path: Path) -> None:
    """Relative to the definition, wherever the command is typed; its own column names win."""
    (tmp_path / "sub").mkdir()
    definition = tmp_path / "sub" / "campaign.yaml"
    columns = "columns: {email1: Work mail, first_name: Rufname}"
    definition.write_text(sample.HEAD + f"candidates: {{file: p.csv, {columns}}}\n")
    table = "Rufname,First name,Last name,E-mail,Work mail\nAda,A,Lovelace,p@x.org,ada@x.org\n"
    (tmp_path / "sub" / "p.csv").write_text(table)
    reading = read_campaigns(definition)
    (ada,) = reading.definitions[0].candidates
    assert (ada.first_name, ada.email1) == ("Ada", "ada@x.org")
    assert reading.notes[0].endswith(": First name, E-mail")


@pytest.mark.parametrize(
    ("path", "then"),
    [("campaign.yaml", "campaign.yaml"), ("people.csv", "people.csv --campaign DEFINITION")],
)
def test_one_file_in_both_places_is_said(path: str, then: str) -> None:
    """However it is spelled; what it is tells what to type."""
    Path("people.csv").write_text(HEADER + ADA)
    with pytest.raises(BadInput, match="1 mistake") as raised:
        read_campaigns(Path(path), Path.cwd() / path)
    assert raised.value.then == f"Then type: campaign %TYPED% {then}"


def test_a_table_that_is_given_replaces_the_definition_s_own_people() -> None:
    """The command names whom it is about; the remark says who was left aside."""
    Path("campaign.yaml").write_text(sample.MINIMAL)
    reading = read(HEADER + "B,B,b@example.com\n")
    assert [person.email1 for person in reading.definitions[0].candidates] == ["b@example.com"]
    assert fits("… campaign.yaml …; people.csv …", reading.notes[0])


@pytest.mark.parametrize(
    ("cell", "text", "number", "truth"),
    [
        (3.0, "3", 3, 3.0),
        (1.0, "1", 1, True),
        (2.5, "2.5", 2.5, 2.5),
        ("3.0", "3.0", 3, "3.0"),
        ("³", "³", "³", "³"),
        ("Yes", "Yes", "Yes", True),
        (False, "FALSE", False, False),
        (1e300, "1e+300", 1e300, 1e300),
    ],
)
def test_cells_mean_what_a_person_sees(
    cell: object, text: object, number: object, truth: object
) -> None:
    """A number in a text column is its plain text; what does not fit is left to be refused."""
    assert repr(as_text(cell)) == repr(text)
    assert repr(as_whole_number(cell)) == repr(number)
    assert repr(as_yes_or_no(cell)) == repr(truth)


def test_the_unicode_text_of_excel_is_a_table(tmp_path: Path) -> None:
    """UTF-16 with tabs, under the name .txt; other texts of a folder are none of its tables."""
    text = 'First name\tLast name\tEmail\r\nZoë\t"Li, Ng"\tzoe@work.org\r\n'
    Path("export.txt").write_bytes(text.encode("utf-16"))
    (zoe,) = read_campaigns(Path("export.txt"), Path("campaign.yaml")).definitions[0].candidates
    assert (zoe.first_name, zoe.last_name, zoe.email1) == ("Zoë", "Li, Ng", "zoe@work.org")
    Path("named.yaml").write_text(sample.HEAD + "candidates: {file: export.txt}\n")
    assert len(read_campaigns(Path("named.yaml")).definitions[0].candidates) == 1
    Path("README.txt").write_text("What is in this folder.")
    assert stray_files(tmp_path) == []
