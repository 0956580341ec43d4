"""A person pauses a campaign and lets it go on; a run at work stops at once."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from data.campaigns import pauses
from data.campaigns.pauses import HOLD_ON
from data.store.ledger import Ledger
from data.store.states import By, Ending
from flows.run import inviting
from flows.run.ending import Finish
from flows.run.order import RunContext, conduct
from sandbox.server import Sandbox
from tasks.plan.target import CampaignSource
from tasks.sending import pace
from tasks.sending.sender import Sent
from tests.support.campaigns import Heard, Office, people, settings_of

NAMES = [f"person{number}" for number in range(12)]

# Where a ledger lies is all the same to what is only typed, shown or asked.
on_each_database = pytest.mark.usefixtures("each_database")


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    with Sandbox() as service:
        yield Office.at(tmp_path, service, candidates_per_request=3, invites_in_flight=2)


def run_hearing(office: Office, path: Path, hears: Callable[[Ledger, Sent], None]) -> Finish:
    """Run it, and let somebody else act at each answer."""
    with office.ledger() as ledger, office.ledger() as other:
        desk = RunContext(
            ledger,
            settings_of(office.service),
            office.local,
            observer=Heard(on_sent=lambda sent: hears(other, sent)),
        )
        return asyncio.run(conduct(CampaignSource(path, path.stem), desk))


@on_each_database
def test_a_pause_ends_a_run_amid_a_wave(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what was on its way still arrives, however many the wave has left; all is recorded."""
    monkeypatch.setattr(pace, "LOOKS", 0)
    before: list[int] = []

    def hears(ledger: Ledger, sent: Sent) -> None:
        if sent.operation == "invite" and not before:
            ledger.write(pauses.pause, "held", By("grace", "wrong date in the text"))
            before.append(len(office.emails()))

    path = office.write("held", people(*NAMES))
    end = run_hearing(office, path, hears)
    reached = len(office.emails())
    assert end.ending is Ending.STOPPED
    assert reached - before[0] <= office.local.invites_in_flight
    assert "paused by grace" in (end.reason or "")
    assert "wrong date in the text" in (end.reason or "")
    assert "campaign resume held" in (end.reason or "")
    assert (end.counts["invited"], end.counts["waiting"]) == (reached, len(NAMES) - reached)


@on_each_database
def test_a_pause_ends_a_run_before_the_next_bulk_add(office: Office) -> None:
    """People are added a request at a time: after the one under way no other leaves."""

    def hears(ledger: Ledger, sent: Sent) -> None:
        ledger.write(pauses.pause, "held", By("grace", ""))

    path = office.write("held", people(*NAMES))
    end = run_hearing(office, path, hears)
    assert (end.ending, end.counts["added"]) == (Ending.STOPPED, 3)
    assert office.changing() == ["create_project", "attach_problem", "add_candidates"]


@on_each_database
def test_while_paused_no_run_asks_the_service_anything(office: Office) -> None:
    """Not even a token; and once it is let go on, the same run does everything, once."""
    path = office.write("held", people("ada", "grace"))
    with office.ledger() as ledger:
        ledger.write(pauses.pause, "held", By("grace", ""))
        end = office.run(path)
        assert (end.ending, office.service.api_requests()) == (Ending.STOPPED, 0)
        assert end.counts["waiting"] == 2
        ledger.write(pauses.resume, "held", By("grace", ""))
    assert office.run(path).ending is Ending.COMPLETED
    assert office.emails() == {"ada@example.com": 1, "grace@example.com": 1}


def test_a_pause_holds_only_its_campaign(office: Office) -> None:
    """Another campaign of the same ledger is sent as ever."""
    with office.ledger() as ledger:
        ledger.write(pauses.pause, "held", By("grace", ""))
    assert office.run(office.write("other", people("ada"))).ending is Ending.COMPLETED


def test_a_finished_campaign_may_be_paused(office: Office) -> None:
    """There is nothing to stop, and the run says so as ever: completed."""
    path = office.write("held", people("ada"))
    office.run(path)
    with office.ledger() as ledger:
        ledger.write(pauses.pause, "held", By("grace", ""))
    assert office.run(path).ending is Ending.COMPLETED


@pytest.mark.parametrize("part", [4, 100])
def test_a_stop_from_outside_ends_a_run_amid_a_wave(
    office: Office, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    """Whoever watches the runs may stop one, between parts or in one, which at a low rate may take
    a day: the ledger is true, and the next run goes on."""
    monkeypatch.setattr(pace, "LOOKS", 0)
    monkeypatch.setattr(inviting, "PART", part)
    path = office.write("held", people(*NAMES))
    before: list[int] = []

    async def stopped() -> str | None:
        if office.emails():
            before.append(len(office.emails()))
        return "It was cancelled." if before else None

    with office.ledger() as ledger:
        desk = RunContext(ledger, settings_of(office.service), office.local, stopped=stopped)
        end = asyncio.run(conduct(CampaignSource(path, "held"), desk))
    assert (end.ending, end.reason) == (Ending.STOPPED, "It was cancelled.")
    assert len(office.emails()) - before[0] <= office.local.invites_in_flight
    assert end.counts["unsure"] == 0
    assert office.run(path).ending is Ending.COMPLETED
    assert set(office.emails().values()) == {1}


@on_each_database
def test_every_pause_is_kept(office: Office) -> None:
    """A second one changes neither who nor why of the first; one word to go on ends all."""
    asked = [By("grace", "first"), By("ada", "second"), By("ada", "second"), By(HOLD_ON, "third")]
    both = [("grace", "first"), ("ada", "second")]
    with office.ledger() as ledger:
        for by in asked:
            stands = ledger.write(pauses.pause, "held", by)
        assert [(paused.who, paused.why) for paused in stands] == both
        first = ledger.read(pauses.standing, "held")
        assert first is not None
        assert first.who == "grace"
        ended = ledger.write(pauses.resume, "held", By("ada", "mended"))
        assert [(paused.who, paused.why) for paused in ended] == both
        assert ledger.read(pauses.standing, "held") is None
        assert ledger.write(pauses.resume, "held", By("ada", "")) == []
