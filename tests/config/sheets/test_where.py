"""Which rows `where` keeps, what it says of the others, and what is wrong with it."""

from pathlib import Path
from typing import Any

import pytest

from tests.config.sheets.conftest import Read, said, sent

TABLE = """First name,Last name,Email,Job,Stage
Ada,A,ada@people.test,Backend,Take-home
Bob,B,bob@people.test, backend ,
Cid,C,cid@people.test,Data,Take-home
Dan,D,dan@people.test,BACKEND,Offer
"""


@pytest.mark.parametrize(
    ("where", "kept", "notes"),
    [
        (
            {"JOB": "backend"},
            "Ada Bob Dan",
            ['where keeps, by JOB: "Backend" 3 of 3, "Data" 0 of 1'],
        ),
        (
            {"Job": "Backend", "Stage": ["take-home", ""]},
            "Ada Bob",
            [
                'where keeps, by Job: "Backend" 2 of 3, "Data" 0 of 1',
                'where keeps, by Stage: "Take-home" 1 of 2, "" 1 of 1, "Offer" 0 of 1',
            ],
        ),
        (
            {"Stage": ["Offer", "Onsite"]},
            "Dan",
            ['nobody has "Onsite" under Stage; the values are "Offer", '],
        ),
    ],
)
def test_where_keeps_exactly_who_it_names(
    read: Read, tmp_path: Path, where: dict[str, Any], kept: str, notes: list[str]
) -> None:
    """Whatever the capitals and blanks; the note counts the values."""
    people = read(TABLE, where=where)
    assert said(people, tmp_path) == []
    assert [first for first, *_ in sent(people)] == kept.split()
    assert sum(map(len, people.left_out.values())) == 4 - len(kept.split())
    assert all(any(each in note for note in people.notes) for each in notes), people.notes


def test_whoever_has_anything_in_a_column_is_out_for_one_reason(read: Read) -> None:
    """A column of dates, such as Rejected on, would have a reason for each."""
    out = read(TABLE, where={"Stage": ""}).left_out
    assert out == {"Stage is filled": ["Ada A", "Cid C", "Dan D"]}


@pytest.mark.parametrize(
    ("table", "where", "wanted"),
    [
        (
            TABLE,
            {"Jobs": "Backend"},
            ': there is no column "Jobs"; the columns are "Job", …',
        ),
        (
            TABLE,
            {"Job": "Bakend"},
            ': where keeps nobody; nobody has "Bakend" under Job; the values are "Backend", "Data"',
        ),
        (
            TABLE,
            {"Job": "Data", "Stage": "Offer"},
            ': where keeps nobody; Job is "Backend", Stage is "Take-home"',
        ),
        (
            TABLE.replace("Stage", "Job"),
            {"Job": "Data"},
            ': 2 columns have the header "Job"; rename the others',
        ),
    ],
)
def test_what_is_wrong_with_where(
    read: Read, tmp_path: Path, table: str, where: dict[str, Any], wanted: str
) -> None:
    """One mistake, with what there is instead."""
    (found,) = said(read(table, where=where), tmp_path)
    whole, cut, _ = f"people.csv, candidates.where{wanted}".partition("…")
    assert found.startswith(whole) if cut else found == whole


@pytest.mark.parametrize(
    ("table", "where", "note"),
    [
        (
            TABLE,
            {},
            'nobody is chosen by Stage: "Take-home" 2, "" 1, "Offer" 1; to choose:  '
            "where: {Stage: Take-home}",
        ),
        (
            TABLE.replace("Offer", "Test\nEve,E,eve@people.test,Backend,Test"),
            {"Job": "Backend"},
            'nobody is chosen by Stage: "Test" 2, "Take-home" 1, "" 1; to choose:  '
            "where: {Job: Backend, Stage: Test}",
        ),
        (TABLE, {"stage": ["Take-home", "Offer"]}, None),
        (TABLE, {"Job": "Data"}, None),
        (TABLE.replace("Stage", "Town"), {}, None),
        (TABLE + "".join(f"A{n},B,c{n}@people.test,x,{n}th\n" for n in range(9)), {}, None),
    ],
)
def test_a_status_by_which_nobody_is_chosen(
    read: Read, table: str, where: dict[str, Any], note: str | None
) -> None:
    """Several values, and no more than a funnel has steps, are told with the line to choose."""
    notes = read(table, where=where).notes
    told = [each.partition(": ")[2] for each in notes if ": nobody is chosen" in each]
    assert told == ([note] if note else [])


def test_a_cell_without_a_value_matters_only_where_it_decides(read: Read, tmp_path: Path) -> None:
    """Whoever another column leaves out is out, whatever this one would say."""
    table = TABLE.replace("Offer", "#N/A")
    (found,) = said(read(table, where={"Job": "Backend", "Stage": "Take-home"}), tmp_path)
    assert found == (
        "people.csv:5, candidates.where: found the error #N/A, wanted a value of Stage"
    )
    assert said(read(table, where={"Job": "Data", "Stage": "Take-home"}), tmp_path) == []
