"""What the sandbox shows in a browser."""

from collections.abc import Iterator

import httpx
import pytest

from sandbox.pages.parts import part
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


@pytest.mark.parametrize(
    ("path", "status"),
    [("/embedded/nope", 404), ("/outbox/x", 404), ("/interviews/x", 404), ("/problems/", 404)],
)
def test_an_address_that_leads_nowhere_says_so_in_a_page(service, path, status):
    """Whoever mistypes an address reads words in a page like the others, and is sent nowhere."""
    answer = httpx.get(service.url + path)
    assert (answer.status_code, answer.has_redirect_location) == (status, False)
    assert "There is no such page." in answer.text and "<h1>" in answer.text


def test_everybody_of_a_long_list_can_be_reached_and_found():
    """A page shows the newest; the others are a step away, or found by name or address."""
    with Sandbox() as service:
        project = service.create_interview("Backend engineer", 42)
        common = {"last_name": "Ü", "source": "", "notes": "", "stage_id": 1}
        rows = [
            {"first_name": f"F{n}", "email1": f"p{n}@example.com", **common} for n in range(401)
        ]
        for one in service.record.add_candidates(project, rows, None):
            service.record.invite(one, "link", None)
        for path, first in (("/", "p0@"), ("/interviews/101", "p0@"), ("/outbox", "p0@")):
            newest, last = (
                httpx.get(f"{service.url}{path}", params={"part": part}).text for part in (1, 99)
            )
            assert "1 to 200 of 401" in newest and "p400@" in newest and first not in newest
            assert "401 to 401 of 401" in last and first in last
            assert 'rel="next" href="?find=&amp;part=2"' in newest and 'rel="prev"' in last
            found = httpx.get(f"{service.url}{path}", params={"find": " P37@Example "}).text
            assert "p37@" in found and "p370@" not in found and "1 found" in found


NUMBERS = tuple(range(1, 402))


@pytest.mark.parametrize(
    ("query", "rows", "number"),
    [
        ({}, (401, 202), 1),
        ({"part": "2"}, (201, 2), 2),
        ({"part": "3"}, (1, 1), 3),
        ({"part": "9"}, (1, 1), 3),
        ({"part": "0"}, (401, 202), 1),
        ({"part": "x"}, (401, 202), 1),
        ({"part": "٣"}, (401, 202), 1),
        ({"find": "40"}, (401, 40), 1),
        ({"find": "none"}, None, 1),
    ],
)
def test_which_part_of_a_list_is_shown(query, rows, number):
    """The newest first, 200 at once; an address that asks for no part shows the first."""
    shown = part(NUMBERS, query, str)
    assert ((shown.rows[0], shown.rows[-1]) if shown.rows else None, shown.number) == (rows, number)
