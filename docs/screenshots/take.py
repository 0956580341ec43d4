"""Takes the screenshots in this folder from the product as it is.

Run it from the checkout, with Chromium installed: .venv/bin/python -m docs.screenshots.take
"""

import tempfile
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, expect, sync_playwright

from config.settings import LocalSettings
from data.campaigns import queries
from data.store.ledger import Ledger
from flows.cli.run.demo import KEY, SAMPLE
from flows.rehearsal.rehearsal import Stage
from flows.run.observer import RunObserver
from sandbox.server import Sandbox
from sandbox.service.problems import SAMPLE_PROBLEMS
from tasks.outputs.embed_pages import write_pages
from tasks.plan.target import CampaignSource
from tests.support.browsers.browser import QUIET, chromium
from tests.support.browsers.candidate import log_in

HERE = Path(__file__).parent
DESKTOP, PHONE = {"width": 1100, "height": 680}, {"width": 390, "height": 780}

SOLUTION = '''def two_sum(numbers, target):
    """Return the positions of the two numbers that add up to the target."""
    seen = {}
    for position, number in enumerate(numbers):
        if target - number in seen:
            return seen[target - number], position
        seen[number] = position
    return None
'''


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Sandbox(folder / "sandbox", problems=SAMPLE_PROBLEMS) as service:
            local = LocalSettings(
                database_url=f"sqlite:///{folder / 'ledger.db'}", output_dir=folder / "out"
            )
            stage = Stage(folder, service, local, clocks={})
            stage.run(CampaignSource(SAMPLE, KEY), RunObserver())
            _pages(stage, folder / "web")
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium(), args=QUIET)
                with browser.new_context(viewport=DESKTOP) as context:
                    _candidate(context, stage, folder / "web")
                with browser.new_context(viewport=PHONE, color_scheme="dark") as context:
                    _phone(context, folder / "web")
                browser.close()


def _pages(stage: Stage, folder: Path) -> None:
    with Ledger.open(stage.local.database_url) as ledger:
        if campaign := ledger.read(queries.find_campaign, KEY):
            write_pages(ledger, campaign, stage.links(KEY), folder)


def _take(page: Page, name: str) -> None:
    page.screenshot(path=HERE / f"{name}.png")


def _candidate(context: BrowserContext, stage: Stage, web: Path) -> None:
    page = context.new_page()
    page.goto(_page_of(stage, web, "ada@example.com"))
    page.frame_locator("iframe").get_by_role("button", name="Log in").wait_for()
    _take(page, "welcome")
    frame = page.frames[1]
    with page.expect_popup() as popup:
        frame.get_by_role("button", name="Log in").click()
    popup.value.set_viewport_size({"width": 480, "height": 460})
    popup.value.get_by_label("Email address").fill("eve@example.com")
    popup.value.get_by_role("button", name="Log in").click()
    expect(popup.value.get_by_role("alert")).to_be_visible()
    _take(popup.value, "login-refused")
    popup.value.close()
    log_in(page, frame, "ada@example.com")
    editor = frame.get_by_role("textbox", name="Your solution, in the full editor")
    editor.fill(SOLUTION)
    frame.get_by_role("button", name="Submit").click()
    expect(frame.get_by_role("status")).to_contain_text("Submitted")
    _take(page, "arena")


def _page_of(stage: Stage, web: Path, email: str) -> str:
    [number] = [link.candidate_id for link in stage.links(KEY) if link.email1 == email]
    [page] = [page for page in (web / "pages").iterdir() if f"={number}" in page.read_text()]
    return page.as_uri()


def _phone(context: BrowserContext, web: Path) -> None:
    page = context.new_page()
    page.goto(next((web / "pages").iterdir()).as_uri())
    page.frame_locator("iframe").get_by_role("button", name="Log in").wait_for()
    _take(page, "phone-dark")


if __name__ == "__main__":
    main()
