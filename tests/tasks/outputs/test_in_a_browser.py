"""The report and the pages in a real browser: light and dark, on a phone's width."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from data.campaigns.history import Event
from tasks.outputs.embed_pages import write_pages
from tasks.outputs.exports import write_file
from tasks.outputs.links import embed_url
from tasks.outputs.report import report_page
from tests.tasks.outputs.standing import standing, stands

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser"), pytest.mark.timeout(300)]
PHONE = {"width": 360, "height": 740}
WORD = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
LONG = f"{WORD.lower()}@{'sub' * 20}.example.org"
AT = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report and the pages of a campaign with long words in it."""
    folder = tmp_path_factory.mktemp("pages")
    url = embed_url("https://app.invalid", 101, 5001)
    ada = {"first_name": "Ada", "last_name": WORD, "candidate_id": 5001, "embed_url": url}
    bob = {"first_name": "<script>alert(1)</script>", "last_name": "=1+1", "embed_url": None}
    people = [stands(LONG, "done") | ada, stands("bob@x.org", "waiting") | bob]
    write_pages(folder, people, f"Backend {WORD}", "key", "secret")
    lost = Event(AT, "invite", LONG, "unsure", words=WORD * 4, status=502)
    person = stands(LONG, "unsure", WORD * 2)
    counts = {"candidates": 900, "added": 900, "invited": 600, "unsure": 1, "refused": 2}
    status = standing(person, service=f"https://{'api' * 30}.test", **counts, waiting=297)
    stories = [(LONG, True, [lost]), ("the project", False, [lost])]
    page = report_page(status, f"Backend {WORD}", stories, [lost] * 3, AT, names=True)
    write_file(folder / "report.html", page)
    (candidate,) = (folder / "pages").iterdir()
    candidate.rename(folder / "candidate.html")
    return folder


def brightness(colour: str) -> int:
    return sum(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))


@pytest.mark.parametrize("name", ["report.html", "index.html", "candidate.html"])
def test_a_page_fits_a_phone_by_day_and_by_night(browser: Browser, folder: Path, name: str) -> None:
    seen = {}
    for scheme in ("light", "dark"):
        asked: list[str] = []
        said: list[str] = []
        with browser.new_context(viewport=PHONE, color_scheme=scheme) as context:  # type: ignore[arg-type]
            page = context.new_page()
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.on("console", lambda message, said=said: said.append(message.text))
            page.on("dialog", lambda dialog, said=said: said.append(dialog.message))
            with page.expect_request("https:**" if name == "candidate.html" else "file:**"):
                page.goto((folder / name).as_uri(), wait_until="commit")
            page.wait_for_selector("h1")
            assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
            style = "getComputedStyle(document.body)"
            paper = page.evaluate(f"{style}.backgroundColor")
            ink = page.evaluate(f"{style}.color")
            seen[scheme] = (brightness(paper), brightness(ink))
            frames = page.locator("iframe").count()
            elsewhere = [url for url in asked if not url.startswith("file:")]
            assert (frames, len(elsewhere)) == ((1, 1) if name == "candidate.html" else (0, 0))
            if not frames:
                assert said == []
    (day_paper, day_ink), (night_paper, night_ink) = seen["light"], seen["dark"]
    assert day_paper - day_ink > 400
    assert night_ink - night_paper > 400


def test_the_picture_of_a_report_is_drawn(browser: Browser, folder: Path) -> None:
    with browser.new_context(viewport=PHONE) as context:  # type: ignore[arg-type]
        page = context.new_page()
        page.goto((folder / "report.html").as_uri())
        picture = page.get_by_role("img", name="600 of 900 candidates invited")
        box = picture.bounding_box()
        assert box is not None
        assert box["width"] > 300
        drawn = page.locator("svg rect.invited, svg rect.waiting").evaluate_all(
            "them => them.map(each => [getComputedStyle(each).fill, each.width.baseVal.value])"
        )
        assert [width for _, width in drawn] == [330, 658]
        assert {brightness(fill) < 600 for fill, _ in drawn} == {True}


def test_a_report_has_the_time_of_whoever_reads_it(browser: Browser, folder: Path) -> None:
    with browser.new_context(timezone_id="Asia/Tokyo") as context:
        page = context.new_page()
        page.goto((folder / "report.html").as_uri())
        assert page.locator("time").first.text_content() == "2026-12-01 18:00:00"
        assert page.locator("#zone").text_content() == "Asia/Tokyo"


def test_a_button_copies_the_frame_of_one_candidate(browser: Browser, folder: Path) -> None:
    with browser.new_context(permissions=["clipboard-read", "clipboard-write"]) as context:
        page = context.new_page()
        page.goto((folder / "index.html").as_uri())
        page.get_by_role("button", name="copy").click()
        page.get_by_role("button", name="copied").wait_for()
        copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith('<iframe src="https://app.invalid/embedded/welcome?projectId=101')
    assert 'allow="fullscreen; clipboard-read; clipboard-write; keyboard-map"' in copied
