"""`where`: whom of an exported table a campaign is for, and nobody else, ever."""

import csv
import json
from collections import Counter
from collections.abc import Iterator
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from config.definition.fields import WHERE_OF_A_FILE
from config.reading.own_tables import named_table, own_tables, people_at
from config.reading.reading import Reading, read_campaigns
from config.tables.where import in_words
from data.campaigns import intake, queries
from sandbox.server import Sandbox
from tasks.outputs.exports import Result
from tasks.outputs.writing_back import keys_in, results_by_row
from tests.config.refusals import messages
from tests.flows.cli.test_cli import Typed, clean_environment, typed
from tests.sheets.writers import workbook
from tests.support import yaml_definition as sample
from tests.support.campaigns import PROJECT, Office
from tests.support.documents import fits

__all__ = ["clean_environment", "typed"]

HEADER = ["First name", "Last name", "Email", "Job", "Stage "]
BACKEND = "{Job: Backend Engineer, Stage: [Take Home Test, Take-home]}"
PEOPLE = [
    ["Ada", "Lovelace", "ada@mail.com", "Backend Engineer", "Take Home Test"],
    ["Bob", "Ross", "bob@mail.com", "backend engineer ", " take-HOME"],
    ["Cy", "Young", "cy@mail.com", "Backend Engineer", "Applied"],
    ["Di", "Prince", "di@mail.com", "Frontend Engineer", "Take Home Test"],
    ["Eli", "", "eli@", "", "Take Home Test"],
]


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as running:
        yield running


def table(rows: list[list[str]], path: str = "people.csv") -> Path:
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return Path(path)


def definition(where: str, more: str = "", file: str = "people.csv") -> Path:
    candidates = f"candidates:\n  file: {file}\n  where: {where}\n"
    Path("hiring.yaml").write_text(sample.HEAD + candidates + more, "utf-8")
    return Path("hiring.yaml")


def emails(reading: Reading, at: int = 0) -> list[str]:
    return [person.email1 for person in reading.definitions[at].candidates]


complaints = partial(messages, read_campaigns)


def book(**sheets: list[list[Any]]) -> Path:
    Path("people.xlsx").write_bytes(workbook(sheets))
    return Path("people.xlsx")


CELLS = [
    "Offer",
    "offer ",
    " OFFER",
    "Offers",
    "Off er",
    "",
    " ",
    "Ofﬁce",
    "STRASSE",
    "straße",
    "3",
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    cells=st.lists(st.tuples(*[st.sampled_from(CELLS)] * 2), min_size=1, max_size=12),
    wanted=st.lists(st.sampled_from(["Offer", "offers", "straße", "3"]), min_size=1, unique=True),
    second=st.none() | st.sampled_from(["Offer", "3"]),
)
def test_nobody_outside_is_read_written_back_or_counted(
    cells: list[tuple[str, str]], wanted: list[str], second: str | None
) -> None:
    """Against a plain comparison: trimmed, without regard to case, all columns at once."""
    names = [f"p{number}@mail.com" for number in range(len(cells))]
    rows = [["A", "B", email, *both] for email, both in zip(names, cells, strict=True)]
    table([[*HEADER[:4], "Step"], *rows])
    where: dict[str, Any] = {" job": wanted} | ({"STEP": second} if second else {})
    path = definition(json.dumps(where, ensure_ascii=False))

    def alike(cell: str, values: list[str]) -> bool:
        return cell.strip().casefold() in {value.casefold() for value in values}

    inside = [
        email
        for email, (job, stage) in zip(names, cells, strict=True)
        if alike(job, wanted) and (second is None or alike(stage, [second]))
    ]
    absent = [value for value in wanted if not any(alike(job, [value]) for job, _ in cells)]
    if second and not any(alike(stage, [second]) for _, stage in cells):
        absent.append(second)
    at = people_at(named := named_table(path, None), own_tables(named)[1])  # type: ignore[arg-type]
    assert sorted(keys_in(at, "a")) == sorted(inside)
    result = Result(1, None, "invited", None, True)
    written = results_by_row(at, "a", dict.fromkeys(names, result))
    assert {names[number - 2] for number in written} == set(inside)
    if absent or not inside:
        assert len(complaints(path)) == max(len(absent), 1)
        return
    reading = read_campaigns(path)
    assert emails(reading) == inside
    selection = reading.definitions[0].selection
    assert selection is not None
    left_out = sum(sum(each.left_out.values()) for each in selection.columns)
    assert (selection.rows, selection.kept) == (len(cells), len(inside))
    assert left_out == len(cells) - len(inside)
    assert sum(selection.columns[-1].kept.values()) == len(inside)


def test_what_was_kept_is_said_by_value(typed: Typed) -> None:
    """In `check` and `plan`, in words and for programs; a wrong row outside is no mistake."""
    table([HEADER, *PEOPLE])
    definition(BACKEND)
    said = [
        "  where       2 of 5 rows kept, 3 left out",
        '              Job: "Backend Engineer" 3; left out: "Frontend Engineer" 1, nothing 1',
        '              Stage: "Take Home Test" 1, "take-HOME" 1; left out: "Applied" 1',
    ]
    for command in ("check", "plan"):
        lines = typed(command, "hiring.yaml").out.splitlines()
        at = lines.index(said[0])
        assert lines[at : at + 3] == said
        [campaign] = typed(command, "hiring.yaml", "--json").object["campaigns"]
        assert campaign["where"] == {
            "rows": 5,
            "kept": 2,
            "left_out": 3,
            "columns": [
                {
                    "column": "Job",
                    "kept": {"Backend Engineer": 3},
                    "left_out": {"Frontend Engineer": 1, "": 1},
                },
                {
                    "column": "Stage",
                    "kept": {"Take Home Test": 1, "take-HOME": 1},
                    "left_out": {"Applied": 1},
                },
            ],
        }
    definition("{Job: Backend Engineer}").write_text(sample.MINIMAL, "utf-8")
    [campaign] = typed("check", "hiring.yaml", "--json").object["campaigns"]
    assert campaign["where"] is None


def test_one_person_in_several_rows_is_counted_once(typed: Typed) -> None:
    """It is said, and every row of the person gets the result that is written back."""
    rows = [PEOPLE[0], [*PEOPLE[0][:3], "Frontend Engineer", "Applied"], PEOPLE[1]]
    table([HEADER, *rows])
    path = definition("{Stage: [Take Home Test, Take-home, Applied]}")
    for command in ("check", "plan"):
        assert "  rows        3 rows, 2 people" in typed(command, path).out.splitlines()
        [campaign] = typed(command, path, "--json").object["campaigns"]
        assert (campaign["rows"], campaign["people"]) == (3, 2)
    named = named_table(path, None)
    assert named is not None
    ada = Result(7, "https://x.org", "invited", None, True)
    written = results_by_row(people_at(named, own_tables(named)[1]), "a", {"ada@mail.com": ada})
    assert [number for number, result in written.items() if result is ada] == [2, 3]


APPLICATION = st.tuples(
    st.integers(0, 3),  # who
    st.sampled_from(["web", "web ", "fair"]),  # their source, which is sent
    st.sampled_from(["Offer", " offer", "Screen"]),  # the stage, which is not
    st.booleans(),  # whether their address is in capitals, and sent so
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(applications=st.lists(APPLICATION, min_size=1, max_size=9))
def test_applications_are_folded_into_people_or_told(
    applications: list[tuple[int, str, str, bool]],
) -> None:
    """Against a plain comparison of what is sent, row by row; each row inside gets the result."""
    header = ["First name", "Last name", "Email", "Source", "Stage"]
    addresses = [
        f"p{who}@mail.com".upper() if up else f"p{who}@mail.com" for who, *_, up in applications
    ]
    rows = [
        [f"N{who}", "L", address, source, stage]
        for (who, source, stage, _), address in zip(applications, addresses, strict=True)
    ]
    table([header, *rows])
    path = definition("{Stage: Offer}")
    inside = [number for number, row in enumerate(rows, start=2) if row[4].strip() != "Screen"]
    sent: dict[str, set[tuple[str, str]]] = {}
    for number in inside:
        _, _, address, source, _ = rows[number - 2]
        sent.setdefault(address.lower(), set()).add((address, source.strip()))
    at = people_at(named := named_table(path, None), own_tables(named)[1])  # type: ignore[arg-type]
    results = {key: Result(len(key), None, "invited", key, True) for key in sent}
    written = results_by_row(at, "a", results)
    assert list(written) == inside
    assert all(written[n].why == rows[n - 2][2].lower() for n in inside)
    if not inside or any(len(ways) > 1 for ways in sent.values()):
        wrong = complaints(path)
        assert len(wrong) >= 1
        assert not inside or all(fits("…, email1: … people.csv:…", said) for said in wrong)
        return
    read = read_campaigns(path).definitions[0]
    assert [person.key for person in read.candidates] == list(sent)
    assert (read.rows, read.people) == (len(inside), len(sent))


@pytest.mark.parametrize(
    ("where", "said"),
    [
        (
            "{Jop: Backend Engineer}",
            'hiring.yaml:6:16, candidates.where.Jop: … "Jop"; … "Job", "First name", "Last name", '
            '"Email", "Stage"',
        ),
        (
            "{Stage: [Take Home Test, Take home]}",
            'hiring.yaml:6:18, candidates.where.Stage: … "Take home" … Stage; … "take-HOME", '
            '"Take Home Test", "Applied"',
        ),
        (
            "{Job: Frontend Engineer, Stage: Applied}",
            "hiring.yaml:6:42, candidates.where.Stage: …: 0 of 5 …, 5 …; Job: "
            '"Frontend Engineer" 1; …: "Backend Engineer" 3, nothing 1; Stage: nobody; …: '
            '"Take Home Test" 1',
        ),
        ("", "hiring.yaml:6:3, candidates.where: missing, …"),
        ("{}", "hiring.yaml:6:10, candidates.where: found an empty mapping, …"),
        ("Job", 'hiring.yaml:6:10, candidates.where: found "Job", …'),
        ("{Job: }", "hiring.yaml:6:10, candidates.where: found a mapping, …"),
        ("{Job: []}", "hiring.yaml:6:10, candidates.where: found a mapping, …"),
        ("{Job: [a, null]}", "hiring.yaml:6:10, candidates.where: found a mapping, …"),
        ("{Job: {a: b}}", "hiring.yaml:6:10, candidates.where: found a mapping, …"),
    ],
)
def test_a_slip_is_a_mistake_with_what_there_is(where: str, said: str) -> None:
    """The nearest first, at its place in the definition; an empty `where` never means everybody."""
    table([HEADER, *PEOPLE])
    first = complaints(definition(where))[0]
    assert fits(said, first)


def test_two_columns_of_one_header_are_not_guessed_between() -> None:
    """Either might be meant."""
    table([[*HEADER, "job "], ["Ada", "L", "ada@mail.com", "x", "", "y"]])
    (said,) = complaints(definition("{Job: x}"))
    assert fits('hiring.yaml:6:16, candidates.where.Job: 2 … "Job"; …', said)


def test_an_error_where_a_value_is_compared_is_a_mistake() -> None:
    """Who is meant cannot be known; a row that another column leaves out is no matter."""
    errors = [["F", "G", "f@mail.com", "#N/A", "Applied"], ["H", "I", "h@mail.com", "#REF!", "X"]]
    table([HEADER, *PEOPLE[:4], *errors])
    [said] = complaints(definition("{Job: Frontend Engineer, Stage: [Take Home Test, Applied]}"))
    assert fits("people.csv:6, candidates.where: found the error #N/A, … Job", said)


def test_numbers_and_dates_are_compared_as_they_are_shown() -> None:
    """Whatever the spreadsheet keeps them as."""
    rows = [
        [*HEADER[:3], "Round", "Applied on"],
        ["Ada", "L", "ada@mail.com", 2.0, date(2026, 11, 2)],
        ["Bob", "R", "bob@mail.com", "2", "2026-11-02"],
        ["Cy", "Y", "cy@mail.com", 2.5, date(2026, 11, 3)],
    ]
    book(People=rows)
    path = definition("{Round: 2, applied on: 2026-11-02}", file="people.xlsx")
    assert emails(read_campaigns(path)) == ["ada@mail.com", "bob@mail.com"]


def test_a_workbook_says_it_in_its_own_sheet() -> None:
    """A row each; several values have a semicolon or a line between; nothing is a mistake."""
    fields = [["campaign", "a"], ["name", "A"], ["problem", 1]]
    stages = ["candidates.where.stage", "Take Home Test; Take-home"]
    path = book(campaign=[*fields, ["where.Job", "Backend Engineer"], stages], candidates=PEOPLE)
    sheet = openpyxl.load_workbook(path)
    sheet["candidates"].insert_rows(1)
    for column, name in enumerate(HEADER, start=1):
        sheet["candidates"].cell(1, column, name)
    sheet.save(path)
    assert emails(read_campaigns(path)) == ["ada@mail.com", "bob@mail.com"]
    named = named_table(path, None, "a")
    assert named is not None
    assert keys_in(people_at(named, own_tables(named)[1]), "a") == {"ada@mail.com", "bob@mail.com"}
    sheet["campaign"]["B4"] = None
    sheet.save(path)
    shown = "people.xlsx, campaign!B4, where.Job: missing, "
    assert any(said.startswith(shown) for said in complaints(path))
    sheet["campaign"]["B4"] = "Backend"
    sheet.save(path)
    shown = 'people.xlsx, campaign!B4, candidates.where.Job: … "Backend" … "Backend Engineer"…'
    assert fits(shown, complaints(path)[0])


def test_each_campaign_of_a_batch_has_its_own() -> None:
    """An empty cell of the batch keeps everybody of that campaign."""
    rows = [
        ["campaign", "name", "problem", "candidates.where.Job", "candidates.where.Stage"],
        ["a", "A", 1, "Backend Engineer", "Take Home Test\ntake-home"],
        ["b", "B", 2, "Frontend Engineer", None],
        ["c", "C", 3, None, None],
    ]
    stay = PEOPLE[:4]
    people = [[key, *person] for key in "abc" for person in stay]
    path = book(campaigns=rows, candidates=[["campaign", *HEADER], *people])
    reading = read_campaigns(path)
    assert [emails(reading, at) for at in range(3)] == [
        ["ada@mail.com", "bob@mail.com"],
        ["di@mail.com"],
        [person[2] for person in stay],
    ]
    for key, rows_of in (("a", [2, 3]), ("b", [9]), ("c", [10, 11, 12, 13])):
        named = named_table(path, None, key)
        assert named is not None
        assert list(results_by_row(people_at(named, own_tables(named)[1]), key, {})) == rows_of


def test_a_list_of_people_has_no_rows_to_choose_among() -> None:
    """Rather a mistake than a filter that does nothing."""
    person = "{first_name: A, last_name: B, email1: a@mail.com}"
    Path("hiring.yaml").write_text(
        f"{sample.HEAD}candidates:\n  where: {{Job: x}}\n  people: [{person}]\n"
    )
    assert complaints(Path("hiring.yaml")) == [
        f"hiring.yaml:5:3, candidates.where: {WHERE_OF_A_FILE}"
    ]


def test_a_pilot_outside_is_a_mistake() -> None:
    """The first invitation is one as well; an address that is in no row is somebody's own."""
    table([HEADER, *PEOPLE])
    (said,) = complaints(definition(BACKEND, "invites: {pilot: Cy@Mail.com}\n"))
    assert fits('hiring.yaml:7:18, invites.pilot: "Cy@Mail.com" … candidates.where …', said)
    for inside in ("ada@mail.com", "me@mail.com"):
        definition(BACKEND, f"invites: {{pilot: {inside}}}\n")
        assert inside in emails(read_campaigns(Path("hiring.yaml")))


def test_who_leaves_the_filter_is_treated_as_a_removed_row(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    """The next run sends nobody outside anything, and the guard counts them; nobody twice."""
    office = Office.at(tmp_path, sandbox)
    path = definition(BACKEND, "guard: {removed: 60%}\n")
    path.write_text(
        path.read_text().replace("{name: A}", PROJECT).replace("problem: 1", "problem: 42")
    )
    path = path.rename("a.yaml")
    table([HEADER, *PEOPLE])
    office.run(path)
    assert office.emails() == Counter(["ada@mail.com", "bob@mail.com"])
    assert {person.email1 for person in sandbox.candidates} == {"ada@mail.com", "bob@mail.com"}
    moved = [[*person[:4], "Applied"] for person in PEOPLE[:1]]
    newly = [[*PEOPLE[2][:4], "Take-home"]]
    table(
        [
            HEADER,
            *moved,
            *PEOPLE[1:2],
            *newly,
            *PEOPLE[3:],
            ["N", "N", "n@mail.com", "", "Take Home Test"],
            ["M", "M", "m@mail.com", "Backend Engineer", "Take Home Test"],
        ]
    )
    office.run(path)
    assert office.emails() == Counter(["ada@mail.com", "bob@mail.com", "cy@mail.com", "m@mail.com"])
    with office.ledger() as ledger:
        campaign = ledger.read(queries.find_campaign, "a")
        assert campaign is not None
        gone = [
            person.key
            for person in ledger.read(intake.everybody, campaign.id).values()
            if not person.listed
        ]
    assert gone == ["ada@mail.com"]
    table([HEADER, PEOPLE[0], [*PEOPLE[1][:4], "Take-home"]])
    finish = office.run(path)
    assert "2 of 3 people are gone" in str(finish)
    assert office.emails().total() == 4


def test_words_of_many_values_are_few(tmp_path: Path) -> None:
    """The most frequent, and how many rows all others have."""
    rows = [[f"A{n}", "B", f"a{n}@mail.com", f"job {n % 30}", ""] for n in range(100)]
    table([HEADER, *rows])
    selection = read_campaigns(definition("{Job: job 0}")).definitions[0].selection
    assert selection is not None
    assert in_words(selection)[1].startswith('Job: "job 0" 4; left out: "job 1" 4, "job 2" 4, ')
    assert in_words(selection)[1].endswith("21 others 64")


@pytest.mark.parametrize("quotes", ['""', "“”", "„“"])
def test_an_empty_cell_is_chosen_by_an_empty_text(quotes: str) -> None:
    """Never by a field without a value; in a sheet, where nobody sees an empty text, by quotes,
    which a spreadsheet program may have curled."""
    table([HEADER, *PEOPLE[:4], ["Fay", "F", "fay@mail.com", "", ""]])
    assert emails(read_campaigns(definition('{Job: ["", Frontend Engineer]}'))) == [
        "di@mail.com",
        "fay@mail.com",
    ]
    fields = [["campaign", "a"], ["name", "A"], ["problem", 1], ["where.Job", f"{quotes}; Cook"]]
    people = [
        HEADER,
        PEOPLE[0],
        ["Fay", "F", "fay@mail.com", None, ""],
        ["B", "C", "b@x.org", "Cook"],
    ]
    path = book(campaign=fields, candidates=people)
    assert emails(read_campaigns(path)) == ["fay@mail.com", "b@x.org"]
