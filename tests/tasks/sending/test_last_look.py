"""The last look: what became of the ledger since the claim decides whether the request leaves."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from config.settings import LocalSettings
from data.sending.recovery import TakenOver
from data.store import tables
from data.store.clock import now
from data.store.states import Ending, Operation
from sandbox.server import Sandbox
from tasks.service.channel import Way
from tasks.service.client import Service
from tests.support.campaigns import Office, people
from tests.support.ledgers.databases import Postgres


def once_connected(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], None]) -> None:
    """Let something happen after the first invitation's claim and before its first byte."""
    call, connect = Service.call, Way.open
    asked: list[Operation] = []

    async def calls(service: Service, request: Any, *more: Any) -> Any:
        asked.append(request.operation)
        return await call(service, request, *more)

    async def connects(way: Way) -> Any:
        conversation = await connect(way)
        if asked.count(Operation.INVITE) == 1:
            happens()
        return conversation

    monkeypatch.setattr(Service, "call", calls)
    monkeypatch.setattr(Way, "open", connects)


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    with Sandbox() as service:
        yield Office(tmp_path, service, settings(tmp_path, f"sqlite:///{tmp_path}/ledger.db"))


@pytest.fixture
def office_on_a_server(tmp_path: Path, postgres: Postgres) -> Iterator[Office]:
    with Sandbox() as service:
        yield Office(tmp_path, service, settings(tmp_path, postgres.ledger_of("last look")))


def settings(folder: Path, ledger: str) -> LocalSettings:
    return LocalSettings(database_url=ledger, output_dir=folder / "out", invites_in_flight=1)


@pytest.mark.parametrize("where", ["office", "office_on_a_server"])
def test_a_run_that_others_took_over_sends_nothing(
    where: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a paused machine every clock stands still, so the age of the claim does not tell."""
    office: Office = request.getfixturevalue(where)

    def taken_over() -> None:
        with office.ledger() as ledger, ledger._transactions.writing() as connection:
            values = {"ended_at": now(), "ending": Ending.DIED}
            connection.execute(update(tables.runs).values(values))

    once_connected(monkeypatch, taken_over)
    end = office.run(office.write("asleep", people("ada", "grace")))
    assert (end.ending, office.emails()) == (Ending.STOPPED, {})
    assert end.reason == str(TakenOver(timedelta(0)))


def test_a_run_whose_ledger_is_moved_sends_nothing(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever copies the file back would know nothing of the invitation."""
    file = office.folder / "ledger.db"

    def moved() -> None:
        if file.exists():
            file.rename(file.with_suffix(".elsewhere"))

    once_connected(monkeypatch, moved)
    end = office.run(office.write("moved", people("ada", "grace")))
    assert (end.ending, office.emails()) == (Ending.STOPPED, {})
    assert "was moved" in str(end.reason)
