"""Prepared statements: in a file they do what SQLAlchemy does, and fail as it fails."""

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError, StatementError

from data.sending.prepared import Prepared
from data.store.errors import LedgerUnusable
from data.store.states import AttemptState, Operation
from data.store.tables import attempt, candidate, runs
from tests.support.ledgers.small_ledger import NOON, Small

BY_ROW = select(candidate.c.id, candidate.c.first_name)
NAMES = Prepared(
    BY_ROW.where(candidate.c.id == bindparam("row")),
    BY_ROW.where(candidate.c.id.in_(bindparam("row", expanding=True))),
)
BEAT = update(runs).where(runs.c.id == bindparam("run")).values(heartbeat_at=bindparam("at"))
ENTRY = insert(attempt).returning(attempt.c.id, sort_by_parameter_order=True)

pytestmark = pytest.mark.usefixtures("each_database")


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Small]:
    small = Small.at(tmp_path, "ada", "bo", "cy")
    with small.ledger:
        yield small


def entry(small: Small, row: int) -> dict[str, object]:
    return {
        "campaign_id": small.begun.campaign,
        "candidate_row": row,
        "generation": 1,
        "operation": Operation.INVITE,
        "rows": 1,
        "state": AttemptState.SENDING,
        "run_id": small.begun.run,
        "claimed_at": NOON,
    }


def test_rows_are_those_of_all_values(small: Small) -> None:
    """Whether the database is asked once for all of them, or once for each."""
    ada, _, cy = small.rows().values()
    rows = small.ledger.read(NAMES.rows, {"row": ada}, {"row": cy})
    assert sorted(map(tuple, rows)) == [(ada, "ada"), (cy, "cy")]


def test_a_time_is_stored_as_sqlalchemy_stores_it(small: Small) -> None:
    """In UTC, whatever its zone, so that it can be compared with those that SQLAlchemy wrote."""
    east = NOON.astimezone(timezone(timedelta(hours=5, minutes=30)))
    at = runs.c.heartbeat_at
    same = {"run": small.begun.run, "at": east}
    with small.ledger._transactions.writing() as connection:
        assert Prepared(BEAT).change(connection, same) == 1
        assert connection.scalar(select(at).where(at == NOON)) == NOON
        with pytest.raises((ValueError, StatementError), match="naive time"):
            Prepared(BEAT).change(connection, same | {"at": datetime(2026, 10, 1)})  # noqa: DTZ001


def test_numbers_come_in_the_order_of_the_values(small: Small) -> None:
    """A claim gets the number of its own entry in the journal."""
    rows = list(small.rows().values())
    with small.ledger._transactions.writing() as connection:
        numbers = Prepared(ENTRY).rows(connection, *(entry(small, row) for row in rows))
    written = {each.id: each.candidate_row for each in small.attempts()}
    assert [written[number] for (number,) in numbers] == rows


@pytest.mark.parametrize("each_database", ["sqlite"], indirect=True, scope="module")
def test_nothing_changes_outside_a_transaction(small: Small) -> None:
    """A claim that was committed by itself would stay without what belongs to it."""
    ada, *_ = small.rows().values()
    with small.ledger._engine.connect() as connection:
        assert Prepared(BY_ROW).rows(connection, {})
        with pytest.raises(RuntimeError):
            Prepared(BEAT).change(connection, {"run": small.begun.run, "at": NOON})
        with pytest.raises(RuntimeError):
            Prepared(ENTRY).rows(connection, entry(small, ada))
    assert small.attempts() == []


@pytest.mark.parametrize("change", ["rows", "change"])
def test_a_failure_is_explained_and_nothing_of_it_stays(small: Small, change: str) -> None:
    """The same error as from SQLAlchemy, without the values, which may be names."""
    ada, bo, _ = small.rows().values()
    statement = Prepared(ENTRY) if change == "rows" else Prepared(insert(attempt))
    run = getattr(statement, change)
    with pytest.raises(LedgerUnusable, match=" written: ") as failed:
        small.ledger.write_beside(run, *(entry(small, row) for row in (bo, ada, ada)))
    assert small.attempts() == []
    assert isinstance(failed.value.__context__, IntegrityError)
    assert str(NOON.year) not in str(failed.value.__context__)


def test_a_value_that_is_missing_is_an_error(small: Small) -> None:
    """And not a blank, which nobody has."""
    with (
        small.ledger._transactions.writing() as connection,
        pytest.raises((LookupError, StatementError)),
    ):
        Prepared(BEAT).change(connection, {"run": small.begun.run, "att": NOON})
    with (
        small.ledger._transactions.writing() as connection,
        pytest.raises((LookupError, StatementError)),
    ):
        Prepared(NAMES._composed).rows(connection, {"rows": 1})
