"""What a person is told when the ledger cannot be opened."""

import sys
from pathlib import Path

import pytest
from sqlalchemy import event, text

from data.store.errors import LedgerGone
from data.store.ledger import Ledger
from data.store.opening import LedgerUnusable, open_engine
from data.store.transactions import Transactions
from tests.support.ledgers.databases import Postgres


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


def test_a_database_that_has_no_room_for_every_name_is_told(postgres: Postgres) -> None:
    """A server that was set up without a language keeps bytes; another one keeps few letters."""
    for encoding in ("SQL_ASCII", "LATIN1"):
        name = f"in_{encoding.lower()}"
        postgres.ask(f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")
        with pytest.raises(LedgerUnusable, match=f"stores text as {encoding}.* ENCODING 'UTF8'"):
            Ledger.open(postgres.url(name))
        postgres.ask(f"DROP DATABASE {name}")


def test_a_file_replaced_while_it_is_opened_is_not_read_into_the_old_ones_log(
    tmp_path: Path,
) -> None:
    """What the other connections recorded still lies in the log: they go on to read it."""
    file, other = tmp_path / "ledger.db", tmp_path / "other.db"
    engine = open_engine(f"sqlite:///{file}", create=True)
    other.touch()
    transactions = Transactions(engine)
    event.listen(engine, "do_connect", lambda *_: other.replace(file) and None)
    ours = text("SELECT count(*) FROM alembic_version")
    with transactions.reading() as first:
        before = first.scalar(ours)
        with pytest.raises(LedgerGone), transactions.reading() as second:
            second.scalar(ours)
    with transactions.reading() as first:
        assert first.scalar(ours) == before
    engine.dispose()
