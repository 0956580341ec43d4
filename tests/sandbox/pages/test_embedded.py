"""The embedded interface from link to arena, in a browser and below it (interface 4.7)."""

import re
import unicodedata
from collections.abc import Iterator

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Browser, FrameLocator, Page, expect

from config.email_key import email_key
from sandbox.pages.logins import SESSION_LIFETIME, Logins, Seat, same_email
from sandbox.protocol.origins import asks_for_us, from_own_page
from sandbox.server import Sandbox
from tasks.service.embed import embed_url, iframe
from tests.sandbox.sent import person
from tests.support.browsers.browser import browser, page, watched
from tests.support.browsers.host_page import HostPages, host_pages
from tests.support.session import PATIENCE

pytestmark = pytest.mark.xdist_group("browser")

__all__ = ["browser", "page"]


@pytest.fixture(scope="module")
def service() -> Iterator[Sandbox]:
    """Project 101 has one problem, 102 none, 103 two; each has a candidate, 5001 to 5003."""
    with Sandbox(login_code_lifetime=PATIENCE) as service:
        for number, problems in enumerate([(42,), (), (42, 43)]):
            project = service.create_interview("Backend engineer", *problems)
            service.record.add_candidates(project, [person(f"ada{number}@Example.com")], None)
        yield service


@pytest.fixture(scope="module")
def host() -> Iterator[HostPages]:
    with host_pages() as host:
        yield host


# ---- below the browser ---------------------------------------------------------------------------


class Clock:
    """Seconds that pass when a test says so."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


ADA, EVE = Seat(101, 5001), Seat(101, 5002)


def test_a_code_opens_its_seat_once() -> None:
    """The first use of a code opens a session of that candidate; the second opens nothing."""
    logins = Logins(60, Clock())
    code = logins.code_for(ADA, "state")
    session = logins.redeem(code, ADA, "state")
    assert session and logins.seat(session) == ADA
    assert logins.redeem(code, ADA, "state") is None


@pytest.mark.parametrize(
    ("seat", "state", "later"),
    [(EVE, "state", 0), (Seat(102, 5001), "state", 0), (ADA, "other", 0), (ADA, "state", 60)],
    ids=["another candidate", "another project", "another page", "too late"],
)
def test_a_code_opens_nothing_else(seat: Seat, state: str, later: float) -> None:
    """Bound to project, candidate and page, and short-lived; a wrong try uses it up."""
    clock = Clock()
    logins = Logins(60, clock)
    code = logins.code_for(ADA, "state")
    clock.now += later
    assert logins.redeem(code, seat, state) is None
    clock.now -= later
    assert logins.redeem(code, ADA, "state") is None


def test_a_session_ends() -> None:
    """A session is good for half a day, and an invented one never."""
    clock = Clock()
    logins = Logins(60, clock)
    session = logins.redeem(logins.code_for(ADA, "s"), ADA, "s")
    assert session is not None
    clock.now += SESSION_LIFETIME - 1
    assert logins.seat(session) == ADA
    clock.now += 1
    assert logins.seat(session) is None and logins.seat("invented") is None


LETTERS = "aAéÉßSıIİiΩωσςüÜ漢.-_"
PARTS = st.sampled_from(
    [*LETTERS, "e\u0301", "u\u0308", "ss", "ﬁ", "fi", "xn--strae-oqa", "\u200d"]
)
ADDRESSES = st.builds(
    lambda local, domain, edge: f"{edge}{''.join(local)}@{''.join(domain)}.example{edge}",
    st.lists(PARTS, max_size=3),
    st.lists(PARTS, max_size=3),
    st.sampled_from(["", " ", "\t\n"]),
)


RESPELLED = st.sampled_from(
    [
        str.upper,
        str.swapcase,
        str.casefold,
        str.strip,
        lambda text: unicodedata.normalize("NFD", text),
        lambda text: unicodedata.normalize("NFC", text),
    ]
)
PAIRS = st.builds(lambda one, respelled: (one, respelled(one)), ADDRESSES, RESPELLED)


@given(PAIRS | st.tuples(ADDRESSES, ADDRESSES) | st.tuples(st.text(max_size=8), st.text()))
def test_two_spellings_are_one_person_here_where_they_are_in_a_campaign(
    pair: tuple[str, str],
) -> None:
    """The email with which a candidate was added is compared by one rule on both sides."""
    one, other = pair
    assert same_email(one, other) == (email_key(one) == email_key(other))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("ada@example.com", " ADA@Example.COM ", True),
        ("zoe\u0301@exämple.com", "ZOÉ@xn--exmple-cua.com", True),
        ("ada@example.com", "ada@example.org", False),
        ("ada@example.com", "ada+1@example.com", False),
        ("ada@straße.de", "ada@strasse.de", False),
    ],
)
def test_what_counts_as_the_same_address(one: str, other: str, same: bool) -> None:
    """Case, composition and the spelling of a domain do not matter; everything else does."""
    assert same_email(one, other) is same


@pytest.mark.parametrize(
    ("host", "listening", "ours"),
    [
        ("127.0.0.1:8700", "127.0.0.1", True),
        ("localhost:8700", "127.0.0.1", True),
        ("[::1]:8700", "127.0.0.1", True),
        ("evil.example:8700", "127.0.0.1", False),
        ("127.0.0.1.evil.example", "127.0.0.1", False),
        ("", "127.0.0.1", False),
        ("[", "127.0.0.1", False),
        ("desk.example:8700", "desk.example", True),
        ("any.example", "0.0.0.0", True),
    ],
)
def test_a_name_pointed_at_this_machine_is_not_the_sandbox(
    host: str, listening: str, ours: bool
) -> None:
    """A site that lets its own name lead here reads nothing, unless everybody was let in."""
    assert asks_for_us(host, listening) is ours


@pytest.mark.parametrize(
    ("headers", "own"),
    [
        ({"origin": "http://127.0.0.1:1"}, True),
        ({"origin": "http://127.0.0.1:1", "sec-fetch-site": "same-origin"}, True),
        ({"origin": "http://127.0.0.1:1", "sec-fetch-site": "cross-site"}, False),
        ({"origin": "http://localhost:1"}, False),
        ({"origin": "http://127.0.0.1:2"}, False),
        ({"origin": "null"}, False),
        ({"sec-fetch-site": "same-origin"}, False),
        ({}, False),
    ],
)
def test_only_our_own_pages_change_anything(headers: dict[str, str], own: bool) -> None:
    """A form counts when the browser says it came from this very origin."""
    assert from_own_page({"host": "127.0.0.1:1", **headers}) is own


def logged_in(service: Sandbox, email: str = "ada0@example.com", **more: str) -> httpx.Response:
    """Log in as the pop-up does."""
    form = {"projectId": "101", "candidateId": "5001", "state": "s", "email": email}
    headers = {"origin": service.url} | more
    return httpx.post(f"{service.app_url}/embedded/login", data=form, headers=headers)


def code_in(answer: httpx.Response) -> str:
    found = re.search(r'data-code="([^"]+)"', answer.text)
    assert found, answer.text
    return found[1]


def enter(service: Sandbox, code: str, **given: str) -> httpx.Response:
    """Turn a code into the arena, as the welcome page does."""
    form = {"projectId": "101", "candidateId": "5001", "state": "s", "code": code} | given
    url = f"{service.app_url}/embedded/arena"
    return httpx.post(url, data=form, headers={"origin": service.url})


def test_only_the_address_that_was_added_gets_a_code(service: Sandbox) -> None:
    """Interface 4.7: the login email equals the email with which the candidate was added."""
    right, wrong = logged_in(service, " ADA0@example.COM"), logged_in(service, "ada1@example.com")
    assert (right.status_code, wrong.status_code) == (200, 403)
    assert code_in(right) and "data-code" not in wrong.text
    assert "not the address that was invited" in wrong.text
    assert "ada0" not in wrong.text.lower()


def test_a_login_form_of_another_site_is_refused(service: Sandbox) -> None:
    """Another page cannot log anybody in, nor open the arena with a code it came by."""
    assert logged_in(service, origin="https://evil.example").status_code == 403
    code = code_in(logged_in(service))
    form = {"projectId": "101", "candidateId": "5001", "state": "s", "code": code}
    url = f"{service.app_url}/embedded/arena"
    headers = {"origin": "https://evil.example"}
    assert httpx.post(url, data=form, headers=headers).status_code == 403
    assert enter(service, code).status_code == 200


def test_a_replayed_code_is_refused(service: Sandbox) -> None:
    """A code works once, and what is shown then leads back to the login."""
    code = code_in(logged_in(service))
    assert enter(service, code).status_code == 200
    again = enter(service, code)
    assert again.status_code == 403 and "data-session" not in again.text
    assert "/embedded/welcome?projectId=101&amp;candidateId=5001" in again.text


@pytest.mark.parametrize(
    ("project", "candidate", "status"),
    [("101", "5001", 200), ("102", "5002", 409), ("103", "5003", 409), ("101", "5002", 404)],
)
def test_a_project_has_exactly_one_problem(
    service: Sandbox, project: str, candidate: str, status: int
) -> None:
    """Interface 4.7 and 8: none or two are refused at the door, by the login and by the arena."""
    ids = {"projectId": project, "candidateId": candidate}
    headers = {"origin": service.url}
    app = f"{service.app_url}/embedded"
    door = httpx.get(f"{app}/welcome", params=ids)
    pop_up = httpx.get(f"{app}/login", params=ids)
    arena = httpx.post(f"{app}/arena", data=ids, headers=headers)
    assert (door.status_code, pop_up.status_code) == (status, status)
    assert arena.status_code == (403 if status == 200 else status)
    assert ("exactly one" in door.text) is (status == 409)


def test_no_page_sends_a_candidate_elsewhere(service: Sandbox) -> None:
    """No address that is given to a page is ever redirected to."""
    evil = "https://evil.example/"
    for name in ("next", "state", "redirect", "return_to", "url"):
        ids = {"projectId": "101", "candidateId": "5001", name: evil}
        for path in ("welcome", "login", "arena"):
            answer = httpx.get(f"{service.app_url}/embedded/{path}", params=ids)
            assert not answer.has_redirect_location
            assert f'href="{evil}' not in answer.text and f'action="{evil}' not in answer.text


def test_who_may_frame_what(service: Sandbox) -> None:
    """Any page may embed the candidate's pages; none may hide the login or the desk in a frame."""
    ids = "?projectId=101&candidateId=5001"
    closed = "frame-ancestors 'none'"
    policies = {
        path: httpx.get(service.url + path).headers["content-security-policy"]
        for path in (f"/embedded/welcome{ids}", f"/embedded/login{ids}", "/", "/problems")
    }
    framed = [path for path, policy in policies.items() if closed not in policy]
    assert framed == [f"/embedded/welcome{ids}"]


# ---- in a browser: the host page at localhost, the application at 127.0.0.1 ---------------------


def embedded(service: Sandbox, seat: Seat = ADA) -> str:
    return iframe(embed_url(service.app_url, *seat), "Assessment")


def opened(page: Page, address: str) -> FrameLocator:
    page.goto(address)
    return page.frame_locator("iframe")


def open_login(page: Page, frame: FrameLocator) -> Page:
    with page.expect_popup() as popup:
        frame.get_by_role("button", name="Log in").click()
    return popup.value


def type_email(login: Page, email: str) -> None:
    login.get_by_label("Email address").fill(email)
    login.get_by_role("button", name="Log in").click()


def test_from_the_frame_through_the_pop_up_to_the_arena(
    service: Sandbox, host: HostPages, page: Page
) -> None:
    """A wrong email is refused in words; the right one closes the pop-up and shows the arena."""
    frame = opened(page, host.add(embedded(service)))
    login = open_login(page, frame)
    type_email(login, "eve@example.com")
    expect(login.get_by_role("alert")).to_contain_text("not the address that was invited")
    expect(frame.get_by_role("button", name="Log in")).to_be_visible()
    with login.expect_event("close"):
        type_email(login, "ADA0@example.com")
    expect(frame.get_by_role("heading", name="Two sum")).to_be_visible()


def test_a_blocked_pop_up_is_said(service: Sandbox, host: HostPages, page: Page) -> None:
    """Where the browser opens no window the candidate reads why, and what to do."""
    strict = embedded(service).replace(
        "<iframe ", '<iframe sandbox="allow-scripts allow-same-origin allow-forms" '
    )
    frame = opened(page, host.add(strict))
    expect(frame.get_by_role("alert")).to_have_count(0)
    frame.get_by_role("button", name="Log in").click()
    expect(frame.get_by_role("alert")).to_contain_text("blocked the login window")


def test_a_pop_up_that_is_closed_is_said(service: Sandbox, host: HostPages, page: Page) -> None:
    """Whoever closes the window without logging in knows how to go on."""
    frame = opened(page, host.add(embedded(service)))
    open_login(page, frame).close()
    expect(frame.get_by_role("status")).to_contain_text("was closed")


def test_a_late_code_is_refused(host: HostPages, page: Page) -> None:
    """A code that is redeemed too late opens nothing, and the candidate can log in again."""
    with Sandbox(login_code_lifetime=0) as slow:
        project = slow.create_interview("Backend engineer", 42)
        slow.record.add_candidates(project, [person("ada@example.com")], None)
        frame = opened(page, host.add(embedded(slow)))
        type_email(open_login(page, frame), "ada@example.com")
        expect(frame.get_by_role("heading", name="log in again")).to_be_visible()
        frame.get_by_role("link", name="Back to the login").click()
        expect(frame.get_by_role("button", name="Log in")).to_be_visible()
        page.goto("about:blank")


SPOOFED = """
<script>
window.spoof = (given) => document.querySelector("iframe").contentWindow.postMessage(given, "*");
</script>
"""


def test_a_code_from_another_origin_is_ignored(
    service: Sandbox, host: HostPages, page: Page
) -> None:
    """The host page knows a good code and the page's state, and still cannot log anybody in."""
    frame = opened(page, host.add(embedded(service) + SPOOFED))
    state = frame.locator("[name=state]").get_attribute("value")
    form = {"projectId": "101", "candidateId": "5001", "state": state, "email": "ada0@example.com"}
    answer = httpx.post(
        f"{service.app_url}/embedded/login", data=form, headers={"origin": service.url}
    )
    stolen = {"code": code_in(answer), "state": state}
    with page.expect_popup() as popup:  # while the frame is waiting for its own pop-up
        frame.get_by_role("button", name="Log in").click()
    page.evaluate("given => window.spoof(given)", stolen)
    type_email(popup.value, "ada0@example.com")
    expect(frame.get_by_role("heading", name="Two sum")).to_be_visible()
    # Still unused: the frame took the code of its own pop-up and not this one.
    assert enter(service, stolen["code"], state=str(state)).status_code == 200


def test_the_code_goes_to_our_own_page_only(service: Sandbox, host: HostPages, page: Page) -> None:
    """A page of another site that opens the login itself is handed nothing."""
    login_url = f"{service.app_url}/embedded/login?projectId=101&candidateId=5001&state=s"
    thief = f"""
    <button onclick="window.open('{login_url}', 'w', 'popup')">Open</button><input>
    <script>addEventListener("message", m => document.querySelector("input").value = m.data.code)
    </script>"""
    page.goto(host.add(thief))
    with page.expect_popup() as popup:
        page.get_by_role("button").click()
    type_email(popup.value, "ada0@example.com")
    expect(popup.value.get_by_role("heading", name="You are logged in")).to_be_visible()
    popup.value.wait_for_load_state("load")  # by then its script has run
    assert page.locator("input").input_value() == ""


PERMISSIONS = """() => Object.fromEntries(
  ["fullscreen", "clipboard-read", "clipboard-write", "keyboard-map", "camera"].map(
    name => [name, document.featurePolicy.allowsFeature(name)]))"""


def test_the_four_permissions_are_granted_and_a_fifth_is_not(
    service: Sandbox, host: HostPages, page: Page
) -> None:
    """Interface 4.7: fullscreen, clipboard-read, clipboard-write, keyboard-map, and no other."""
    opened(page, host.add(embedded(service))).get_by_role("button", name="Log in").wait_for()
    assert page.frames[1].evaluate(PERMISSIONS) == {
        "fullscreen": True,
        "clipboard-read": True,
        "clipboard-write": True,
        "keyboard-map": True,
        "camera": False,
    }
    bare = embedded(service).replace(" allow=", " data-allow=")
    opened(page, host.add(bare)).get_by_role("button", name="Log in").wait_for()
    assert set(page.frames[1].evaluate(PERMISSIONS).values()) == {False}


def test_two_problems_are_refused_in_the_frame(
    service: Sandbox, host: HostPages, browser: Browser
) -> None:
    """The candidate of such a project reads why, in place of a login."""
    with browser.new_context() as context:
        for page in watched(context):
            frame = opened(page, host.add(embedded(service, Seat(103, 5003))))
            expect(frame.get_by_text("has 2 problems")).to_be_visible()
            expect(frame.get_by_role("button")).to_have_count(0)
