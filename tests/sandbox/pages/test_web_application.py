"""The web application: problems and interviews made by hand, and used by campaigns."""

from datetime import datetime
from pathlib import Path

import httpx
import pytest

from data.store.states import Ending
from sandbox.pages.web_application import moment, service_time
from sandbox.server import Sandbox
from sandbox.service.problems import SAMPLE_PROBLEMS
from tasks.service.messages import service_date
from tests.sandbox.sent import credentials
from tests.support.campaigns import Office, people

PROBLEM = {
    "title": "Word count",
    "description": "Count the words.",
    "difficulty": "easy",
    "skills": "Text",
    "time_limit": "30",
}
INTERVIEW = {
    "name": "Made by hand",
    "description": "",
    "problem": "43",
    "starttime": "2026-12-01T09:00",
    "endtime": "2026-12-14T18:05",
}


def made(service: Sandbox) -> list[int]:
    """The ids of the problems that a sandbox did not have from the beginning."""
    return [each["id"] for each in service.record.every_problem()[len(SAMPLE_PROBLEMS) :]]


def fill_in(service: Sandbox, path: str, form: dict[str, str], **headers: str) -> httpx.Response:
    """Send a form as the page with that form does."""
    return httpx.post(service.url + path, data=form, headers={"origin": service.url} | headers)


def test_a_problem_made_here_is_used_by_its_title(service: Sandbox, tmp_path: Path) -> None:
    """Interface 1: a problem of the web application is in the list, and a campaign attaches it."""
    assert fill_in(service, "/problems", PROBLEM).status_code == 303
    page = httpx.get(f"{service.url}/problems").text
    assert "Word count" in page
    office = Office.at(tmp_path, service)
    end = office.run(office.write("made", people("ada"), problem="{title: Word count}"))
    assert end.ending is Ending.COMPLETED
    [project] = service.projects
    assert project.problem_ids == [79]


def test_an_interview_made_here_is_used_by_its_id(service: Sandbox, tmp_path: Path) -> None:
    """Interface 1: an interview is a project; a campaign adds its people to it, creating none."""
    made = fill_in(service, "/interviews", INTERVIEW)
    assert (made.status_code, made.headers["location"]) == (303, "/interviews/101")
    [project] = service.projects
    assert (project.starttime, project.endtime) == ("Dec 1, 2026 9:00 am", "Dec 14, 2026 6:05 pm")
    office = Office.at(tmp_path, service)
    end = office.run(office.write("hand", people("ada"), project="{id: 101}", problem=""))
    assert end.ending is Ending.COMPLETED
    assert office.changing() == ["add_candidates", "invite"]


def test_an_interview_shows_its_people_their_messages_and_links(
    service: Sandbox, tmp_path: Path
) -> None:
    """Who is in it, which message went to whom, and where each person takes the assessment."""
    fill_in(service, "/interviews", INTERVIEW)
    office = Office.at(tmp_path, service)
    office.run(office.write("hand", people("ada", "bob"), project="{id: 101}", problem=""))
    page = httpx.get(f"{service.url}/interviews/101").text
    for person in service.candidates:
        assert person.email1 in page
        link = f"/embedded/welcome?projectId=101&amp;candidateId={person.candidate_id}"
        assert link in page
    assert '<a href="/outbox/1">' in page and '<a href="/outbox/2">' in page
    assert "<code>project: {id: 101}</code>" in page
    assert httpx.get(f"{service.url}/interviews/102").status_code == 404


@pytest.mark.parametrize(
    ("path", "form", "changed"),
    [
        ("/problems", PROBLEM, {"title": " "}),
        ("/problems", PROBLEM, {"description": ""}),
        ("/problems", PROBLEM, {"difficulty": "impossible"}),
        ("/problems", PROBLEM, {"time_limit": "-1"}),
        ("/problems", PROBLEM, {"time_limit": "٣"}),
        ("/problems", PROBLEM, {"time_limit": "99999"}),
        ("/interviews", INTERVIEW, {"name": ""}),
        ("/interviews", INTERVIEW, {"problem": "999"}),
        ("/interviews", INTERVIEW, {"starttime": "tomorrow"}),
        ("/interviews", INTERVIEW, {"endtime": "2026-12-01T09:00"}),
    ],
)
def test_a_form_that_is_wrong_says_what_and_keeps_the_rest(
    service: Sandbox, path: str, form: dict[str, str], changed: dict[str, str]
) -> None:
    """Nothing is made of it, and what was right need not be typed again."""
    answer = fill_in(service, path, form | changed)
    assert answer.status_code == 422 and 'role="alert"' in answer.text
    shown = (form | changed).get("title", (form | changed).get("name"))
    assert f'value="{shown}"' in answer.text
    assert not service.projects and made(service) == []


@pytest.mark.parametrize(("path", "form"), [("/problems", PROBLEM), ("/interviews", INTERVIEW)])
@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_a_form_of_another_site_makes_nothing(
    service: Sandbox, path: str, form: dict[str, str], headers: dict[str, str]
) -> None:
    """A page somebody visits cannot use their browser to change the sandbox."""
    assert fill_in(service, path, form, **headers).status_code == 403
    assert not service.projects and made(service) == []


def test_a_site_whose_name_leads_here_reads_nothing(service: Sandbox) -> None:
    """Neither the record nor a page is told to a browser that asks for another name."""
    for path in ("/", "/sandbox/record", "/interviews", "/embedded/welcome"):
        answer = httpx.get(service.url + path, headers={"host": "evil.example"})
        assert answer.status_code == 421


def test_a_site_whose_name_leads_here_gets_no_token(service: Sandbox) -> None:
    """The sandbox's credentials are no secret, so the API asks for the name as well."""
    token = f"{service.auth_url}/oauth/token"
    asked = httpx.post(token, json=credentials(service), headers={"host": "evil.example"})
    assert (asked.status_code, service.record.requests) == (421, [])
    headers = {**service.authorization(), "host": "evil.example"}
    assert httpx.get(f"{service.base_url}/api/problems", headers=headers).status_code == 421
    assert httpx.post(token, json=credentials(service)).status_code == 200


def test_the_sandbox_listens_on_this_machine_alone() -> None:
    """Nobody else reaches it unless it is told another address."""
    with Sandbox() as service:
        assert service.url.startswith("http://127.0.0.1:")


def test_what_was_made_is_there_after_a_restart(tmp_path: Path) -> None:
    """Problems and interviews outlive the process, and ids are never given out twice."""
    with Sandbox(tmp_path) as service:
        fill_in(service, "/problems", PROBLEM)
        fill_in(service, "/interviews", INTERVIEW | {"problem": "79"})
    with Sandbox(tmp_path) as again:
        fill_in(again, "/problems", PROBLEM | {"title": "Another"})
        answer = fill_in(again, "/interviews", INTERVIEW)
        assert made(again) == [79, 80]
        assert answer.headers["location"] == "/interviews/102"
        assert again.projects[0].problem_ids == [79]


@pytest.mark.parametrize("hour", [0, 1, 11, 12, 13, 23])
def test_times_are_written_as_campaigns_write_them(hour: int) -> None:
    """Interface 2: `Dec 1, 2026 9:00 am`, the same on both sides."""
    at = datetime(2026, 2, 9, hour, 5)  # noqa: DTZ001 - wall time
    assert service_time(at.strftime("%Y-%m-%dT%H:%M")) == service_date(at)
    assert service_time("") == "" and moment("") is None
