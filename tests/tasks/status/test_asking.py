"""Where a run would stop again, the next step is what a person has to do first."""

from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from sandbox.faults.faults import Fault
from tests.support.doubtful_campaign import KEY, DoubtfulCampaign, doubtful_campaign

PILOT = "me@example.com"
YEAR = 366 * 24 * 60
WHY = ("--why", "x")
REFUSES = Fault("status", "invite", status=422)


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[DoubtfulCampaign]:
    with doubtful_campaign(tmp_path, monkeypatch, capsys) as table:
        yield table


@pytest.mark.parametrize(
    ("invites", "faults", "typed", "step"),
    [
        ("{approval: required}", (), (), f"campaign approve {KEY}"),
        (
            "{approval: required}",
            (),
            ("approve", KEY, "--reject", *WHY),
            f"campaign approve {KEY} --plan",
        ),
        (
            "{not_before: 2100-01-01 09:00, not_after: 2100-01-02 09:00}",
            (),
            (),
            "give a later not_after",
        ),
        (f"{{pilot: {PILOT}}}", (REFUSES,), (), f"campaign resend {KEY} EMAIL"),
    ],
)
def test_where_a_run_would_stop_again_the_step_that_helps_is_named(
    desk: DoubtfulCampaign,
    invites: str,
    faults: tuple[Fault, ...],
    typed: tuple[str, ...],
    step: str,
) -> None:
    zoned = desk.file.read_text().replace("engineer}", "engineer, timezone: UTC}")
    desk.file.write_text(f"{zoned}invites: {invites}\n")
    desk.run(*faults)
    desk.later(minutes=100 * YEAR)
    if typed:
        assert desk.type(*typed).code == 0
    [waiting] = [line for line in _last(desk, "status") if line.startswith("  waiting: ")]
    assert (step in waiting, f"waiting: campaign run {desk.file}" in waiting) == (True, False)
    assert waiting in _last(desk, "settle")
    assert desk.type("report", KEY, "-o", "report.html").code == 0
    page = unescape(Path("report.html").read_text("utf-8"))
    assert (step in page, "waiting: campaign run" in page) == (True, False)


def test_where_a_run_helps_it_is_named(desk: DoubtfulCampaign) -> None:
    """The pilot waits for a run alone: after its plan was approved, or to be invited once more."""
    rules = f"invites: {{approval: required, pilot: {PILOT}}}\n"
    desk.file.write_text(desk.file.read_text() + rules)
    desk.run()
    assert desk.type("approve", KEY).code == 0
    again = f"  waiting: campaign run {desk.file}"
    assert again in _last(desk, "status")
    desk.run(REFUSES)
    assert again not in _last(desk, "status")
    assert desk.type("resend", KEY, PILOT, *WHY, "--yes").code == 0
    assert again in _last(desk, "status")


def _last(desk: DoubtfulCampaign, command: str) -> list[str]:
    """The steps below the counts."""
    return desk.type(command, KEY).out.splitlines()
