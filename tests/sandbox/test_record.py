"""The record and the outbox: what is written, when, and what another sandbox makes of it."""

import json
import socket
from collections.abc import Callable
from datetime import datetime
from email import message_from_bytes, policy
from pathlib import Path

import pytest

from sandbox.faults import above_2_53, lost
from sandbox.server import Sandbox
from tests.sandbox.conftest import CREDENTIALS, PROJECT, Client, row


def test_what_an_entry_tells(start: Callable[..., Client], tmp_path: Path) -> None:
    """Every request in order, with what it said and did; a secret is left out."""
    client = start(record=tmp_path / "record.jsonl", invite=lost(2))
    client.project()
    client.add("ada@x.org", "Bob@x.org")
    client.invite()
    with pytest.raises(Exception, match="disconnected"):
        client.invite(5002)
    client.call("POST", "/api/candidates", content=b"{")
    entries = list(map(json.loads, (tmp_path / "record.jsonl").read_text().splitlines()))
    assert entries == client.sandbox.entries()
    assert [entry.pop("n") for entry in entries] == [1, 2, 3, 4, 5, 6]
    assert all(datetime.fromisoformat(entry.pop("at")).tzinfo for entry in entries)
    nothing = {"method": "POST", "project_id": None, "candidate_id": None, "body": None}
    nothing |= {"worked": True, "ids": {}, "email": None, "status": 200, "fault": None}
    people, ids = "/api/projects/101/candidates", {"ada@x.org": 5001, "Bob@x.org": 5002}
    ada = {"project_id": 101, "candidate_id": 5001, "email": "ada@x.org"}
    bob = {"project_id": 101, "candidate_id": 5002, "email": "Bob@x.org"}
    for entry, expected in zip(entries, [
        {"op": "token", "path": "/oauth/token",
         "body": CREDENTIALS | {"client_secret": "(left out)"}},
        {"op": "create", "path": "/api/projects", "body": PROJECT, "status": 201,
         "ids": {"project": 101}},
        {"op": "add", "path": people, "project_id": 101, "status": 201, "ids": ids,
         "body": [row("ada@x.org"), row("Bob@x.org")]},
        {"op": "invite", "path": f"{people}/5001/invite"} | ada,
        {"op": "invite", "path": f"{people}/5002/invite", "status": None, "fault": "lost"} | bob,
        {"op": "other", "path": "/api/candidates", "worked": False, "status": 404},
    ], strict=True):  # fmt: skip
        assert entry == nothing | expected


def test_a_sandbox_goes_on_where_another_stopped(tmp_path: Path) -> None:
    """Projects, problems, people, emails and solutions are there again, and ids go on."""
    record = tmp_path / "record.jsonl"
    with Sandbox(record) as sandbox, Client(sandbox) as client:
        client.post("/problems", data={"title": "Sudoku", "difficulty": "hard"})
        client.post("/interviews", data={"name": "Ready", "problem": "79"})
        client.project()
        client.attach(project=102)
        client.add("ada@x.org", "ada@x.org", project=102)
        client.invite(5002, project=102)
    with Sandbox(record, add=above_2_53()) as sandbox, Client(sandbox) as client:
        assert [client.attach(project=number).status_code for number in (101, 102)] == [409] * 2
        client.add("bob@x.org", project=101)
        client.invite(2**53 + 1, project=101)
    with Sandbox(record) as sandbox, Client(sandbox) as client:
        assert client.get("/outbox").text.count("@x.org") == 2
        [cy] = client.add("cy@x.org", project=102).json()
        assert cy["candidate_id"] == 2**53 + 2


NAMES = [
    ("Ada", "Lovelace", "ada@x.org"),
    ("José \"Pepe\"", "Núñez\r\nBcc: eve@x.org", "jose@x.org"),
    ("山田", "太郎 \ud800", "太郎@例え.jp"),
    ("", "", "o'neil+jobs@x.org"),
]  # fmt: skip


def test_an_invitation_is_an_email(start: Callable[..., Client], tmp_path: Path) -> None:
    """One file each, to that person alone, with the link to their own page."""
    client = start(outbox=tmp_path / "outbox")
    client.project(name="Backend\nengineer — Köln")
    rows = [row(email, first_name=first, last_name=last) for first, last, email in NAMES]
    client.call("POST", "/api/projects/101/candidates", content=json.dumps(rows))
    for number, (first, _, address) in enumerate(NAMES, 1):
        client.invite(5000 + number)
        content = (tmp_path / "outbox" / f"{number:06}.eml").read_bytes()
        message = message_from_bytes(content, policy=policy.SMTPUTF8)
        [to] = message["To"].addresses
        assert to.addr_spec == address or not address.isascii()
        assert to.display_name.startswith(first) and message["Bcc"] is None
        assert message["Subject"] == "Your invitation: Backend engineer — Köln"
        link = f"{client.sandbox.url}/embedded/welcome?projectId=101&candidateId={5000 + number}"
        assert link in content.decode().split("\r\n")
        assert f"log in with {address}:" in content.decode()


def test_whoever_leaves_in_the_middle_is_in_the_record(client: Client) -> None:
    """A request that never came whole changes nothing."""
    with socket.create_connection((client.base_url.host, client.base_url.port or 0)) as line:
        line.sendall(b"POST /api/projects HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")
        client.get("/")  # by now the half has arrived
    *_, entry = client.sandbox.wait_for(lambda entries: entries[-1]["op"] == "create")
    assert (entry["worked"], entry["status"]) == (False, None)
