"""No page of ours has a serious accessibility fault, in light or in dark, as axe-core judges."""

from collections.abc import Callable, Iterator
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from data.campaigns import queries
from flows.cli.see.report import written
from sandbox.server import Sandbox
from tasks.outputs.embed_pages import write_pages
from tasks.outputs.links import links_of
from tests.support.browsers.browser import PATIENCE_MS, browser
from tests.support.browsers.candidate import log_in
from tests.support.campaigns import Office, people
from tests.support.session import PATIENCE

pytestmark = pytest.mark.xdist_group("browser")

__all__ = ["browser"]

SERIOUS = ("serious", "critical")
CODE = "# sum\ndef two_sum(numbers, target):\n    return [i for i in range(10)], 'text', None\n"


@cache
def axe() -> str:
    return (resources.files("axe_playwright_python") / "axe.min.js").read_text("utf-8")


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """A sandbox that a campaign ran against, with pages of the campaign in its folder."""
    with Sandbox(login_code_lifetime=PATIENCE) as service:
        office = Office.at(tmp_path_factory.mktemp("office"), service)
        office.run(office.write("a11y", people("ada", "bob")))
        service.create_interview("Two at once", 42, 43)
        with office.ledger() as ledger:
            campaign = ledger.read(queries.find_campaign, "a11y")
            assert campaign is not None
            write_pages(ledger, campaign, links_of(ledger, campaign), office.folder / "web")
            page = written(ledger, campaign, names=True)
            (office.folder / "web" / "report.html").write_bytes(page)
        yield office


@pytest.fixture(scope="module")
def page(office: Office, browser: Browser) -> Iterator[Page]:
    """One page for all; a campaign cannot run once Playwright has its event loop, so it ran."""
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        yield page


def link(office: Office) -> str:
    ada = office.service.candidates[0]
    ids = f"projectId={ada.project_id}&candidateId={ada.candidate_id}"
    return f"{office.service.app_url}/embedded/welcome?{ids}"


def at(path: str) -> Callable[[Page, Office], None]:
    """Open one address of the sandbox."""
    return lambda page, office: go(page, office.service.url + path)


def go(page: Page, url: str) -> None:
    page.goto(url)


def the_blocked_pop_up(page: Page, office: Office) -> None:
    page.goto(link(office))
    page.evaluate("window.open = () => null")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_be_visible()


def the_login(page: Page, office: Office) -> None:
    page.goto(link(office).replace("welcome", "login") + "&state=s")


def the_refused_login(page: Page, office: Office) -> None:
    the_login(page, office)
    page.get_by_label("Email address").fill("eve@example.com")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_be_visible()


def the_end_of_the_login(page: Page, office: Office) -> None:
    the_login(page, office)
    page.get_by_label("Email address").fill("ada@example.com")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="You are logged in")).to_be_visible()


def the_full_editor(page: Page, office: Office) -> None:
    page.goto(link(office))
    log_in(page, page.main_frame, "ada@example.com")
    page.get_by_role("radio", name="Full").check()
    page.get_by_role("textbox", name="Your solution, in the full editor").fill(CODE)
    expect(page.locator(".ace_comment").first).to_be_visible()
    page.get_by_text("Keys", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("Saved")


def the_lightweight_editor(page: Page, office: Office) -> None:
    the_full_editor(page, office)
    page.get_by_role("radio", name="Lightweight").check()


def a_problem_refused(page: Page, office: Office) -> None:
    form = {"title": "", "description": "d", "difficulty": "easy", "skills": "", "time_limit": "1"}
    headers = {"origin": office.service.url}
    answer = httpx.post(f"{office.service.url}/problems", data=form, headers=headers)
    page.goto(f"{office.service.url}/problems")
    page.set_content(answer.text)  # the page as it was answered, at its own address


def the_index_of_links(page: Page, office: Office) -> None:
    page.goto((office.folder / "web" / "index.html").as_uri())


def the_embed_page(page: Page, office: Office) -> None:
    first: Path = next((office.folder / "web" / "pages").iterdir())
    page.goto(first.as_uri())
    page.evaluate("document.getElementById('blocked').hidden = false")


def the_report(page: Page, office: Office) -> None:
    page.goto((office.folder / "web" / "report.html").as_uri())


PAGES: dict[str, Callable[[Page, Office], None]] = {
    "desk": at("/"),
    "problems": at("/problems"),
    "a problem refused": a_problem_refused,
    "interviews": at("/interviews"),
    "interview": at("/interviews/101"),
    "interview with two problems": at("/interviews/102"),
    "outbox": at("/outbox"),
    "found in the outbox": at("/outbox?find=ada"),
    "message": at("/outbox/1"),
    "not found": at("/outbox/999"),
    "welcome": lambda page, office: go(page, link(office)),
    "blocked pop-up": the_blocked_pop_up,
    "login": the_login,
    "refused login": the_refused_login,
    "end of the login": the_end_of_the_login,
    "full editor": the_full_editor,
    "lightweight editor": the_lightweight_editor,
    "index of links": the_index_of_links,
    "embed page": the_embed_page,
    "report": the_report,
}


def faults(page: Page, **options: Any) -> list[str]:
    """What axe-core finds on the page as it is: rule, weight and the places."""
    page.evaluate(axe())
    found = page.evaluate("options => axe.run(document, options)", {"iframes": False, **options})
    return [
        f"{fault['id']} ({fault['impact']}): {node['html'][:150]} {node['failureSummary'][:300]}"
        for fault in found["violations"]
        if fault["impact"] in SERIOUS
        for node in fault["nodes"]
    ]


@pytest.mark.parametrize("name", PAGES)
def test_no_serious_fault_on_any_page(page: Page, office: Office, name: str) -> None:
    """Every page in light, and its colours once more in dark."""
    page.emulate_media(color_scheme="light")
    PAGES[name](page, office)
    assert faults(page) == []
    page.emulate_media(color_scheme="dark")
    if page.locator(".ace_editor").count():  # its dark colours are a file of their own
        expect(page.locator("#full.ace_dark")).to_have_count(1)
    only = {"type": "rule", "values": ["color-contrast"]}
    assert faults(page, runOnly=only) == []


def test_a_fault_would_be_seen(page: Page) -> None:
    """The judge is at work: a nameless field and grey on grey are found."""
    page.goto("about:blank")
    page.set_content("<main><input><p style='color:#999;background:#aaa'>grey</p></main>")
    assert {fault.split(" ")[0] for fault in faults(page)} >= {"label", "color-contrast"}
