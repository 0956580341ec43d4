"""The embedded page in a real browser, in a frame on a page of another origin (interface 4.7)."""

import shutil
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect, sync_playwright

from tests.sandbox.conftest import Client

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
FULL, PLAIN = (f"Your solution, in the {kind} editor" for kind in ("full", "lightweight"))
ALLOW = "fullscreen; clipboard-read; clipboard-write; keyboard-map"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium") or pytest.fail("this needs Chromium")
    arguments = ["--no-sandbox", "--disable-gpu"]
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=path, args=arguments)


@pytest.fixture
def page(browser: Browser, client: Client, tmp_path: Path) -> Iterator[Page]:
    """A company's page at localhost, to a browser another site than 127.0.0.1, shows Ada's."""
    source = f"{client.sandbox.url}/embedded/welcome?projectId=101&candidateId=5001"
    iframe = f'<iframe allow="{ALLOW}" width=900 height=600 src="{source}"></iframe>'
    (tmp_path / "index.html").write_text(f"<!doctype html>{iframe}")
    serve = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    errors: list[str] = []
    with ThreadingHTTPServer(("127.0.0.1", 0), serve) as host, browser.new_context() as context:
        thread = Thread(target=host.serve_forever, args=(0.02,))
        thread.start()
        context.on("weberror", lambda error: errors.append(str(error.error)))
        page = context.new_page()
        page.goto(f"http://localhost:{host.server_port}/index.html")
        yield page
        host.shutdown()
        thread.join()
    assert errors == []


def log_in(page: Page, email: str) -> Page:
    """Press the button in the frame, and fill in the pop-up."""
    with page.expect_popup() as opened:
        page.frame_locator("iframe").get_by_role("button", name="Log in").click()
    opened.value.get_by_label("Email address").fill(email)
    opened.value.get_by_role("button", name="Log in").click()
    return opened.value


def arena(page: Page) -> FrameLocator:
    log_in(page, "ada@x.org")
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("heading", name="Two sum")).to_be_visible()
    assert "/embedded/arena" in page.frames[1].url
    return frame


def test_only_the_candidate_gets_in(page: Page) -> None:
    """Not another address, and not a code that the page around the frame sends."""
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("button", name="Log in")).to_be_enabled()
    pop_up = log_in(page, "bob@x.org")
    expect(pop_up.get_by_role("alert")).to_contain_text("not the address that was invited")
    key = frame.locator("[name=key]").input_value()
    page.evaluate("key => frames[0].postMessage({ code: 'guessed', key }, '*')", key)
    assert "/embedded/welcome" in page.frames[1].url
    pop_up.get_by_label("Email address").fill(" Ada@X.org")
    with pop_up.expect_event("close"):
        pop_up.get_by_role("button", name="Log in").click()
    expect(frame.get_by_role("button", name="Submit")).to_be_enabled()


def test_a_solution_is_written_in_both_editors(page: Page, client: Client) -> None:
    """It is saved as it is typed, there again later, copied and pasted, and handed in."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    frame = arena(page)
    frame.get_by_role("textbox", name=FULL).press_sequentially("def two_sum():")
    expect(frame.locator(".ace_keyword")).to_have_text("def")  # it knows Python
    expect(frame.get_by_role("status")).to_have_text("Saved.")
    page.reload()
    frame = arena(page)
    frame.get_by_role("button", name="Copy").click()
    expect(frame.get_by_role("status")).to_have_text("Copied.")
    frame.get_by_role("radio", name="Lightweight").check()
    frame.get_by_role("textbox", name=PLAIN).fill("")
    frame.get_by_role("button", name="Paste").click()
    expect(frame.get_by_role("textbox", name=PLAIN)).to_have_value("def two_sum():")
    frame.get_by_role("button", name="Submit").click()
    expect(frame.get_by_role("status")).to_contain_text("Submitted.")
    handed_in = [each["body"] for each in client.sandbox.entries() if each["body"]][-1]
    written = {"environment": "lightweight", "language": "python", "code": "def two_sum():"}
    assert handed_in == written | {"submit": True}
    frame.get_by_role("button", name="Full screen").click()
    page.frames[1].wait_for_function("document.fullscreenElement !== null")
