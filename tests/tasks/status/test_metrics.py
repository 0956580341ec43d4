"""`campaign metrics`: a monitoring system reads it, the numbers are true, and nobody is named."""

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from sandbox.faults.faults import Fault
from tests.support.doubtful_campaign import EMAILS, KEY, DoubtfulCampaign, doubtful_campaign

ADA, ZOE, _ = EMAILS
LABELS = ("campaign", "operation", "state", "ending", "at")


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[DoubtfulCampaign]:
    with doubtful_campaign(tmp_path, monkeypatch, capsys) as desk:
        yield desk


def read(text: str) -> dict[tuple[str, ...], float]:
    """The samples by name and labels, as a monitoring system reads them."""
    return {
        (
            sample.name,
            *(sample.labels[name] for name in LABELS if name in sample.labels),
        ): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_the_numbers_are_those_of_the_campaign(desk: DoubtfulCampaign) -> None:
    """People, requests and runs, with a doubt, a refusal and a pause among them."""
    desk.run(Fault("lost", "invite", email=ADA), Fault("status", "invite", status=422, email=ZOE))
    assert desk.type("pause", KEY, "--why", "a look first").code == 0
    text = desk.type("metrics").out
    seen = read(text)
    assert seen["campaign_people", KEY, "candidates"] == 3
    assert seen["campaign_people", KEY, "unsure"] == seen["campaign_people", KEY, "refused"] == 1
    assert seen["campaign_requests_total", KEY, "invite", "done"] == 1
    assert seen["campaign_requests_total", KEY, "invite", "unsure"] == 1
    assert seen["campaign_runs_total", KEY, "needs_attention"] == 1
    assert seen["campaign_paused", KEY] == 1
    assert seen["campaign_last_run_seconds", KEY] > 0
    assert not any(word in text for word in ("example.com", "Ada", "Lovelace"))


def test_a_collector_may_read_the_file(desk: DoubtfulCampaign) -> None:
    """It runs as another user, and reads whole files only."""
    desk.run()
    place = desk.folder / "campaigns.prom"
    assert desk.type("metrics", "-o", place).code == 0
    assert stat.S_IMODE(place.stat().st_mode) == 0o644
    assert read(place.read_text())["campaign_people", KEY, "invited"] == 3
