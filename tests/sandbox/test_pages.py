"""The pages without a browser: what they show, what they make, and whom they refuse."""

from tests.sandbox.conftest import Client, row


def page(client: Client, path: str, status: int = 200) -> str:
    answer = client.get(path)
    assert answer.status_code == status
    return answer.text


def test_the_outbox_has_one_email_for_each_invitation(client: Client) -> None:
    for number in (5001, 5002, 5001):
        client.invite(number)
    assert page(client, "/outbox").count("ada@x.org") == 2
    assert "bob@x.org" not in page(client, "/outbox?q=ADA")
    link = f"{client.sandbox.url}/embedded/welcome?projectId=101&amp;candidateId=5001"
    assert f'href="{link}"' in page(client, "/outbox/3")
    page(client, "/outbox/4", 404)


def test_a_long_list_comes_in_pages(client: Client) -> None:
    """The newest first; what is sought is sought in all of it, and what is shown is text."""
    evil = "<script>alert(1)</script>"
    rows = [row(f"person{number}@x.org", first_name=evil) for number in range(60)]
    client.call("POST", "/api/projects/101/candidates", json=rows)
    first, second = page(client, "/people"), page(client, "/people?page=2")
    assert "person59@x.org" in first and "ada@x.org" not in first
    assert "ada@x.org" in second and "Page 2 of 2" in second
    assert "ada@x.org" in page(client, "/people?q=ada@")
    assert page(client, "/people?page=99") == second
    assert evil not in first


def test_a_problem_and_an_interview_are_made_in_the_web_application(client: Client) -> None:
    """An interview is a project: a campaign adds its people to it."""
    problem = {"title": "Sudoku", "description": "Fill it in.", "difficulty": "hard"}
    assert client.post("/problems", data=problem).status_code == 303
    listed = client.call("GET", "/api/problems").json()[-1]
    assert {name: listed[name] for name in problem} == problem
    assert listed["id"] == 79
    interview = {"name": "Backend", "problem": "79", "starttime": "2026-12-01T00:05"}
    assert client.post("/interviews", data=interview).status_code == 303
    made = client.last()
    assert (made["worked"], made["ids"]) == (True, {"project": 102, "problem": 79})
    assert made["body"]["starttime"] == "Dec 1, 2026 12:05 am"
    assert client.add("ada@x.org", project=102).status_code == 201
    assert "Sudoku" in page(client, "/interviews")
    no_problem, other = {"name": "Backend", "problem": "4"}, {"origin": "http://other.example"}
    for path, form in ("/problems", {"title": " "}), ("/interviews", no_problem):
        assert client.post(path, data=form).status_code == 422
        assert client.post(path, data=form, headers=other).status_code == 403
    assert client.get("/people", headers={"host": "other.example"}).status_code == 400


def test_a_welcome_page(client: Client) -> None:
    """Whatever it says, it may be shown in a frame of somebody else's page."""
    client.project()
    client.add("cy@x.org", project=102)
    for query, status, says in [
        ("projectId=101&candidateId=5001", 200, "Log in with the email address"),
        ("projectId=101", 400, "not complete"),
        ("projectId=101&candidateId=Ada", 400, "not complete"),
        ("projectId=102&candidateId=5001", 404, "no such assessment"),
        ("projectId=102&candidateId=5003", 409, "no problem yet"),
    ]:
        answer = client.get(f"/embedded/welcome?{query}")
        assert answer.status_code == status and says in answer.text
        assert answer.headers["content-security-policy"].endswith("frame-ancestors * file:")
