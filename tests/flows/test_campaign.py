"""How a worker's run of a campaign ends: who goes on by itself, what stays to be seen, who is told.

What was sent is not of interest here: `send` only says how it ended.
"""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
from prefect.exceptions import Abort
from sqlmodel import select

from data.store.lease import AtWork, lease
from data.store.tables import Notice
from flows import campaign
from flows.campaign import run_campaign
from flows.ending import End, Ending

SERVICE = dict.fromkeys(("AUTH_URL", "BASE_URL", "APP_URL"), "http://127.0.0.1:9")
SERVICE |= dict.fromkeys(("CLIENT_ID", "CLIENT_SECRET", "AUDIENCE"), "any")
FILE = Path("backend.yaml")
LATER = datetime(2040, 1, 1, tzinfo=UTC)


@dataclass
class Prefect:
    """What a server was asked to begin: this run again, or another one."""

    has_another: bool = False
    began: list[tuple[str, datetime | None]] = field(default_factory=list)


@pytest.fixture
def prefect(monkeypatch: pytest.MonkeyPatch) -> Prefect:
    server = Prefect()

    async def is_missed() -> bool:
        return False

    async def another_before(moment: datetime | None) -> bool:
        return server.has_another

    async def go_on_later(message: str, at: datetime | None = None) -> None:
        server.began.append(("this", at))
        raise Abort(message)

    async def begin_another(moment: datetime | None) -> None:
        server.began.append(("another", moment))

    async def no_page(ending: Ending) -> None: ...

    for stub in (is_missed, another_before, go_on_later, begin_another):
        monkeypatch.setattr(campaign, stub.__name__, stub)
    monkeypatch.setattr(campaign, "is_typed", lambda: False)
    monkeypatch.setattr(campaign, "publish_page", no_page)
    return server


def state_after(ending: Ending, monkeypatch: pytest.MonkeyPatch) -> str:
    """The state that a run leaves which ends like this."""

    async def send(*_: object) -> Ending:
        return ending

    monkeypatch.setattr(campaign, "send", send)
    try:
        return str(asyncio.run(run_campaign.fn(FILE)).name)
    except Abort:
        return "set by itself"


@pytest.mark.parametrize(
    ("end", "until", "has_another", "state", "began", "notices"),
    [
        (End.NOT_YET, LATER, False, "set by itself", [("this", LATER)], 0),
        (End.NOT_YET, LATER, True, "Completed", [], 0),
        (End.INTERRUPTED, None, False, "set by itself", [("this", None)], 0),
        # Somebody is needed for some: that is to be seen, and the others are not forgotten.
        (End.ATTENTION, LATER, False, "Failed", [("another", LATER)], 1),
        (End.ATTENTION, LATER, True, "Failed", [], 1),
        (End.ATTENTION, None, False, "Failed", [], 1),
        (End.DONE, None, False, "Completed", [], 0),
    ],
)
def test_whoever_waits_for_their_time_goes_on_by_itself(
    end, until, has_another, state, began, notices, ledger, prefect, monkeypatch
) -> None:
    prefect.has_another = has_another
    ending = Ending("backend", end, "1 of 3 invited.", until=until)
    assert state_after(ending, monkeypatch) == state
    assert prefect.began == began
    with ledger.reading() as session:
        assert len(session.exec(select(Notice)).all()) == notices


def test_of_runs_that_wait_for_their_turn_only_the_latest_keeps_a_place(
    ledger, prefect, monkeypatch
) -> None:
    looks = iter((False, True))  # whether a later run of the file waits as well

    async def is_missed() -> bool:
        return next(looks)

    async def waits() -> None:
        with lease(ledger, "backend"), pytest.raises(AtWork):
            async with campaign.holding_lease(ledger, "backend", asyncio.Event()):
                pass

    monkeypatch.setattr(campaign, "is_missed", is_missed)
    monkeypatch.setattr(campaign, "is_scheduled", lambda: False)
    monkeypatch.setattr(campaign, "KEEPS_A_PLACE", 0.0)
    asyncio.run(waits())
    assert list(looks) == []


def test_without_a_ledger_the_state_still_says_how_a_run_ended(
    prefect, tmp_path, monkeypatch
) -> None:
    (tmp_path / "broken.db").write_text("this is no database, and never was one")
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", f"sqlite:///{tmp_path / 'broken.db'}")
    for name, value in SERVICE.items():
        monkeypatch.setenv(f"ASSESSMENT_{name}", value)
    state = asyncio.run(run_campaign.fn(FILE))
    assert state.is_failed()
    assert state.message.startswith("stopped: The ledger")
