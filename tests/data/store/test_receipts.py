"""Receipts: which copy of a ledger may send, told by what became of its files."""

import shutil
import sqlite3
import threading
from collections.abc import Callable
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from data.decisions.decisions import By, block
from data.sending.claims import claim
from data.store import receipts
from data.store.ledger import NEWEST, Ledger, LedgerGone
from data.store.receipts import NothingToAccept, NotTheNewest
from data.store.states import Op
from data.store.tables import Campaign, Notice
from tests.data.sending import small

SERVICE = small.SERVICE
ANOTHER, OLDER = "sent from another ledger", "an older copy"
Harm = Callable[[Path], None]


class Desk:
    """One campaign, its ledger and its definition, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.file = folder, folder / "campaigns" / "backend.yaml"
        self.file.parent.mkdir(exist_ok=True)
        self.db = folder / "ledger.db"

    def open(self) -> Ledger:
        return Ledger.open(f"sqlite:///{self.db}")

    def begin(self) -> None:
        with self.open() as ledger, ledger.writing() as session:
            small.campaign(session, 1)

    def send_part(self) -> None:
        """Count a mark, and write what a part's claims would."""
        with self.open() as ledger:
            mark = receipts.Mark(ledger, 1, self.file)
            number = mark.grow()
            with ledger.writing() as session:
                session.add(Notice(key=f"part {number}", text=""))
            mark.close()

    def check(self, service: str = SERVICE, key: str = "backend") -> str | None:
        """Which sentence stops the ledger, if any."""
        with self.open() as ledger:
            try:
                receipts.check(ledger, key, service, self.file)
            except NotTheNewest as error:
                assert error.then.startswith(f"campaign settle {key} --accept-ledger")
                return ANOTHER if ANOTHER in str(error) else OLDER
        return None

    def accept(self) -> None:
        with self.open() as ledger, ledger.writing() as session:
            receipts.accept(session, "backend", "Ada", "the other disk is gone")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    made = Desk(tmp_path)
    made.begin()
    return made


@pytest.mark.parametrize("gone", ["beside", "copy"])
def test_one_of_the_two_is_enough(desk: Desk, gone: str) -> None:
    desk.send_part()
    desk.db.unlink()
    if gone == "beside":
        desk.file.with_name("backend.receipt").unlink()
    else:
        shutil.rmtree(desk.folder / "home")
    assert desk.check() == ANOTHER


def test_a_receipt_that_cannot_be_read_stops(desk: Desk) -> None:
    desk.send_part()
    desk.file.with_name("backend.receipt").write_text("{")
    assert desk.check() == OLDER
    desk.accept()
    assert desk.check() is None


def test_what_is_accepted_holds_until_something_is_sent_elsewhere(desk: Desk) -> None:
    desk.send_part()
    first = desk.db.rename(desk.folder / "first.db")
    desk.begin()
    with pytest.raises(NothingToAccept):  # nobody has seen yet what it would be
        desk.accept()
    assert desk.check() == ANOTHER
    desk.accept()
    assert desk.check() is None
    second = desk.db.rename(desk.folder / "second.db")
    first.rename(desk.db)
    desk.send_part()
    second.rename(desk.db)
    assert desk.check() == ANOTHER


@pytest.mark.parametrize("sandbox", ["", "http://localhost:8000"])
def test_a_receipt_is_about_one_campaign_at_its_service(desk: Desk, sandbox: str) -> None:
    """A service of this machine is the same only at its address."""
    with desk.open() as ledger, ledger.writing() as session:
        session.get_one(Campaign, 1).service = sandbox or SERVICE
    desk.send_part()
    desk.db.unlink()
    assert desk.check(service=sandbox or "https://the-same.example") == ANOTHER
    assert desk.check(service=sandbox or SERVICE, key="frontend") is None
    for other in ("http://localhost:8001", SERVICE if sandbox else "http://localhost:8000"):
        assert desk.check(service=other) is None


@pytest.mark.parametrize("parts", [1, 2, 3])
@pytest.mark.parametrize("others", [0, 1])
def test_a_file_without_its_log_is_behind(desk: Desk, parts: int, others: int) -> None:
    """Whether or not another campaign of the ledger is being sent, and moves the log meanwhile."""
    with desk.open() as ledger, ExitStack() as stack:
        with ledger.writing() as session:
            small.campaign(session, 1, key="frontend")
        mark, other = (receipts.Mark(ledger, i, desk.file) for i in (1, 2))
        stack.callback(mark.close)
        stack.callback(other.close)
        for part in range(parts):
            with mark.claiming(1), ledger.writing() as session:
                session.add(Notice(key=f"claim {part}", text=""))
            if others:
                with other.claiming(receipts.STEPS), ledger.writing() as session:
                    session.add(Notice(key=f"claim {part} of the other", text=""))
            with mark.claiming(1), ledger.writing() as session:
                session.add(Notice(key=f"claim {part} after", text=""))
            shutil.rmtree(desk.folder / "home", ignore_errors=True)  # elsewhere
            alone = Path(shutil.copy(desk.db, desk.folder / f"alone-{part}.db"))
            with Ledger.open(f"sqlite:///{alone}") as copy, pytest.raises(NotTheNewest):
                receipts.check(copy, "backend", SERVICE, desk.file)


def test_the_log_stays_small_while_two_campaigns_send(desk: Desk) -> None:
    with desk.open() as ledger, ExitStack() as stack:
        with ledger.writing() as session:
            small.campaign(session, 1, key="frontend")
        marks = [receipts.Mark(ledger, i, desk.file) for i in (1, 2)]
        for each in marks:
            stack.callback(each.close)
        for number in range(60):
            for each in marks:
                with each.claiming(receipts.STEPS), ledger.writing() as session:
                    session.add(Notice(key=f"{number} {id(each)}", text="x" * 30_000))
        assert desk.db.stat().st_size > 2_000_000
        assert desk.db.with_name("ledger.db-wal").stat().st_size < 1_000_000


def _another_campaign(ledger: Ledger, file: Path) -> None:
    with ledger.writing() as session:
        other = small.campaign(session, 1, key="frontend")
    mark = receipts.Mark(ledger, other.id, file)
    mark.grow()
    mark.close()


def _decision(ledger: Ledger, _: Path, about: str = "ada@example.org") -> None:
    with receipts.counting_decisions(ledger) as session:
        block(session, [about], By("Mara", "She asked for it"), lift=False)


@pytest.mark.parametrize("lost", [_another_campaign, _decision])
def test_a_copy_from_before_a_decision_or_another_campaign_is_behind(
    desk: Desk, lost: Callable[[Ledger, Path], None]
) -> None:
    with desk.open():
        older = Path(shutil.copy(desk.db, desk.folder / "older.db"))
    with desk.open() as ledger:
        lost(ledger, desk.file.with_name("frontend.yaml"))
    assert desk.check() is None
    older.rename(desk.db)
    for log in desk.folder.glob("ledger.db-*"):
        log.unlink()
    with desk.open() as ledger:  # it does not catch up by deciding
        _decision(ledger, desk.file, "bob@example.org")
    assert desk.check() == OLDER
    desk.accept()
    assert desk.check() is None
    # Accepted once, for every campaign; but what one of them sent since is for it alone.
    assert desk.check(key="frontend") == (OLDER if lost is _another_campaign else None)
    accepted = Path(shutil.copy(desk.db, desk.folder / "accepted.db"))
    with desk.open() as ledger:
        _decision(ledger, desk.file, "grace@example.org")
    accepted.rename(desk.db)
    for log in desk.folder.glob("ledger.db-*"):
        log.unlink()
    assert desk.check() == OLDER


def test_what_was_accepted_is_accepted_of_exactly_that_receipt(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a clock says: a copy of the accepted ledger is behind once it has sent."""
    desk.send_part()
    older = Path(shutil.copy(desk.db, desk.folder / "older.db"))
    desk.send_part()
    shutil.copy(older, desk.db)
    assert desk.check() == OLDER
    desk.accept()
    accepted = Path(shutil.copy(desk.db, desk.folder / "accepted.db"))
    assert desk.check() is None
    monkeypatch.setattr(receipts, "now", lambda: datetime(2000, 1, 1, tzinfo=UTC))
    desk.send_part()
    shutil.copy(accepted, desk.db)
    assert desk.check() == OLDER


def test_a_run_knows_a_ledger_that_was_put_back_beneath_it(desk: Desk) -> None:
    with desk.open() as ledger:
        mark = receipts.Mark(ledger, 1, desk.file)
        mark.grow()
        copy, live = (sqlite3.connect(each) for each in (desk.folder / "copy.db", desk.db))
        with closing(copy), closing(live):
            live.backup(copy)
            mark.grow()
            copy.backup(live)
        before = desk.file.with_name("backend.receipt").read_bytes()
        # It is older, or a newer version has migrated it.
        for known, version in ((mark.last, NEWEST), (0, "9999")):
            with ledger.reading() as session, pytest.raises(LedgerGone):
                session.connection().exec_driver_sql(
                    f"UPDATE alembic_version SET version_num = {version!r}"
                )
                claim(session, 1, 1, Op.INVITE, [[1]], mark=known)
        with pytest.raises(LedgerGone):
            mark.grow()
        mark.close()
    assert desk.file.with_name("backend.receipt").read_bytes() == before
    assert desk.check() == OLDER


def test_a_rewrite_waits_for_who_sends(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    really, happened = Ledger.rewrite, list[str]()
    with desk.open() as ledger:
        mark = receipts.Mark(ledger, 1, desk.file)
        mark.grow()

        def ends() -> None:
            happened.append("the run ends")
            mark.close()

        def rewritten(of: Ledger) -> None:
            happened.append("rewritten")
            really(of)

        monkeypatch.setattr(Ledger, "rewrite", rewritten)
        receipts.rewrite(ledger, threading.Timer(0.2, ends).start)
    assert happened == ["the run ends", "rewritten"]
