"""The sandbox remembers what it received and did, across restarts and kills."""

import email
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from email import policy
from pathlib import Path
from typing import Any

import httpx
import pytest

from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from sandbox.service.journal import FolderInUse, Journal
from tests.sandbox.sent import person
from tests.support.prefects.workers import wait_until
from tests.support.session import PATIENCE

ROOT = Path(__file__).parents[2]


def invite(service: Sandbox, candidate_id: int) -> int:
    path = f"/api/projects/101/candidates/{candidate_id}/invite"
    return httpx.post(service.base_url + path, headers=service.authorization()).status_code


def filled(service: Sandbox, *people: dict[str, object]) -> None:
    project = service.create_interview("Back\nend <1>", 42)
    service.record.add_candidates(project, people, None)


def test_a_sandbox_started_again_on_its_folder_knows_everything(tmp_path):
    """Projects, candidates, invitations and the record outlive the process, with their ids."""
    with Sandbox(tmp_path) as service:
        filled(service, person("ada@example.com"), person("bob@example.com"))
        service.faults.add(Fault("status", "invite", status=504, after_work=True, skip=1))
        assert [invite(service, 5001), invite(service, 5002), invite(service, 5003)] == [
            200,
            504,
            404,
        ]
        before, token = service.record.as_json(), service.authorization()
    with Sandbox(tmp_path) as again:
        assert again.record.as_json() == before
        added = again.record.add_candidates(again.projects[0], [person("cy@example.com")], None)
        assert added[0].candidate_id == 5003
        assert invite(again, 5003) == 200
        assert [each.number for each in again.record.invitations] == [1, 2, 3]
        url = f"{again.base_url}/api/problems"
        headers = {"content-type": "application/json", **token}
        assert httpx.get(url, headers=headers).status_code == 200


def test_a_line_cut_off_by_a_kill_is_dropped(tmp_path):
    """Only whole lines count, and what follows starts on a line of its own."""
    with Sandbox(tmp_path) as service:
        filled(service, person("ada@example.com"))
    with (tmp_path / "journal.jsonl").open("ab") as journal:
        journal.write(b'{"what":"invitation","num')
    with Sandbox(tmp_path) as service:
        assert not service.record.invitations
        assert invite(service, 5001) == 200
    with Sandbox(tmp_path) as service:
        assert len(service.record.invitations) == 1


def test_one_folder_serves_one_sandbox(tmp_path):
    """Two sandboxes would give out the same ids."""
    with Sandbox(tmp_path), pytest.raises(FolderInUse), Sandbox(tmp_path):
        pass
    journal = Journal(tmp_path / "journal.jsonl")
    journal.close()


def test_a_taken_port_is_said_and_leaves_nothing_open(tmp_path):
    """The folder is free again after a start that failed."""
    with Sandbox() as service:
        port = int(service.url.rpartition(":")[2])
        with pytest.raises(OSError, match="in use"), Sandbox(tmp_path, port=port):
            pass
    with Sandbox(tmp_path):
        pass


def test_each_invitation_is_a_real_message(tmp_path):
    """Interface 4.6: an email to the candidate, with the link to their own page in one piece."""
    people = [
        person("ada@example.com"),
        person("zoe@example.com", first_name='Zoë "Z"\r\nBcc: x@y.z', last_name="Ö"),
        person("züri@exämple.com"),
    ]
    with Sandbox(tmp_path) as service:
        filled(service, *people)
        assert [invite(service, 5001 + n) for n in range(3)] == [200] * 3
        link = f"{service.app_url}/embedded/welcome?projectId=101&candidateId=5002"
    files = sorted((tmp_path / "outbox").iterdir())
    messages = [
        email.message_from_bytes(file.read_bytes(), policy=policy.default) for file in files
    ]
    assert [file.suffix for file in files] == [".eml"] * 3
    assert "ada@example.com" in messages[0]["To"]
    assert [each.addr_spec for each in messages[1]["To"].addresses] == ["zoe@example.com"]
    assert messages[1]["Bcc"] is None and "Zoë" in messages[1]["To"]
    assert "<züri@exämple.com>".encode() in files[2].read_bytes()
    assert messages[0]["Subject"] == "Your invitation: Back end <1>"
    assert messages[0]["Date"].datetime and messages[0]["From"].addresses
    assert messages[0]["Message-ID"] != messages[1]["Message-ID"]
    assert link in messages[1].get_content().splitlines()


@pytest.mark.parametrize("mask", [0o000, 0o022])
def test_what_it_keeps_is_for_its_owner_alone(tmp_path, mask):
    """Real people rehearse here: no other user lists or reads them, whatever the umask says."""
    place = tmp_path / "out" / "sandbox"
    before = os.umask(mask)
    try:
        for number in (1, 2):  # a folder and a message of an earlier version are closed as well
            with Sandbox(place) as service:
                if number == 1:
                    filled(service, person("ada@example.com"))
                    assert invite(service, 5001) == 200
                kept = [tmp_path / "out", *(tmp_path / "out").rglob("*")]
                assert {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o600, 0o700}
            (place / "outbox").chmod(0o755)
    finally:
        os.umask(before)


def test_a_message_whose_file_was_never_written_is_written_at_the_next_start(tmp_path):
    """What the record says was sent is in the outbox, killed in between or not."""
    with Sandbox(tmp_path) as service:
        filled(service, person("ada@example.com"))
        invite(service, 5001)
    (letter,) = (tmp_path / "outbox").iterdir()
    text = letter.read_bytes()
    letter.unlink()
    with Sandbox(tmp_path):
        assert letter.read_bytes() == text


def test_waiting_for_the_record():
    """A wait ends when the predicate holds, or says what had been seen by then."""
    with Sandbox() as service:
        with pytest.raises(TimeoutError, match="0 invitations"):
            service.wait_for(lambda record: record.invitations, timeout=0.01)
        httpx.post(service.auth_url + "/oauth/token", json={})
        assert service.wait_for(lambda record: record.of("token"), PATIENCE)[0].status == 400


def test_the_controls_are_not_in_the_record():
    """Only what a client of the service sends counts."""
    with Sandbox() as service:
        for path in (
            "/",
            "/outbox",
            "/sandbox/record",
            "/sandbox/invitations",
            "/embedded/welcome",
        ):
            httpx.get(service.url + path)
        assert service.api_requests() == 0
        httpx.get(service.url + "/somewhere")
        assert service.api_requests() == 1


@contextmanager
def process(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    command = [sys.executable, "-m", "sandbox", *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True) as running:
        try:
            assert running.stdout
            yield running, json.loads(running.stdout.readline())
        finally:
            running.kill()


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_process_of_its_own_says_one_line_and_stops_when_told(tmp_path, stop):
    """`python -m sandbox`: one line of JSON when it answers, then silence until its end."""
    faults = json.dumps([{"kind": "status", "status": 503, "operation": "token"}])
    options = ["--folder", str(tmp_path), "--token-lifetime", "60", "--faults", faults]
    with process(*options) as (running, ready):
        token_url = ready["environment"]["ASSESSMENT_AUTH_URL"] + "/oauth/token"
        assert httpx.post(token_url, json={}).status_code == 503
        assert ready["url"].startswith("http://127.0.0.1:")
        running.send_signal(stop)
        out, err = running.communicate(timeout=PATIENCE)
    assert (out, err, running.returncode) == ("", "", 0)


def test_a_killed_process_loses_nothing_it_answered(tmp_path):
    """SIGKILL in the middle of a hang: what was received and done is in the record again."""
    hang = json.dumps([{"kind": "hang", "operation": "invite", "after_work": True}])
    with process("--folder", str(tmp_path), "--faults", hang) as (running, ready):
        with Sandbox() as twin:  # the same credentials, so its tokens are good there too
            headers = {"content-type": "application/json", **twin.authorization()}
        api = ready["url"] + "/api/projects"
        project = {"name": "x", "description": "", "state": "open"}
        project |= {"starttime": "Dec 1, 2026 9:00 am", "endtime": "Dec 2, 2026 9:00 am"}
        with httpx.Client(headers=headers) as client:
            assert client.post(api, json=project).json() == {"id": 101}
            client.post(f"{api}/101/candidates", json=[person("ada@example.com")])
            with ThreadPoolExecutor(1) as beside:
                hanging = beside.submit(client.post, f"{api}/101/candidates/5001/invite")
                wait_until(lambda: client.get(f"{ready['url']}/sandbox/invitations").json())
                assert not hanging.done()
                os.kill(running.pid, signal.SIGKILL)
                assert isinstance(hanging.exception(PATIENCE), httpx.TransportError)
        running.wait(PATIENCE)
    with Sandbox(tmp_path) as service:
        assert [each.email for each in service.record.invitations] == ["ada@example.com"]
        assert service.record.of("invite")[0].effect
        assert len(list((tmp_path / "outbox").iterdir())) == 1
