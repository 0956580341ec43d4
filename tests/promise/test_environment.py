"""Disks that fill, locks that stay, clocks that jump, power that goes: each ends in words.

Whatever the machine does, no request leaves without a durable claim, and once the machine is
mended the same command goes on. Real ledger files, real runs, the sandbox's record as judge.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import timedelta
from itertools import count, repeat
from pathlib import Path
from typing import Any

import pytest

from config.errors import CampaignError
from data.campaigns import queries
from data.decisions import adding_again, settling
from data.decisions.verdicts import Decided, NotDecided
from data.sending import queue, recovery, runs
from data.store import sqlite
from data.store.clock import now
from data.store.errors import LedgerGone
from data.store.ledger import Ledger
from data.store.opening import LedgerUnusable
from data.store.states import By, Ending, Step, Word
from flows.run import context, inviting
from flows.run.ending import Finish, finish
from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from tasks.service.client import Service
from tests.promise.promise import check_finished, check_promise, check_rest, open_books
from tests.support.campaigns import Office, people

MANY = [f"p{number}" for number in range(20)]  # enough to fill pages
NAMES = ("ada", "bo", "cy", "dee")
KEYS = [f"{name}@example.com" for name in NAMES]
# Word for word, as no transcript can show a full disk, or waits for half a minute.
FULL = "the disk is full. Free some space"
LOCKED = (
    "another program has held the ledger for 30 seconds. Close what has it open, such as a viewer "
    "or a backup"
)
READ_ONLY = "the ledger is read-only. Make it writable: the file and its folder, or the database"


@contextmanager
def office_at(folder: Path) -> Iterator[Office]:
    folder.mkdir(parents=True, exist_ok=True)
    with Sandbox() as service:
        yield Office.at(folder, service, invites_in_flight=2, candidates_per_request=2)


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    with office_at(tmp_path) as office:
        yield office


def campaign_in(office: Office, names: Sequence[str] = NAMES) -> Path:
    return office.write("a", people(*names))


def asked_for(file: Path) -> list[str]:
    """The email keys of a definition."""
    rows = file.with_suffix(".csv").read_text().splitlines()[1:]
    return [row.rpartition(",")[2] for row in rows]


def run(office: Office, file: Path) -> str:
    """Run it; what a person reads when it stops, "" when it did not."""
    try:
        finish = office.run(file)
    except CampaignError as error:
        return str(error)
    return finish.reason or ""


def goes_on(office: Office, file: Path, *, unsure: int = 0) -> None:
    """The same command finishes what can be finished; at most so many requests are in doubt."""
    while office.run(file).ending is Ending.STOPPED:
        pass
    with office.ledger() as ledger:
        check_promise(ledger, "a", office.service.record, asked_for(file))
        check_finished(ledger, "a")
        books = open_books(ledger, "a")
        assert books is not None
        assert sum(1 for one in books.attempts if one.state == "unsure") <= unsure
    before = office.service.api_requests()
    office.run(file)
    assert office.service.api_requests() == before


def with_pragmas(monkeypatch: pytest.MonkeyPatch, *pragmas: str) -> None:
    """Open every ledger with these on top of its own."""
    durable = sqlite._durable

    def connect(connection: sqlite3.Connection, record: object) -> None:
        durable(connection, record)
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")

    monkeypatch.setattr(sqlite, "_durable", connect)


# -- the disk ---------------------------------------------------------------------------------


def small_pages(path: Path) -> int:
    """Make an empty ledger of 512-byte pages, so that almost every write needs one more."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA page_size=512")
        connection.execute("VACUUM")  # writes the first page, or the size would be forgotten
        connection.execute("PRAGMA journal_mode=WAL")
    Ledger.open(f"sqlite:///{path}").close()
    return pages(path)


def pages(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA page_count").fetchone()[0])


def test_a_disk_that_is_full_at_any_write_stops_the_run_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite is given one page more each time, until the run needs no more."""
    reasons, allowed = set(), 0
    while True:
        with office_at(tmp_path / f"{allowed}") as office, monkeypatch.context() as full:
            file = campaign_in(office, MANY)
            empty = small_pages(office.folder / "ledger.db")
            with_pragmas(full, f"max_page_count={empty + allowed}")
            reason = run(office, file)
            changing = len(office.changing())
            full.undo()
            if not reason:
                break
            assert FULL in reason
            assert "run again" in reason
            reasons.add(changing)
            with office.ledger() as ledger:
                check_promise(ledger, "a", office.service.record, asked_for(file) * bool(changing))
            goes_on(office, file, unsure=2)
        allowed += 1
    assert allowed > 5
    assert min(reasons) == 0  # full before anything was sent
    assert len(reasons) > 3  # and at several points of the way


def test_a_lock_that_outlives_the_patience_stops_the_run_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program holds the ledger from the n-th commit on, for each n."""
    sent, number = set(), 1
    while True:
        with office_at(tmp_path / f"{number}") as office:
            file = campaign_in(office)
            office.ledger().close()
            with locked_at(office, number, monkeypatch) as patch:
                patch.setattr(sqlite, "LOCK_TIMEOUT", 0.02)
                reason = run(office, file)
            if not reason:
                break
            assert LOCKED in reason
            assert "run again" in reason
            sent.add(len(office.changing()))
            goes_on(office, file, unsure=2)
        number += 1
    assert sent >= {0, 1, 2, 3, 4}


@contextmanager
def locked_at(
    office: Office, number: int, monkeypatch: pytest.MonkeyPatch
) -> Iterator[pytest.MonkeyPatch]:
    """Take the write lock just before the n-th commit of claims, and hold it."""
    real, seen = Ledger.write_beside, 0
    # Taken on the journal's thread, let go of on this one.
    holder = sqlite3.connect(
        office.folder / "ledger.db", isolation_level=None, check_same_thread=False
    )

    def write(ledger: Ledger, change: Callable[..., object], *what: object) -> object:
        nonlocal seen
        seen += change is runs.commit
        if seen == number and change is runs.commit:
            holder.execute("BEGIN IMMEDIATE")
        return real(ledger, change, *what)

    with closing(holder), monkeypatch.context() as patch:
        patch.setattr(Ledger, "write_beside", write)
        yield patch


def test_a_ledger_locked_from_the_start_lets_nothing_leave(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a place to write a claim there is no changing request."""
    file = campaign_in(office)
    office.ledger().close()
    with (
        closing(sqlite3.connect(office.folder / "ledger.db", isolation_level=None)) as holder,
        monkeypatch.context() as patch,
    ):
        patch.setattr(sqlite, "LOCK_TIMEOUT", 0.05)
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerUnusable, match=LOCKED):
            office.run(file)
    assert office.changing() == []
    goes_on(office, file)


def test_a_ledger_that_cannot_be_written_lets_nothing_leave(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read-only file is said to be one, and nothing was sent."""
    file = campaign_in(office)
    office.ledger().close()
    with monkeypatch.context() as patch:
        # The tests may run as root, whom no permission stops; SQLite's own refusal is the same.
        with_pragmas(patch, "query_only=ON")
        with pytest.raises(LedgerUnusable, match=READ_ONLY):
            office.run(file)
    assert office.changing() == []
    goes_on(office, file)


def test_a_ledger_in_a_folder_that_is_a_file_says_where(tmp_path: Path) -> None:
    """A place that cannot be made is named, with the setting that names it."""
    (tmp_path / "taken").write_text("")
    with pytest.raises(LedgerUnusable, match=r"taken/a.db.*CAMPAIGN_DATABASE_URL"):
        Ledger.open(f"sqlite:///{tmp_path / 'taken' / 'a.db'}")


# -- the file ---------------------------------------------------------------------------------


def test_a_ledger_that_fails_once_while_people_are_invited_breaks_nothing_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the n-th look or commit, for each n: what was in flight is recorded, and counted."""
    monkeypatch.setattr(inviting, "PART", 2)
    invited, number = set(), 1
    while True:
        with office_at(tmp_path / f"{number}") as office:
            # Somebody of the second part is on the way while the first part is recorded.
            office.service.faults.add(
                Fault("slow", "invite", count=None, email="p2@example.com", seconds=0.1),
                Fault("slow", "invite", count=None, seconds=0.02),
            )
            file = campaign_in(office, MANY[:5])
            with gone_once(number, monkeypatch) as refused:
                end = office.run(file)
            received = len(office.service.record.invitations)
            assert end.counts["unsure"] + end.counts["sending"] == 0
            assert end.counts["invited"] == received
            if not refused:
                break
            assert end.ending is Ending.STOPPED
            assert end.reason == str(LedgerGone("this"))
            invited.add(received)
            goes_on(office, file)
        number += 1
    assert {0, 5} < invited  # before, between and after


@contextmanager
def gone_once(number: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    """Refuse the n-th call after the first look at who is to be invited, until all came back."""
    refused: list[object] = []
    nobody_counts = repeat(0)
    calls: Iterator[int] = nobody_counts

    def refusing(real: Callable[..., object]) -> Callable[..., object]:
        def call(ledger: Ledger, work: Callable[..., object], *what: object) -> object:
            nonlocal calls
            if next(calls) == number:
                refused.append(work)
                raise LedgerGone("this")
            if work is queue.to_invite and calls is nobody_counts:
                calls = count(1)
            return real(ledger, work, *what)

        return call

    def came_back(*what: Any) -> Finish:
        nonlocal calls
        calls = repeat(0)  # not even where people are invited again
        return finish(*what)

    with monkeypatch.context() as patch:
        for way in ("read", "write", "write_beside"):
            patch.setattr(Ledger, way, refusing(getattr(Ledger, way)))
        patch.setattr(context, "finish", came_back)
        yield refused


# -- the clock --------------------------------------------------------------------------------

DAY = timedelta(days=1)


@contextmanager
def clock(moved: Callable[[], timedelta]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module in ("data.store.clock", "tasks.sending.sender", "tasks.plan.receipts"):
            patch.setattr(f"{module}.now", lambda: now() + moved())
        yield


@pytest.mark.parametrize("jump", [DAY, -DAY])
def test_a_clock_that_jumps_at_every_look_changes_nothing_that_is_sent(
    office: Office, jump: timedelta
) -> None:
    """Between claim and outcome, and while the token lives, the time of day decides nothing."""
    file = campaign_in(office)
    looks = 0

    def moved() -> timedelta:
        nonlocal looks
        looks += 1
        return jump * (looks % 2)

    with clock(moved):
        assert office.run(file).ending is Ending.COMPLETED
        assert looks > 10
    assert sorted(office.changing()) == sorted(
        ["create_project", "attach_problem", *["add_candidates"] * 2, *["invite"] * 4]
    )
    assert len(office.service.record.of("token")) == 1
    goes_on(office, file)


@pytest.mark.parametrize("jump", [DAY, -DAY])
def test_a_dead_run_is_recovered_whatever_the_clock_says(office: Office, jump: timedelta) -> None:
    """On its own host a process is dead or not; no clock is asked."""
    file = campaign_in(office)
    die_after(office, file, "invite", 1)
    with clock(lambda: jump):
        goes_on(office, file, unsure=2)


def test_after_a_jump_back_nobody_is_sent_to_again_too_early(office: Office) -> None:
    """The quarter of an hour counts from the attempt, as the clock tells it now."""
    file = campaign_in(office)
    office.service.faults.add(Fault("lost", "invite", after_work=True, email=KEYS[0]))
    office.run(file)
    with office.ledger() as ledger:
        campaign = ledger.read(queries.find_campaign, "a")
        assert campaign is not None
        [doubt] = ledger.read(settling.find, campaign.id).steps
        again = [Decided(doubt.attempt, doubt.row, Word.AGAIN)]
        with clock(lambda: -DAY), pytest.raises(NotDecided):
            ledger.write(settling.settle, campaign.id, again, By("Pat", "not there"), soon=False)
        assert Step.UNSURE in {one.invite_state for one in queries.candidates(ledger, campaign.id)}
        with clock(lambda: -DAY):
            sent = [Decided(doubt.attempt, doubt.row, Word.SENT)]
            ledger.write(settling.settle, campaign.id, sent, By("Pat", "it is there"), soon=False)
    goes_on(office, file)
    assert set(office.emails().values()) == {1}


# -- power and torn files ---------------------------------------------------------------------


class Gone(BaseException):
    """The process, or the power, is gone at this moment."""


def die_after(office: Office, file: Path, operation: str, number: int) -> None:
    """End a run the moment the service has answered its n-th request of this kind."""
    real, seen = Service.call, 0

    async def call(service: Service, request: object, *more: object) -> object:
        nonlocal seen
        answer = await real(service, request, *more)  # type: ignore[arg-type]
        seen += request.operation == operation  # type: ignore[attr-defined]
        if seen == number:
            raise Gone
        return answer

    copies = Copies(office)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Service, "call", call)
        copies.taken_at_each_commit(patch)
        with pytest.raises(BaseException) as ended:
            office.run(file)
    assert gone_in(ended.value)
    copies.put_back()
    recovery.OWN_RUNS.clear()


def gone_in(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return any(gone_in(one) for one in error.exceptions)
    return isinstance(error, Gone)


class Copies:
    """What is surely on the disk: ledger and receipts as they were when a commit returned."""

    def __init__(self, office: Office) -> None:
        self.folder = office.folder
        self.files: dict[Path, bytes] = {}
        self.commits = 0

    def taken_at_each_commit(self, patch: pytest.MonkeyPatch) -> None:
        real = Ledger.write_beside

        def write(ledger: Ledger, change: Callable[..., object], *what: object) -> object:
            done = real(ledger, change, *what)
            if change not in (runs._begin, runs.commit):
                return done
            self.commits += 1
            found = self._there()
            self.files = {f: f.read_bytes() for f in found if not f.name.endswith("-shm")}
            return done

        patch.setattr(Ledger, "write_beside", write)

    def put_back(self) -> None:
        """Power is back: nothing is there but what was surely on the disk."""
        for old in self._there():
            old.unlink()
        for file, content in self.files.items():
            file.write_bytes(content)

    def _there(self) -> list[Path]:
        copies = Path(os.environ["XDG_DATA_HOME"]).rglob("*.receipt")
        return [*self.folder.glob("ledger.db*"), *self.folder.glob("*.receipt"), *copies]


POINTS = [
    ("create_project", 1),
    ("attach_problem", 1),
    ("add_candidates", 1),
    ("add_candidates", 2),
    *(("invite", number) for number in range(1, 5)),
]


@pytest.mark.parametrize(("operation", "number"), POINTS)
def test_after_a_power_cut_every_request_received_has_its_claim(
    office: Office, operation: str, number: int
) -> None:
    """The service has it, the power goes, and the claim was on the disk before it left."""
    file = campaign_in(office)
    die_after(office, file, operation, number)
    received = len(office.changing())
    with office.ledger() as ledger:
        books = open_books(ledger, "a")
        assert books is not None
        assert len(books.attempts) >= received
        check_promise(ledger, "a", office.service.record, KEYS)
        adding_again.recover(ledger, books.campaign.id)
        check_rest(ledger, "a")
        doubts = [one for one in open_books(ledger, "a").attempts if one.state == "unsure"]
        assert 1 <= len(doubts) <= 2  # what was in flight
    goes_on(office, file, unsure=2)


def test_a_ledger_waits_for_the_disk_at_every_commit(office: Office) -> None:
    """Full synchronisation and a write-ahead log, on every connection of the pool."""
    with (
        office.ledger() as ledger,
        ledger._transactions.reading() as one,
        ledger._transactions.reading() as two,
    ):
        for connection in (one, two):
            found = [
                connection.exec_driver_sql(f"PRAGMA {name}").scalar()
                for name in ("synchronous", "journal_mode", "foreign_keys")
            ]
            assert found == [2, "wal", 1]


HEADER, FRAME = 32, 24 + 4096  # bytes of SQLite's write-ahead log


def test_a_torn_log_opens_with_all_that_was_durable_before_the_tear(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut or garbled at any frame, the ledger is as some commit left it: the last whole one."""
    history = logged(office, campaign_in(office), monkeypatch)
    base, log = history[-1][0], history[-1][1]
    frames = (len(log) - HEADER) // FRAME
    assert frames > 20
    place = tmp_path / "torn"
    place.mkdir()
    for frame in range(frames + 1):
        edge = HEADER + frame * FRAME
        cut, inside = log[:edge], log[: edge + FRAME // 2]
        garbled = log[:edge] + b"\xff" * 40 + log[edge + 40 :]
        for torn in (cut, inside, garbled) if frame < frames else (cut,):
            whole = [told for _, then, told in history if len(then) <= edge]
            assert reopened(place, base, torn) == (whole[-1] if whole else [])


def logged(
    office: Office, file: Path, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[bytes, bytes, list[tuple[object, ...]]]]:
    """Run it; after each commit the file, its log, and what the journal says."""
    history: list[tuple[bytes, bytes, list[tuple[object, ...]]]] = []
    office.ledger().close()
    path = office.folder / "ledger.db"
    real = Ledger.write_beside

    def write(ledger: Ledger, change: Callable[..., object], *what: object) -> object:
        done = real(ledger, change, *what)
        if change is not runs.commit:
            return done
        log = path.with_name("ledger.db-wal").read_bytes()
        history.append((path.read_bytes(), log, journal(path)))
        return done

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "write_beside", write)
        office.run(file)
    return history


def journal(path: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT id, operation, state FROM attempt ORDER BY id").fetchall()


def reopened(place: Path, base: bytes, log: bytes) -> list[tuple[object, ...]]:
    for old in place.iterdir():
        old.unlink()
    (place / "ledger.db").write_bytes(base)
    (place / "ledger.db-wal").write_bytes(log)
    with Ledger.open(f"sqlite:///{place / 'ledger.db'}") as ledger:
        assert ledger.uuid()
        return journal(place / "ledger.db")
