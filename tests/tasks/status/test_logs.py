"""Lines for a program that collects logs: JSON, each with its ids, and nobody's name."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.faults.faults import Fault
from tasks.status import logs
from tests.support.doubtful_campaign import EMAILS, KEY, DoubtfulCampaign, doubtful_campaign
from tests.support.ledgers.journal import attempts


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[DoubtfulCampaign]:
    with doubtful_campaign(tmp_path, monkeypatch, capsys) as desk:
        yield desk


@pytest.fixture
def nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs.log, "handlers", [logging.NullHandler()])
    monkeypatch.setattr(logs.log, "level", logging.NOTSET)
    logs.log.manager._clear_cache()  # type: ignore[attr-defined]


@pytest.mark.usefixtures("nobody_listens")
def test_each_request_is_a_line(desk: DoubtfulCampaign, capsys: pytest.CaptureFixture[str]) -> None:
    """Begin, every request with what came of it, end: with campaign, run and attempt."""
    capsys.readouterr()
    logs.listen()
    logs.listen()
    desk.run(Fault("lost", "invite", email=EMAILS[0]))
    text = capsys.readouterr().err
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["event"] for line in lines] == [
        "the run began",
        "create_project: done",
        "attach_problem: done",
        "add_candidates: done",
        "invite: unsure",
        "invite: done",
        "invite: done",
        "the run ended",
    ]
    assert {(line["campaign"], line["run"]) for line in lines} == {(KEY, 1)}
    with desk.ledger() as ledger:
        journal = [one.id for one in ledger.read(attempts, 1)]
    assert [line["attempt"] for line in lines] == [None, *journal, None]
    assert all(line["time"].endswith("+00:00") and line["level"] == "info" for line in lines)
    assert not any(word in text for word in ("example.com", "Lovelace", "sandbox-secret"))


@pytest.mark.usefixtures("nobody_listens")
def test_without_a_listener_nothing_is_written(
    desk: DoubtfulCampaign, capsys: pytest.CaptureFixture[str]
) -> None:
    """People read words; nobody pays for lines that nobody reads."""
    capsys.readouterr()
    desk.run()
    assert capsys.readouterr().err == ""
    assert not logs.listening()


def test_an_unknown_format_is_a_setting_to_mend(
    desk: DoubtfulCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told with the variable, whichever way it was said."""
    monkeypatch.setenv("CAMPAIGN_LOG_FORMAT", "words")  # put back after this test
    answer = desk.type("--log-format", "xml", "status")
    assert (answer.code, "CAMPAIGN_LOG_FORMAT" in answer.err) == (2, True)
