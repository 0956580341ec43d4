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
    ("where", "kept", "apart"),
    [
        ({"JOB": "backend"}, "Ada Bob Dan", {"Stage": {"Take-home": 1, "": 1, "Offer": 1}}),
        (
            {"Job": "Backend", "Stage": ["take-home", ""]},
            "Ada Bob",
            {"Stage": {"Take-home": 1, "": 1}},
        ),
        (
            {"Stage": ["Offer", "Onsite"]},
            "Dan",
            {},
        ),
    ],
)
def test_where_keeps_exactly_who_it_names(
    read: Read, tmp_path: Path, where: dict[str, Any], kept: str, apart: dict[str, Any]
) -> None:
    """Whatever the capitals and blanks; a value that nobody has is a note."""
    people = read(TABLE, where=where, ignore=[] if "Stage" in where else ["Stage"])
    assert said(people, tmp_path) == []
    assert [first for first, *_ in sent(people)] == kept.split()
    assert sum(map(len, people.left_out.values())) == 4 - len(kept.split())
    assert people.apart == apart
    note = 'nobody has "Onsite" under Stage; the values are "Offer", '
    assert any(note in each for each in people.notes) == ("Onsite" in str(where))


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


def test_a_cell_without_a_value_matters_only_where_it_decides(read: Read, tmp_path: Path) -> None:
    """Whoever another column leaves out is out, whatever this one would say."""
    table = TABLE.replace("Offer", "#N/A")
    (found,) = said(read(table, where={"Job": "Backend", "Stage": "Take-home"}), tmp_path)
    assert found == (
        "people.csv:5, candidates.where: found the error #N/A, wanted a value of Stage"
    )
    assert said(read(table, where={"Job": "Data", "Stage": "Take-home"}), tmp_path) == []
