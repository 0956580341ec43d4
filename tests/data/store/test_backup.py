"""A copy of the ledger to keep: whole, private, never over another file; before tables change."""

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from data.campaigns import queries
from data.store import opening
from data.store.ledger import Ledger
from tasks.plan.receipts import OlderLedger
from tests.support.doubtful_campaign import EMAILS, KEY, DoubtfulCampaign, doubtful_campaign


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[DoubtfulCampaign]:
    with doubtful_campaign(tmp_path, monkeypatch, capsys) as desk:
        yield desk


def invited(file: Path) -> set[str]:
    with Ledger.open(f"sqlite:///{file}", create=False) as ledger:
        found = ledger.read(queries.find_campaign, KEY)
        assert found is not None
        return {
            one.email1 for one in queries.candidates(ledger, found.id) if one.invite_state == "done"
        }


def test_a_copy_is_whole_and_for_its_owner_alone(desk: DoubtfulCampaign) -> None:
    """Also while the ledger is open, its last commits still in the log beside it."""
    desk.run()
    with desk.ledger():
        answer = desk.type("ledger", "backup", desk.folder / "kept.db")
    assert (answer.code, ".receipt" in answer.out) == (0, True)
    assert stat.S_IMODE((desk.folder / "kept.db").stat().st_mode) == 0o600
    assert invited(desk.folder / "kept.db") == set(EMAILS)
    assert not list(desk.folder.glob(".kept.db*"))


def test_nothing_is_written_over(desk: DoubtfulCampaign) -> None:
    """An older copy may be the one that somebody needs."""
    desk.run()
    (desk.folder / "kept.db").write_bytes(b"mine")
    for target in ("kept.db", "nowhere/kept.db"):
        answer = desk.type("ledger", "backup", desk.folder / target)
        assert (answer.code, str(desk.folder / target) in answer.err) == (2, True)
    assert (desk.folder / "kept.db").read_bytes() == b"mine"
    assert invited(desk.folder / "ledger.db") == set(EMAILS)


def test_a_copy_that_was_put_back_invites_nobody_again(desk: DoubtfulCampaign) -> None:
    """The receipt is further on than the copy: the run stops before any request."""
    desk.file.write_text(desk.file.read_text() + "invites: {send: false}\n")
    desk.run()
    assert desk.type("ledger", "backup", desk.folder / "kept.db").code == 0
    desk.file.write_text(desk.file.read_text().replace("send: false", "send: true"))
    desk.run()
    for part in ("ledger.db-wal", "ledger.db-shm"):
        (desk.folder / part).unlink(missing_ok=True)
    (desk.folder / "kept.db").replace(desk.folder / "ledger.db")
    with pytest.raises(OlderLedger):
        desk.run()
    assert desk.emails() == dict.fromkeys(EMAILS, 1)


def test_tables_are_copied_before_they_are_changed(
    desk: DoubtfulCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a migration does, the ledger as it was lies beside it."""
    desk.run()
    file = desk.folder / "ledger.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0000'")
        connection.commit()
    monkeypatch.setattr(opening, "KNOWN", ("0000", "0001"))
    monkeypatch.setattr("alembic.command.upgrade", lambda *_: None)
    for _ in range(2):
        Ledger.open(f"sqlite:///{file}").close()
    kept = desk.folder / "ledger.db.tables-0000"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    monkeypatch.setattr(opening, "NEWEST", "0000")
    assert invited(kept) == set(EMAILS)
