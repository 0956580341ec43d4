"""The arena: two editors over one text, saved while it is typed, handed in on request."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Frame, Page, Route, expect

from sandbox.server import Sandbox
from sandbox.service.record import Candidate
from sandbox.service.solutions import LONGEST
from tasks.service.embed import embed_url, iframe
from tests.support.browsers.browser import browser, page
from tests.support.browsers.candidate import arena, log_in, one_candidate, session_of
from tests.support.browsers.host_page import HostPages, host_pages
from tests.support.session import PATIENCE

pytestmark = pytest.mark.xdist_group("browser")

__all__ = ["browser", "page"]

EVIL = "</textarea><script>document.title = 'caught'</script>"


@pytest.fixture(scope="module")
def service() -> Iterator[Sandbox]:
    with Sandbox(login_code_lifetime=PATIENCE) as service:
        yield service


@pytest.fixture(scope="module")
def host() -> Iterator[HostPages]:
    with host_pages() as host:
        yield host


@pytest.fixture
def ada(service: Sandbox) -> Candidate:
    """A candidate of a project of their own."""
    return one_candidate(service)


def submissions(service: Sandbox, candidate: Candidate) -> list[dict[str, Any]]:
    """What the list of problems shows of this candidate's work (interface 4.2)."""
    headers = {"content-type": "application/json", **service.authorization()}
    problems = httpx.get(f"{service.base_url}/api/problems", headers=headers).json()
    return [
        submission
        for problem in problems
        for submission in problem["submissions"]
        if submission["candidate_id"] == candidate.candidate_id
    ]


def told(frame: Frame, text: str) -> None:
    expect(frame.get_by_role("status")).to_contain_text(text)


def full_editor(frame: Frame) -> Any:
    return frame.get_by_role("textbox", name="Your solution, in the full editor")


def plain_editor(frame: Frame) -> Any:
    return frame.get_by_role("textbox", name="Your solution, in the lightweight editor")


def test_code_is_written_in_both_editors_and_handed_in(
    service: Sandbox, host: HostPages, page: Page, ada: Candidate
) -> None:
    """The text follows from one editor to the other, and its submission is in the API's answer."""
    frame = arena(page, service, host, ada)
    full_editor(frame).press_sequentially("def two_sum():")
    expect(frame.locator(".ace_keyword")).to_have_text("def")  # a real editor: it knows Python
    frame.get_by_role("radio", name="Lightweight").check()
    expect(plain_editor(frame)).to_have_value("def two_sum():")
    plain_editor(frame).fill("def two_sum(): return 0, 1")
    frame.get_by_role("button", name="Submit").click()
    told(frame, "Submitted")
    frame.get_by_role("radio", name="Full").check()
    expect(frame.locator("#full .ace_content")).to_contain_text("return")
    full_editor(frame).press("Control+End")
    full_editor(frame).press_sequentially("  # done")
    full_editor(frame).press("Control+Enter")
    told(frame, "Submitted")
    first, second = submissions(service, ada)
    assert (first["environment"], first["code"]) == ("lightweight", "def two_sum(): return 0, 1")
    assert (second["environment"], second["code"]) == ("full", first["code"] + "  # done")
    assert first["language"] == "python" and first["project_id"] == ada.project_id


def test_without_the_full_editor_the_other_is_offered_and_the_page_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, host: HostPages, page: Page
) -> None:
    """The extra `arena` installs it. A draft that was begun in it goes on in the other."""
    monkeypatch.setattr("sandbox.pages.editor._PACKAGE", "nothing_of_that_name")
    with Sandbox() as service:
        ada = one_candidate(service)
        assert httpx.get(f"{service.app_url}/editor/ace.js").status_code == 404
        begun = {**SOLUTION, "environment": "full"}
        assert put(service, "draft", begun, session_of(service, ada)).status_code == 200
        frame = arena(page, service, host, ada)
        expect(frame.get_by_role("radio", name="Full")).to_be_disabled()
        expect(frame.get_by_text("install 'hiring-campaigns[arena]'")).to_be_visible()
        expect(plain_editor(frame)).to_have_value(SOLUTION["code"])
        plain_editor(frame).press_sequentially("# ")
        frame.get_by_label("Language").select_option("Rust")
        plain_editor(frame).press("Control+Enter")
        told(frame, "Submitted")
        [submission] = submissions(service, ada)
        assert submission["environment"] == "lightweight"


def test_a_draft_is_saved_while_it_is_typed_and_there_again_later(
    service: Sandbox, host: HostPages, page: Page, ada: Candidate
) -> None:
    """Text, language and environment are as they were left; nothing of it counts as handed in."""
    frame = arena(page, service, host, ada)
    frame.get_by_role("radio", name="Lightweight").check()
    frame.get_by_label("Language").select_option("Rust")
    plain_editor(frame).fill("\nfn main() {}\n")
    told(frame, "Saved")
    again = arena(page, service, host, ada)
    expect(plain_editor(again)).to_have_value("\nfn main() {}\n")
    expect(again.get_by_label("Language")).to_have_value("rust")
    assert submissions(service, ada) == []


def test_what_cannot_be_saved_is_said_and_tried_again(
    service: Sandbox, host: HostPages, page: Page, ada: Candidate
) -> None:
    """An interruption loses nothing: the candidate sees it, and the text is saved after it."""
    page.clock.install()
    frame = arena(page, service, host, ada)

    def fail(route: Route) -> None:
        route.abort()

    page.route("**/embedded/draft", fail)
    full_editor(frame).press_sequentially("x = 1")
    told(frame, "Trying again")
    page.unroute("**/embedded/draft", fail)
    page.clock.fast_forward(3000)
    told(frame, "Saved")
    assert service.record.drafts[ada.candidate_id].code == "x = 1"


@pytest.mark.parametrize("where", ["draft", "submissions"])
def test_what_was_refused_in_trouble_is_saved_when_the_trouble_is_over(
    service: Sandbox, host: HostPages, page: Page, ada: Candidate, where: str
) -> None:
    """A service that answers 503 to a draft or to a submission costs no work: it is saved later."""
    page.clock.install()
    frame = arena(page, service, host, ada)

    def trouble(route: Route) -> None:
        route.fulfill(status=503)

    page.route(f"**/embedded/{where}", trouble)
    full_editor(frame).press_sequentially("x = 1")
    if where == "submissions":
        frame.get_by_role("button", name="Submit").click()
    told(frame, "the service is in trouble")
    page.unroute(f"**/embedded/{where}", trouble)
    page.clock.fast_forward(3000)
    told(frame, "Saved")
    assert service.record.drafts[ada.candidate_id].code == "x = 1"
    if where == "submissions":
        told(frame, "but not submitted")
        assert submissions(service, ada) == []


def test_an_older_text_never_lands_on_a_newer_one(
    service: Sandbox, host: HostPages, page: Page, ada: Candidate
) -> None:
    """One request carries the text at a time, so a slow one is not overtaken and is not last."""
    frame = arena(page, service, host, ada)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/embedded/draft", hold)
    with page.expect_request("**/embedded/draft"):
        full_editor(frame).press_sequentially("1")
    full_editor(frame).press_sequentially("2")
    frame.get_by_role("button", name="Submit").click()
    told(frame, "Submitting")
    assert submissions(service, ada) == []
    held[0].continue_()
    told(frame, "Submitted")
    assert [one["code"] for one in submissions(service, ada)] == ["12"]
    assert service.record.drafts[ada.candidate_id].code == "12"
    assert len(held) == 1


def test_a_double_click_hands_in_once(
    service: Sandbox, host: HostPages, page: Page, ada: Candidate
) -> None:
    """A double click is one wish, its first half answered or not; a later click is another."""
    frame = arena(page, service, host, ada)
    full_editor(frame).press_sequentially("x = 1")
    submit = frame.get_by_role("button", name="Submit")
    submit.dblclick()
    told(frame, "Submitted")
    submit.dispatch_event("click", {"detail": 2})  # as when the first half is answered at once
    expect(frame.get_by_role("status")).to_contain_text("Submitted at")
    assert len(submissions(service, ada)) == 1
    with page.expect_response("**/embedded/submissions"):
        submit.click()
    assert len(submissions(service, ada)) == 2


def test_what_is_done_while_the_page_is_loading_is_not_lost(
    service: Sandbox, host: HostPages, page: Page, ada: Candidate
) -> None:
    """A button can be pressed once its script is there; what was typed before is saved."""
    loading: dict[str, Route] = {}
    for script in ("welcome.js", "arena.js"):
        page.route(f"**/{script}", partial(loading.__setitem__, script))
    url = embed_url(service.app_url, ada.project_id, ada.candidate_id)
    page.goto(host.add(iframe(url, "Assessment")), wait_until="commit")
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("button", name="Log in")).to_be_disabled()
    loading["welcome.js"].continue_()
    log_in(page, page.frames[1], ada.email1)
    submit = frame.get_by_role("button", name="Submit")
    expect(submit).to_be_disabled()
    plain = plain_editor(page.frames[1])
    plain.fill("x = 1")
    with page.expect_response("**/embedded/draft"):
        loading["arena.js"].continue_()
    submit.click()
    told(page.frames[1], "Submitted at")
    assert [one["code"] for one in submissions(service, ada)] == ["x = 1"]


def test_a_draft_is_text_whatever_it_holds(
    service: Sandbox, host: HostPages, page: Page, ada: Candidate
) -> None:
    """A draft that looks like a page is shown as it was typed and runs nothing."""
    session = session_of(service, ada)
    draft = {**SOLUTION, "environment": "lightweight", "code": EVIL}
    assert put(service, "draft", draft, session).status_code == 200
    frame = arena(page, service, host, ada)
    expect(plain_editor(frame)).to_have_value(EVIL)
    assert frame.title() == "Two sum"


def test_the_clipboard_works_in_the_frame(
    service: Sandbox, host: HostPages, page: Page, ada: Candidate
) -> None:
    """The frame's permissions let the candidate copy the solution out and paste text in."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    frame = arena(page, service, host, ada)
    full_editor(frame).press_sequentially("x = 1")
    frame.get_by_role("button", name="Copy").click()
    told(frame, "Copied")
    frame.get_by_role("radio", name="Lightweight").check()
    frame.get_by_role("button", name="Paste").click()
    expect(plain_editor(frame)).to_have_value("x = 1x = 1")


def test_full_screen_works_in_the_frame(
    service: Sandbox, host: HostPages, page: Page, ada: Candidate
) -> None:
    """The arena fills the screen when the candidate asks, and gives it back."""
    frame = arena(page, service, host, ada)
    frame.get_by_role("button", name="Full screen").click()
    expect(frame.get_by_role("button", name="Leave full screen")).to_be_visible()
    frame.get_by_role("button", name="Leave full screen").click()
    expect(frame.get_by_role("button", name="Full screen", exact=True)).to_be_visible()


def test_the_key_is_named_as_on_the_candidates_keyboard(
    service: Sandbox, host: HostPages, page: Page, ada: Candidate
) -> None:
    """The keyboard map tells what is printed on the key that comments a line."""
    page.add_init_script("navigator.keyboard.getLayoutMap = async () => new Map([['Slash', '-']])")
    frame = arena(page, service, host, ada)
    frame.get_by_text("Keys", exact=True).click()
    expect(frame.locator("kbd", has_text="-")).to_be_visible()
    full_editor(frame).press_sequentially("x = 1")
    full_editor(frame).press("Control+Slash")
    expect(frame.locator(".ace_comment")).to_be_visible()


def test_the_keyboard_leaves_the_full_editor(
    service: Sandbox, host: HostPages, page: Page, ada: Candidate
) -> None:
    """Tab indents in the editor, so Esc leads out of it: nobody without a mouse is caught."""
    frame = arena(page, service, host, ada)
    full_editor(frame).focus()
    page.keyboard.press("Tab")
    expect(full_editor(frame)).to_be_focused()
    page.keyboard.press("Escape")
    expect(frame.get_by_role("button", name="Submit")).to_be_focused()


# ---- without a browser ---------------------------------------------------------------------------

SOLUTION = {"environment": "full", "language": "python", "code": "x = 1"}


def put(
    service: Sandbox, where: str, body: object, session: str = "", origin: str | None = None
) -> httpx.Response:
    headers = {"origin": origin or service.url, "x-session": session}
    content = json.dumps(body)
    return httpx.post(f"{service.app_url}/embedded/{where}", content=content, headers=headers)


@pytest.mark.parametrize("where", ["draft", "submissions"])
@pytest.mark.parametrize(
    ("body", "status"),
    [
        (SOLUTION, 201),
        ({**SOLUTION, "code": "x" * LONGEST}, 201),
        ({**SOLUTION, "code": "x" * (LONGEST + 1)}, 422),
        ({**SOLUTION, "code": 1}, 422),
        ({**SOLUTION, "code": "\ud800"}, 422),
        ({**SOLUTION, "environment": "vim"}, 422),
        ({**SOLUTION, "language": "latin"}, 422),
        ({**SOLUTION, "candidate_id": 1}, 422),
        ({"code": "x"}, 422),
        ([], 422),
    ],
)
def test_only_whole_solutions_are_kept(
    service: Sandbox, ada: Candidate, where: str, body: Any, status: int
) -> None:
    """What the arena sends is judged field by field; what is wrong is not kept."""
    answer = put(service, where, body, session_of(service, ada))
    assert answer.status_code == (200 if (where, status) == ("draft", 201) else status)
    assert (ada.candidate_id in service.record.drafts) is (status == 201)


def test_only_a_session_writes_and_only_for_its_own_candidate(
    service: Sandbox, ada: Candidate
) -> None:
    """Without a login nothing is kept, nor from a page of another origin."""
    session = session_of(service, ada)
    for where in ("draft", "submissions"):
        assert put(service, where, SOLUTION).status_code == 401
        assert put(service, where, SOLUTION, "invented").status_code == 401
        assert put(service, where, SOLUTION, session, "https://evil.example").status_code == 403
    assert ada.candidate_id not in service.record.drafts
    assert put(service, "submissions", SOLUTION, session).status_code == 201
    assert [one["candidate_id"] for one in submissions(service, ada)] == [ada.candidate_id]


def test_a_sandbox_started_again_knows_what_was_written(tmp_path: Path) -> None:
    """Drafts and submissions outlive the process, in order and with their numbers."""
    with Sandbox(tmp_path) as service:
        ada = one_candidate(service)
        session = session_of(service, ada)
        for code in ("one", "two"):
            put(service, "submissions", {**SOLUTION, "code": code}, session)
        put(service, "draft", {**SOLUTION, "code": "three"}, session)
        before = submissions(service, ada)
    with Sandbox(tmp_path) as again:
        assert submissions(again, ada) == before
        assert [(one["id"], one["code"]) for one in before] == [(1, "one"), (2, "two")]
        assert again.record.drafts[ada.candidate_id].code == "three"
        assert put(again, "draft", SOLUTION, session).status_code == 401  # log in once more
