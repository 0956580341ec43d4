"""The pages without a browser: what they show, what they make, and whom they refuse."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.sandbox.conftest import Client, row


def page(client: Client, path: str, status: int = 200) -> str:
    answer = client.http.get(path)
    assert answer.status_code == status
    return answer.text


def test_the_outbox_has_one_email_for_each_invitation(client: Client) -> None:
    assert "No email yet" in page(client, "/outbox")
    for number in (5001, 5002, 5001):
        client.invite(number)
    assert page(client, "/outbox").count("ada@x.org") == 2
    assert "bob@x.org" not in page(client, "/outbox?q=ADA")
    link = f"{client.sandbox.url}/embedded/welcome?projectId=101&amp;candidateId=5001"
    assert f'href="{link}"' in page(client, "/outbox/3")
    page(client, "/outbox/4", 404)


def test_a_long_list_comes_in_pages(client: Client) -> None:
    """The newest first; what is sought is sought in all of it."""
    client.add(*(f"person{number}@x.org" for number in range(60)))
    first, second = page(client, "/people"), page(client, "/people?page=2")
    assert "person59@x.org" in first and "ada@x.org" not in first
    assert "ada@x.org" in second and "Page 2 of 2" in second
    assert "ada@x.org" in page(client, "/people?q=ada@")
    assert page(client, "/people?page=99") == second == page(client, "/people?page=02")


def test_what_people_are_called_is_text(client: Client) -> None:
    evil = "<script>alert(1)</script>"
    rows = [row("eve@x.org", first_name=evil)]
    client.call("POST", "/api/projects/101/candidates", json=rows)
    client.invite(5003)
    for path in ("/people", "/outbox", "/outbox/1"):
        assert evil not in page(client, path)


def test_a_problem_and_an_interview_are_made_in_the_web_application(client: Client) -> None:
    """An interview is a project: a campaign adds its people to it."""
    problem = {"title": "Sudoku", "description": "Fill it in.", "difficulty": "hard"}
    assert client.http.post("/problems", data=problem).status_code == 303
    listed = client.call("GET", "/api/problems").json()[-1]
    assert {name: listed[name] for name in problem} == problem
    assert listed["id"] == 79
    interview = {"name": "Backend", "problem": "79", "starttime": "2026-12-01T00:05"}
    assert client.http.post("/interviews", data=interview).status_code == 303
    made = client.last()
    assert (made["worked"], made["ids"]) == (True, {"project": 102, "problem": 79})
    assert made["body"]["starttime"] == "Dec 1, 2026 12:05 am"
    assert client.add("ada@x.org", project=102).status_code == 201
    assert "Sudoku" in page(client, "/interviews")


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/problems", {"title": " "}),
        ("/interviews", {"name": ""}),
        ("/interviews", {"name": "Backend", "problem": "4"}),
    ],
)
def test_a_form_that_lacks_something(client: Client, path: str, form: dict[str, Any]) -> None:
    assert client.http.post(path, data=form).status_code == 422
    assert not client.last()["worked"]


def test_pages_of_other_sites_and_other_names_get_nothing(client: Client) -> None:
    form, other = {"title": "Sudoku"}, {"origin": "http://other.example"}
    assert client.http.post("/problems", data=form, headers=other).status_code == 403
    assert client.http.get("/people", headers={"host": "other.example"}).status_code == 400
    assert "'none'" in client.http.get("/people").headers["content-security-policy"]


@pytest.mark.parametrize(
    ("query", "status", "says"),
    [
        ("projectId=101&candidateId=5001", 200, "Log in with the email address"),
        ("projectId=101", 400, "not complete"),
        ("projectId=101&candidateId=Ada", 400, "not complete"),
        ("projectId=102&candidateId=5001", 404, "no such assessment"),
        ("projectId=101&candidateId=9", 404, "no such assessment"),
        ("projectId=102&candidateId=5003", 409, "no problem yet"),
    ],
)
def test_a_welcome_page(client: Client, query: str, status: int, says: str) -> None:
    """Whatever it says, it may be shown in a frame of somebody else's page."""
    client.project()
    client.add("cy@x.org", project=102)
    answer = client.http.get(f"/embedded/welcome?{query}")
    assert answer.status_code == status and says in answer.text
    assert answer.headers["content-security-policy"].endswith("frame-ancestors *")


ADA = {"projectId": "101", "candidateId": "5001", "key": "of the frame"}


def code_of(client: Client) -> str:
    """Log in as Ada in the pop-up, and take its one-time code."""
    answer = client.http.post("/embedded/login", data=ADA | {"email": " ADA@x.org "})
    return answer.text.split('data-code="')[1].split('"')[0]


@pytest.mark.parametrize(
    ("change", "status"),
    [({}, 303), ({"candidateId": "5002"}, 403), ({"key": "of another frame"}, 403),
     ({"code": "guessed"}, 403)],
)  # fmt: skip
def test_a_code_opens_the_arena_once(client: Client, change: dict[str, str], status: int) -> None:
    """For the candidate who logged in, to the page that opened the login, and to nobody else."""
    form = ADA | {"code": code_of(client)}
    assert client.http.post("/embedded/enter", data=form | change).status_code == status
    again = 303 if change.get("code") else 403
    assert client.http.post("/embedded/enter", data=form).status_code == again


def test_a_solution_is_kept_and_nothing_else(start: Callable[..., Client], client: Client) -> None:
    form = ADA | {"code": code_of(client)}
    arena = client.http.post("/embedded/enter", data=form).headers["location"]
    session = arena.rpartition("=")[2]
    solution = {"environment": "lightweight", "language": "python", "code": "</textarea>x = 1"}
    for query, code, status in [
        (session, solution["code"], 200),
        ("guessed", solution["code"], 401),
        (session, "x" * 200_001, 422),
    ]:
        answer = client.http.post(
            f"/embedded/solution?session={query}", data=solution | {"code": code, "submit": "yes"}
        )
        assert answer.status_code == status
        assert client.last()["worked"] is (status == 200)
    assert "&lt;/textarea&gt;x = 1</textarea>" in page(client, arena)
