"""What a person is told when the ledger cannot be opened."""

import sys
from pathlib import Path

import pytest
from sqlalchemy import create_engine, event, inspect, text

from data.store.errors import LedgerGone
from data.store.ledger import Ledger
from data.store.opening import NEWEST, LedgerUnusable, NoLedger, open_engine
from data.store.transactions import Transactions
from tests.support.ledgers.databases import Postgres, ledger_at


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


FOREIGN = {
    "another program's version": "a3b9e5f01c22",
    "a version of ours": "0004",
    "our newest version": NEWEST,
    "a number that is newer": "9999",
    "no version": None,
}


@pytest.mark.parametrize("version", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("table", ["flow_run", None])
@pytest.mark.usefixtures("each_database")
def test_a_database_of_another_program_is_no_ledger(
    version: str | None, table: str | None, tmp_path: Path
) -> None:
    """Many programs note their version in the same table as this one. Nothing is changed there."""
    engine = create_engine(ledger_at(tmp_path))
    with engine.begin() as connection:
        for name in filter(None, ("alembic_version", table)):
            connection.execute(text(f"CREATE TABLE {name} (version_num varchar(32))"))
        if version is not None:
            connection.execute(text(f"INSERT INTO alembic_version VALUES ('{version}')"))
        before = inspect(connection).get_table_names()
    for create in (True, False):
        with pytest.raises(LedgerUnusable, match=r"other tables and no ledger.* Name another one"):
            Ledger.open(ledger_at(tmp_path), create=create)
    assert inspect(engine).get_table_names() == before
    engine.dispose()


NOTED = {"9999": "newer version .*version 9999", "a3b9e5f01c22": "no ledger", "0000": "no ledger"}


@pytest.mark.parametrize(("version", "words"), NOTED.items(), ids=NOTED)
@pytest.mark.usefixtures("each_database")
def test_only_a_higher_number_is_a_newer_version(version: str, words: str, tmp_path: Path) -> None:
    """Another program may have a table `ledger` too, for its accounts."""
    Ledger.open(ledger_at(tmp_path)).close()
    engine = create_engine(ledger_at(tmp_path))
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE alembic_version SET version_num = '{version}'"))
    engine.dispose()
    with pytest.raises(LedgerUnusable, match=words):
        Ledger.open(ledger_at(tmp_path))


def test_a_user_who_may_make_no_tables_is_told_before_a_run(
    postgres: Postgres, tmp_path: Path
) -> None:
    """The doctor opens the ledger as every command does, and a run would stop there."""
    url = postgres.ledger_of(str(tmp_path))
    postgres.ask("CREATE ROLE looks LOGIN")
    try:
        engine = create_engine(url)
        with engine.begin() as connection:
            connection.execute(text("REVOKE CREATE ON SCHEMA public FROM PUBLIC"))
        engine.dispose()
        theirs = url.replace("postgres@", "looks@")
        for create in (False, True):
            with pytest.raises(LedgerUnusable, match="may not create tables") as told:
                Ledger.open(theirs, create=create)
            assert "GRANT USAGE, CREATE ON SCHEMA public TO looks" in str(told.value)
        engine = create_engine(url)
        with engine.begin() as connection:
            connection.execute(text("GRANT CREATE ON SCHEMA public TO looks"))
        engine.dispose()
        with pytest.raises(NoLedger):
            Ledger.open(theirs, create=False)
        Ledger.open(theirs).close()
    finally:
        postgres.forget(str(tmp_path))
        postgres.ask("DROP ROLE looks")


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
