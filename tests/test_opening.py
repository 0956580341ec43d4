"""What a person is told when the ledger cannot be opened."""

import sys

import pytest

from data.ledger import Ledger
from data.opening import LedgerUnusable


def test_a_database_whose_driver_is_missing_is_told_without_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A setting that this installation cannot serve is a sentence, and no stack trace."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.setitem(sys.modules, "psycopg2", None)
    with pytest.raises(LedgerUnusable) as told:
        Ledger.open("postgresql://me:hunter2@127.0.0.1:1/hiring")
    assert "is not installed" in str(told.value)
    assert "hunter2" not in str(told.value)
    assert told.value.__cause__ is None
