"""Promises 50, 54 and 55: people in any encoding, as they are ordered, and behind an address."""

import re
from collections.abc import Callable

import httpx
import pytest

from tests.promises.support import corpora
from tests.promises.support.commands import Campaign, Running, free_port, person
from tests.promises.support.service import Service
from tests.promises.support.web import Quiet, serving

TOKEN = "0123456789abcdef"
PEOPLE = [f"person{number}@example.org" for number in range(12)]


@pytest.mark.timeout(600)
def test_54_an_order_that_was_taken_is_sent_once_however_often_it_comes(
    sandbox: Callable[..., Service], campaign: Campaign
) -> None:
    service, port = sandbox(), free_port()
    table = campaign.folder / "hiring.orders.csv"
    people = {"file": table.name, "where": {"withdrawn": ""}, "ignore": ["id"]}
    file = campaign.write(candidates=people | {"columns": {"notes": "notes"}})

    def desk() -> Running:
        words = ("orders", campaign.folder, "--port", port)
        return campaign.start(*words, CAMPAIGN_ORDERS_TOKEN=TOKEN).until_shown("Ctrl-C")

    def ask(method: str, path: str = "", **order: str) -> httpx.Response:
        url = f"http://127.0.0.1:{port}/campaigns/hiring/candidates{path}"
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        return httpx.request(method, url, json=order, headers=bearer, timeout=60)

    def order(number: int) -> int:
        return ask("POST", id=f"app-{number}", **person(PEOPLE[number])).status_code

    running = desk()
    for number in range(len(PEOPLE)):
        assert order(number) == order(number) == 202
        if number % 4 == 3:  # whoever came last was told a moment ago
            running.kill()
            running = desk()
    other = ask("POST", **person(PEOPLE[0]) | {"id": "app-x", "last_name": "Other"})
    assert other.status_code == 422
    assert "person0" not in other.text.lower()

    running.until(lambda: table.exists() and PEOPLE[-1] in table.read_text())
    assert campaign("run", file, "--yes").code == 0
    assert {order(number) for number in range(len(PEOPLE))} == {202}
    assert ask("GET", "/app-3").json()["invite"] == "done"
    assert campaign("run", file, "--yes").code == 0
    assert sorted(service.invited()) == sorted(PEOPLE)
    assert ask("POST", id="late", **person("late@example.org")).status_code == 202
    assert f"ordered in {table}" in campaign("forget", "late@example.org", "--show").out
    assert campaign("forget", "late@example.org", "--yes").code == 0
    assert "late@" not in table.read_text()
    assert "person" not in running.kill().said.lower()


class Sheet(Quiet):
    """A shared sheet: its export, for whoever has the link."""

    rows, kind = "first_name,last_name,email1\n", "text/csv"

    def do_GET(self) -> None:
        knows = (
            self.path.endswith("?key=s3cret") and self.headers["Authorization"] == "Basic s3cret"
        )
        self.answer(self.rows.encode(), 200 if knows else 403, self.kind)


def test_55_what_stands_behind_an_address_is_read_whole_and_its_secrets_are_shown_nowhere(
    sandbox: Callable[..., Service], campaign: Campaign
) -> None:
    service, said = sandbox(), ""
    with serving(Sheet) as port:
        url = f"http://127.0.0.1:{port}/export?key=s3cret"
        file = campaign.write(candidates={"url": url, "file": None})

        def does(*words: object) -> int:
            nonlocal said
            done = campaign(*words, CAMPAIGN_FETCH_AUTHORIZATION="Basic s3cret")
            said += done.said
            return done.code

        for number in range(3):
            Sheet.rows += f"Ann{number},Lee{number},ann{number}@example.org\n"
            assert does("run", file, "--yes") == 0, said
            assert service.invited() == [f"ann{each}@example.org" for each in range(number + 1)]
        assert does("check", file, "--json") == does("plan", file, "--json") == 0
        [kept] = campaign.ledger.parent.glob("*.fetched/*")
        assert kept.stat().st_mode & 0o777 == 0o600
        Sheet.kind = "text/html"
        before = service.changes()
        assert does("run", file, "--yes") == does("check", file) == 2
        assert service.changes() == before
        assert not kept.exists()
        Sheet.kind = "text/csv"
        assert does("check", file) == does("forget", "ann0@example.org", "--yes") == 0
        assert not kept.exists()
    assert "127.0.0.1 answered with a page (text/html)" in said
    assert f"remove the row from what {file} reads by its url" in said
    places = [campaign.ledger.parent, campaign.home, campaign.outputs]
    files = [each for place in places for each in place.rglob("*") if each.is_file()]
    assert files
    assert "s3cret" not in said
    assert not any(b"s3cret" in each.read_bytes() for each in files)


def test_50_an_encoding_is_never_guessed(
    campaign: Campaign, sandbox: Callable[..., Service]
) -> None:
    """The question shows its words as each encoding would read them; one of them is written."""
    service = sandbox()
    rows = "first_name,last_name,email1\nŁukasz,Żółć,lukasz@people.test\n"
    (campaign.folder / "people.csv").write_bytes(rows.encode("cp1250"))
    definition = corpora.write(campaign, "hiring", candidates={"file": "people.csv"})
    [question] = campaign("check", definition, "--json").json()["problems"]
    shown = dict(re.findall(r'([\w-]+) ("[^"]*")', question["message"]))
    assert shown["windows-1250"] == '"Łukasz Żółć"'
    assert len({*shown.values()}) == len(shown) > 1
    assert campaign("run", definition, "--yes").code == 2
    assert service.changes() == []
    people = {"file": "people.csv", "encoding": "windows-1250"}
    corpora.write(campaign, "hiring", candidates=people)
    assert campaign("run", definition, "--yes").code == 0
    assert [row["last_name"] for row in corpora.sent(service)["hiring"]] == ["Żółć"]
