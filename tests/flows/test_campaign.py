"""How a worker's run of a campaign ends: who goes on by itself, what stays to be seen, who is told.

What was sent is not of interest here: `send` only says how it ended.
"""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest
from anyio import CancelScope
from prefect.exceptions import Abort
from sqlmodel import select

from data.store.tables import Notice
from flows import campaign
from flows.campaign import run_campaign
from flows.ending import End, Ending

SERVICE = dict.fromkeys(("AUTH_URL", "BASE_URL", "APP_URL"), "http://127.0.0.1:9")
SERVICE |= dict.fromkeys(("CLIENT_ID", "CLIENT_SECRET", "AUDIENCE"), "any")
FILE = Path("backend.yaml")
LATER = datetime(2040, 1, 1, tzinfo=UTC)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, datetime | None]]:
    """What a server was asked to begin: this run again, or another one."""
    asked: list[tuple[str, datetime | None]] = []

    async def go_on_later(message: str, at: datetime) -> None:
        asked.append(("this", None))
        raise Abort(message)

    async def begin_another(moment: datetime | None) -> None:
        asked.append(("another", moment))

    async def no_page(ending: Ending) -> None: ...

    for stub in (go_on_later, begin_another):
        monkeypatch.setattr(campaign, stub.__name__, stub)
    monkeypatch.setattr(campaign, "is_typed", lambda: False)
    monkeypatch.setattr(campaign, "publish_page", no_page)
    return asked


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
    ("end", "until", "state", "began", "notices"),
    [
        (End.NOT_YET, LATER, "Completed", [("another", LATER)], 0),
        (End.INTERRUPTED, None, "set by itself", [("this", None)], 0),
        (End.ELSEWHERE, None, "set by itself", [("this", None)], 0),
        # Somebody is needed for some: that is to be seen, and the others are not forgotten.
        (End.ATTENTION, LATER, "Failed", [("another", LATER)], 1),
        (End.ATTENTION, None, "Failed", [], 1),
        (End.DONE, None, "Completed", [], 0),
    ],
)
def test_whoever_waits_for_their_time_goes_on_by_itself(
    end, until, state, began, notices, ledger, asked, monkeypatch
) -> None:
    ending = Ending("backend", end, "1 of 3 invited.", until=until)
    assert state_after(ending, monkeypatch) == state
    assert asked == began
    with ledger.reading() as session:
        assert len(session.exec(select(Notice)).all()) == notices


def test_a_run_that_prefect_breaks_off_gets_its_answers_all_the_same(
    ledger, asked, monkeypatch
) -> None:
    """As it does with a run that cannot renew its place among the runs of its campaign."""

    async def broken_off() -> None:
        with CancelScope() as prefects:

            async def send(*_: object) -> Ending:
                prefects.cancel()
                await asyncio.sleep(0)  # an answer comes
                return Ending("backend", End.ATTENTION, "1 of 3 invited.")

            monkeypatch.setattr(campaign, "send", send)
            await run_campaign.fn(FILE)

    asyncio.run(broken_off())
    with ledger.reading() as session:
        assert len(session.exec(select(Notice)).all()) == 1


def test_without_a_ledger_the_state_still_says_how_a_run_ended(
    asked, tmp_path, monkeypatch
) -> None:
    (tmp_path / "broken.db").write_text("this is no database, and never was one")
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", f"sqlite:///{tmp_path / 'broken.db'}")
    for name, value in SERVICE.items():
        monkeypatch.setenv(f"ASSESSMENT_{name}", value)
    state = asyncio.run(run_campaign.fn(FILE))
    assert state.is_failed()
    assert state.message.startswith("stopped: The ledger")
