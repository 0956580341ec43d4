"""What Prefect does by itself: registered as often as one likes, heard where the settings say."""

import asyncio
import json
import re
import shutil
import socketserver
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from prefect.client.orchestration import PrefectClient

from config.errors import BadSettings
from config.settings import load_local
from flows.serving.automations import AGAIN, GONE, GONE_AGAIN, NOTIFY, gone
from flows.serving.serving import MISSED, skip_missed
from sandbox.faults.faults import Fault
from tests.support.prefects.prefect_home import Desk, PrefectServer, Standing, kept
from tests.support.prefects.workers import PREFECT, runs_of, wait_until

pytestmark = [pytest.mark.xdist_group("automations"), pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[3]


@pytest.fixture
def standing(automated: Standing) -> Standing:
    return automated


def automations(prefect: PrefectServer) -> dict[str, dict[str, Any]]:
    """The automations by name; one name twice is a mistake."""
    found = prefect.ask("automations")
    named = {one["name"]: one for one in found}
    assert len(named) == len(found)
    return named


@contextmanager
def listening(handler: type[socketserver.BaseRequestHandler], kind: Any) -> Iterator[int]:
    """A server on this machine for the length of a test; answers its port."""
    with kind(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def test_registered_twice_they_are_there_once(desk: Desk, prefect: PrefectServer) -> None:
    """A second registration changes nothing: what the server listens for goes on, and what a
    person switched off stays off."""
    assert desk.type("deploy", desk.campaign("twice", 1)).code == 0
    first = automations(prefect)
    assert set(first) == {GONE, GONE_AGAIN, AGAIN}
    prefect.call("PATCH", f"automations/{first[AGAIN]['id']}", {"enabled": False})
    assert desk.type("deploy", desk.folder / "twice.yaml").code == 0
    second = automations(prefect)
    assert {name: one["id"] for name, one in second.items()} == {
        name: one["id"] for name, one in first.items()
    }
    assert second[GONE]["updated"] == first[GONE]["updated"]
    assert (second[GONE]["enabled"], second[AGAIN]["enabled"]) == (True, False)


def test_silence_alone_starts_nothing_again() -> None:
    """It is also what is heard of a run that has ended, where a sign of life comes late: only a
    run that could be marked as gone, which an ended one cannot, is started again."""
    assert [action.type for action in gone().actions] == ["change-flow-run-state"]


def needs_a_person(desk: Desk, key: str) -> None:
    """Have a campaign end in doubt, with people of its own."""
    file, people = desk.campaign(key, 3), desk.folder / "people.csv"
    people.write_text(people.read_text().replace("person", f"{key}-person"))
    lost = Fault("lost", "invite", after_work=True, email=f"{key}-person1@example.com")
    desk.service.faults.add(lost)
    assert desk.type("run", file).code == 3


def until_it_is_told(desk: Desk, key: str, told: Callable[[], bool]) -> None:
    """Let campaigns need a person until it is told.

    One is not enough: where its database is locked, Prefect's server tries an event four times in a
    tenth of a second, and drops it.
    """
    for number in range(6):
        needs_a_person(desk, f"{key}{number}")
        with suppress(AssertionError):
            return wait_until(told, 1 if number == 0 else 20)
    raise AssertionError("six campaigns, and nobody was told")


def test_a_campaign_that_needs_a_person_is_told_to_a_webhook(
    desk: Desk, prefect: PrefectServer
) -> None:
    """One message with the run, the state, the counts and where to look; no name, no address, and
    nowhere in what Prefect keeps is the webhook's own secret."""
    heard: list[str] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.headers["Content-Type"] == "application/json"
            heard.append(json.loads(body)["text"])
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with listening(Hook, HTTPServer) as port:
        url = f"http://127.0.0.1:{port}/hook-of-the-team"
        assert desk.type("deploy", CAMPAIGN_NOTIFY_URL=url).code == 0
        # When the second one is heard, the first one has been as often as it will be.
        until_it_is_told(desk, "hooked", lambda: len({text.split()[0] for text in heard}) > 1)
    runs = [text.split()[0] for text in heard]
    assert len(set(runs)) == len(runs)
    assert heard[0].startswith(f"{runs[0]} 20")
    assert "NeedsAttention. 2 of 3 invited, 0 refused, 1 unsure" in heard[0]
    assert "/runs/flow-run/" in heard[0]
    assert "person1" not in heard[0]
    assert not [path.name for path, text in kept(prefect).items() if b"hook-of-the-team" in text]


def test_or_to_a_mailbox(desk: Desk, prefect: PrefectServer) -> None:
    """The same by mail, through the server that the address names."""
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
        assert desk.type("deploy", CAMPAIGN_NOTIFY_URL=url).code == 0
        until_it_is_told(desk, "mailed", lambda: bool(mails))
    assert re.search(r"mailed\d 20", mails[0])
    assert "NeedsAttention" in mails[0]
    assert "person1" not in mails[0]
    assert automations(prefect)[NOTIFY]["enabled"]


def test_what_was_missed_is_done_once(desk: Desk, prefect: PrefectServer) -> None:
    """Of an hour of runs that nobody served, the latest is left; the others say why they are not
    done, and none of them is deleted."""
    assert desk.type("deploy", desk.campaign("late", 1), "--every", "5").code == 0
    found = prefect.call("GET", "deployments/name/campaign/late")
    ends = datetime.now(UTC) - timedelta(seconds=5)
    hour = {"start_time": str(ends - timedelta(hours=1)), "end_time": str(ends), "max_runs": 50}
    prefect.call("POST", f"deployments/{found['id']}/schedule", hour)

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


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("http://example.com/services/T1", "https://"),
        ("ftp://example.com/services/T1", "a webhook"),
        ("services/T1", "a webhook"),
        ("mailto://", "a webhook"),
    ],
)
def test_an_address_that_cannot_be_told_is_refused(
    monkeypatch: pytest.MonkeyPatch, url: str, wanted: str
) -> None:
    """The setting is named, its value is not: it may hold a secret."""
    monkeypatch.setenv("CAMPAIGN_NOTIFY_URL", url)
    with pytest.raises(BadSettings) as refused:
        load_local()
    assert refused.value.variables == ("CAMPAIGN_NOTIFY_URL",)
    assert wanted in str(refused.value)
    assert "T1" not in str(refused.value)


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
            timeout=200,
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
    subprocess.run([sys.executable, "-c", words], check=True, cwd=clone, timeout=200)
