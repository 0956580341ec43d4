"""How a worker's run of a campaign ends: who goes on by itself, what stays to be seen, who is told.

What was sent is not of interest here: `send` only says how it ended.
"""

import asyncio
import os
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from anyio import CancelScope
from prefect.exceptions import Abort
from sqlmodel import select

from config.errors import Mistake, Place
from config.sheets.entries import BadList
from data.campaigns.intake import NOTHING
from data.decisions.approvals import approve
from data.decisions.decisions import By, note
from data.eligibility.holds import Hold, Kind, Scope
from data.sending.runs import deciding
from data.store.tables import Notice
from flows import campaign
from flows.campaign import run_campaign
from flows.ending import End, Ending
from flows.notices import note_mistakes
from tasks.sending.gate import EndedEarly, How
from tests.flows.conftest import write

SERVICE = dict.fromkeys(("AUTH_URL", "BASE_URL", "APP_URL"), "http://127.0.0.1:9")
SERVICE |= dict.fromkeys(("CLIENT_ID", "CLIENT_SECRET", "AUDIENCE"), "any")
FILE = Path("backend.yaml")
LATER = datetime(2040, 1, 1, tzinfo=UTC)


@pytest.fixture
def with_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SERVICE.items():
        monkeypatch.setenv(f"ASSESSMENT_{name}", value)


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


def state_after(ending: Ending | BadList, monkeypatch: pytest.MonkeyPatch) -> str:
    """The state that a run leaves which ends like this."""

    async def send(*_: object) -> Ending:
        if isinstance(ending, BadList):
            raise ending
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
        (BadList.at(Place(FILE), "no address"), None, "set by itself", [("this", None)], 1),
    ],
)
def test_whoever_waits_for_their_time_goes_on_by_itself(
    end, until, state, began, notices, ledger, asked, monkeypatch
) -> None:
    ending = end
    if isinstance(end, End):
        ending = Ending("backend", end, "1 of 3 invited.", until=until)
    assert state_after(ending, monkeypatch) == state
    assert asked == began
    with ledger.reading() as session:
        assert len(session.exec(select(Notice)).all()) == notices


@pytest.mark.parametrize(
    ("name", "digest", "end", "stays", "sends"),
    [
        ("hiring.orders.csv", None, End.DONE, 300.0, 3),
        ("hiring.orders.csv", None, End.ATTENTION, 300.0, 3),
        ("hiring.orders.csv", None, End.DONE, -1.0, 1),  # others have their turn
        ("hiring.orders.csv", None, End.STOPPED, 300.0, 1),
        ("hiring.orders.csv", "of what was shown", End.DONE, 300.0, 1),
        ("hiring.csv", None, End.DONE, 300.0, 1),
    ],
)
def test_a_run_goes_on_while_people_are_ordered(
    name, digest, end, stays, sends, ledger, asked, folder, monkeypatch
) -> None:
    file, table, sent = write(folder, "hiring", candidates={"file": name}), folder / name, []
    table.touch()

    async def send(*_: object) -> Ending:
        sent.append("once")
        if len(sent) < 3:
            os.utime(table, (len(sent), len(sent)))
        return Ending("hiring", end, "1 of 3 invited.")

    monkeypatch.setattr(campaign, "send", send)
    monkeypatch.setattr(campaign, "COLLECTS", 0.0)
    monkeypatch.setattr(campaign, "STAYS", stays)
    asyncio.run(run_campaign.fn(file, digest=digest))
    assert len(sent) == sends


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


def test_a_run_of_a_file_that_the_folder_does_not_run_waits_until_it_does(
    ledger, asked, folder, with_settings
) -> None:
    """Whenever it was planned, or if somebody approved it meanwhile."""
    file = write(folder, "backend", problem="none")
    note_mistakes(ledger, folder, [Mistake(Place(file), "another file has its key")])
    with pytest.raises(Abort, match="bad input: "):
        asyncio.run(run_campaign.fn(file))
    assert asked == [("this", None)]
    for _ in range(2):  # a mistake of the folder that comes back is new
        assert note_mistakes(ledger, folder, [Mistake(Place(folder), "this cannot be read")])
        note_mistakes(ledger, folder, [])
    assert asyncio.run(run_campaign.fn(file)).is_failed()  # it is read


def test_an_approval_that_is_void_in_mid_run_is_asked_for_as_the_plan_is_now(
    ledger, tmp_path, with_settings, monkeypatch
) -> None:
    @asynccontextmanager
    async def sending(ledger, *_: object):
        with ledger.writing() as session:
            note(session, "lift", By("mara"), value=1)
        hold = Hold(Kind.APPROVAL, Scope.CAMPAIGN, "nobody has approved this plan")
        raise EndedEarly(How.HELD, hold.why, "", hold)
        yield

    async def preflight(*_: object) -> None: ...

    monkeypatch.setattr(campaign, "sending", sending)
    monkeypatch.setattr(campaign, "preflight", preflight)
    asked = write(tmp_path, "backend", invites={"approval": "required"}), None, None, NOTHING
    first = asyncio.run(campaign.send(*asked, asyncio.Event()))
    with deciding("backend") as (session, of):
        approve(session, of.id, By("mara"))
    again = asyncio.run(campaign.send(*asked, asyncio.Event()))
    assert (again.kind, again.next_step) == (
        End.APPROVAL,
        f"campaign approve backend --plan {again.situations[0]}",
    )
    assert first.situations != again.situations  # so somebody is told


def test_without_a_ledger_the_state_still_says_how_a_run_ended(
    asked, tmp_path, with_settings, monkeypatch
) -> None:
    (tmp_path / "broken.db").write_text("this is no database, and never was one")
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", f"sqlite:///{tmp_path / 'broken.db'}")
    state = asyncio.run(run_campaign.fn(FILE))
    assert state.is_failed()
    assert state.message.startswith("stopped: The ledger")
