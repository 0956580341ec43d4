"""Every version of the ledger that was ever released is opened by today's program, and goes on."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlmodel import SQLModel

from config.errors import CampaignError
from config.settings import load_local, load_service
from data.store.opening import KNOWN
from data.store.states import Ending
from flows.run.order import CampaignSource, RunContext, conduct
from sandbox.server import Sandbox
from tests.ledger_versions import kept
from tests.support.doubtful_campaign import KEY, DoubtfulCampaign, doubtful_campaign


@pytest.fixture(params=KNOWN)
def version(request: pytest.FixtureRequest) -> Path:
    return kept.HERE / str(request.param)


@pytest.fixture(params=["sqlite", "postgresql"])
def desk(
    request: pytest.FixtureRequest,
    version: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[DoubtfulCampaign]:
    """The desk as it was when a version was kept: ledger, definition, receipt and service."""
    server = request.getfixturevalue("postgres") if request.param == "postgresql" else None
    (tmp_path / "service").mkdir()
    (tmp_path / "service" / "journal.jsonl").write_bytes((version / kept.SERVICE).read_bytes())
    sandbox = Sandbox(tmp_path / "service")
    with doubtful_campaign(tmp_path, monkeypatch, capsys, sandbox) as desk:

        def text(name: str) -> str:
            found = (version / name).read_text(encoding="utf-8")
            return found.replace(kept.URL, desk.service.base_url)

        desk.file.write_text(text(kept.DEFINITION), encoding="utf-8")
        desk.file.with_suffix(".receipt").write_text(text(kept.RECEIPT), encoding="utf-8")
        if server is None:
            url = kept.in_a_file(text(kept.SQLITE), tmp_path / "kept.db")
        else:
            url = kept.on_the_server(text(kept.POSTGRES), server, str(tmp_path))
        monkeypatch.setenv("CAMPAIGN_DATABASE_URL", url)
        yield desk
    if server is not None:
        server.forget(str(tmp_path))


def go_on(desk: DoubtfulCampaign) -> Ending:
    with desk.ledger() as ledger:
        here = RunContext(ledger, load_service(), load_local())
        return asyncio.run(conduct(CampaignSource(desk.file, KEY), here)).ending


def test_everything_in_it_is_seen(desk: DoubtfulCampaign, version: Path) -> None:
    """Where everybody stands, what was decided, and every row of every table there was."""
    before = json.loads((version / kept.CONTENT).read_text(encoding="utf-8"))
    there = [one for one in SQLModel.metadata.sorted_tables if one.name in before["rows"]]
    with desk.ledger() as ledger:
        assert kept.content_of(ledger, there) == before
    assert ("sent", None, "rita", "asked by phone") in desk.decisions()
    history = desk.type("history", KEY, "tim@example.com")
    assert (history.code, "he deleted it" in history.out) == (0, True)
    assert desk.settle().code == 3  # the second invitation of one person is in doubt


def test_its_campaign_goes_on(desk: DoubtfulCampaign) -> None:
    """Whoever is new is invited, once; nobody who was invited before, and nobody forgotten."""
    before = desk.emails()
    assert go_on(desk) is Ending.AWAITS_APPROVAL
    assert desk.type("approve", KEY, "--why", "looked at it").code == 0
    assert go_on(desk) is Ending.NEEDS_ATTENTION
    assert desk.emails() == before | {"barbara@example.com": 1}
    assert go_on(desk) is Ending.NEEDS_ATTENTION
    assert desk.settle("--invites", "again", "--why", "nothing arrived", "--no-wait").code == 0
    assert go_on(desk) is Ending.AWAITS_APPROVAL
    assert desk.type("approve", KEY, "--why", "looked at it").code == 0
    go_on(desk)
    assert desk.emails()["tim@example.com"] == 2


@pytest.mark.parametrize("desk", ["sqlite"], indirect=True)  # no statement of its ledger is asked
def test_its_receipt_keeps_an_empty_ledger_from_inviting(
    desk: DoubtfulCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The receipt of every version says to which ledger the campaign belongs."""
    before = desk.requests()
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", f"sqlite:///{desk.folder / 'empty.db'}")
    with pytest.raises(CampaignError, match="another ledger"):
        go_on(desk)
    assert desk.requests() == before


def test_no_migration_has_changed_since_its_ledger_was_kept(version: Path) -> None:
    """Ledgers out there went through it as it was: another change is another migration.

    Before it is released: `.venv/bin/python -m tests.ledger_versions`.
    """
    assert (version / kept.DIGEST).read_text().strip() == kept.migrations_digest(version.name)


def test_a_ledger_is_kept_of_every_version() -> None:
    """Whoever writes a migration keeps a ledger that went through it."""
    assert {one.name for one in kept.HERE.iterdir() if one.name.isdigit()} == set(KNOWN)
