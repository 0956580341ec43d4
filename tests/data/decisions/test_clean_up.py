"""What is left over in the web application: certain, perhaps, or nothing at all."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from sqlalchemy import update

from data.decisions import cleaning, settling, withdrawing
from data.decisions.cleaning import LeftOver, What
from data.decisions.verdicts import Decided
from data.sending import recovery
from data.sending.claims import Claimed
from data.store import tables
from data.store.states import By, Operation, Step, Word
from tests.support.ledgers.small_ledger import FIRST_ID, Small

BY = By("rita", "looked")
WHEN = "2026-12-01 21:00 (Asia/Tokyo)"
NAMED = re.compile(r'"A"|(?:project|problem|candidate) \d+|2026-[^)]+\)')


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Small]:
    monkeypatch.setattr(recovery, "OWN_RUNS", set())
    small = Small.at(tmp_path, "ada")
    with small.ledger as ledger:
        with ledger._transactions.writing() as connection:
            here = {"project_id": 101, "timezone": "Asia/Tokyo"}
            connection.execute(update(tables.campaign).values(here))
        yield small


def left(small: Small) -> Sequence[LeftOver]:
    return small.ledger.read(cleaning.find, small.begun.campaign)


def settle(small: Small, attempt: int, row: int | None, word: Word) -> None:
    """A person's verdict on a request whose run is gone."""
    recovery.OWN_RUNS.clear()
    decided = [Decided(attempt, row, word)]
    small.ledger.write(settling.settle, small.begun.campaign, decided, BY, soon=True)


def send_again(small: Small, operation: Operation, *rows: int) -> Claimed:
    """A request that was unsure, a verdict that it did not happen, and the request once more."""
    claimed = small.claim(operation, *rows)
    assert claimed is not None
    small.land(operation, claimed, Step.UNSURE)
    settle(small, claimed.attempt, *(rows or [None]), Word.AGAIN)
    again = small.claim(operation, *rows)
    assert again is not None
    return again


@pytest.mark.parametrize(
    ("added", "invited", "corrected", "said"),
    [
        (Step.DONE, None, False, "candidate 5001 in project 101, withdrawn"),
        (Step.DONE, Step.DONE, False, "candidate 5001 in project 101, withdrawn, was invited"),
        (
            *(Step.DONE, Step.UNSURE, False),
            "candidate 5001 in project 101, withdrawn, perhaps invited",
        ),
        (Step.DONE, None, True, "candidate 5001 in project 101, corrected to new@example.com"),
        (Step.UNSURE, None, False, "perhaps in project 101, withdrawn"),
        (Step.REFUSED, None, False, None),
    ],
)
def test_who_was_ever_added_is_still_there(
    small: Small, added: Step, invited: Step | None, corrected: bool, said: str | None
) -> None:
    """With an id for certain; in doubt perhaps; where nothing happened there is nobody."""
    row = small.rows()["ada"]
    claimed = small.claim(Operation.ADD, row)
    assert claimed is not None
    ids = {row: FIRST_ID} if added is Step.DONE else {}
    small.land(Operation.ADD, claimed, added, ids=ids)
    if invited:
        sent = small.claim(Operation.INVITE, row)
        assert sent is not None
        small.land(Operation.INVITE, sent, invited)
    recovery.OWN_RUNS.clear()
    if corrected:
        new = ("new@example.com", "new@example.com")
        small.ledger.write(withdrawing.correct, small.begun.campaign, row, new, BY)
    else:
        small.ledger.write(withdrawing.withdraw, small.begun.campaign, [row], BY)
    certain = added is Step.DONE
    assert [(item.said, item.certain) for item in left(small)] == (
        [(said, certain)] if said else []
    )


@pytest.mark.parametrize(
    ("project", "operation", "what", "named"),
    [
        (101, Operation.CREATE, What.PROJECT, ['"A"', WHEN, "project 101"]),
        (None, Operation.CREATE, What.PROJECT, ['"A"', WHEN]),
        (101, Operation.ATTACH, What.PROBLEM, ["problem 42", "project 101", WHEN]),
    ],
)
def test_a_call_that_was_sent_again_may_have_worked_twice(
    small: Small, project: int | None, operation: Operation, what: What, named: list[str]
) -> None:
    """Only a person can see whether it did."""
    send_again(small, operation)
    with small.ledger._transactions.writing() as connection:
        connection.execute(update(tables.campaign).values(project_id=project))
    [item] = left(small)
    assert (item.what, item.certain, item.email1) == (what, False, None)
    assert NAMED.findall(item.said) == named


def test_what_was_removed_is_not_told_again(small: Small) -> None:
    """Each thing is known by what it came from, and nothing else is taken for it."""
    row = small.rows()["ada"]
    send_again(small, Operation.CREATE)
    again = send_again(small, Operation.ADD, row)
    small.land(Operation.ADD, again, Step.DONE, ids={row: FIRST_ID})
    small.ledger.write(withdrawing.withdraw, small.begun.campaign, [row], BY)
    everything = left(small)
    assert [item.mark for item in everything] == [(1, None), (3, row), (None, row)]
    while everything:
        removed, *others = everything
        small.ledger.write(cleaning.write_cleaned, small.begun.campaign, [removed], BY)
        assert left(small) == others
        everything = others


def test_a_program_reads_the_same(small: Small) -> None:
    """The object in `clean_up` of the status."""
    row = small.rows()["ada"]
    again = send_again(small, Operation.ADD, row)
    small.land(Operation.ADD, again, Step.DONE, ids={row: FIRST_ID})
    [item] = left(small)
    assert NAMED.findall(item.said) == ["project 101", "candidate 5001"]
    assert item == LeftOver(What.DOUBLE, False, item.said, (1, row), "ada@example.com", FIRST_ID)
    assert item.as_json() == {
        "what": "double",
        "certain": False,
        "email1": "ada@example.com",
        "candidate_id": FIRST_ID,
        "why": item.said,
    }
