"""When a scheduled run may end at once: only where the last one completed and nothing is new."""

from config.settings import load_service
from data.sending import idle_runs
from data.store.clock import now
from flows.run.ending import Finish
from flows.run.idle import nothing_new
from sandbox.faults.faults import Fault
from tasks.plan.target import CampaignSource
from tests.support.doubtful_campaign import KEY, DoubtfulCampaign
from tests.support.doubtful_campaign import doubtful as desk

__all__ = ["desk"]


def idle(desk: DoubtfulCampaign, key: str | None = KEY) -> Finish | None:
    with desk.ledger() as ledger:
        return nothing_new(CampaignSource(desk.file, key), ledger, load_service())


def test_a_completed_campaign_has_nothing_to_do(desk: DoubtfulCampaign) -> None:
    """Before its first run, and where nobody says which campaign is meant, everything is to do."""
    assert idle(desk) is None
    end = desk.run()
    before = len(desk.service.record.requests)
    assert idle(desk) == Finish(KEY, end.ending, end.reason, end.counts)
    assert idle(desk, None) is None
    assert len(desk.service.record.requests) == before


def test_a_changed_file_is_read(desk: DoubtfulCampaign) -> None:
    desk.run()
    desk.file.write_text(desk.file.read_text() + "# another byte\n")
    assert idle(desk) is None


def test_who_is_to_be_invited_once_more_is(desk: DoubtfulCampaign) -> None:
    """A decision of a person is something new."""
    desk.run()
    why = ("--why", "she deleted it", "--yes")
    assert desk.type("resend", KEY, "ada@example.com", *why).code == 0
    assert idle(desk) is None


def test_a_doubt_is_told_by_each_run(desk: DoubtfulCampaign) -> None:
    """Until a person has settled it; and the run after that shows how the campaign stands."""
    desk.run(Fault("lost", "invite", email="ada@example.com", after_work=True))
    assert idle(desk) is None
    assert desk.settle("--invites", "sent", "--why", "seen").code == 0
    assert idle(desk) is None
    since, end = now(), desk.run()
    with desk.ledger() as ledger:  # as the flow does
        ledger.write(idle_runs.note, KEY, since, end.ending, end.reason)
    assert idle(desk) is not None
