"""`campaign run` as it is typed: it shows, asks, sends, and says how it ended."""

import sqlite3
from base64 import encodebytes
from pathlib import Path
from pickle import HIGHEST_PROTOCOL, dumps

import pytest

from data.store.lease import lease
from data.store.ledger import Ledger
from sandbox.faults import lost, status
from tests.promises.support.commands import Campaign


def test_nobody_is_asked_about_a_run_that_sends_nothing(sandbox, campaign: Campaign) -> None:
    service = sandbox()
    campaign.write(people=1, problem={"title": "Two sum"})
    assert campaign("run", "hiring.yaml", "--yes").code == 0
    assert len(service.entries("problems")) == 1  # for its title, and to see that it answers
    before = len(service.entries())
    again = campaign.start("run", "hiring.yaml", terminal=True).end()
    assert (again.code, len(service.entries())) == (0, before)
    assert "Send this?" not in again.said


def test_json_is_one_list_of_statuses_and_nothing_else(sandbox, campaign: Campaign) -> None:
    sandbox(invite=lost(1))
    campaign.write("one", people=["ada@people.test"])
    campaign.write("two", people=["ben@people.test"], problem=43)
    ran = campaign("run", "one.yaml", "two.yaml", "--json")
    assert ran.code == 3
    counts = {each["campaign"]: each["counts"] for each in ran.json()}
    assert {key: (each["invited"], each["unsure"]) for key, each in counts.items()} == {
        "one": (0, 1),
        "two": (1, 0),
    }


def test_json_shows_the_plan_and_asks_at_a_terminal(sandbox, campaign: Campaign) -> None:
    service = sandbox()
    campaign.write(people=["ada@people.test"])
    asked = campaign.start("run", "hiring.yaml", "--json", terminal=True)
    asked.until_shown("Send this?").type("n\n")
    assert (asked.end().code, service.entries()) == (1, [])
    assert "invite    1 email" in asked.shown()
    bar = campaign.start("run", "hiring.yaml", terminal=True).until_shown("Send this?")
    bar.type("y\n")
    assert bar.end().code == 0
    assert "\x1b[" in bar.shown()
    assert r"\u001b" not in bar.shown()
    campaign.write("other", people=["ben@people.test"], problem=43)
    ran = campaign("run", "other.yaml", "--json")
    assert ran.json()[0]["counts"]["invited"] == 1
    assert "invite    1 email" in ran.err


def test_a_mistake_in_one_of_the_files_that_are_typed_stops_all(
    sandbox, campaign: Campaign
) -> None:
    service = sandbox()
    campaign.write("good", people=["ada@people.test"])
    campaign.write("bad", people=["no address"], in_a_table=True)
    ran = campaign("run", "good.yaml", "bad.yaml", "--yes")
    assert (ran.code, ran.out, service.entries()) == (2, "", [])
    assert "bad.csv:2" in ran.err


def test_a_campaign_of_a_folder_that_is_refused_stops_no_other(sandbox, campaign: Campaign) -> None:
    service = sandbox()
    campaign.write("one", people=["ada@people.test"])
    assert campaign("run", ".", "--yes").code == 0
    campaign.write("one", people=["ada@people.test"], project={"name": "Another"})
    campaign.write("two", people=["ben@people.test"], problem=43)
    ran = campaign("run", ".", "--yes")
    assert (ran.code, service.emails_to("ben@people.test")) == (2, 1)
    assert campaign.follow(ran, "run").code == 0


def test_the_service_s_own_words_are_on_the_terminal_alone(
    sandbox, campaign: Campaign, prefect_server
) -> None:
    sandbox(create=status(403, body={"error": "Adalbert may not do this"}))
    campaign.write(people=1)
    keep = ("PREFECT_RESULTS_PERSIST_BY_DEFAULT", "PREFECT_TASKS_DEFAULT_PERSIST_RESULT")
    ran = campaign.start("run", "hiring.yaml", "--yes", **dict.fromkeys(keep, "true")).end()
    assert (ran.code, ran.out) == (1, "")
    assert "Adalbert may not do this" in ran.err
    kept = {each.read_bytes() for each in campaign.home.rglob("storage/*")}
    assert kept <= {encodebytes(dumps(None, protocol=HIGHEST_PROTOCOL))}  # of the flow itself
    with sqlite3.connect(prefect_server.database) as database:
        tables = [
            t for (t,) in database.execute("SELECT name FROM sqlite_master WHERE type='table'")
        ]
        rows = [repr(database.execute(f'SELECT * FROM "{each}"').fetchall()) for each in tables]
    assert any("403" in each for each in rows)
    assert not any("Adalbert" in each for each in rows)


def test_a_run_says_who_is_at_work_and_waits_for_them(sandbox, campaign: Campaign) -> None:
    service = sandbox()
    campaign.write(people=2)
    with (
        Ledger.open(campaign.environment["CAMPAIGN_DATABASE_URL"]) as ledger,
        lease(ledger, "hiring"),
    ):
        waits = campaign.start("run", "hiring.yaml", "--yes").until_shown("Waiting for it.")
        assert "is being sent by process" in waits.shown()
        assert service.changes() == []
    assert waits.end().code == 0
    assert len(service.invited()) == 2


def test_a_rehearsal_sends_nothing_and_remembers_nothing(sandbox, campaign: Campaign) -> None:
    service = sandbox()
    campaign.write(people=3, invites={"approval": "required", "pilot": "person0@example.org"})
    said = campaign("run", "hiring.yaml", "--rehearse")
    assert (said.code, service.entries()) == (0, [])
    assert "requests for inviting people: 3" in said.out
    assert not campaign.ledger.exists()
    assert campaign("run", ".", "--rehearse", "--json").json()["hiring"]["invite"] == 3


@pytest.mark.parametrize("typed", [("run", "hiring.yaml", "--yes"), ("up", ".")], ids=" ".join)
def test_a_prefect_server_that_is_away_is_one_sentence(typed, sandbox, campaign: Campaign) -> None:
    service = sandbox()
    campaign.write(people=1)
    ran = campaign(*typed, PREFECT_API_URL="http://127.0.0.1:9/api")
    assert (ran.code, service.entries()) == (1, [])
    said = ran.err.splitlines()[-1]
    assert said.startswith("Prefect's server at http://127.0.0.1:9/api does not answer. Nothing")
    assert said.endswith("Start it, or unset PREFECT_API_URL.")
    assert "Traceback" not in ran.said


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_without_a_standing_server_every_task_run_is_recorded(sandbox, campaign: Campaign) -> None:
    sandbox()
    campaign.write(people=30)
    ran = campaign.start("run", "hiring.yaml", "--yes", PREFECT_API_URL="")
    ran.process.wait(timeout=250)  # Prefect's server makes its tables first
    assert ran.end().code == 0, ran.shown()
    database = Path(campaign.environment["PREFECT_HOME"], "prefect.db")
    with sqlite3.connect(database) as prefect:
        tasks = dict(prefect.execute("SELECT name, state_type FROM task_run").fetchall())
        flows = prefect.execute("SELECT state_type FROM flow_run").fetchall()
        pages = prefect.execute("SELECT count(*) FROM artifact WHERE type = 'markdown'").fetchall()
    assert tasks == dict.fromkeys(
        (
            "ask the service for its problems",
            "create project",
            "attach problem",
            "add batch 1",
            "invite batch 1",
        ),
        "COMPLETED",
    )
    assert (flows, pages) == ([("COMPLETED",)], [(1,)])
