"""A ledger on a PostgreSQL server: its lease is a session, and a lost session ends the sending."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from sqlmodel import select

from config.errors import CampaignError
from data.store.lease import AtWork, LeaseLost, is_free, lease
from data.store.ledger import ForeignDatabase, Ledger, LedgerUnusable
from data.store.tables import Notice
from tests.data.ledgers import Postgres, empty, new_url, postgres
from tests.data.store.test_lease import HOLD

__all__ = ["empty", "new_url", "postgres"]

SHOWN = ("transaction_isolation", "lock_timeout", "synchronous_commit", "work_mem")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("pg"),
    pytest.mark.parametrize("new_url", ["postgres"], indirect=True),
]


@pytest.fixture
def other(new_url: str) -> Iterator[subprocess.Popen[str]]:
    """Another process, which holds the lease of the campaign backend."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", HOLD, new_url, "backend"]
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_what_is_written_is_there(new_url: str) -> None:
    with Ledger.open(new_url) as ledger, ledger.writing() as session:
        session.add(Notice(key="x", text="y"))
    with Ledger.open(new_url) as ledger, ledger.reading() as session:
        assert session.exec(select(Notice.key)).all() == ["x"]
        assert "password" not in ledger.place


def test_its_transactions_are_ours_whatever_the_server_or_the_address_says(new_url: str) -> None:
    sign = "&" if "?" in new_url else "?"
    options = "-c default_transaction_isolation=serializable -c work_mem=5MB"
    url = f"{new_url}{sign}options={quote(options)}"
    with Ledger.open(url) as ledger, ledger.writing() as session:
        show = session.connection().exec_driver_sql
        found = [show(f"SHOW {each}").scalar() for each in SHOWN]
    assert found == ["read committed", "30s", "on", "5MB"]


def test_a_database_of_something_else_is_refused(new_url: str, postgres: Postgres) -> None:
    with Ledger.open(new_url) as ledger, ledger.writing() as session:
        session.connection().exec_driver_sql("DROP TABLE alembic_version")
    with pytest.raises(ForeignDatabase):
        Ledger.open(new_url)


def test_who_comes_second_is_told_who_is_at_work(
    new_url: str, other: subprocess.Popen[str]
) -> None:
    with Ledger.open(new_url) as ledger:
        assert not is_free(ledger, "backend")
        with pytest.raises(AtWork) as told, lease(ledger, "backend"):
            pass
        assert (told.value.host, told.value.pid) == (socket.gethostname()[:40], other.pid)
        assert told.value.since is not None
        with lease(ledger, "frontend") as held:
            held.check()


def test_who_died_holds_nothing_and_who_is_stopped_holds_on(
    new_url: str, other: subprocess.Popen[str], postgres: Postgres
) -> None:
    with Ledger.open(new_url) as ledger:
        os.kill(other.pid, signal.SIGSTOP)
        os.waitpid(other.pid, os.WUNTRACED)
        assert not is_free(ledger, "backend")
        os.kill(other.pid, signal.SIGKILL)
        other.wait()
        postgres.gone(f"% {other.pid}")
        assert is_free(ledger, "backend")
        with lease(ledger, "backend") as held:
            held.check()


def test_a_lease_whose_connection_was_cut_is_lost(new_url: str, postgres: Postgres) -> None:
    with Ledger.open(new_url) as ledger, lease(ledger, "backend") as held:
        held.check()
        assert postgres.cut(f"% {os.getpid()}") == 1
        with pytest.raises(LeaseLost, match="Nothing more is sent"):
            held.check()
        assert is_free(ledger, "backend")
        with lease(ledger, "backend") as second:
            second.check()
            with pytest.raises(LeaseLost):
                held.check()


def test_a_lost_transaction_says_so(new_url: str, postgres: Postgres) -> None:
    with Ledger.open(new_url) as ledger:
        with pytest.raises(CampaignError), ledger.writing() as session:
            session.add(Notice(key="x", text="y"))
            session.flush()
            postgres.cut("")
        with ledger.reading() as session:
            assert session.exec(select(Notice)).all() == []


def test_a_server_that_is_away_says_so(new_url: str) -> None:
    assert new_url
    with pytest.raises(LedgerUnusable, match="Nothing was sent"):
        Ledger.open("postgresql://nobody@127.0.0.1:1/none")
