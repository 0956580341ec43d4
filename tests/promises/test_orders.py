"""Promise 54: an order that was taken is durable, and is sent once however often it comes."""

import socket
from collections.abc import Callable

import httpx
import pytest

from tests.promises.support.commands import Campaign, Running, person
from tests.promises.support.service import Service

TOKEN = "0123456789abcdef"
PEOPLE = [f"person{number}@example.org" for number in range(12)]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


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
    assert "person" not in running.kill().said.lower()
