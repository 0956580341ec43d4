"""The form `settle campaign` takes a verdict only on what the campaign's page listed."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from config.settings import LocalSettings
from data.campaigns import queries
from data.store.ledger import Ledger
from flows import forms
from flows.pages import seen
from flows.run.ending import Finish, finish
from sandbox.faults.faults import Fault
from tests.support.doubtful_campaign import EMAILS, KEY, DoubtfulCampaign, doubtful_campaign

ADA, ZOE, GRACE = EMAILS
LOST = Fault("lost", "invite", email=ZOE)
TIM = "tim@example.com"
TAKEN, UNSURE = ("done", "done"), ("done", "unsure")


class Page:
    """A campaign with a doubt, its page in Prefect, and a person who reads and fills in a form."""

    def __init__(self, desk: DoubtfulCampaign) -> None:
        self.desk = desk
        self.newest = ""

    async def show(self, ledger: Ledger, local: LocalSettings, end: Finish) -> None:
        self.newest, _ = seen._page(ledger, local, end, {}) or ("", "")

    def code(self, what: str) -> str:
        """The code that the newest page has for what is unsure of a kind; a run renews the page."""
        [code] = re.findall(rf"What: {what}\. Listed: `(\w+)`", self.newest)
        return str(code)

    def run(self, *faults: Fault) -> None:
        self.desk.run(*faults)
        with self.desk.ledger() as ledger:
            end = finish(ledger, KEY, None)
            asyncio.run(self.show(ledger, LocalSettings(), end))

    def press(self, what: str = "invite", verdict: str = "sent", **fields: Any) -> tuple[str, str]:
        """Send the form; returns the name and the message of its run's final state."""
        what, verdict = forms.What(what), forms.Verdict(verdict)
        filled = {"what": what, "verdict": verdict, "who": "Omar", "why": "asked", **fields}
        state = asyncio.run(forms.settle_campaign.fn(KEY, **filled))
        return str(state.name), str(state.message)

    def number(self, email: str) -> int:
        with self.desk.ledger() as ledger:
            campaign = ledger.read(queries.find_campaign, KEY)
            assert campaign is not None
            return {row.email1: row.id for row in queries.candidates(ledger, campaign.id)}[email]

    def one_more(self) -> None:
        """Somebody comes into the sheet, and the answer to their invitation is lost."""
        person = f"  - {{first_name: Tim, last_name: Berners-Lee, email1: {TIM}}}\n"
        self.desk.file.write_text(self.desk.file.read_text("utf-8") + person, "utf-8")
        self.desk.run(Fault("lost", "invite", email=TIM))


@pytest.fixture
def page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Page]:
    with doubtful_campaign(tmp_path, monkeypatch, capsys) as desk:
        page = Page(desk)
        monkeypatch.setattr(forms, "show", page.show)
        yield page


def test_what_became_unsure_since_the_page_is_settled_by_nobodys_word(page: Page) -> None:
    """A form that is sent late decides nothing; the page then lists what is unsure, with a code."""
    page.run(LOST)
    code = page.code("invite")
    page.one_more()
    name, message = page.press(listed=code)
    assert (name, page.desk.steps(ZOE), page.desk.steps(TIM)) == ("NotDecided", UNSURE, UNSURE)
    assert message == (
        f"What is unsure is not what the campaign's page listed as {code}, so nothing was decided. "
        "The page now shows what is unsure, with a new code."
    )
    assert page.code("invite") != code
    assert page.press(listed=page.code("invite"))[1].startswith("2 settled as sent, 0 still unsure")
    assert (page.desk.steps(ZOE), page.desk.steps(TIM)) == (TAKEN, TAKEN)
    assert page.desk.decisions() == [("sent", None, "Omar", "asked")] * 2


def test_without_the_code_nothing_that_is_unsure_is_settled(page: Page) -> None:
    """For everybody as for a person, and a page of an earlier version is shown anew."""
    page.run(LOST)
    page.newest = ""
    for fields in ({}, {"person": page.number(ZOE)}):
        name, message = page.press(**fields)
        assert (name, page.desk.steps(ZOE)) == ("NotDecided", UNSURE)
        assert message == (
            "Fill in listed: the code that the campaign's page shows beside what is unsure. "
            "Nothing was decided."
        )
    assert page.press(person=page.number(ZOE), listed=page.code("invite"))[0] == "Completed"


def test_a_form_pressed_twice_decides_once(page: Page) -> None:
    """Also if the same person's next invitation is lost as well: that is another doubt."""
    page.run(LOST)
    fields = {"verdict": "again", "person": page.number(ZOE), "listed": page.code("invite")}
    page.desk.later(minutes=16)
    assert page.press(**fields)[0] == "Completed"
    assert page.press(**fields)[0] == "NotDecided"
    page.desk.run(LOST)
    page.desk.later(minutes=16)
    assert page.press(**fields)[0] == "NotDecided"
    assert page.desk.steps(ZOE) == UNSURE
    assert [word for word, *_ in page.desk.decisions()] == ["again"]


def test_refused_adds_need_no_code(page: Page) -> None:
    """They are no doubts. With the code of a list, a verdict is about that list alone."""
    page.run(Fault("status", "add_candidates", email=ZOE, status=422, count=None))
    assert page.desk.steps(ZOE)[0] == "refused"
    for fields in ({"listed": "0" * 8}, {"listed": "0" * 8, "person": page.number(ZOE)}):
        assert page.press("add", "again", **fields)[0] == "NotDecided"
        assert page.desk.steps(ZOE)[0] == "refused"
    assert page.press("add", "again")[0] == "Completed"
    assert page.desk.steps(ZOE)[0] == "waiting"


def test_a_project_is_settled_as_it_was_listed(page: Page) -> None:
    """`again` on a second lost project would make a third."""
    page.run(Fault("lost", "create_project"))
    fields = {"what": "project", "verdict": "again", "listed": page.code("project")}
    page.desk.later(minutes=16)
    assert page.press(**fields)[0] == "Completed"
    page.desk.run(Fault("lost", "create_project"))
    page.desk.later(minutes=16)
    assert (page.press(**fields)[0], page.desk.steps()[0]) == ("NotDecided", "unsure")
