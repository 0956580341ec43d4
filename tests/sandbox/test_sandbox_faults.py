"""The sandbox misbehaves exactly as asked, on real sockets, and its record says what was true."""

import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields
from pathlib import Path

import httpx
import pytest

from sandbox.faults.faults import Fault, Faults, Kind, faults_from_json
from sandbox.protocol.answers import Answer
from sandbox.protocol.operations import Operation
from sandbox.server import Sandbox
from sandbox.service.wire import Wire
from tests.sandbox.sent import person
from tests.support.session import PATIENCE

PEOPLE = [person("Ada@Example.com"), person("bob@example.com"), person("cy@example.com")]


@pytest.fixture
def service() -> Iterator[Sandbox]:
    with Sandbox() as service:
        project = service.create_interview("Backend", 42)
        service.record.add_candidates(project, PEOPLE, None)
        yield service


def invite(client: httpx.Client, candidate_id: int = 5001) -> httpx.Response:
    return client.post(f"/api/projects/101/candidates/{candidate_id}/invite")


def add(client: httpx.Client) -> httpx.Response:
    return client.post("/api/projects/101/candidates", json=PEOPLE)


@pytest.mark.parametrize("after_work", [False, True])
@pytest.mark.parametrize(
    ("kind", "seen", "options"),
    [
        ("lost", httpx.RemoteProtocolError, {}),
        ("reset", httpx.ReadError, {}),
        ("hang", httpx.RemoteProtocolError, {"seconds": 0.02}),
    ],
)
def test_an_answer_can_be_withheld(service, client, kind, seen, options, after_work):
    """Closed, reset or silent, before or after the work: the client cannot tell, the record can."""
    service.faults.add(Fault(kind, "invite", after_work=after_work, **options))
    with pytest.raises(seen):
        invite(client)
    (request,) = service.record.of("invite")
    assert (request.fault, request.effect, request.status) == (kind, after_work, None)
    assert len(service.record.invitations) == int(after_work)
    assert invite(client).status_code == 200


def test_a_hanging_request_is_let_go_when_the_sandbox_stops():
    """A sandbox stops whatever hangs; nobody waits for it until they give up themselves."""
    ends: list[Exception] = []
    with Sandbox(faults=[Fault("hang"), Fault("stall")]) as service:

        def ask() -> None:
            try:
                httpx.post(f"{service.auth_url}/oauth/token", json={})
            except httpx.HTTPError as end:
                ends.append(end)

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        service.wait_for(
            lambda record: len([r for r in record.requests if r.finished]) == 2, PATIENCE
        )
    for thread in threads:
        thread.join()
    assert [type(end) for end in ends] == [httpx.RemoteProtocolError] * 2


HALF_A_REQUEST = b"POST /api/projects HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{"


def connected(service: Sandbox) -> socket.socket:
    host, port = service.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=PATIENCE)


def half_a_request(service: Sandbox) -> socket.socket:
    connection = connected(service)
    connection.sendall(HALF_A_REQUEST)
    return connection


def test_a_request_that_never_came_whole_is_in_the_record_and_does_nothing(service):
    """A client that leaves in the middle of its request has changed nothing."""
    half_a_request(service).close()
    service.wait_for(lambda record: record.requests and record.requests[0].finished, PATIENCE)
    (request,) = service.record.requests
    assert (request.path, request.effect, request.status) == ("/api/projects", False, None)


def test_an_unfinished_request_does_not_keep_the_sandbox_from_stopping():
    """A client that stays in the middle of its request is dropped."""
    with Sandbox() as service:
        connection = half_a_request(service)
        httpx.get(service.url)  # by now the half has been taken in
    with connection, suppress(ConnectionResetError):
        assert connection.recv(1) == b""
    assert not service.record.requests or not service.record.requests[0].effect


@pytest.mark.parametrize("after_work", [False, True])
@pytest.mark.parametrize("status", [204, 302, 404, 503])
def test_any_status_before_or_after_the_work(service, client, status, after_work):
    """A status says nothing about the work; the record does."""
    service.faults.add(Fault("status", "invite", status=status, after_work=after_work))
    assert invite(client).status_code == status
    assert len(service.record.invitations) == int(after_work)
    assert service.record.requests[-1].status == status


def test_a_status_can_carry_headers(service, client):
    """Retry-After in both its forms, and where a redirect leads."""
    date = "Wed, 21 Oct 2026 07:28:00 GMT"
    service.faults.add(
        Fault("status", status=429, retry_after=3),
        Fault("status", status=429, retry_after=date),
        Fault("status", status=302, location="https://elsewhere.invalid/"),
    )
    answers = [invite(client) for _ in range(3)]
    assert [each.headers.get("retry-after") for each in answers] == ["3", date, None]
    assert answers[2].headers["location"] == "https://elsewhere.invalid/"


def test_answers_that_do_not_arrive_whole(service, client):
    """The status line comes, the work is done, and the body breaks off."""
    service.faults.add(Fault("half", "add_candidates"))
    with pytest.raises(httpx.RemoteProtocolError, match="complete message body"):
        add(client)
    service.faults.add(Fault("cut", "add_candidates"))
    cut = add(client)
    assert cut.status_code == 201 and "content-length" not in cut.headers
    with pytest.raises(ValueError, match="line 1 column"):
        cut.json()
    service.faults.add(Fault("stall", "add_candidates", seconds=0.02))
    with pytest.raises(httpx.RemoteProtocolError):
        add(client)
    assert len(service.candidates) == 3 + 9
    assert [each.status for each in service.record.requests] == [201] * 3


def test_the_right_answer_at_the_wrong_moment(service, client):
    """Late, or on a connection that closes right after it without having said so."""
    service.faults.add(Fault("slow", "invite", seconds=0.05), Fault("closing", "invite"))
    began = time.monotonic()
    assert invite(client).status_code == 200
    assert time.monotonic() - began >= 0.05
    assert "connection" not in invite(client).headers
    assert len(service.record.invitations) == 2


def test_work_may_be_done_long_after_the_client_gave_up(service, client):
    """A gateway's time limit ends the wait, not the work (504 is no proof of anything)."""
    service.faults.add(Fault("slow", "invite", seconds=0.4))
    asked = client.build_request("POST", "/api/projects/101/candidates/5001/invite")
    lines = [b"%b: %b" % header for header in asked.headers.raw]
    with connected(service) as impatient:
        impatient.sendall(
            b"\r\n".join([b"POST %b HTTP/1.1" % asked.url.raw_path, *lines, b"", b""])
        )
        service.wait_for(lambda record: record.of("invite"), PATIENCE)
    (invitation,) = service.wait_for(lambda record: record.invitations, PATIENCE)
    (request,) = service.record.of("invite")
    assert invitation.email == "Ada@Example.com"
    assert (invitation.at - request.at).total_seconds() >= 0.4


def test_a_success_without_its_body(service, client):
    """202 with nothing in it, and a page where JSON was due, with and without the work."""
    service.faults.add(
        Fault("accepted", "invite"),
        Fault("html", "invite"),
        Fault("html", "invite", after_work=False),
    )
    accepted, page, empty_page = (invite(client) for _ in range(3))
    assert (accepted.status_code, accepted.content) == (202, b"")
    assert page.headers["content-type"].startswith("text/html")
    assert page.content == empty_page.content
    assert [each.effect for each in service.record.requests] == [True, True, False]


def ids(rows: list[dict[str, object]]) -> list[object]:
    return [row.get("candidate_id") for row in rows]


def emails(rows: list[dict[str, object]]) -> list[object]:
    return [row["email1"] for row in rows]


@pytest.mark.parametrize(
    ("kind", "holds"),
    [
        ("reordered", lambda rows: emails(rows) == [p["email1"] for p in PEOPLE[::-1]]),
        ("lowered", lambda rows: emails(rows)[0] == "ada@example.com"),
        ("partial", lambda rows: len(rows) == 2),
        ("doubled", lambda rows: len(rows) == 4 and len(set(ids(rows))) == 4
            and len(set(emails(rows))) == 3),
        ("shuffled", lambda rows: emails(rows) == [p["email1"] for p in PEOPLE]
            and ids(rows) == [5005, 5006, 5004]
            and rows[0]["first_name"] == PEOPLE[1]["first_name"]),
        ("stranger", lambda rows: emails(rows)[3] not in [p["email1"] for p in PEOPLE]),
        ("extra_keys", lambda rows: all(len(row) > 7 for row in rows) and ids(rows)[0] == 5004),
        ("no_ids", lambda rows: ids(rows) == [None] * 3),
        ("string_ids", lambda rows: ids(rows) == ["5004", "5005", "5006"]),
        ("bool_ids", lambda rows: ids(rows) == [True] * 3),
    ],
)  # fmt: skip
def test_adds_can_be_answered_in_other_shapes(service, client, kind, holds):
    """All three are added; the answer says it otherwise."""
    service.faults.add(Fault(kind, "add_candidates"))
    answer = add(client)
    assert answer.status_code == 201 and holds(answer.json())
    assert len(service.candidates) == 6
    assert ids(add(client).json()) == [5007, 5008, 5009]


@pytest.mark.parametrize("body", ["None", '{"id": 1', {"id": "x"}, [], {"id": 2**53 + 1}, ""])
def test_a_body_can_be_given_literally(service, client, body):
    """Text goes out as it is, anything else as JSON; the project is there all the same."""
    project = {"name": "x", "description": "", "state": "open"}
    project |= {"starttime": "Dec 1, 2026 9:00 am", "endtime": "Dec 2, 2026 9:00 am"}
    service.faults.add(Fault("body", "create_project", body=body))
    answer = client.post("/api/projects", json=project)
    assert answer.status_code == 201
    assert answer.text == body if isinstance(body, str) else answer.json() == body
    assert len(service.projects) == 2


@pytest.mark.parametrize(
    ("faults", "met"),
    [
        ([Fault("lost", "invite", skip=2)], "..L..."),
        ([Fault("lost", "invite", skip=1, count=2)], ".LL..."),
        ([Fault("lost", count=None)], "LLLLLL"),
        ([Fault("lost", "invite"), Fault("reset", "invite")], "LR...."),
        ([Fault("lost", "invite", skip=3), Fault("reset", "invite", skip=4)], "...LR."),
        ([Fault("lost", "token")], "......"),
        ([Fault("lost", email="bob@example.com", count=None)], ".L..L."),
    ],
)
def test_which_requests_meet_a_fault_is_a_matter_of_counting(faults, met):
    """The n-th request that matches; of several faults due at once, the first that was set."""
    waiting = Faults(faults)
    invited = ["ada@example.com", "bob@example.com", "cy@example.com"] * 2
    kinds = [waiting.next("invite", [email]) for email in invited]
    assert "".join(fault.kind[0].upper() if fault else "." for fault in kinds) == met


def test_chance_repeats_with_its_seed():
    """The same seed meets the same requests; without a seed there is no chance."""

    def met(seed: int) -> list[bool]:
        waiting = Faults([Fault("lost", count=None, chance=0.5, seed=seed)])
        return [waiting.next("invite") is not None for _ in range(64)]

    assert met(1) == met(1) != met(2)
    assert 10 < sum(met(1)) < 54
    with pytest.raises(ValueError, match="seed"):
        Fault("lost", chance=0.5)


@pytest.mark.parametrize(
    "described",
    [
        "lost",
        {},
        {"kind": "gone"},
        {"kind": "lost", "operation": "remove"},
        {"kind": "lost", "counts": 2},
        {"kind": "lost", "count": "2"},
        {"kind": "slow"},
        {"kind": "status", "status": 1000},
        {"kind": "half", "after_work": False},
    ],
)
def test_a_fault_that_makes_no_sense_is_refused(described):
    """A misspelt fault would otherwise test nothing at all."""
    with pytest.raises(ValueError, match=r"\w"):
        faults_from_json(json.dumps([described]))


def test_faults_can_be_set_and_cleared_over_http(service, client):
    """What a program sets by method, another process sets by JSON; a form cannot."""
    url = f"{service.url}/sandbox/faults"
    assert httpx.post(url, json=[{"kind": "status", "status": 503, "count": 2}]).status_code == 201
    assert invite(client).status_code == 503
    assert httpx.get(url).json()[0]["applied"] == 1
    assert httpx.delete(url).status_code == 204
    assert invite(client).status_code == 200
    assert httpx.post(url, json=[{"kind": "gone"}]).status_code == 400
    assert httpx.post(url, json={"kind": "lost"}).status_code == 400
    assert httpx.post(url, content='[{"kind": "lost"}]').status_code == 415
    assert invite(client).status_code == 200


def test_latency_is_felt_by_every_call():
    """Each API call takes at least so long; waiting for one does not hold up another."""
    with Sandbox(latency=0.1) as service:
        project = service.create_interview("Backend", 42)
        service.record.add_candidates(project, PEOPLE, None)
        headers = service.authorization()
        with httpx.Client(base_url=service.base_url, headers=headers) as client:
            assert invite(client).status_code == 200
    [request], [invitation] = service.record.of("invite"), service.record.invitations
    assert (invitation.at - request.at).total_seconds() >= 0.1


def test_latency_of_one_call_holds_up_no_other():
    """All are taken in while not one is answered yet."""

    def ask(service: Sandbox) -> None:
        with suppress(httpx.RemoteProtocolError):  # the sandbox stops before that
            httpx.post(f"{service.auth_url}/oauth/token", json={})

    with Sandbox(latency=10 * PATIENCE) as service:
        threads = [threading.Thread(target=ask, args=(service,)) for _ in range(5)]
        for thread in threads:
            thread.start()
        service.wait_for(lambda record: len(record.requests) == 5, PATIENCE)
        assert not any(request.finished for request in service.record.requests)
    for thread in threads:
        thread.join()


def test_answers_are_not_held_back(client, monkeypatch):
    """Nagle's algorithm, which would delay each call on a connection by 40 ms, is off."""
    delayed: list[bool] = []
    really = Wire.answer

    async def answer(wire: Wire, what: Answer) -> None:
        line = wire._transport.get_extra_info("socket")
        delayed.append(not line.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        await really(wire, what)

    monkeypatch.setattr(Wire, "answer", answer)
    assert [invite(client).status_code for _ in range(2)] == [200, 200]
    assert delayed == [False, False]


def rows(heading: str) -> list[list[str]]:
    """A table of docs/sandbox.md, without its header."""
    text = (Path(__file__).parents[2] / "docs" / "sandbox.md").read_text("utf-8")
    section = text.split(f"\n### {heading}\n")[1].split("\n#")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_every_fault_is_documented_with_what_it_does_to_the_work():
    """The page for people names each kind, in whatever order, and says whether the work is done."""
    told = {
        kind: row[2].startswith("done")
        for row in rows("What can go wrong")
        for kind in re.findall(r"`(\w+)`", row[0])
    }
    worked = {kind: Fault(kind, seconds=1).works for kind in Kind}
    assert told == worked | {Kind.SLOW: True}  # its work comes after the wait
    names = {
        name for row in rows("Which requests go wrong") for name in re.findall(r"`(\w+)`", row[0])
    }
    answer = {"kind", "status", "retry_after", "location", "headers", "body", "seconds"}
    assert names == {each.name for each in fields(Fault)} - answer
    [operations] = [row[2] for row in rows("Which requests go wrong") if row[0] == "`operation`"]
    assert set(re.findall(r"`(\w+)`", operations)) == set(Operation) - {Operation.UNKNOWN}
