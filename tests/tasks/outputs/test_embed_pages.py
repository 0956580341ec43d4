"""Our own pages that embed the assessment: one for each candidate, and an index of them."""

import re
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from data.campaigns import queries
from sandbox.server import Sandbox
from tasks.outputs.embed_page import embed_page, policy
from tasks.outputs.embed_pages import page_name, write_pages
from tasks.outputs.links import links_of
from tasks.service.embed import embed_url, iframe
from tests.support.browsers.browser import browser, page
from tests.support.browsers.candidate import log_in
from tests.support.browsers.host_page import HostPages, host_pages
from tests.support.campaigns import Office, people
from tests.support.session import PATIENCE

pytestmark = pytest.mark.xdist_group("browser")

__all__ = ["browser", "page"]

URL = embed_url("https://app.example.com/service", 101, 5001)


@pytest.fixture(scope="module")
def service() -> Iterator[Sandbox]:
    with Sandbox(login_code_lifetime=PATIENCE) as service:
        yield service


@pytest.fixture(scope="module")
def host() -> Iterator[HostPages]:
    with host_pages() as host:
        yield host


@pytest.fixture(scope="module")
def office(service: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Office:
    """A campaign that ran: ada and bob are in project 101."""
    office = Office.at(tmp_path_factory.mktemp("office"), service)
    office.run(office.write("pages", people("ada", "bob"), project='{name: "Back <end>"}'))
    return office


def written(office: Office, folder: Path) -> dict[str, str]:
    """Write the pages; answers their texts by file name."""
    with office.ledger() as ledger:
        campaign = ledger.read(queries.find_campaign, "pages")
        assert campaign is not None
        pages = write_pages(ledger, campaign, links_of(ledger, campaign), folder)
    return {path.name: path.read_text() for path in pages.iterdir()}


def test_each_candidate_has_a_page_with_their_own_frame(office: Office, tmp_path: Path) -> None:
    """One page each, which embeds that candidate's URL with exactly the four permissions."""
    pages = written(office, tmp_path)
    assert len(pages) == 2
    # A web server is somebody else, and reads the pages but not the list that names everybody.
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*.html")}
    assert modes.pop(tmp_path / "index.html") == 0o600 and set(modes.values()) == {0o644}
    frames = [re.findall(r"<iframe [^>]*>", text) for text in pages.values()]
    allowed = 'allow="fullscreen; clipboard-read; clipboard-write; keyboard-map"'
    assert all(len(found) == 1 and allowed in found[0] for found in frames)
    ids = {int(match) for text in pages.values() for match in re.findall(r"Id=(50\d+)\"", text)}
    assert ids == {person.candidate_id for person in office.service.candidates}


def test_a_page_tells_nothing_about_the_person(office: Office, tmp_path: Path) -> None:
    """No name and no address: only the ids that the embed URL needs."""
    for text in written(office, tmp_path).values():
        assert not re.search("ada|bob|@|Example", text, re.IGNORECASE)
        assert "Back &lt;end&gt;" in text


def test_names_cannot_be_guessed_and_stay(office: Office, tmp_path: Path) -> None:
    """From one page nobody finds another; written again, each candidate keeps the same page."""
    first, again = written(office, tmp_path / "a"), written(office, tmp_path / "b")
    assert first == again
    assert all(re.fullmatch(r"[0-9a-f]{32}\.html", name) for name in first)
    names = {page_name(secret, key, 1) for secret in "ab" for key in "cd"}
    assert len(names | {page_name("a", "c", 2)}) == 5


def test_the_index_leads_to_every_page(office: Office, tmp_path: Path) -> None:
    """The index names everybody and lies outside the folder that is put on a web server."""
    pages = written(office, tmp_path)
    index = (tmp_path / "index.html").read_text()
    assert set(re.findall(r'href="pages/([^"]+)"', index)) == pages.keys()
    assert "ada@example.com" in index and "index.html" not in pages


@pytest.mark.parametrize("scheme", ["https", "http"])
def test_a_page_frames_the_service_and_lets_nothing_else_in(scheme: str) -> None:
    """Wherever the service's frame leads by TLS it may go; no other script, style or address."""
    policy_of = policy(URL.replace("https", scheme))
    assert policy_of.split("; ")[:2] == ["default-src 'none'", f"frame-src {scheme}:"]
    assert "unsafe" not in policy_of


def test_a_title_is_text_whatever_it_holds() -> None:
    """A campaign called <script> writes a page that says so and runs nothing of it."""
    evil = "<script>alert(1)</script>"
    text = embed_page(evil, URL, iframe(URL, evil)).decode()
    assert text.count("<script") == 1
    assert text.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 3


# ---- in a browser --------------------------------------------------------------------------------


def shown(page: Page, host: HostPages, office: Office, folder: Path) -> str:
    """Open ada's page as a web server would show it; answers her address."""
    ada = office.service.candidates[0]
    [text] = [one for one in written(office, folder).values() if f"={ada.candidate_id}" in one]
    page.goto(host.add_whole(text))
    return ada.email1


def test_a_candidate_reaches_the_arena_from_our_page(
    office: Office, host: HostPages, page: Page, tmp_path: Path
) -> None:
    """Under the page's own policy the frame loads, the login opens and the arena follows."""
    email = shown(page, host, office, tmp_path)
    expect(page.get_by_role("heading", name="Back <end>", exact=True).first).to_be_visible()
    page.frame_locator("iframe").get_by_role("button", name="Log in").wait_for()
    frame = log_in(page, page.frames[1], email)
    expect(frame.get_by_role("heading", name="Two sum")).to_be_visible()


def embedded(service: Sandbox) -> tuple[str, str]:
    """Add a candidate to a new project; answers the embed URL and the address to log in with."""
    project = service.create_interview("Backend engineer", 42)
    ada = {"first_name": "Ada", "last_name": "L", "email1": "ada@example.com"}
    more = {"source": "", "notes": "", "stage_id": 1}
    [candidate] = service.record.add_candidates(project, [ada | more], None)
    return embed_url(service.app_url, project.id, candidate.candidate_id), candidate.email1


def framed(host: HostPages, url: str) -> str:
    return host.add_whole(embed_page("Assessment", url, iframe(url, "Assessment")).decode())


def test_an_arena_of_another_origin_is_reached(host: HostPages, page: Page) -> None:
    """After the log-in the service redirects "to the arena" (interface 4.7), wherever that is."""
    with Sandbox(arena_elsewhere=True, login_code_lifetime=PATIENCE) as service:
        url, email = embedded(service)
        page.goto(framed(host, url))
        frame = log_in(page, page.frames[1], email)
        expect(frame.get_by_role("heading", name="Two sum")).to_be_visible()
        assert not page.frames[1].url.startswith(service.app_url)
        frame.get_by_role("button", name="Submit").click()
        service.wait_for(lambda record: record.submissions, timeout=PATIENCE)


def test_an_application_that_redirects_is_reached(
    service: Sandbox, host: HostPages, page: Page
) -> None:
    """Its address may have moved since the settings were written."""
    url, _ = embedded(service)
    moved = host.add(f'<meta http-equiv="refresh" content="0; url={url.replace("&", "&amp;")}">')
    page.goto(framed(host, moved))
    page.frame_locator("iframe").get_by_role("button", name="Log in").wait_for()


def test_a_frame_holds_a_page_of_a_server_and_nothing_else(
    office: Office, host: HostPages, browser: Browser, tmp_path: Path
) -> None:
    """Were the frame led to what no server answers for, the page's policy would keep that out."""
    with browser.new_context() as context:
        page = context.new_page()
        shown(page, host, office, tmp_path)
        with page.expect_console_message(lambda said: "frame-src" in said.text):
            page.evaluate("() => document.querySelector('iframe').src = 'data:text/html,Elsewhere'")
        expect(page.frame_locator("iframe").get_by_text("Elsewhere")).to_have_count(0)


@pytest.mark.parametrize("another_window", [False, True])
def test_a_hint_appears_where_no_login_window_does(
    office: Office, host: HostPages, page: Page, tmp_path: Path, another_window: bool
) -> None:
    """Somebody is in the frame and no window comes: what to do then is said, and claims nothing."""
    shown(page, host, office, tmp_path)
    page.evaluate("() => { window.open = null }")
    page.evaluate(f"() => {{ document.hasFocus = () => {str(not another_window).lower()} }}")
    page.clock.install()
    page.frame_locator("iframe").get_by_text("Log in with the email").click()
    page.clock.run_for(5000)
    expect(page.get_by_role("status").locator("p")).to_be_visible(visible=not another_window)


def test_a_page_fits_a_phone(office: Office, host: HostPages, page: Page, tmp_path: Path) -> None:
    """Nothing is wider than the screen, and the frame takes the height that is left."""
    page.set_viewport_size({"width": 360, "height": 640})
    shown(page, host, office, tmp_path)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    frame = page.locator("iframe").bounding_box()
    assert frame is not None and frame["width"] == 360 and frame["height"] > 480
