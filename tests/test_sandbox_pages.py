"""What the sandbox shows in a browser."""

from collections.abc import Iterator

import httpx
import pytest

from sandbox.server import Sandbox

EVIL = "<script>alert('x')</script>"


@pytest.fixture(scope="module")
def service() -> Iterator[Sandbox]:
    with Sandbox() as service:
        for name in (EVIL, "Other"):
            project = service.create_interview(name, 42)
            row = {
                "first_name": EVIL,
                "last_name": '"><img src=x>',
                "email1": f"a&{project.id}@x.y",
            }
            row |= {"source": EVIL, "notes": EVIL, "stage_id": 1}
            service.record.add_candidates(project, [row], None)
        path = "/api/projects/101/candidates/5001/invite"
        httpx.post(service.base_url + path, headers=service.authorization())
        yield service


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/problems",
        "/interviews",
        "/interviews/101",
        "/outbox",
        "/outbox/1",
        "/embedded/welcome?projectId=101&candidateId=5001",
        "/embedded/login?projectId=101&candidateId=5001&state=%22%3E%3Cscript%3E",
    ],
)
def test_every_value_is_escaped(service, path):
    """A candidate or project called <script> is text, on every page, and only our scripts run."""
    page = httpx.get(service.url + path)
    assert page.status_code == 200
    assert "<script>" not in page.text and "<img" not in page.text
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy


def test_the_message_shows_its_link_and_the_link_works(service):
    """From the outbox to the candidate's page in one step."""
    page = httpx.get(f"{service.url}/outbox/1").text
    link = service.record.invitations[0].link
    assert f'<a href="{link.replace("&", "&amp;")}">' in page
    assert httpx.get(link).status_code == 200
    assert "a&amp;101@x.y" in page


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("projectId=101&candidateId=5001", 200),
        ("projectId=101&candidateId=5002", 404),
        ("projectId=999&candidateId=5001", 404),
        ("projectId=101&candidateId=9999", 404),
        ("projectId=101", 400),
        ("", 400),
        ("projectId=101&candidateId=x", 400),
        ("projectId=101&candidateId=-5001", 400),
        ("projectId=101&candidateId=5001.0", 400),
        ("projectId=101&candidateId=5001&candidateId=5001", 400),
        ("projectId=101&candidateId=%D9%A5", 400),
        (f"projectId={EVIL}&candidateId=5001", 400),
    ],
)
def test_the_embedded_page_knows_its_own_links(service, query, status):
    """Interface 4.7: both ids are whole numbers, of one project; else a clear page."""
    page = httpx.get(f"{service.app_url}/embedded/welcome?{query}")
    assert page.status_code == status
    assert page.headers["content-type"].startswith("text/html")
    assert ("cannot be shown" in page.text) == (status != 200)
    assert "<script>" not in page.text and "a&amp;101@x.y" not in page.text


def test_an_unknown_message_is_not_found(service):
    """The outbox holds what was sent and nothing else."""
    assert [httpx.get(f"{service.url}/outbox/{n}").status_code for n in (0, 1, 2)] == [
        404,
        200,
        404,
    ]


def test_the_record_is_there_for_other_programs(service):
    """GET /sandbox/record and /sandbox/invitations tell what the service received and sent."""
    record = httpx.get(f"{service.url}/sandbox/record").json()
    (request,) = record["requests"]
    wanted = {"number": 1, "method": "POST", "operation": "invite", "authorized": True}
    wanted |= {"effect": True, "status": 200, "fault": None, "candidate_id": 5001, "body": None}
    assert wanted.items() <= request.items()
    assert len(record["projects"]) == 2 and len(record["candidates"]) == 2
    invitations = httpx.get(f"{service.url}/sandbox/invitations").json()
    assert invitations == record["invitations"]
    assert invitations[0]["email"] == "a&101@x.y"
