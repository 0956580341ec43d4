"""docs/interface.md goes through the whole interface, and what it names as proof exists."""

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.support.sources import parsed

pytestmark = pytest.mark.xdist_group("sources")  # parsed by one worker
ROOT = Path(__file__).parents[2]
TABLE = ROOT / "docs" / "interface.md"
FIELD = re.compile(r"`(\w+)`")
HEADER = ("statement", "campaigns", "test")

# The parts of the interface and how many rows each has, its gaps among them.
STATEMENTS = {
    "1": 10,
    "2 token": 3,
    "2 problem": 8,
    "2 project": 6,
    "2 candidate": 6,
    "2 link": 1,
    "3": 3,
    "4": 1,
    "4.1": 5,
    "4.2": 4,
    "4.3": 3,
    "4.4": 2,
    "4.5": 4,
    "4.6": 4,
    "4.7": 7,
    "4 gaps": 4,
    "5": 9,
    "6": 2,
    "7": 3,
    "8": 5,
    "9": 2,
}
FIELDS = {
    "2 token": "access_token token_type expires_in",
    "2 problem": "id title description time_limit skills public owner_id difficulty date_created"
    " open like_count open_count view_count opened solved open_events submissions _public"
    " is_current_user_admin liked_by_current_user viewed_by_current_user",
    "2 project": "id name description state starttime endtime",
    "2 candidate": "first_name last_name email1 source notes stage_id candidate_id",
    "2 link": "problemid",
    "4.1": "grant_type client_id client_secret audience",
}


@dataclass(frozen=True)
class Row:
    """One statement; `part` is the number in the heading above, `line` is in the table's file."""

    line: int
    part: str
    statement: str
    how: str
    tests: tuple[str, ...]

    def __str__(self) -> str:
        return f"docs/interface.md:{self.line} ({self.part})"


def rows() -> list[Row]:
    """Read every row of every table; a row of another shape fails here."""
    found, part = [], ""
    for line, text in enumerate(TABLE.read_text("utf-8").splitlines(), start=1):
        if text.startswith("#"):
            part = text.lstrip("# ").partition(":")[0]
        cells = tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", text))
        if len(cells) == 1 or cells == HEADER or set("".join(cells)) == {"-"}:
            continue
        assert len(cells) == len(HEADER), f"docs/interface.md:{line}: {len(cells)} cells"
        named = tuple(re.findall(r"`(tests/[^`]+)`", cells[2]))
        found.append(Row(line, part, *cells[:2], named))
    return found


ROWS = rows()


@cache
def names_in(path: str) -> frozenset[str]:
    """The tests a file defines, those of its classes included; nothing where there is no file."""
    file = ROOT / path
    if not file.is_file():
        return frozenset()
    defined = ast.walk(parsed(file))
    functions = (one for one in defined if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(one.name for one in functions if one.name.startswith("test_"))


def exists(named: str) -> bool:
    path, _, name = named.partition("::")
    return name in names_in(path)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_every_row_says_how_and_names_tests_that_exist(row: Row) -> None:
    """No statement is honoured by words alone."""
    assert row.statement, f"{row}: no statement"
    assert row.how, f"{row}: nothing said of how it is honoured"
    assert row.tests, f"{row}: names no test"
    missing = [named for named in row.tests if not exists(named)]
    assert not missing, f"{row}: no such test: {', '.join(missing)}"


def test_every_statement_of_every_part_has_a_row() -> None:
    """A part that is forgotten, or a statement that is dropped, is seen."""
    counted = {part: sum(row.part == part for row in ROWS) for part in STATEMENTS}
    assert counted == STATEMENTS
    assert {row.part for row in ROWS} == STATEMENTS.keys()
    assert len({(row.part, row.statement) for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize(("part", "names"), FIELDS.items(), ids=FIELDS)
def test_every_field_has_a_row(part: str, names: str) -> None:
    """Every field of every record is gone through by name, once and in its order."""
    listed = [name for row in ROWS if row.part == part for name in FIELD.findall(row.statement)]
    assert listed == names.split()


def test_a_test_that_is_not_there_is_noticed() -> None:
    """The search for tests finds what exists and nothing else."""
    here = f"{Path(__file__).relative_to(ROOT)}::"
    assert exists(f"{here}test_a_test_that_is_not_there_is_noticed")
    assert not exists(f"{here}test_that_nobody_wrote")
    assert not exists("tests/test_of_nothing.py::test_every_field_has_a_row")
    assert not exists(f"{here}rows")
