"""A real browser for the tests of pages: Chromium, driven by Playwright.

Import `browser` into a test module and mark the module with `pytest.mark.xdist_group("browser")`,
so that all of them share one worker. Without Chromium the tests skip and say what to install;
with CI=true they fail.
"""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.support.session import PATIENCE

QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

PATIENCE_MS = 1000 * PATIENCE  # as Playwright counts
expect.set_options(timeout=PATIENCE_MS)


def chromium() -> str:
    """Find the browser; skips the test without one, or fails it where CI=true."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    missing = "this test needs Chromium: apt-get install chromium"
    if os.environ.get("CI") == "true":
        pytest.fail(missing)
    pytest.skip(missing)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for the tests of a module; each opens pages in a context of its own."""
    path = chromium()
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=QUIET, timeout=PATIENCE_MS)
        try:
            yield opened
        finally:
            opened.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page in a fresh context; any error that its scripts did not catch fails the test."""
    with browser.new_context() as context:
        yield from watched(context)


def watched(context: BrowserContext) -> Iterator[Page]:
    """A page of a context whose errors, and what its security policy refused, fail the test."""
    errors: list[str] = []
    context.on("weberror", lambda error: errors.append(str(error.error)))
    context.on(
        "console",
        lambda said: errors.append(said.text) if "Content Security Policy" in said.text else None,
    )
    context.set_default_timeout(PATIENCE_MS)  # of its pop-ups as well
    page = context.new_page()
    yield page
    assert not errors, errors
