"""One campaign, one ledger: what the receipt stops, what it lets through, and where it lies."""

import asyncio
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest
from sqlalchemy import Connection, make_url, select

from config.errors import CampaignError
from config.reading.reading import read_campaigns
from config.settings import LocalSettings, ServiceSettings
from data.moving.ledger_copy import copy_ledger
from data.receipts import receipt_doubts, receipt_file
from data.receipts.receipt import Entry, Fit, Reach, Receipt, fits
from data.store import tables
from data.store.ledger import Ledger
from data.store.opening import open_engine
from data.store.states import By, Ending
from flows.cli.main import main
from flows.cli.reading import TypedFile
from flows.cli.run import telling
from flows.cli.run.one_run import OneRun
from flows.run import inviting
from flows.run.context import Perform, plainly
from flows.run.ending import Finish
from flows.run.order import RunContext, conduct
from sandbox.server import Sandbox
from tasks.plan.receipts import (
    ANOTHER_CAMPAIGN,
    AnotherLedger,
    NoReceipt,
    OlderLedger,
    Receipts,
    UnreadableReceipt,
    misfits,
    refusal,
)
from tasks.plan.target import CampaignSource
from tests.support.ledgers.journal import attempts

T = TypeVar("T")
KEY = "backend-2026"
ADA, ZOE, GRACE, JOAN = "ada", "zoe", "grace", "joan"


class Office:
    """A folder with a definition, as many ledgers as a test wants, and the service as judge."""

    def __init__(self, folder: Path, service: Sandbox, unused: Path) -> None:
        self.folder, self.service, self.unused = folder, service, unused
        self.file = self.write("backend.yaml", KEY, ADA, ZOE)

    def write(self, name: str, key: str, *people: str) -> Path:
        rows = [f"  - {{first_name: A, last_name: B, email1: {who}@example.com}}" for who in people]
        file = self.folder / name
        file.parent.mkdir(exist_ok=True)
        head = f"campaign: {key}\nproject: {{name: Backend}}\nproblem: 42\ncandidates:\n"
        file.write_text(head + "\n".join(rows) + "\n")
        return file

    def database(self, name: str) -> Path:
        return self.folder / f"{name}.db"

    @contextmanager
    def ledger(self, name: str) -> Iterator[Ledger]:
        if not self.database(name).exists():
            shutil.copyfile(self.unused, self.database(name))
        with Ledger.open(f"sqlite:///{self.database(name)}") as ledger:
            yield ledger

    def desk(self, ledger: Ledger, perform: Perform = plainly) -> RunContext:
        service = ServiceSettings(
            **{
                name.removeprefix("ASSESSMENT_").lower(): value
                for name, value in self.service.environment().items()
            }
        )
        local = LocalSettings(output_dir=self.folder / "out")
        return RunContext(ledger, service, local, perform)

    def run(
        self,
        ledger: str = "first",
        file: Path | None = None,
        *,
        table: Path | None = None,
        perform: Perform = plainly,
    ) -> Finish:
        """Run the campaign to its end. Raises what stops it."""
        definition = file or self.file
        asked = CampaignSource(table, KEY, definition) if table else CampaignSource(definition)
        with self.ledger(ledger) as opened:
            return asyncio.run(conduct(asked, self.desk(opened, perform)))

    def stopped(self, ledger: str, kind: type[CampaignError], file: Path | None = None) -> str:
        """Run, and see that it stopped with exit 1 before any request; answers what was said."""
        before = self.service.api_requests()
        with pytest.raises(kind) as stop:
            self.run(ledger, file)
        assert type(stop.value) is kind
        assert stop.value.exit_code == 1
        assert self.service.api_requests() == before
        return str(stop.value)

    def die_before_the_wave(self) -> None:
        """Run with the first ledger in a process of its own, which ends as people are invited."""
        environment = os.environ | self.service.environment()
        environment["CAMPAIGN_DATABASE_URL"] = f"sqlite:///{self.database('first')}"
        environment["CAMPAIGN_OUTPUT_DIR"] = str(self.folder / "out")
        command = [sys.executable, "-c", DIES_BEFORE_THE_WAVE, str(self.file)]
        assert subprocess.run(command, env=environment, check=False).returncode == 9

    def accept(self, ledger: str, key: str = KEY) -> int:
        with self.ledger(ledger) as opened:
            return opened.write(receipt_doubts.accept, key, By("ann", "looked there"))

    @property
    def receipt(self) -> Path:
        return self.folder / "backend.receipt"

    def entry(self, key: str = KEY) -> Entry:
        receipt = receipt_file.read(self.receipt)
        assert receipt is not None
        [entry] = receipt.concerning(key, self.service.base_url)
        return entry

    def reach(self, ledger: str = "first", key: str = KEY) -> Reach:
        with self.ledger(ledger) as opened:
            return opened.read(receipt_doubts.reach, key)

    def emails(self) -> Counter[str]:
        invitations = self.service.record.invitations
        return Counter(invitation.email.partition("@")[0] for invitation in invitations)


@pytest.fixture(autouse=True)
def no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of this machine reaches a test."""
    for name in os.environ:
        if name.startswith(("ASSESSMENT_", "CAMPAIGN_")):
            monkeypatch.delenv(name)
    monkeypatch.setattr("config.folders.home", lambda: tmp_path / "home")


@pytest.fixture(scope="module")
def unused() -> Iterator[Path]:
    """The tables of a ledger that nobody opened yet: making them takes longer than a campaign."""
    with tempfile.TemporaryDirectory(prefix="receipts-") as folder:
        Path(folder).chmod(0o755)
        file = Path(folder) / "unused.db"
        open_engine(f"sqlite:///{file}", create=True).dispose()
        file.chmod(0o644)
        yield file


@pytest.fixture
def office(tmp_path: Path, unused: Path) -> Iterator[Office]:
    with Sandbox() as service:
        yield Office(tmp_path, service, unused)


# -- the decision -------------------------------------------------------------------------


def entry(ledger: str = "mine", attempt: int = 5, **other: Any) -> Entry:
    written = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
    words = {"campaign": KEY, "service": "https://api.example.com", "place": "/there on host"}
    return Entry(ledger=ledger, attempt=attempt, written=written, **(words | other))


@pytest.mark.parametrize(
    ("named", "attempt", "reached", "fit"),
    [
        ("mine", 0, 0, Fit.FITS),
        ("mine", 5, 5, Fit.FITS),
        ("mine", 5, 6, Fit.FITS),  # the run died after the receipt was written
        ("mine", 6, 5, Fit.OLDER_LEDGER),
        ("mine", 1, 0, Fit.OLDER_LEDGER),
        ("other", 5, 5, Fit.ANOTHER_LEDGER),
        ("other", 5, 9, Fit.ANOTHER_LEDGER),  # further on, and yet another one
        ("other", 0, 5, Fit.ANOTHER_LEDGER),  # the other is about to send its first request
    ],
)
def test_a_receipt_fits_its_own_ledger_as_far_on(
    named: str, attempt: int, reached: int, fit: Fit
) -> None:
    """Only the ledger that is named fits, and only when it has got as far."""
    assert fits(entry(named, attempt), "mine", reached) is fit


@pytest.mark.parametrize(
    ("campaign", "receipt", "run", "stops"),
    [
        (KEY, "https://api.example.com", "https://api.example.com", True),
        (KEY, "https://api.example.com", "https://api2.example.com", True),  # maybe the same
        (KEY, "http://127.0.0.1:8701", "http://127.0.0.1:8701", True),
        (KEY, "http://127.0.0.1:8701", "http://localhost:8702", False),
        (KEY, "http://127.0.0.1:8701", "https://api.example.com", False),
        (KEY, "https://api.example.com", "http://[::1]:8701", False),
        ("another", "https://api.example.com", "https://api.example.com", False),
    ],
)
def test_a_trial_on_this_machine_says_nothing_about_the_real_service(
    campaign: str, receipt: str, run: str, stops: bool
) -> None:
    """A campaign is its key at one service; a sandbox is surely another one than the real one."""
    found = Receipt(campaigns=(entry("other", campaign=campaign, service=receipt),))
    judged = misfits(Path("x.receipt"), found, KEY, run, Reach("mine", 0))
    assert [misfit.fit for misfit in judged] == ([Fit.ANOTHER_LEDGER] if stops else [])


def test_a_ledger_knows_its_earlier_name_up_to_the_acceptance() -> None:
    """After an acceptance the old name fits as far as this ledger itself had got by it."""
    reach = Reach("new", 9, {"old": 5})
    assert fits(entry("new", 9), *reach.known_by("new")) is Fit.FITS
    assert fits(entry("old", 5), *reach.known_by("old")) is Fit.FITS
    assert fits(entry("old", 6), *reach.known_by("old")) is Fit.OLDER_LEDGER
    assert fits(entry("other", 1), *reach.known_by("other")) is Fit.ANOTHER_LEDGER


def test_a_renewed_entry_leaves_the_others_alone() -> None:
    """One file carries several campaigns, and a trial of each beside the real one."""
    real, trial = entry(), entry(service="http://127.0.0.1:8701")
    other = entry(campaign="other")
    receipt = Receipt(campaigns=(real, trial, other), lost=("x",))
    further = entry(attempt=8)
    assert receipt.renewed(further) == Receipt(campaigns=(trial, other, further), lost=("x",))
    next_trial = entry(service="http://127.0.0.1:9999")
    assert receipt.renewed(next_trial).campaigns == (real, other, next_trial)


GOOD = json.loads(Receipt(campaigns=(entry(),)).content())


def changed(**fields: Any) -> bytes:
    return json.dumps({"campaigns": [GOOD["campaigns"][0] | fields]}).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\xff\x00",
        b"<<<<<<< HEAD\n",
        b"[]",
        b"null",
        Receipt(campaigns=(entry(),)).content()[:-9],
        json.dumps(GOOD | {"format": 2}).encode(),
        changed(attempt=-1),
        changed(attempt="5"),
        changed(attempt=True),
        changed(ledger=None),
        changed(written="2026-11-20T09:00:00"),
        changed(candidates=[]),
    ],
)
def test_what_is_no_receipt_is_a_lost_one(content: bytes) -> None:
    """Garbage, half a file and unknown fields are doubt for every campaign, never an empty file."""
    receipt = Receipt.of(content)
    assert (receipt.campaigns, len(receipt.lost)) == ((), 1)
    [misfit] = misfits(Path("x"), receipt, KEY, "https://api.example.com", Reach("mine", 9))
    assert misfit.fit is Fit.UNREADABLE
    assert Receipt.of(receipt.content()) == receipt


def test_what_was_lost_is_no_doubt_for_who_has_an_entry_since() -> None:
    """An entry of a campaign's own says more than a file that was replaced."""
    receipt = Receipt(campaigns=(entry(),), lost=("unreadable, sha256 0",))
    reach = Reach("mine", 5)
    assert not list(misfits(Path("x"), receipt, KEY, "https://api.example.com", reach))
    [misfit] = misfits(Path("x"), receipt, "other", "https://api.example.com", reach)
    assert (misfit.fit, misfit.says) == (Fit.UNREADABLE, "unreadable, sha256 0")


# -- a campaign's own ledger --------------------------------------------------------------


# A run that adds and invites counts itself, its adds, its wave and its end (Ledger.begin_part).
PARTS = 4


def test_a_receipt_says_how_far_its_ledger_got(office: Office) -> None:
    """After a run it names the ledger and its last attempt, nobody else, for its owner alone."""
    assert office.run().ending is Ending.COMPLETED
    with office.ledger("first") as ledger:
        assert (office.entry().ledger, office.entry().attempt) == (ledger.uuid(), 5 + PARTS)
        assert len(ledger.read(attempts, 1)) == 5
    assert stat.S_IMODE(office.receipt.stat().st_mode) == 0o600
    assert "example.com" not in office.receipt.read_text()
    names = {path.name for path in office.folder.iterdir()}
    assert not [name for name in names if name.startswith(".")], "a temporary file was left"


def test_the_same_ledger_goes_on(office: Office) -> None:
    """New people are invited; a run with nothing to do needs no receipt and makes no request."""
    office.run()
    office.write("backend.yaml", KEY, ADA, ZOE, GRACE)
    assert office.run().ending is Ending.COMPLETED
    assert office.emails() == Counter([ADA, ZOE, GRACE])
    assert office.entry().attempt == office.reach().attempt == 7 + 2 * PARTS
    office.receipt.write_bytes(b"garbage")
    before = office.service.api_requests()
    assert office.run().ending is Ending.COMPLETED
    assert office.service.api_requests() == before
    assert office.receipt.read_bytes() == b"garbage"


def test_before_each_wave_the_receipt_is_up_to_date(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever looks at the first invitation of a wave finds a receipt as far on as the ledger."""
    monkeypatch.setattr(inviting, "PART", 1)  # of a larger part, some leave while the next begins
    office.write("backend.yaml", KEY, ADA, ZOE, GRACE, JOAN)
    seen: list[tuple[str, int, int]] = []

    async def look(name: str, step: Callable[[], Awaitable[T]], /) -> T:
        if name.startswith("create the project"):
            assert office.entry().attempt == 1
        if name.startswith(("add candidates", "invitations")):
            seen.append((name.partition(" ")[0], office.entry().attempt, office.reach().attempt))
        return await step()

    office.run(perform=look)
    waves = [("invitations", at, at) for at in (6, 8, 10, 12)]
    assert seen == [("add", 4, 4), *waves]
    assert office.entry().attempt == 10 + PARTS


def test_a_receipt_is_on_the_disk_before_it_is_relied_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its bytes are flushed before it gets its name, and the name after that."""
    target = tmp_path / "a.receipt"
    flush, flushed = os.fsync, []

    def watched(number: int) -> None:
        whole = os.fstat(number).st_size == len(receipt.content())
        kind = "folder" if stat.S_ISDIR(os.fstat(number).st_mode) else f"file, whole: {whole}"
        flushed.append((kind, target.exists()))
        flush(number)

    receipt = Receipt(campaigns=(entry(),))
    monkeypatch.setattr(os, "fsync", watched)
    receipt_file.write(target, receipt)
    assert flushed == [("file, whole: True", False), ("folder", True)]
    assert receipt_file.read(target) == receipt


def test_a_receipt_holds_no_password() -> None:
    """Where a ledger is does not say how it is opened."""
    address = make_url("postgresql+psycopg://ann:hush@db.example.com/hiring?password=hush")
    ledger = Ledger(SimpleNamespace(url=address))  # type: ignore[arg-type]
    assert ledger.place == "postgresql+psycopg://ann:***@db.example.com/hiring"


# -- another ledger -----------------------------------------------------------------------


def test_an_old_copy_that_sent_another_campaign_since_is_still_old(office: Office) -> None:
    """How far a ledger is gets counted for each campaign by itself."""
    office.run()
    shutil.copy(office.database("first"), office.database("copy"))
    office.write("backend.yaml", KEY, ADA, ZOE, GRACE)
    office.run()
    more = ("hedy", "mary", "kay", "lise", "emmy")
    office.run("copy", office.write("frontend.yaml", "frontend-2026", *more))
    office.write("backend.yaml", KEY, ADA, ZOE, GRACE, JOAN)
    assert office.reach("copy", "frontend-2026").attempt > office.entry().attempt
    office.stopped("copy", OlderLedger)


def test_a_copy_from_just_before_a_wave_that_died_is_old(office: Office) -> None:
    """What a killed wave sent is in no receipt; that the wave began is."""
    text = office.file.read_text()
    office.file.write_text(text + "invites: {send: false}\n")
    office.run()
    shutil.copy(office.database("first"), office.database("copy"))
    office.file.write_text(text)
    office.die_before_the_wave()
    office.stopped("copy", OlderLedger)
    assert office.run().ending is Ending.COMPLETED
    assert office.emails() == Counter([ADA, ZOE])


def test_an_old_copy_shows_no_plan_of_what_waits_for_its_time(office: Office) -> None:
    """Its approval could begin a run in the very moment in which the time has come."""
    text = office.file.read_text().replace("Backend}", "Backend, timezone: Europe/Paris}")
    office.file.write_text(text + "invites: {send: false}\n")
    office.run()
    shutil.copy(office.database("first"), office.database("copy"))
    office.file.write_text(text)
    office.run()
    office.file.write_text(text + "invites: {approval: required, not_before: 2049-01-01 09:00}\n")
    office.stopped("copy", OlderLedger)


def test_an_acceptance_goes_on_and_shuts_the_other_ledger_out(office: Office) -> None:
    """A person decides, once, for one ledger; the one that was passed over stops from then on."""
    office.run()
    office.stopped("second", AnotherLedger)
    office.stopped("second", AnotherLedger)
    assert office.accept("second") == 1
    assert office.accept("second") == 0
    assert office.run("second").ending is Ending.COMPLETED
    assert office.emails() == Counter([ADA, ZOE] * 2)  # as the person decided
    assert office.entry().ledger == office.reach("second").ledger
    office.write("backend.yaml", KEY, ADA, ZOE, GRACE)
    office.stopped("first", AnotherLedger)
    assert office.run("second").ending is Ending.COMPLETED
    with office.ledger("second") as ledger, ledger._transactions.reading() as connection:
        table = tables.decision
        [decision] = connection.execute(select(table)).all()
    assert (decision.campaign_id, decision.who) == (None, "ann")
    assert (decision.verdict, decision.why) == ("accept-ledger", "looked there")
    assert "entry no. 9" in decision.value and str(office.receipt) in decision.value


def test_an_accepted_old_copy_parts_from_the_original(office: Office) -> None:
    """Both have one UUID; after the acceptance the original is another ledger all the same."""
    office.run()
    shutil.copy(office.database("first"), office.database("copy"))
    office.write("backend.yaml", KEY, ADA, ZOE, GRACE)
    office.run()
    office.stopped("copy", OlderLedger)
    assert office.accept("copy") == 1
    office.run("copy")
    assert office.emails()[GRACE] == 2  # as the person decided
    office.write("backend.yaml", KEY, ADA, ZOE, GRACE, JOAN)
    office.stopped("first", AnotherLedger)
    assert office.run("copy").ending is Ending.COMPLETED
    assert office.emails()[JOAN] == 1


def test_an_acceptance_covers_no_other_mismatch(office: Office) -> None:
    """What was accepted is one ledger at one point; when that went on, a person looks again."""
    office.run()
    office.stopped("second", AnotherLedger)
    assert office.accept("second") == 1
    office.write("backend.yaml", KEY, ADA, ZOE, GRACE)
    office.run("first")
    said = office.stopped("second", AnotherLedger)
    assert "entry no. 15" in said
    assert office.accept("second") == 1
    assert office.run("second").ending is Ending.COMPLETED


def test_a_stop_in_another_folder_leaves_a_running_campaign_its_name(office: Office) -> None:
    """An acceptance for one receipt does not make the ledger a stranger to another of its own."""
    office.run()
    twin = office.write("elsewhere/backend.yaml", KEY, ADA, ZOE, GRACE)
    (twin.parent / "backend.receipt").write_bytes(b"garbage")
    office.stopped("first", UnreadableReceipt, twin)
    assert office.accept("first") == 1
    office.write("backend.yaml", KEY, ADA, ZOE, GRACE)
    assert office.run().ending is Ending.COMPLETED
    assert office.emails() == Counter([ADA, ZOE, GRACE])


def test_nothing_is_accepted_that_no_run_has_met(office: Office) -> None:
    """An acceptance in advance would cover what nobody has looked at."""
    office.run()
    assert office.accept("second") == 0
    office.stopped("second", AnotherLedger)
    assert office.accept("second", "another-campaign") == 0
    office.stopped("second", AnotherLedger)


def test_a_receipt_that_cannot_be_read_is_doubt(office: Office) -> None:
    """Nobody can tell what it said: stop; an acceptance is for these very bytes."""
    office.run()
    office.write("backend.yaml", KEY, ADA, ZOE, GRACE)
    office.receipt.write_bytes(b"<<<<<<< HEAD")
    said = office.stopped("first", UnreadableReceipt)
    assert str(office.receipt) in said
    office.accept("first")
    office.receipt.write_bytes(b"=======")
    office.stopped("first", UnreadableReceipt)
    office.accept("first")
    assert office.run().ending is Ending.COMPLETED
    assert office.emails() == Counter([ADA, ZOE, GRACE])
    # Another campaign may have been in there: it keeps its doubt when the file is replaced.
    office.stopped("first", UnreadableReceipt, office.write("backend.yml", "other", JOAN))


# -- ledgers and receipts that come back together -----------------------------------------


def restored(office: Office) -> tuple[str, Path]:
    """The whole folder as it was yesterday: ledger and receipt agree, and both are old."""
    yesterday = office.folder / "yesterday"
    yesterday.mkdir()
    kept = [office.database("first"), office.receipt]
    for file in kept:
        shutil.copy(file, yesterday)
    office.write("backend.yaml", KEY, ADA, ZOE, GRACE)
    office.run()
    for file in kept:
        shutil.copy(yesterday / file.name, file)
    return "first", office.file


def cleaned(office: Office) -> tuple[str, Path]:
    """Ledger and receipt both deleted, as by `git clean -fdx`."""
    office.database("first").unlink()
    office.receipt.unlink()
    return "first", office.file


def renamed(office: Office) -> tuple[str, Path]:
    """The ledger lost, and the definition under a new name: its receipt kept the old one."""
    office.database("first").unlink()
    return "first", office.file.rename(office.folder / "autumn.yaml")


def copied(office: Office) -> tuple[str, Path]:
    """The definition copied elsewhere without its receipt, and run from another ledger."""
    (office.folder / "elsewhere").mkdir()
    return "second", Path(shutil.copy(office.file, office.folder / "elsewhere"))


BROUGHT_BACK = [restored, cleaned, renamed, copied]


@pytest.mark.parametrize("comes_back", BROUGHT_BACK)
def test_what_comes_back_together_is_noticed_on_this_machine(
    office: Office, data_directory: Path, comes_back: Callable[[Office], tuple[str, Path]]
) -> None:
    """No receipt beside the definition tells; the copy by key and service does, before any
    request. A person decides, once."""
    office.run()
    ledger, file = comes_back(office)
    sent = office.emails()
    kind = OlderLedger if comes_back is restored else AnotherLedger
    said = office.stopped(ledger, kind, file)
    [copy] = data_directory.rglob("*.receipt")
    assert str(copy) in said and f"campaign settle {KEY} --accept-ledger --why" in said
    assert office.emails() == sent and set(sent.values()) == {1}
    assert office.accept(ledger) == 1
    assert office.run(ledger, file).ending is Ending.COMPLETED
    people = [GRACE] if comes_back is restored else [ADA, ZOE]
    assert office.emails() == sent + Counter(people)  # as the person decided
    office.write(str(file.relative_to(office.folder)), KEY, ADA, ZOE, GRACE, JOAN)
    assert office.run(ledger, file).ending is Ending.COMPLETED


def test_a_copy_is_for_its_owner_alone_and_names_nobody(
    office: Office, data_directory: Path
) -> None:
    """It says what the receipt says, and its folder and name tell nobody which campaign it is."""
    before = os.umask(0)
    try:
        office.run()
    finally:
        os.umask(before)
    [copy] = data_directory.rglob("*.receipt")
    assert copy.read_bytes().count(b"campaign") == office.receipt.read_bytes().count(b"campaign")
    assert (stat.S_IMODE(copy.stat().st_mode), stat.S_IMODE(copy.parent.stat().st_mode)) == (
        0o600,
        0o700,
    )
    assert b"example.com" not in copy.read_bytes() and KEY not in copy.name


def copied_entry(data_directory: Path) -> Entry:
    [copy] = data_directory.rglob("*.receipt")
    [entry] = Receipt.of(copy.read_bytes()).campaigns
    return entry


def test_a_copy_is_as_far_on_as_its_ledger_before_each_part(
    office: Office, data_directory: Path
) -> None:
    """A ledger and a receipt from before a part that was killed are both behind the copy."""
    seen = []

    async def look(name: str, step: Callable[[], Awaitable[T]], /) -> T:
        if name.startswith(("add candidates", "invitations")):
            seen.append((copied_entry(data_directory).attempt, office.reach().attempt))
        return await step()

    office.run(perform=look)
    assert seen == [(4, 4), (6, 6)]


def test_a_service_is_one_however_it_is_spelled(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`localhost` for 127.0.0.1 does not hide the copy: nobody is invited twice."""
    office.run()
    cleaned(office)
    here = office.service.base_url
    environment = office.service.environment()
    other = environment | {"ASSESSMENT_BASE_URL": here.replace("127.0.0.1", "LocalHost") + "/"}
    monkeypatch.setattr(office.service, "environment", lambda: other)
    office.stopped("first", AnotherLedger)
    assert office.emails() == Counter([ADA, ZOE])


def test_another_key_and_another_service_are_other_campaigns(office: Office) -> None:
    """What the copy of one says is nothing to the other."""
    office.run()
    office.run("second", office.write("frontend.yaml", "frontend-2026", ADA, ZOE))
    with Sandbox() as service:
        first, office.service = office.service, service
        office.run("third", office.write("elsewhere/backend.yaml", KEY, ADA, ZOE))
        assert office.emails() == Counter([ADA, ZOE])
        office.service = first


def test_a_copy_that_is_behind_is_no_doubt(office: Office, data_directory: Path) -> None:
    """Where several machines share a ledger, the copy of each knows only of its own runs."""
    office.run()
    kept = {path: path.read_bytes() for path in data_directory.rglob("*.receipt")}
    office.write("backend.yaml", KEY, ADA, ZOE, GRACE)
    office.run()
    for path, content in kept.items():
        path.write_bytes(content)
    office.write("backend.yaml", KEY, ADA, ZOE, GRACE, JOAN)
    assert office.run().ending is Ending.COMPLETED
    assert office.emails() == Counter([ADA, ZOE, GRACE, JOAN])


def test_a_ledger_that_moved_goes_on(office: Office) -> None:
    """`campaign ledger move` takes the name along by which the copy knows the ledger."""
    office.run()
    old, new = (f"sqlite:///{office.database(name)}" for name in ("first", "moved"))
    copy_ledger(old, new)
    office.write("backend.yaml", KEY, ADA, ZOE, GRACE)
    assert office.run("moved").ending is Ending.COMPLETED
    assert office.emails() == Counter([ADA, ZOE, GRACE])


def test_what_is_said_fits_what_may_have_happened(office: Office) -> None:
    """Two campaigns of one key, and a sandbox that was started anew, have a way on of their own."""
    office.run()
    ledger, file = copied(office)
    said = office.stopped(ledger, AnotherLedger, file)
    assert ANOTHER_CAMPAIGN in said
    assert f"\n  if {office.service.base_url} is" in said
    real = misfits(
        Path("x"), Receipt(campaigns=(entry(),)), KEY, "https://api.example.com", Reach("", 0)
    )
    assert "sandbox" not in str(refusal(list(real), KEY, "here", Reach("", 0), None))


@pytest.mark.parametrize("why", ["a file in its place", "no home"])
def test_without_a_data_directory_a_run_goes_on_and_says_what_that_costs(
    office: Office, data_directory: Path, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    """A container may have none. The receipt beside the definition guards as ever."""
    if why == "no home":
        monkeypatch.delenv("XDG_DATA_HOME")
        monkeypatch.delenv("HOME")
        monkeypatch.setattr("os.getuid", lambda: 12345)  # whom no list of users has
    else:
        data_directory.write_text("a file where a folder should be")
    end = office.run()
    assert end.ending is Ending.COMPLETED
    assert end.receipt is not None and "no run notices" in end.receipt
    office.stopped("second", AnotherLedger)
    assert office.emails() == Counter([ADA, ZOE])


def test_a_closed_data_directory_is_as_good_as_none(
    office: Office, monkeypatch: pytest.MonkeyPatch, unused: Path
) -> None:
    """Somebody else's folder, as after one command with sudo, stops nobody for ever."""
    office.run()  # what is imported on the way may be out of reach for nobody
    with Sandbox() as service, as_nobody() as folder:
        shut = folder / "data-directory"
        shut.mkdir(mode=0o000)
        monkeypatch.setenv("XDG_DATA_HOME", str(shut))
        office = Office(folder, service, unused)
        end = office.run()
        assert end.receipt is not None and "Permission denied" in end.receipt
        assert office.emails() == Counter([ADA, ZOE])


# -- the verdict, typed -------------------------------------------------------------------

Typed = Callable[..., tuple[int, str, str]]


@pytest.fixture
def typed(
    office: Office, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Typed:
    """Type a command at the second ledger; answers its exit code and what it said."""
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", f"sqlite:///{office.database('second')}")

    def type_it(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["campaign", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        assert isinstance(code, int)
        return (code, *capsys.readouterr())

    return type_it


@pytest.mark.parametrize("beside", [True, False])
def test_a_plan_says_that_a_run_would_stop(
    office: Office, typed: Typed, monkeypatch: pytest.MonkeyPatch, beside: bool
) -> None:
    """Beside another ledger, and where there is none any more; the plan leaves no note of it."""
    monkeypatch.setenv("ASSESSMENT_BASE_URL", office.service.base_url)
    office.run()
    if not beside:
        office.receipt.unlink()
    code, out, err = typed("plan", office.file)
    assert (code, out) == (1, "")
    assert str(office.database("first")) in err and "sent nothing for backend-2026" in err
    assert f"{office.database('second')}," in err
    assert not office.database("second").exists()
    with office.ledger("second"):
        pass
    code, out, err = typed("plan", office.file)
    assert (code, out, "--accept-ledger" in err) == (1, "", False)
    assert f"campaign run {office.file}" in err
    assert typed("settle", KEY, "--accept-ledger", "--why", "looked")[0] == 2
    office.stopped("second", AnotherLedger)
    assert typed("settle", KEY, "--accept-ledger", "--why", "looked")[0] == 0
    assert typed("plan", office.file)[0] == 0


def test_an_acceptance_answers_a_program(office: Office, typed: Typed) -> None:
    """`--json` is one object on standard output."""
    office.run()
    office.stopped("second", AnotherLedger)
    code, out, _ = typed("settle", KEY, "--accept-ledger", "--why", "looked", "--json")
    answer = {"format_version": 1, "campaign": KEY, "accepted": 1}
    assert (code, json.loads(out)) == (0, answer)


@pytest.mark.parametrize(
    "words",
    [
        ("--accept-ledger",),
        ("--accept-ledger", "--why", " "),
        ("--accept-ledger", "--why", "looked", "--invites", "sent"),
        ("--accept-ledger", "--why", "looked", "--project", "again"),
        ("--accept-ledger", "--why", "looked", "--candidate", "ada@example.com=5001"),
        ("--accept-ledger", "--why", "looked", "--from", "verdicts.csv"),
        ("--accept-ledger", "--why", "looked", "--export"),
    ],
)
def test_an_acceptance_goes_alone_and_with_a_reason(
    office: Office, typed: Typed, words: tuple[str, ...]
) -> None:
    """It is about the whole ledger: exit 2, and nothing is accepted on the side."""
    office.run()
    office.stopped("second", AnotherLedger)
    code, out, _ = typed("settle", KEY, *words)
    assert (code, out) == (2, "")
    office.stopped("second", AnotherLedger)


# -- several campaigns, several runs ------------------------------------------------------


def test_two_definitions_share_a_stem(office: Office) -> None:
    """backend.yaml and backend.yml share a receipt; each campaign is judged by its own ledger."""
    other = office.write("backend.yml", "other", GRACE)
    office.run("first")
    office.run("second", other)
    assert office.entry(KEY).ledger != office.entry("other").ledger
    office.write("backend.yaml", KEY, ADA, ZOE, JOAN)
    office.write("backend.yml", "other", GRACE, ADA)
    office.stopped("first", AnotherLedger, other)
    office.stopped("second", AnotherLedger)
    assert office.run("first").ending is Ending.COMPLETED
    assert office.run("second", other).ending is Ending.COMPLETED


def test_a_table_of_people_has_its_definitions_receipt(office: Office) -> None:
    """`run people.csv --campaign backend.yaml` is the campaign of backend.yaml."""
    table = office.folder / "people.csv"
    table.write_text("first_name,last_name,email1\nA,B,ada@example.com\nC,D,zoe@example.com\n")
    office.run(table=table)
    assert office.receipt.exists() and not (office.folder / "people.receipt").exists()
    office.stopped("second", AnotherLedger)


def test_two_ledgers_at_the_same_moment(office: Office) -> None:
    """Where two empty ledgers set out together, only one of them sends anything that counts."""

    async def together(*desks: RunContext) -> Sequence[object]:
        runs = (conduct(CampaignSource(office.file), desk) for desk in desks)
        return await asyncio.gather(*runs, return_exceptions=True)

    with office.ledger("first") as first, office.ledger("second") as second:
        ends = asyncio.run(together(office.desk(first), office.desk(second)))
    assert {type(end) for end in ends} == {Finish, AnotherLedger}
    assert office.emails() == Counter([ADA, ZOE])
    assert len(office.service.projects) == 1


def test_a_nearer_receipt_never_replaces_a_further_one(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How far the ledger is gets read when it is this writer's turn, not before."""
    office.run()
    with office.ledger("first") as ledger:
        places = receipt_file.places(office.file, KEY, office.service.base_url)
        receipts = Receipts(ledger, places, KEY, office.service.base_url)
        read_how_far = threading.Event()
        reach = receipt_doubts.reach

        def watched(connection: Connection, key: str) -> Reach:
            read_how_far.set()
            return reach(connection, key)

        monkeypatch.setattr(receipt_doubts, "reach", watched)
        with receipt_file.locked(office.folder):
            slow = threading.Thread(target=receipts.keep)
            slow.start()
            # A writer that had looked by now would write down what is outdated below.
            assert not read_how_far.wait(0.2)
            with ledger._transactions.writing() as connection:
                connection.exec_driver_sql(
                    "INSERT INTO attempt (campaign_id, generation, operation, rows, state, run_id,"
                    " claimed_at) VALUES (1, 1, 'add_candidates', 1, 'refused', 1, '2026-11-20')"
                )
            further = receipt_file.read(office.receipt)
            assert further is not None
            moved = office.entry().model_copy(update={"attempt": 6 + PARTS})
            receipt_file.write(office.receipt, further.renewed(moved))
        slow.join()
    assert office.entry().attempt == 6 + PARTS


def test_two_runs_of_one_ledger_leave_the_furthest_receipt(office: Office) -> None:
    """Runs side by side on one ledger neither stop each other nor set the receipt back."""
    office.write("backend.yaml", KEY, *(f"person{number}" for number in range(30)))

    async def together(*desks: RunContext) -> Sequence[Finish]:
        return await asyncio.gather(*(conduct(CampaignSource(office.file), desk) for desk in desks))

    with office.ledger("first") as one, office.ledger("first") as two:
        ends = asyncio.run(together(office.desk(one), office.desk(two)))
    assert not [end.reason for end in ends if "receipt" in (end.reason or "")]
    office.run()
    assert set(office.emails().values()) == {1} and len(office.emails()) == 30
    assert office.entry().attempt == office.reach().attempt


DIES_BEFORE_THE_WAVE = """
import asyncio, os, sys
from pathlib import Path
from config.settings import load_local, load_service
from data.store.ledger import Ledger
from data.moving.ledger_copy import copy_ledger
from data.store.opening import open_engine
from flows.run.order import RunContext, conduct
from tasks.plan.target import CampaignSource

async def die(name, step):
    if name.startswith("invitations"):
        os._exit(9)
    return await step()

local = load_local()
ledger = Ledger.open(local.database_url)
context = RunContext(ledger, load_service(), local, die)
asyncio.run(conduct(CampaignSource(Path(sys.argv[1])), context))
"""


def test_a_crash_between_the_receipt_and_the_wave(office: Office) -> None:
    """The ledger that wrote the receipt goes on; an empty one beside it does not."""
    office.die_before_the_wave()
    assert (len(office.service.candidates), office.emails()) == (2, Counter())
    assert office.entry().attempt == 3 + 3
    office.stopped("second", AnotherLedger)
    assert office.run().ending is Ending.COMPLETED
    assert office.emails() == Counter([ADA, ZOE])


# -- where a receipt cannot be written ----------------------------------------------------


@contextmanager
def as_nobody() -> Iterator[Path]:
    """A folder, and no right to write into what is read-only in it: root is never refused."""
    folder = Path(tempfile.mkdtemp(prefix="receipts-"))
    root = os.geteuid() == 0
    try:
        if root:
            os.chown(folder, 65534, 65534)
            os.seteuid(65534)
        yield folder
    finally:
        if root:
            os.seteuid(0)
        for path in folder.glob("**/"):
            path.chmod(0o700)
        shutil.rmtree(folder)


def test_a_read_only_folder_has_its_receipt_in_the_data_directory(
    office: Office, monkeypatch: pytest.MonkeyPatch, unused: Path
) -> None:
    """The run says where the receipt is, and it guards there as it would beside the definition."""
    office.run()  # what is imported on the way may be out of reach for nobody
    with Sandbox() as service, as_nobody() as folder:
        monkeypatch.setenv("XDG_DATA_HOME", str(folder / "data-directory"))
        office = Office(folder, service, unused)
        file = office.write("fixed/backend.yaml", KEY, ADA, ZOE)
        file.parent.chmod(0o500)
        end = office.run("first", file)
        assert end.ending is Ending.COMPLETED
        [receipt] = (folder / "data-directory").glob("**/*.receipt")
        assert end.receipt is not None and str(receipt) in end.receipt
        assert str(file.with_suffix(".receipt")) in end.receipt
        assert [path.name for path in file.parent.iterdir()] == ["backend.yaml"]
        assert "backend" not in receipt.name
        said = office.stopped("second", AnotherLedger, file)
        assert str(receipt) in said
        office.accept("second")
        assert office.run("second", file).ending is Ending.COMPLETED


def test_the_last_lines_say_where_the_receipt_is(
    office: Office, capsys: pytest.CaptureFixture[str]
) -> None:
    """A receipt that is not beside its definition is told on standard error, once."""
    end = replace(office.run(), receipt="backend.receipt cannot be written; it is elsewhere")
    [definition] = read_campaigns(office.file).definitions
    one = OneRun(TypedFile(office.file), definition, end=end)
    told = telling.tell([one], f"sqlite:///{office.database('first')}")
    assert told[1] == [0]
    out, err = capsys.readouterr()
    assert err == "  receipt: backend.receipt cannot be written; it is elsewhere\n"
    assert "receipt" not in out


def test_both_receipts_must_fit(office: Office, data_directory: Path) -> None:
    """A receipt beside the definition does not hide a further one in the data directory."""
    office.run()
    shutil.copy(office.database("first"), office.database("copy"))
    nearer = office.receipt.read_bytes()
    office.write("backend.yaml", KEY, ADA, ZOE, GRACE)
    office.run()
    places = receipt_file.places(office.file, KEY, office.service.base_url)
    other = places.by_path  # an earlier version kept it there
    assert places.copy is not None and other is not None
    assert other.is_relative_to(data_directory)
    places.copy.unlink()
    office.receipt.rename(other)
    office.receipt.write_bytes(nearer)
    assert str(other) in office.stopped("copy", OlderLedger)
    office.write("backend.yaml", KEY, ADA, ZOE, GRACE, JOAN)
    assert office.run("first").ending is Ending.COMPLETED


def test_no_receipt_nothing_sent(office: Office, data_directory: Path) -> None:
    """Where neither place can be written, no changing request leaves: exit 1."""
    # A name that is just short enough; with .receipt for .yaml it is too long for the folder.
    file = office.write("b" * 250 + ".yaml", KEY, ADA, ZOE)
    data_directory.write_text("a file where a folder should be")
    with pytest.raises(NoReceipt) as stop:
        office.run("first", file)
    assert stop.value.exit_code == 1
    assert str(data_directory) in str(stop.value)
    assert {request.operation for request in office.service.record.requests} <= {
        "token",
        "list_problems",
    }
    data_directory.unlink()
    assert office.run("first", file).ending is Ending.COMPLETED


def test_a_disk_that_fills_up_on_the_way_stops_the_next_wave(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a receipt as far on as the ledger no wave begins; the same command goes on later."""
    write = receipt_file.write

    def full(path: Path, receipt: Receipt) -> None:
        if receipt.campaigns[-1].attempt >= 5:
            raise OSError(28, "No space left on device")
        write(path, receipt)

    with monkeypatch.context() as patch:
        patch.setattr(receipt_file, "write", full)
        end = office.run()
    assert end.ending is Ending.STOPPED
    assert end.reason is not None and "No space left on device" in end.reason
    assert office.emails() == Counter()
    assert office.run().ending is Ending.COMPLETED
    assert office.emails() == Counter([ADA, ZOE])


def test_a_folder_held_by_another_program_is_not_waited_for_for_ever(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stopped program with the folder in its hand does not hold the campaign up."""
    monkeypatch.setattr(receipt_file, "LOCK_TIMEOUT", 0.05)
    with receipt_file.locked(office.folder):
        end = office.run()
    assert end.ending is Ending.COMPLETED
    assert end.receipt is not None and "another program has locked the folder" in end.receipt
