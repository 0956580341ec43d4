"""A candidate on the way into the arena, in a browser or without one."""

import re

import httpx
from playwright.sync_api import Frame, Page, expect

from sandbox.server import Sandbox
from sandbox.service.record import Candidate
from tasks.service.embed import embed_url, iframe
from tests.support.browsers.host_page import HostPages


def one_candidate(service: Sandbox, email: str = "ada@example.com", *problems: int) -> Candidate:
    """A candidate of a new interview with one problem, or with those given."""
    project = service.create_interview("Backend engineer", *(problems or (42,)))
    row = {"first_name": "Ada", "last_name": "Lovelace", "email1": email}
    row |= {"source": "", "notes": "", "stage_id": 1}
    [added] = service.record.add_candidates(project, [row], None)
    return added


def log_in(page: Page, frame: Frame, email: str) -> Frame:
    """Log in by pop-up; answers the frame once it shows the arena."""
    with page.expect_popup() as popup:
        frame.get_by_role("button", name="Log in").click()
    popup.value.get_by_label("Email address").fill(email)
    with popup.value.expect_event("close"):
        popup.value.get_by_role("button", name="Log in").click()
    expect(frame.get_by_role("button", name="Submit")).to_be_visible()
    return frame


def arena(page: Page, service: Sandbox, host: HostPages, candidate: Candidate) -> Frame:
    """Open the candidate's page in a host page of another origin and log in."""
    url = embed_url(service.app_url, candidate.project_id, candidate.candidate_id)
    page.goto(host.add(iframe(url, "Assessment")))
    page.frame_locator("iframe").get_by_role("button", name="Log in").wait_for()
    return log_in(page, page.frames[1], candidate.email1)


def session_of(service: Sandbox, candidate: Candidate) -> str:
    """Log in without a browser; answers the arena's session."""
    form = {
        "projectId": str(candidate.project_id),
        "candidateId": str(candidate.candidate_id),
        "state": "s",
        "email": candidate.email1,
    }
    headers = {"origin": service.url}
    app = f"{service.app_url}/embedded"
    login = httpx.post(f"{app}/login", data=form, headers=headers).text
    form["code"] = _attribute(login, "data-code")
    return _attribute(httpx.post(f"{app}/arena", data=form, headers=headers).text, "data-session")


def _attribute(html: str, name: str) -> str:
    found = re.search(rf'{name}="([^"]+)"', html)
    assert found, html
    return found[1]
