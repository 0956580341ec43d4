"""The sandbox does what the interface says, and is strict about it."""

import json
from types import SimpleNamespace

import httpx
import pytest

from sandbox.protocol.bodies import wrong_time
from sandbox.server import Sandbox
from sandbox.service.problems import problem
from tests.sandbox.sent import credentials, person

PROJECT = {
    "name": "Backend engineer",
    "description": "",
    "state": "open",
    "starttime": "Dec 1, 2026 9:00 am",
    "endtime": "Dec 14, 2026 6:00 pm",
}
FIELDS = """
    id title description time_limit skills public owner_id difficulty date_created open
    like_count open_count view_count opened solved open_events submissions _public
    is_current_user_admin liked_by_current_user viewed_by_current_user
""".split()  # noqa: SIM905 - reads like the table of the interface
EXACT = {"id": int, "time_limit": int, "public": int, "open": int, "opened": bool, "_public": bool}


def test_the_whole_way_from_credentials_to_an_invitation(service):
    """Interface 4.1 to 4.6: every call in its order, with the answers the interface shows."""
    with httpx.Client() as client:
        token = client.post(f"{service.auth_url}/oauth/token", json=credentials(service)).json()
        assert token["token_type"] == "Bearer" and token["expires_in"] == 86400
        client.headers["authorization"] = f"Bearer {token['access_token']}"
        client.headers["content-type"] = "application/json"
        api = f"{service.base_url}/api"
        problems = client.get(f"{api}/problems").json()
        assert "Two sum" in [each["title"] for each in problems if each["id"] == 42]
        project_id = client.post(f"{api}/projects", json=PROJECT).json()["id"]
        project = f"{api}/projects/{project_id}"
        assert client.post(f"{project}/problems", json={"problemid": 42}).is_success
        sent = [person("ada@example.com"), person("Bob@Example.com", stage_id=3)]
        answered = client.post(f"{project}/candidates", json=sent).json()
        assert [{**row, "candidate_id": None} for row in answered] == [
            {**row, "candidate_id": None} for row in sent
        ]
        candidate_id = answered[1]["candidate_id"]
        assert type(candidate_id) is int
        assert client.post(f"{project}/candidates/{candidate_id}/invite").is_success
    assert service.projects[0].problem_ids == [42]
    assert [each.email for each in service.record.invitations] == ["Bob@Example.com"]
    assert service.api_requests() == 6
    assert [each.effect for each in service.record.requests] == [False, False, *[True] * 4]


def test_a_problem_has_exactly_the_fields_the_interface_names(client):
    """Interface 2: 21 fields, `_public` among them, with whole numbers and booleans kept apart."""
    for each in client.get("/api/problems").json():
        assert sorted(each) == sorted(FIELDS)
        assert all(type(each[name]) is wanted for name, wanted in EXACT.items())


def test_other_problems_can_be_offered():
    """A given list of problems replaces the samples."""
    with Sandbox(problems=[problem(7, "Queue")]) as service:
        headers = {"content-type": "application/json", **service.authorization()}
        listed = httpx.get(f"{service.base_url}/api/problems", headers=headers).json()
    assert [each["title"] for each in listed] == ["Queue"]


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({}, 200),
        ({"grant_type": "password"}, 403),
        ({"client_id": "somebody"}, 401),
        ({"client_secret": "guess"}, 401),
        ({"audience": "https://elsewhere.invalid"}, 403),
        ({"audience": None}, 400),
        ({"extra": "x"}, 400),
    ],
)
def test_a_token_needs_grant_client_secret_and_audience(service, change, status):
    """Interface 4.1: each of the four values is checked."""
    answer = httpx.post(f"{service.auth_url}/oauth/token", json=credentials(service) | change)
    assert answer.status_code == status
    assert ("access_token" in answer.json()) == (status == 200)


def test_a_token_request_is_json_and_not_a_form(service):
    """Interface 4.1: content-type application/json."""
    answer = httpx.post(f"{service.auth_url}/oauth/token", data=credentials(service))
    assert answer.status_code == 415


def test_the_secret_is_not_in_the_record(service):
    """What a client is asked to keep secret is kept by nobody else."""
    httpx.post(f"{service.auth_url}/oauth/token", json=credentials(service))
    assert service.client_secret not in httpx.get(f"{service.url}/sandbox/record").text


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/problems"),
        ("POST", "/api/projects"),
        ("POST", "/api/projects/101/problems"),
        ("POST", "/api/projects/101/candidates"),
        ("POST", "/api/projects/101/candidates/5001/invite"),
    ],
)
@pytest.mark.parametrize(
    "given", [None, "Bearer", "Bearer guess", "Bearer 99999999999:a:b", "Basic x"]
)
def test_every_call_wants_a_valid_bearer(service, method, path, given):
    """Interface 5: the token is sent on API calls; without a good one the answer is 401."""
    headers = {"content-type": "application/json"} | ({"authorization": given} if given else {})
    assert httpx.request(method, service.base_url + path, headers=headers).status_code == 401
    assert not service.record.requests[-1].authorized


def test_a_token_ends_after_its_lifetime(monkeypatch):
    """Interface 8: the lifetime is expires_in, in seconds."""
    now = 1000.0
    monkeypatch.setattr("sandbox.service.tokens.time", SimpleNamespace(time=lambda: now))
    with Sandbox(token_lifetime=60) as service:
        url = f"{service.base_url}/api/problems"
        headers = {"content-type": "application/json", **service.authorization()}
        with httpx.Client(headers=headers) as client:
            answered = [client.get(url).status_code]
            for moment in (1059.9, 1060.0):
                now = moment
                answered.append(client.get(url).status_code)
    assert answered == [200, 200, 401]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/api/projects", PROJECT | {"starttime": "2026-12-01 09:00"}, 422),
        ("/api/projects", PROJECT | {"name": 7}, 422),
        ("/api/projects", PROJECT | {"title": "x"}, 422),
        ("/api/projects", {"name": "x"}, 422),
        ("/api/projects", [PROJECT], 422),
        ("/api/projects/101/problems", {"problemid": "42"}, 422),
        ("/api/projects/101/problems", {"problemid": True}, 422),
        ("/api/projects/101/problems", {"problemid": 4711}, 404),
        ("/api/projects/999/problems", {"problemid": 42}, 404),
        ("/api/projects/999/candidates", [person("a@example.com")], 404),
        ("/api/projects/101/candidates", person("a@example.com"), 400),
        ("/api/projects/101/candidates", [], 422),
        ("/api/projects/101/candidates", [person("a@example.com", stage_id="1")], 422),
        ("/api/projects/101/candidates", [person("a@example.com", stage_id=True)], 422),
        ("/api/projects/101/candidates", [person("nobody")], 422),
        ("/api/projects/101/candidates", [person("a@example.com", notes=None)], 422),
        ("/api/projects/101/candidates", [person("a@example.com", notes="\ud800")], 422),
        ("/api/projects/101/candidates", [person("a@example.com", candidate_id=1)], 422),
        ("/api/projects/101/candidates/5002/invite", None, 404),
        ("/api/projects/102/candidates/5001/invite", None, 404),
        ("/api/projects/101/candidates/5001/invite", {}, 400),
        ("//api/projects", PROJECT, 404),
        ("/api//projects", PROJECT, 404),
        ("/api/projects/", PROJECT, 404),
        ("/api/projects/101%2Fproblems", {"problemid": 42}, 404),
        ("/api/projects/-1/problems", {"problemid": 42}, 404),
        ("/api/problems", PROJECT, 405),
    ],
)
def test_what_is_wrong_is_refused_and_changes_nothing(service, client, path, body, status):
    """Paths, types and ids are checked strictly; what is refused had no effect and is recorded."""
    project = service.create_interview("First", 42)
    service.create_interview("Second", 42)
    service.record.add_candidates(project, [person("first@example.com")], None)
    content = None if body is None else json.dumps(body)
    answer = client.post(service.url + path, content=content)
    assert answer.status_code == status
    assert answer.json()["error"]["message"]
    request = service.record.requests[-1]
    assert (request.path, request.effect, request.status) == (path, False, status)
    assert [len(each.problem_ids) for each in service.projects] == [1, 1]
    assert len(service.candidates) == 1 and not service.record.invitations


def test_a_body_that_is_not_json_is_refused(client):
    """Bodies are JSON, and said to be (interface 4.3)."""
    assert client.post("/api/projects", content=b"{").status_code == 400
    assert client.post("/api/projects", content=b"\xff").status_code == 400
    plain = {"content-type": "text/plain"}
    assert client.post("/api/projects", content=b"{}", headers=plain).status_code == 415


def test_nothing_is_deduplicated(service, client):
    """The same email added twice is two candidates, the same invite twice is two emails."""
    project_id = service.create_interview("First", 42).id
    path = f"/api/projects/{project_id}/candidates"
    first, second = client.post(path, json=[person("ada@example.com")] * 2).json()
    assert first["candidate_id"] != second["candidate_id"]
    for _ in range(2):
        client.post(f"{path}/{first['candidate_id']}/invite")
    assert [each.candidate_id for each in service.record.invitations] == [first["candidate_id"]] * 2


def test_what_the_service_may_refuse():
    """Bulk adds have an unknown limit (interface 8), and some rows no service takes."""
    settings = {"refuse_emails": ["no@example.com"], "refuse_invites": ["mute@example.com"]}
    with Sandbox(max_candidates_per_request=2, **settings) as service:
        path = (
            f"{service.base_url}/api/projects/{service.create_interview('First', 42).id}/candidates"
        )
        headers = service.authorization()

        def add(*emails: str) -> int:
            rows = [person(email) for email in emails]
            return httpx.post(path, json=rows, headers=headers).status_code

        assert add("a@example.com", "b@example.com", "c@example.com") == 413
        assert add("a@example.com", "No@example.com") == 422
        assert not service.candidates
        assert add("a@example.com", "mute@example.com") == 201
        invited = [
            httpx.post(f"{path}/{each.candidate_id}/invite", headers=headers).status_code
            for each in service.candidates
        ]
        assert invited == [200, 422]
        assert [each.email for each in service.record.invitations] == ["a@example.com"]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("Dec 1, 2026 9:00 am", True),
        ("Feb 29, 2028 12:59 pm", True),
        ("Feb 29, 2026 9:00 am", False),
        ("Dec 01, 2026 9:00 am", False),
        ("Dec 1, 2026 09:00 am", False),
        ("Dec 1, 2026 13:00 pm", False),
        ("Dec 1, 2026 9:00 AM", False),
        ("Dez 1, 2026 9:00 am", False),
        ("Dec 1, 2026 9:00 am\n", False),
    ],
)
def test_times_have_the_form_of_the_interface(text, right):
    """Interface 2: <Mon> <D>, <YYYY> <h:mm> <am|pm>, of a day that exists."""
    assert (wrong_time(text) is None) == right
