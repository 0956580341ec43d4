"""Campaigns as people run them: the real command, a real Prefect server, the sandbox as judge."""

import asyncio
import csv
import io
import json
import os
import signal
from collections import Counter
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from data.store.errors import LedgerUnusable
from flows import campaign
from sandbox.faults.faults import Fault
from tests.support.prefects.prefect_home import Desk, PrefectServer, answer, kept
from tests.support.prefects.workers import wait_until
from tests.support.session import PATIENCE

pytestmark = pytest.mark.xdist_group("prefect")


def emails_of(desk: Desk) -> Counter[str]:
    return Counter(invitation.email for invitation in desk.service.record.invitations)


def test_a_thousand_people_and_then_five_more(desk: Desk) -> None:
    """Everyone is added once and invited once; a rerun asks nothing; five more cost five more."""
    file = desk.campaign("thousand", 1000)
    first = desk.type("run", file)
    assert first.code == 0, first.err
    record = desk.service.record
    assert len(record.of("add_candidates")) == 10
    assert len(emails_of(desk)) == len(record.candidates) == 1000
    assert set(emails_of(desk).values()) == {1}
    links = list(csv.DictReader(io.StringIO(desk.type("links", "thousand").out)))
    assert len(links) == 1000
    assert len({row["embed_url"] for row in links}) == 1000

    before = desk.service.api_requests()
    again = desk.type("run", file, "--json")
    assert again.code == 0
    assert json.loads(again.out)[0]["counts"]["invited"] == 1000
    assert desk.service.api_requests() == before
    assert ", sent nothing, completed" in desk.type("status", "thousand").out

    desk.people(1005)
    assert desk.type("run", file).code == 0
    assert len(record.of("add_candidates")) == 11
    assert len(record.of("invite")) == len(emails_of(desk)) == 1005


def test_the_run_is_seen_with_its_steps(desk: Desk, prefect: PrefectServer) -> None:
    """Prefect lists the run under the campaign's key, and its steps in people's words."""
    desk.type("run", desk.campaign("seen", 120))
    [run] = prefect.ask("flow_runs", flow_runs={"name": {"like_": "seen "}})
    assert (run["state_type"], run["state"]["message"]) == ("COMPLETED", "120 of 120 invited")
    wanted = {
        "read the definition",
        "check the receipt",
        "check the service and the problem",
        "create the project",
        "add the problem",
        "add candidates 1-120 of 120",
        "invitations 1-100 of 120",
        "invitations 101-120 of 120",
        "write the links",
    }

    def recorded() -> list[dict[str, Any]]:
        """The steps once so many have ended: the server hears of each some time after it did."""
        steps = prefect.ask("task_runs", flow_runs={"id": {"any_": [run["id"]]}})
        ended = [step["state_type"] for step in steps] == ["COMPLETED"] * len(steps)
        return steps if ended and len(steps) >= len(wanted) else []

    assert {step["name"] for step in wait_until(recorded)} == wanted


def test_who_needs_a_person_is_not_a_success(desk: Desk, prefect: PrefectServer) -> None:
    """An unsure and a refused row end the run in exit 3 and a failed state with a name."""
    desk.service.faults.add(
        Fault("lost", "invite", after_work=True, email="person1@example.com"),
        Fault("status", "invite", status=422, email="person2@example.com"),
    )
    end = desk.type("run", desk.campaign("look", 4))
    assert end.code == 3
    assert "1 refused, 1 unsure" in end.out
    assert "campaign settle look" in end.out
    [run] = prefect.ask("flow_runs", flow_runs={"name": {"like_": "look "}})
    assert (run["state_type"], run["state_name"]) == ("FAILED", "NeedsAttention")
    assert set(emails_of(desk).values()) == {1}


def test_killed_in_the_middle_and_run_again(desk: Desk) -> None:
    """SIGKILL amid the waves: the same command ends it, with doubt only where a call was out."""
    desk.service.faults.add(Fault("slow", "invite", count=None, seconds=0.02))
    file = desk.campaign("killed", 150)
    process = desk.start("run", file)
    desk.service.wait_for(lambda record: len(record.invitations) >= 60, timeout=PATIENCE)
    os.kill(process.pid, signal.SIGKILL)
    answer(process)
    desk.service.faults.clear()
    again = desk.type("run", file, "--json")
    [status] = json.loads(again.out)
    counts = status["counts"]
    assert set(emails_of(desk).values()) == {1}
    assert counts["unsure"] <= 8
    assert counts["invited"] + counts["unsure"] == counts["candidates"] == 150
    assert again.code == (3 if counts["unsure"] else 0)
    invited = {p["email1"] for p in status["candidates"] if p["invite"] == "done"}
    assert invited <= set(emails_of(desk))
    assert desk.service.api_requests() == len(desk.service.record.requests)


def test_interrupted_gently(desk: Desk) -> None:
    """SIGTERM lets what is in flight finish: exit 1, no doubt, and the rerun goes on. Ctrl-C on a
    terminal: tests/flows/cli/test_interrupted.py."""
    desk.service.faults.add(Fault("slow", "invite", count=None, seconds=0.5))
    file = desk.campaign("gently", 900)
    process = desk.start("run", file)
    desk.service.wait_for(lambda record: len(record.invitations) >= 30, timeout=PATIENCE)
    process.send_signal(signal.SIGTERM)
    end = answer(process)
    assert end.code == 1
    assert "interrupted" in end.err
    status = json.loads(desk.type("status", "gently", "--json").out)
    assert status["counts"]["unsure"] == status["counts"]["sending"] == 0
    assert status["counts"]["waiting"] > 0
    desk.service.faults.clear()
    assert desk.type("run", file).code == 0
    assert len(emails_of(desk)) == 900
    assert set(emails_of(desk).values()) == {1}


def test_bad_settings_and_bad_doors(desk: Desk) -> None:
    """Each ending names what to mend, in a line; no stack trace and no secret."""
    file = desk.campaign("doors", 2)
    missing = desk.type("run", file, ASSESSMENT_AUDIENCE="")
    assert (missing.code, "ASSESSMENT_AUDIENCE" in missing.err) == (2, True)
    refused = desk.type("run", file, ASSESSMENT_CLIENT_SECRET="not-the-secret")
    assert (refused.code, "ASSESSMENT_CLIENT_SECRET" in refused.err) == (1, True)
    nobody = desk.type("run", file, ASSESSMENT_BASE_URL="http://127.0.0.1:9")
    assert (nobody.code, "ASSESSMENT_BASE_URL" in nobody.err) == (1, True)
    unknown = desk.type("run", desk.campaign("doors", 2, problem=4242))
    assert (unknown.code, "4242" in unknown.err) == (2, True)
    for end in (missing, refused, nobody, unknown):
        assert "Traceback" not in end.err + end.out
        assert "not-the-secret" not in end.err + end.out
    record = desk.service.record
    assert not any(request.effect for request in record.requests)


def test_prefect_knows_nobody(desk: Desk, prefect: PrefectServer) -> None:
    """No name, no email, no token and no secret is anywhere in what Prefect keeps."""
    desk.service.faults.add(
        Fault("lost", "invite", email="person1@example.com"),
        Fault("status", "invite", status=422, email="person2@example.com"),
        Fault("stranger", "add_candidates", skip=1),
    )
    desk.type("run", desk.campaign("secret", 5))
    desk.type("run", desk.campaign("stranger", 5))
    desk.type("run", desk.campaign("mistaken", 5, problem=4242))
    desk.type("run", desk.folder / "secret.yaml", ASSESSMENT_CLIENT_SECRET="wrong-secret")
    words = [b"person1", b"person2", b"First1", b"Last1", b"sandbox-secret", b"wrong-secret"]
    words.append(desk.service.authorization()["Authorization"][7:20].encode())
    found = kept(prefect)
    for path, content in found.items():
        assert [word for word in words if word in content] == [], path.name
    assert b"secret 20" in b"".join(found.values())  # the run's name is there


def test_a_run_with_nothing_to_do_is_not_failed_by_people_it_could_not_forget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The next run forgets them; Prefect's log says why this one did not."""
    end, log = SimpleNamespace(campaign="hiring", ending="completed"), Mock()
    monkeypatch.setattr(campaign, "this_run", lambda: SimpleNamespace(auto_scheduled=True))
    monkeypatch.setattr(campaign, "nothing_new", lambda *_: end)
    monkeypatch.setattr(campaign, "get_run_logger", lambda: log)
    monkeypatch.setattr(campaign, "forget_due", Mock(side_effect=LedgerUnusable("no space")))
    assert asyncio.run(campaign._done_already(Mock(), Mock(), Mock(), Mock())) is end
    log.warning.assert_called_once_with("no space")
