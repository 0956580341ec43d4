"""Rows written short read as the same rows, and the ledger keeps them for every add."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.sending.row_ranges import read, written
from data.store.states import Operation, Step
from tests.support.ledgers.small_ledger import Small


@pytest.mark.parametrize(
    ("rows", "text"),
    [((), ""), ((7,), "7"), ((3, 1, 2, 5), "1-3,5"), ((1, 3, 5), "1,3,5"), ((9, 10), "9-10")],
)
def test_neighbours_are_one_range(rows: tuple[int, ...], text: str) -> None:
    """A hundred neighbours take as much room as two numbers."""
    assert written(rows) == text


@given(st.sets(st.integers(1, 10**9) | st.integers(1, 40)))
def test_what_is_written_reads_as_it_was(rows: set[int]) -> None:
    """No row is lost and none is added on the way."""
    assert {row for span in read(written(rows)) for row in span} == rows


def test_an_add_says_whom_it_carried_even_when_it_is_tried_again(tmp_path: Path) -> None:
    """A person's story is whole only if the requests that came to nothing are in it too."""
    small = Small.at(tmp_path, "ada", "bob", "cid")
    rows = small.rows()
    with small.ledger:
        first = small.claim(Operation.ADD, *rows.values())
        assert first is not None
        small.land(Operation.ADD, first, Step.WAITING)
        small.claim(Operation.ADD, rows["ada"], rows["cid"])
        carried = [one.carried for one in small.attempts()]
    assert carried == [f"{rows['ada']}-{rows['cid']}", f"{rows['ada']},{rows['cid']}"]
