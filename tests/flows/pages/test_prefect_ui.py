"""What a person sees in Prefect's pages in the morning, read in a real browser.

`CAMPAIGN_SCREENSHOTS=docs/screenshots` keeps pictures of the pages there, for the README.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from tests.support.browsers.browser import browser  # noqa: F401 - a fixture
from tests.support.prefects.prefect_home import (
    Desk,
    PrefectServer,
    Standing,
    WarmDesk,
    led_to,
    of_its_own,
)
from tests.support.session import PATIENCE

pytestmark = pytest.mark.xdist_group("browser")

PATIENCE_MS = 1000 * PATIENCE


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory, automated: Standing) -> Desk:
    """Two campaigns that ran: one is complete, in the other one answer was lost."""
    folder = tmp_path_factory.mktemp("desk")
    with Sandbox() as service:
        environment = led_to(automated.server) | of_its_own(folder, service)
        desk = WarmDesk(folder, service, environment, automated.warm)
        assert desk.type("run", desk.campaign("calm", 120)).code == 0
        service.faults.add(
            Fault("lost", "invite", after_work=True, email="person1@example.com"),
            Fault("status", "invite", status=422, email="person2@example.com"),
        )
        assert desk.type("run", desk.campaign("stormy", 120, problem=43)).code == 3
        assert desk.type("deploy", folder / "calm.yaml").code == 0
    return desk


@pytest.fixture
def standing(automated: Standing) -> Standing:
    return automated


@pytest.fixture
def page(browser: Browser, prefect: PrefectServer, ran: Desk) -> Iterator[Page]:  # noqa: F811
    """A page that reaches the server and nothing else: no campaign is told to anybody."""
    here = urlsplit(prefect.api).netloc

    def only_here(route: Route) -> None:
        if urlsplit(route.request.url).netloc == here:
            route.continue_()
        else:
            route.abort()

    with browser.new_context(viewport={"width": 1400, "height": 1000}) as context:
        context.route("**/*", only_here)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        expect.set_options(timeout=PATIENCE_MS)
        yield page


def keep_picture(page: Page, name: str) -> None:
    """Keep a picture of the page, when one is asked for."""
    if folder := os.environ.get("CAMPAIGN_SCREENSHOTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.wait_for_timeout(1_500)  # charts draw themselves
        page.screenshot(path=str(Path(folder) / f"{name}.png"))


def address(prefect: PrefectServer, path: str) -> str:
    return prefect.api.removesuffix("/api") + path


def run_of(prefect: PrefectServer, key: str) -> str:
    [run] = prefect.ask("flow_runs", flow_runs={"name": {"like_": f"{key} "}})
    return str(run["id"])


def test_the_list_of_runs_says_which_ran_and_who_needs_a_person(
    page: Page, prefect: PrefectServer
) -> None:
    """Each run under its campaign's key and time; the one with a doubt does not read as success."""
    page.goto(address(prefect, "/runs"))
    expect(page.get_by_text(re.compile(r"calm 20\d\d-")).first).to_be_visible()
    expect(page.get_by_text(re.compile(r"stormy 20\d\d-")).first).to_be_visible()
    expect(page.get_by_text("NeedsAttention").first).to_be_visible()
    expect(page.get_by_text("Completed").first).to_be_visible()
    keep_picture(page, "prefect-runs")


def test_the_page_of_a_run_names_its_steps_in_peoples_words(
    page: Page, prefect: PrefectServer
) -> None:
    """What was done, in the order it was done, and the message of how it ended."""
    page.goto(address(prefect, f"/runs/flow-run/{run_of(prefect, 'stormy')}?tab=Task+Runs"))
    for step in ("invitations 1-100 of 120", "invitations 101-120 of 120", "create the project"):
        expect(page.get_by_text(step).first).to_be_visible()
    keep_picture(page, "prefect-run")


def test_the_campaigns_page_says_what_is_unsure_and_what_to_do(
    page: Page, prefect: PrefectServer
) -> None:
    """The artifact of a campaign: counts, the doubt, the command; nobody's name or address."""
    page.goto(address(prefect, "/artifacts"))
    expect(page.get_by_text("stormy").first).to_be_visible()
    [artifact] = prefect.ask("artifacts", artifacts={"key": {"any_": ["campaign-stormy"]}})
    page.goto(address(prefect, f"/artifacts/artifact/{artifact['id']}"))
    expect(page.get_by_text("campaign settle stormy").first).to_be_visible()
    for words in ("118 of 120 invited", "1 unsure", "1 refused"):
        expect(page.get_by_text(words).first).to_be_visible()
    assert not re.search(r"person\d+@example\.com|First\d|Last\d", page.content())
    keep_picture(page, "prefect-campaign")


def test_the_deployments_are_there_to_be_started(page: Page, prefect: PrefectServer) -> None:
    """A campaign that was deployed, and the forms for people."""
    page.goto(address(prefect, "/deployments"))
    for name in ("calm", "settle", "approve"):
        expect(page.get_by_text(name, exact=True).first).to_be_visible()
