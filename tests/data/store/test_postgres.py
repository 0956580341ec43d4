"""A ledger on a PostgreSQL server: its transactions are what ours are in a file."""

from pathlib import Path
from urllib.parse import quote

import pytest
from sqlalchemy import make_url

from data.store import ledger as module
from data.store import receipts
from data.store.ledger import Ledger, NotMigrated
from tests.data.desk import Desk
from tests.data.ledgers import Postgres, empty, new_url, postgres

__all__ = ["empty", "new_url", "postgres"]

SHOWN = ("transaction_isolation", "lock_timeout", "synchronous_commit", "work_mem")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("pg"),
    pytest.mark.parametrize("new_url", ["postgres"], indirect=True),
]


def test_its_transactions_are_ours_whatever_the_server_or_the_address_says(new_url: str) -> None:
    sign = "&" if "?" in new_url else "?"
    options = "-c default_transaction_isolation=serializable -c work_mem=5MB"
    twice = f"{new_url}{sign}options={quote(options)}&{new_url.partition('?')[2]}"
    with Ledger.open(twice) as ledger, ledger.writing() as session:
        show = session.connection().exec_driver_sql
        found = [show(f"SHOW {each}").scalar() for each in SHOWN]
    assert found == ["read committed", "30s", "on", "5MB"]


def test_an_older_one_is_migrated_by_nobody_who_may_not(
    new_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Ledger.open(new_url).close()
    monkeypatch.setattr(module, "NEWEST", "0009")
    for how in ({"create": False}, {"migrate": False}):
        with pytest.raises(NotMigrated, match="0009"):
            Ledger.open(new_url, **how)
    Ledger.open(new_url).close()
    Ledger.open(new_url, create=False, migrate=False).close()


def test_it_plans_by_the_people_that_were_taken_in(new_url: str) -> None:
    with Ledger.open(new_url) as ledger:
        Desk(ledger).take_in("Ada", "Ben")
        with ledger.reading() as session:
            asked = "SELECT reltuples FROM pg_class WHERE relname IN ('person', 'step')"
            counted = session.connection().exec_driver_sql(asked).scalars().all()
    assert sorted(counted) == [2, 6]


def test_each_copy_of_it_sends_nothing_until_a_person_accepts_it(
    new_url: str, postgres: Postgres, tmp_path: Path
) -> None:
    """Even where no receipts are: on another machine, with another folder."""
    of, why = ("https://api.example.com", tmp_path / "backend.yaml"), ("Ada", "it was moved")
    with Ledger.open(new_url) as ledger:
        receipts.check(ledger, "backend", *of)
    for key in ("backend", "frontend"):
        new_url = postgres.database(str(make_url(new_url).database))
        with Ledger.open(new_url) as moved:
            with pytest.raises(receipts.NotTheNewest, match="restored or moved"):
                receipts.check(moved, key, *of)
            with moved.writing() as session:
                receipts.accept(session, key, *why)
    with Ledger.open(new_url) as moved:
        with moved.writing() as session:
            receipts.accept(session, "backend", *why)  # which was stopped at the first place
        for key in ("backend", "frontend"):
            receipts.check(moved, key, *of)
