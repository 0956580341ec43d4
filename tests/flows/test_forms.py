"""What Prefect shows of a campaign, and what a person decides there: real server, real runs."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from data.campaigns import approvals, queries
from data.campaigns.approvals import Standing
from data.store.ledger import Ledger
from sandbox.faults.faults import Fault
from tasks.plan.asking_approval import VOID
from tests.campaigns.test_sheet_option import write_book
from tests.support.prefects.prefect_home import (
    Answer,
    Desk,
    PrefectServer,
    WarmDesk,
    answer,
    kept,
    most_sent,
)
from tests.support.session import PATIENCE

pytestmark = pytest.mark.xdist_group("prefect")

# Runs a form as its deployment does: the flow, with parameters that came as JSON.
FORM = """\
import asyncio, json, sys
from flows import forms
asyncio.run(getattr(forms, sys.argv[1])(**json.loads(sys.argv[2]), return_state=True))
"""


def emails_of(desk: Desk) -> Counter[str]:
    return Counter(invitation.email for invitation in desk.service.record.invitations)


def to_approve(desk: Desk, key: str, people: int) -> Path:
    """A campaign whose plan needs approval."""
    path = desk.campaign(key, people)
    path.write_text(path.read_text() + "invites: {approval: {within: 2 days}}\n")
    return path


def fill_in(desk: WarmDesk, form: str, **fields: object) -> Answer:
    """Send a form and wait for its run."""
    return answer(desk.python(FORM, form, json.dumps(fields)))


def last_run(prefect: PrefectServer, name: str) -> dict[str, Any]:
    """The newest run whose name begins so."""
    runs = prefect.ask("flow_runs", flow_runs={"name": {"like_": name}}, sort="START_TIME_DESC")
    return runs[0]


def page_of(prefect: PrefectServer, key: str) -> str:
    """The newest version of an artifact."""
    return str(prefect.call("GET", f"artifacts/{key}/latest")["data"])


def code_of(desk: Desk, key: str) -> str:
    with Ledger.open(desk.environment["CAMPAIGN_DATABASE_URL"], create=False) as ledger:
        asked, _ = ledger.read(approvals.look, key)
    assert asked is not None
    return approvals.code_of(asked)


def press(prefect: PrefectServer, run: str, **state: str) -> None:
    """Ask for another state of a run, as the buttons of the UI do."""
    prefect.call("POST", f"flow_runs/{run}/set_state", {"state": state})


def cancel(prefect: PrefectServer, run: str) -> None:
    press(prefect, run, type="CANCELLING", name="Cancelling")


def test_a_run_has_tags_a_progress_and_a_page(desk: Desk, prefect: PrefectServer) -> None:
    """Found by campaign and by service; how far, who needs a person, and where the files are."""
    desk.service.faults.add(Fault("lost", "invite", email="person1@example.com"))
    assert desk.type("run", desk.campaign("paged", 7)).code == 3
    run = last_run(prefect, "paged ")
    host = desk.service.base_url.partition("//")[2]
    assert {"campaign:paged", host} <= set(run["tags"])
    assert page_of(prefect, "progress-paged") == "92.9"
    page = page_of(prefect, "campaign-paged")
    assert page.startswith("# paged: 7 of 7 added, 6 of 7 invited, 1 unsure")
    assert "data:image/svg+xml;base64," in page
    assert "campaign settle paged" in page
    assert r"p\*\*\*@e\*\*\*.com" in page
    assert "person1" not in page
    assert str(desk.folder / "out" / "paged") in page
    versions = prefect.ask("artifacts", artifacts={"key": {"any_": ["campaign-paged"]}})
    assert len(versions) == 1
    desk.type("run", desk.folder / "paged.yaml")
    versions = prefect.ask("artifacts", artifacts={"key": {"any_": ["campaign-paged"]}})
    assert len(versions) == 2


def test_approving_through_the_form_sends_what_was_shown(
    desk: WarmDesk, prefect: PrefectServer
) -> None:
    """The run waits in a state of its own, the page shows the plan, the form sends it."""
    end = desk.type("run", to_approve(desk, "formed", 3))
    assert (end.code, "campaign approve formed" in end.err) == (3, True)
    assert "3 by email" in end.out
    run = last_run(prefect, "formed ")
    assert (run["state_type"], run["state_name"]) == ("FAILED", "WaitingForApproval")
    code = code_of(desk, "formed")
    page = page_of(prefect, "campaign-formed")
    assert f"plan {code} waits for approval" in page
    assert f"campaign approve formed --plan {code}" in page
    assert "First0" not in page
    assert not emails_of(desk)

    fill_in(desk, "approve_campaign", campaign="formed", plan=code, answer="approved", who="Grace")
    assert set(emails_of(desk).values()) == {1}
    assert len(emails_of(desk)) == 3
    form = last_run(prefect, "approve campaign: formed ")
    assert (form["state_type"], form["state"]["message"]) == ("COMPLETED", "3 of 3 invited")
    assert page_of(prefect, "campaign-formed").startswith("# formed: 3 of 3 added")


def test_approving_through_the_form_keeps_to_the_sheet_that_was_shown(
    desk: WarmDesk, prefect: PrefectServer
) -> None:
    """Of several sheets the run was typed for one: the form's run reads no other."""
    definition = desk.folder / "sheeted.yaml"
    definition.write_text(
        "campaign: sheeted\nproject: {name: S}\nproblem: 42\ninvites: {approval: required}\n"
    )
    table = write_book(desk.folder / "sheets.xlsx")
    end = desk.type("run", table, "--campaign", definition, "--sheet", "third")
    assert end.code == 3
    fields = {"campaign": "sheeted", "plan": code_of(desk, "sheeted"), "who": "Grace"}
    fill_in(desk, "approve_campaign", **fields, answer="approved")
    assert emails_of(desk) == {"di@mail.example": 1}


def test_a_form_cannot_approve_what_has_changed(desk: WarmDesk, prefect: PrefectServer) -> None:
    """Void after a change of the sheet; rejected with a reason; neither sends anything."""
    file = to_approve(desk, "voided", 3)
    desk.type("run", file)
    code = code_of(desk, "voided")
    desk.people(4)
    fields = {"campaign": "voided", "plan": code, "who": "Grace"}
    fill_in(desk, "approve_campaign", **fields, answer="approved")
    form = last_run(prefect, "approve campaign: voided ")
    assert (form["state_type"], form["state_name"]) == ("FAILED", "NotDecided")
    assert VOID[Standing.CHANGED] in form["state"]["message"]
    desk.type("run", file)
    fields["plan"] = code_of(desk, "voided")
    fill_in(desk, "approve_campaign", **fields, answer="rejected", why="not this month")
    assert last_run(prefect, "approve campaign: voided ")["state_type"] == "COMPLETED"
    page = page_of(prefect, "campaign-voided")
    assert (f"plan {fields['plan']} rejected by Grace" in page, "To answer" in page) == (
        True,
        False,
    )
    end = desk.type("run", file)
    assert (end.code, "not this month" in end.err) == (1, True)
    assert "waits for approval" not in page_of(prefect, "campaign-voided")
    assert not emails_of(desk)


def test_settling_through_the_form(desk: WarmDesk, prefect: PrefectServer) -> None:
    """A verdict on one person or on all; what cannot be taken says why and changes nothing."""
    desk.service.faults.add(
        Fault("lost", "invite", email="person1@example.com"),
        Fault("lost", "invite", email="person2@example.com"),
    )
    desk.type("run", desk.campaign("formal", 4))
    first, second = (
        row["email1"]
        for row in json.loads(desk.type("status", "formal", "--json").out)["candidates"]
        if row["invite"] == "unsure"
    )
    with Ledger.open(desk.environment["CAMPAIGN_DATABASE_URL"]) as ledger:
        campaign = ledger.read(queries.find_campaign, "formal")
        assert campaign is not None
        number = {row.email1: row.id for row in queries.candidates(ledger, campaign.id)}[first]
    fields = {"campaign": "formal", "what": "invite", "who": "Grace"}

    def shown() -> str:
        [code] = re.findall(r"Listed: `(\w+)`", page_of(prefect, "campaign-formal"))
        return str(code)

    def told() -> tuple[str, str]:
        run = last_run(prefect, "settle campaign: formal ")
        return run["state_name"], run["state"]["message"]

    fields["listed"] = first_code = shown()
    fill_in(desk, "settle_campaign", **fields, verdict="again")
    assert told() == (
        "NotDecided",
        "again needs a reason: fill in why. Nothing was decided.",
    )
    fill_in(desk, "settle_campaign", **fields, verdict="again", why="no email came")
    assert (told()[0], "working on" in told()[1]) == ("NotDecided", True)
    assert "--no-wait" not in told()[1]  # the form has no such field
    fill_in(desk, "settle_campaign", **fields, verdict="id", value=5)
    assert (told()[0], "does not fit here" in told()[1]) == ("NotDecided", True)
    fill_in(desk, "settle_campaign", **fields, verdict="sent", person=number)
    assert told() == (
        "Completed",
        "1 settled as sent, 1 still unsure. The next run goes on.",
    )
    assert "1 unsure" in page_of(prefect, "campaign-formal").splitlines()[0]
    assert first_code != shown()
    fill_in(desk, "settle_campaign", **fields | {"listed": shown()}, verdict="sent")
    assert "0 still unsure" in told()[1]
    status = json.loads(desk.type("status", "formal", "--json").out)
    assert status["counts"]["invited"] == 4
    assert {first, second} == {"person1@example.com", "person2@example.com"}


def test_a_cancel_in_prefect_stops_within_one_wave(desk: Desk, prefect: PrefectServer) -> None:
    """At most a wave more is sent, all of it recorded; the run ends cancelled, the next goes on."""
    desk.service.faults.add(Fault("slow", "invite", count=None, seconds=0.5))
    file = desk.campaign("ended", 900)
    process = desk.start("run", file)
    desk.service.wait_for(lambda record: len(record.invitations) >= 10, timeout=PATIENCE)
    cancel(prefect, last_run(prefect, "ended ")["id"])
    until_then = len(emails_of(desk))
    end = answer(process)
    assert (end.code, "cancelled in Prefect" in end.err) == (1, True)
    assert len(emails_of(desk)) <= most_sent(until_then)
    status = json.loads(desk.type("status", "ended", "--json").out)
    assert status["counts"]["invited"] == len(emails_of(desk))
    assert status["counts"]["unsure"] == status["counts"]["sending"] == 0
    run = last_run(prefect, "ended ")
    assert (run["state_type"], "cancelled" in run["state"]["message"]) == ("CANCELLED", True)
    desk.service.faults.clear()
    assert desk.type("run", file).code == 0
    assert len(emails_of(desk)) == 900
    assert set(emails_of(desk).values()) == {1}


def test_a_suspended_run_stops_as_well(desk: Desk, prefect: PrefectServer) -> None:
    """Prefect's own pause cannot hold code that runs: the run ends, and says why. It stops at once:
    as it sends so slowly, all that is left may take a day."""
    file = desk.campaign("held", 90)
    file.write_text(f"{file.read_text()}invites: {{per_second: 1}}\n")
    process = desk.start("run", file)
    desk.service.wait_for(lambda record: len(record.invitations) >= 2, timeout=PATIENCE)
    press(prefect, last_run(prefect, "held ")["id"], type="PAUSED", name="Suspended")
    end = answer(process)
    assert (end.code, "suspended in Prefect" in end.err) == (1, True)
    assert len(emails_of(desk)) < 90
    run = last_run(prefect, "held ")
    assert (run["state_type"], run["state_name"]) == ("FAILED", "Stopped")


def test_a_run_that_is_deleted_stops_as_well(desk: Desk, prefect: PrefectServer) -> None:
    """Whoever deletes it wants it gone; the ledger knows where it was, and the next goes on."""
    file = desk.campaign("gone", 90)
    file.write_text(f"{file.read_text()}invites: {{per_second: 1}}\n")
    process = desk.start("run", file)
    desk.service.wait_for(lambda record: len(record.invitations) >= 2, timeout=PATIENCE)
    prefect.call("DELETE", f"flow_runs/{last_run(prefect, 'gone ')['id']}")
    end = answer(process)
    assert (end.code, "deleted in Prefect" in end.err, "Traceback" in end.err) == (1, True, False)
    assert len(emails_of(desk)) < 90


def test_prefect_knows_nobody_by_name(desk: Desk, prefect: PrefectServer) -> None:
    """Whatever was shown and decided above: no name, no address and no secret is kept there."""
    words = [b"person1", b"person2", b"First1", b"Last1", b"sandbox-secret"]
    for path, content in kept(prefect).items():
        assert [word for word in words if word in content] == [], path.name
