"""How people are told of runs, where the settings say, and what a server is told of campaigns."""

import asyncio
import re
import shutil
import socketserver
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest
from prefect.client.orchestration import PrefectClient
from prefect.settings import PREFECT_API_URL, temporary_settings

from data.campaigns import notices
from data.store.clock import now
from data.store.ledger import Ledger
from flows.pages.final_states import STOPPED
from flows.serving.lookout import go_on_later
from flows.serving.registering import AUTOMATIONS
from flows.serving.serving import MISSED, skip_missed
from sandbox.faults.faults import Fault
from tests.support.prefects.prefect_home import Desk, PrefectServer, Standing, kept
from tests.support.prefects.workers import PREFECT, runs_of
from tests.support.session import PATIENCE
from tests.support.webhook import listening, webhook

pytestmark = pytest.mark.xdist_group("told")

ROOT = Path(__file__).parents[3]
# The least that a server takes for one.
AUTOMATION = {
    "description": "",
    "enabled": True,
    "trigger": {"type": "event", "posture": "Reactive", "expect": ["a"], "within": 0},
    "actions": [{"type": "do-nothing"}],
}


@pytest.fixture
def standing(automated: Standing) -> Standing:
    return automated


def test_automations_of_earlier_versions_go(desk: Desk, prefect: PrefectServer) -> None:
    """They would tell everything a second time, and write with every event of every run; those of
    others stay."""
    for name in (*AUTOMATIONS, "of somebody else"):
        prefect.call("POST", "automations/", {**AUTOMATION, "name": name})
    assert desk.type("deploy", desk.campaign("anew", 1)).code == 0
    assert [one["name"] for one in prefect.ask("automations")] == ["of somebody else"]


def needs_a_person(desk: Desk, key: str) -> None:
    """Have a campaign end in doubt, with people of its own."""
    file, people = desk.campaign(key, 3), desk.folder / "people.csv"
    people.write_text(people.read_text().replace("person", f"{key}-person"))
    lost = Fault("lost", "invite", after_work=True, email=f"{key}-person1@example.com")
    desk.service.faults.add(lost)
    assert desk.type("run", file).code == 3


def test_a_campaign_that_needs_a_person_is_told_to_a_webhook(
    desk: Desk, prefect: PrefectServer
) -> None:
    """Each once, with the run, the state, the counts and where to look: no name, no address, and
    nowhere in what Prefect keeps is the webhook's own secret. What it refuses waits in the
    ledger."""
    with webhook() as hook:
        assert desk.type("deploy", CAMPAIGN_NOTIFY_URL=hook.url).code == 0
        needs_a_person(desk, "hooked")
        needs_a_person(desk, "again")
        hook.refuses = True
        needs_a_person(desk, "deaf")
    assert hook.refused == 1
    assert [text.split()[0] for text in hook.told] == ["hooked", "again"]
    with Ledger.open(desk.environment["CAMPAIGN_DATABASE_URL"]) as ledger:
        [waiting] = ledger.read(notices.waiting, now())
    assert waiting.says.startswith("deaf ")
    first = hook.told[0]
    assert first.startswith("hooked 20")
    assert "NeedsAttention. 2 of 3 invited, 0 refused, 1 unsure" in first
    assert "/artifacts/key/campaign-hooked " in first
    assert "/runs/flow-run/" in first
    assert "person1" not in first
    assert not [path.name for path, text in kept(prefect).items() if b"hook-of-the-team" in text]


def test_or_to_a_mailbox(desk: Desk, prefect: PrefectServer) -> None:
    """The same by mail, through the server that the address names; in place of the webhook."""
    mails: list[str] = []

    class Mail(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"220 here\r\n")
            for line in self.rfile:
                word = line[:4].upper().strip()
                if word == b"DATA":
                    self.wfile.write(b"354 go on\r\n")
                    lines = iter(self.rfile.readline, b".\r\n")
                    mails.append(b"".join(lines).decode())
                self.wfile.write(b"250 OK\r\n" if word != b"QUIT" else b"221 bye\r\n")
                if word == b"QUIT":
                    return

    with listening(Mail, socketserver.ThreadingTCPServer) as port:
        url = f"mailto://127.0.0.1:{port}/?from=campaign@example.com&to=team@example.com"
        assert desk.type("deploy", CAMPAIGN_NOTIFY_URL="https://example.com/hook").code == 0
        assert desk.type("deploy", CAMPAIGN_NOTIFY_URL=url).code == 0
        needs_a_person(desk, "mailed")
    [mail] = mails
    assert re.search(r"Subject: mailed 20", mail)
    assert "NeedsAttention" in mail
    assert "person1" not in mail


def test_what_was_missed_is_done_once(desk: Desk, prefect: PrefectServer) -> None:
    """Of twelve days of runs that nobody served, the latest is left; the others say why they are
    not done, and none of them is deleted."""
    # Each day, half a day from now, so that no other comes due while this is tried.
    at = datetime.now(UTC) + timedelta(hours=12)
    daily = ("--cron", f"{at.minute} {at.hour} * * *", "--timezone", "UTC")
    assert desk.type("deploy", desk.campaign("late", 1), *daily).code == 0
    found = prefect.call("GET", "deployments/name/campaign/late")
    ends = datetime.now(UTC) - timedelta(seconds=5)
    days = {"start_time": str(ends - timedelta(days=12)), "end_time": str(ends), "min_runs": 12}
    prefect.call("POST", f"deployments/{found['id']}/schedule", days)

    async def skip() -> int:
        async with PrefectClient(prefect.api) as client:
            return await skip_missed(client, UUID(found["id"]), "late", "Asia/Tokyo")

    assert asyncio.run(skip()) == 11
    runs = runs_of(prefect, "campaign:late")
    past = [run for run in runs if datetime.fromisoformat(run["expected_start_time"]) <= ends]
    assert [run["state_name"] for run in past[:-1]] == [MISSED] * 11
    assert all(re.fullmatch(r"late 20.{14} \(Asia/Tokyo\)", run["name"]) for run in past[:-1])
    assert past[-1]["state_type"] == "SCHEDULED"
    assert asyncio.run(skip()) == 0


def test_a_run_that_cannot_go_on_keeps_no_other_from_it(desk: Desk, prefect: PrefectServer) -> None:
    """Of two that were stopped, one is of a campaign that has no deployment any more."""
    assert desk.type("deploy", desk.campaign("onward", 1)).code == 0
    stopped = []
    for name, parameters in (
        ("approve campaign/approve", {"campaign": "nowhere", "plan": "0", "by": "Pat"}),
        ("campaign/onward", {}),
    ):
        asked = {"parameters": parameters, "enforce_parameter_schema": False}
        made = prefect.call(
            "POST", f"deployments/{prefect.deployment(name)}/create_flow_run", asked
        )
        over = {"state": {"type": "FAILED", "name": STOPPED}, "force": True}
        prefect.call("POST", f"flow_runs/{made['id']}/set_state", over)
        stopped.append(UUID(made["id"]))
    with temporary_settings({PREFECT_API_URL: prefect.api}):
        asyncio.run(go_on_later(stopped))
    keys = {"flow_runs": {"idempotency_key": {"any_": [f"begun again 0 {run}" for run in stopped]}}}
    [again] = prefect.ask("flow_runs", **keys)
    assert again["deployment_id"] == prefect.deployment("campaign/onward")


def test_prefect_yaml_deploys_from_a_fresh_clone(desk: Desk, prefect: PrefectServer) -> None:
    """`prefect deploy --all` makes a deployment of every flow, for the pool of the documents."""
    clone = desk.folder / "clone"
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{ROOT}", clone], check=True)
    shutil.copy(ROOT / "prefect.yaml", clone)
    for words in (
        ["work-pool", "create", "campaigns", "--type", "process", "--overwrite"],
        ["deploy", "--all"],
    ):
        subprocess.run(
            [PREFECT, "--no-prompt", *words],
            cwd=clone,
            env=desk.environment,
            check=True,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
        )
    found = prefect.ask("deployments")
    mine = {one["entrypoint"]: one for one in found if ".py:" in one["entrypoint"]}
    assert set(mine) == {
        "flows/campaign.py:run_campaign",
        "flows/batch.py:run_batch",
        "flows/inbox.py:watch_inbox",
        "flows/forms.py:approve_campaign",
        "flows/forms.py:confirm_pilot",
        "flows/forms.py:settle_campaign",
    }
    for one in mine.values():
        assert one["work_pool_name"] == "campaigns"
        assert one["job_variables"]["env"]["PREFECT_FLOWS_HEARTBEAT_FREQUENCY"] == "30"
    names = [entrypoint.replace("/", ".").split(".py:") for entrypoint in mine]
    words = "\n".join(f"from {module} import {name}" for module, name in names)
    subprocess.run([sys.executable, "-c", words], check=True, cwd=clone, timeout=PATIENCE)
