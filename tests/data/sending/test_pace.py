"""One rate and one pause for all runs of a ledger, whichever process and machine they are on."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path

import pytest

from data.sending import pace
from data.sending.pace import first_free
from data.store import clock
from data.store.ledger import Ledger
from data.store.states import Ending
from sandbox.faults.faults import Fault
from tasks.sending.pace import Rate, Turns
from tests.support.campaigns import Office, people, settings_of
from tests.support.ledgers.databases import ledger_at

pytestmark = pytest.mark.usefixtures("each_database")

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(ledger_at(tmp_path)) as ledger:
        yield ledger


@pytest.mark.parametrize(
    ("turn_at", "first"),
    [
        (None, NOON),
        (NOON - SECOND, NOON),
        (NOON - SECOND / 20, NOON - SECOND / 20),  # just over, while it was asked for
        (NOON + SECOND, NOON + SECOND),
        (NOON + 60 * SECOND, NOON + 60 * SECOND),
        (NOON + 24 * 3600 * SECOND, NOON),  # given out by a clock that was put back since
    ],
)
def test_the_first_turn_that_nobody_has(turn_at: datetime | None, first: datetime) -> None:
    """Never long before now, never one that somebody has, and never a day ahead."""
    assert first_free(turn_at, NOON, SECOND / 4) == first


def test_turns_are_given_out_once_and_evenly(ledger: Ledger) -> None:
    """Of two that ask at the same moment, the second one's turns are behind the first one's."""
    waits = [
        ledger.write_beside(pace.take_turns, "service", 600 * SECOND, number).total_seconds()
        for number in (3, 1)
    ]
    assert waits[0] == 0
    assert 1200 < waits[1] <= 1800
    assert ledger.write_beside(pace.take_turns, "another", SECOND, 1) == timedelta(0)


def test_a_turn_that_was_not_used_is_not_lost(ledger: Ledger) -> None:
    """Whoever another run was faster than leaves the turn to the next person."""
    turns = Turns(ledger, Rate("service", 3600 * SECOND))

    async def waits() -> list[float]:
        used, unused = await turns.wait(), await turns.wait()
        turns.give_back()
        instead = await turns.wait()
        return [used, unused, instead, await turns.wait()]

    assert [round(wait / 3600) for wait in asyncio.run(waits())] == [0, 1, 1, 2]


def test_a_pause_holds_until_it_is_over(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shorter one takes nothing from it; a clock put back by a day makes no day of it."""
    assert ledger.read(pace.service_pause, "service") <= timedelta(0)
    ledger.write_beside(pace.pause_service, "service", 3600 * SECOND)
    ledger.write_beside(pace.pause_service, "service", SECOND)
    assert 1800 * SECOND < ledger.read(pace.service_pause, "service") <= 3600 * SECOND
    assert ledger.read(pace.service_pause, "another") <= timedelta(0)
    if ledger.place.startswith("postgresql"):
        return  # the database's own clock counts there
    monkeypatch.setattr(clock, "now", lambda: datetime.now(UTC) - timedelta(days=1))
    assert ledger.read(pace.service_pause, "service") <= timedelta(0)


@pytest.mark.parametrize("spelled", ["http://127.0.0.1", "http://localhost"])
def test_two_campaigns_keep_one_rate_together(
    office: Office, monkeypatch: pytest.MonkeyPatch, spelled: str
) -> None:
    """Side by side they send no more a second than one alone would, however each is led there."""
    here = settings_of(office.service)
    other = {"base_url": here.base_url.replace("http://127.0.0.1", spelled)}
    ways = cycle([here, here.model_copy(update=other)])
    monkeypatch.setattr("tests.support.campaigns.settings_of", lambda _: next(ways))
    local = office.local.model_copy(update={"invites_per_second": 20.0})
    paced = Office(office.folder, office.service, local)
    files = [
        paced.write(key, people(*(f"{key}{n}" for n in range(10))), problem=problem)
        for key, problem in (("one", "42"), ("two", "43"))
    ]

    asked: list[datetime] = []
    really = Turns.wait

    async def wait(turns: Turns) -> float:
        asked.append(datetime.now(UTC))
        return await really(turns)

    monkeypatch.setattr(Turns, "wait", wait)

    async def both() -> None:
        await asyncio.gather(*(asyncio.to_thread(paced.run, file) for file in files))

    asyncio.run(both())
    times = sorted(invitation.at for invitation in office.service.record.invitations)
    assert len(times) == 20
    # From the first turn that was asked for: its request may come late, and the last one may not.
    assert (times[-1].astimezone(UTC) - min(asked)).total_seconds() > 0.9 * 19 / 20


def test_what_one_run_was_asked_for_holds_for_the_next(office: Office) -> None:
    """A 429 is written down for all, and whoever begins meanwhile waits for its end."""
    asked = Fault("status", "invite", status=429, retry_after="1", email="ada@example.com")
    office.service.faults.add(asked)
    assert office.run(office.write("first", people("ada"))).ending is Ending.COMPLETED
    with office.ledger() as ledger:
        url = settings_of(office.service).base_url
        assert ledger.read(pace.service_pause, url)  # over by now, perhaps, but written down
        began = datetime.now(UTC)
        ledger.write_beside(pace.pause_service, url, 1.5 * SECOND)
    assert office.run(office.write("second", people("bo"), problem="43")).ending is Ending.COMPLETED
    assert office.service.record.invitations[-1].at.astimezone(UTC) - began > SECOND
