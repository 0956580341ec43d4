"""The six calls: what is done, and what is refused, as one table."""

from collections.abc import Callable
from typing import Any

from tests.sandbox.conftest import CREDENTIALS, PROJECT, Client, row

PROBLEM = {
    int: "id time_limit public open like_count open_count view_count",
    str: "title description skills owner_id difficulty date_created",
    bool: "opened solved _public is_current_user_admin liked_by_current_user "
    "viewed_by_current_user",
    list: "open_events submissions",
}


def test_the_way_of_a_campaign(start: Callable[..., Client]) -> None:
    """Token, problems, project, its problem, candidates, invitation: each as the interface says."""
    client = start()
    problems = client.call("GET", "/api/problems").json()
    assert {each["id"]: each["title"] for each in problems}[42] == "Two sum"
    for problem in problems:
        kinds = {name: kind for kind, names in PROBLEM.items() for name in names.split()}
        assert {name: type(value) for name, value in problem.items()} == kinds
    created = client.project()
    assert (created.status_code, created.json()) == (201, {"id": 101})
    assert client.attach().status_code == 200
    sent = [row("Ada@X.org"), row("bob@x.org", notes="“¡hola!”\n", stage_id=-1)]
    added = client.call("POST", "/api/projects/101/candidates", json=sent)
    assert added.json() == [sent[0] | {"candidate_id": 5001}, sent[1] | {"candidate_id": 5002}]
    assert client.invite(5002).status_code == 200
    assert client.last()["email"] == "bob@x.org"


def test_a_token_says_how_long_it_lives(start: Callable[..., Client]) -> None:
    answer = start(token_lifetime=600).post("/oauth/token", json=CREDENTIALS).json()
    token = answer["access_token"]
    assert answer == {"access_token": token, "token_type": "Bearer", "expires_in": 600}
    assert start(token_lifetime=0).project().status_code == 401


def test_nothing_is_deduplicated(client: Client) -> None:
    """As a naive service: the same address is two candidates, and each invitation an email."""
    assert client.add("ada@x.org").json()[0]["candidate_id"] == 5003
    for number in (5001, 5001, 5003):
        client.invite(number)
        assert client.last()["email"] == "ada@x.org"


P, C = "/api/projects", "/api/projects/101/candidates"
REFUSED: list[tuple[str, str, dict[str, Any], int]] = [
    # paths
    ("POST", "//api/projects", {"json": PROJECT}, 404),
    ("POST", "/api/projects/", {"json": PROJECT}, 404),
    ("POST", "/api%2Fprojects", {"json": PROJECT}, 404),
    ("POST", f"{P}/one/problems", {"json": {"problemid": 42}}, 404),
    ("GET", "/oauth/token", {}, 405),
    # tokens
    ("GET", "/api/problems", {"headers": {"authorization": ""}}, 401),
    ("POST", P, {"json": PROJECT, "headers": {"authorization": "Bearer other"}}, 401),
    ("POST", f"{C}/5001/invite", {"headers": {"authorization": "Basic other"}}, 401),
    ("POST", "/oauth/token", {"json": CREDENTIALS | {"client_secret": "other"}}, 401),
    ("POST", "/oauth/token", {"json": CREDENTIALS | {"audience": "other"}}, 403),
    ("POST", "/oauth/token", {"json": CREDENTIALS | {"grant_type": "password"}}, 403),
    ("POST", "/oauth/token", {"json": CREDENTIALS | {"scope": "all"}}, 400),
    ("POST", "/oauth/token", {"data": CREDENTIALS, "headers": {"content-type": ""}}, 415),
    # shapes
    ("GET", "/api/problems", {"headers": {"content-type": "text/plain"}}, 415),
    ("POST", P, {"json": PROJECT, "headers": {"content-type": "text/json"}}, 415),
    ("POST", P, {"content": b'{"name": '}, 400),
    ("POST", P, {"content": b"[" * 100_000}, 400),
    ("POST", C, {"json": row("eve@x.org")}, 400),
    ("POST", C, {"json": []}, 400),
    ("POST", f"{C}/5001/invite", {"json": {}}, 400),
    # fields
    ("POST", P, {"json": {"name": "Backend"}}, 422),
    ("POST", P, {"json": PROJECT | {"timezone": "UTC"}}, 422),
    ("POST", P, {"json": PROJECT | {"starttime": "Dec 01, 2026 9:00 am"}}, 422),
    ("POST", P, {"json": PROJECT | {"endtime": "Feb 29, 2027 9:00 am"}}, 422),
    ("POST", f"{P}/101/problems", {"json": {"problemid": "42"}}, 422),
    ("POST", C, {"json": [row("eve@x.org", stage_id="1")]}, 422),
    ("POST", C, {"json": [row("eve@x.org"), row("ann")]}, 422),
    ("POST", C, {"json": [row("eve@x.org", candidate_id=5003)]}, 422),
    # whom and what there is not, or is already
    ("POST", f"{P}/102/problems", {"json": {"problemid": 42}}, 404),
    ("POST", f"{P}/101/problems", {"json": {"problemid": 41}}, 404),
    ("POST", f"{P}/101/problems", {"json": {"problemid": 43}}, 409),
    ("POST", f"{P}/102/candidates", {"json": [row("eve@x.org")]}, 404),
    ("POST", f"{C}/5003/invite", {}, 404),
    ("POST", f"{P}/102/candidates/5001/invite", {}, 404),
]


def test_what_is_refused(client: Client) -> None:
    """Each with its status and a sentence; nothing is done, and the record says so."""
    for method, path, options, status in REFUSED:
        answer = client.call(method, path, **options)
        assert (answer.status_code, answer.json().keys()) == (status, {"error"}), (path, options)
        assert (client.last()["worked"], client.last()["status"]) == (False, status)
        assert client.last()["path"] == path
    [added] = client.add("eve@x.org").json()
    assert (client.project().json()["id"], added["candidate_id"]) == (102, 5003)
