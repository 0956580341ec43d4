"""A watched folder: what is new is run once, what is bad is told beside it, nothing is moved."""

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from uuid import uuid4

import openpyxl
import pytest
from prefect.client.orchestration import PrefectClient
from prefect.client.schemas.objects import FlowRun
from prefect.exceptions import ObjectNotFound
from prefect.states import Cancelled, Completed

from config.errors import CampaignError
from config.reading.folder import campaigns_of
from config.reading.sources import sources_of
from data.campaigns import approvals, forgotten, pauses, queries
from data.campaigns.approvals import Answer, Standing
from data.campaigns.inbox import BAD_CONTENT, BEGUN, Passed
from data.privacy import forgetting
from data.store.states import By, Ending
from flows import arrivals, inbox, side_by_side
from flows.arrivals import is_due
from flows.at_work import DROPPED, forget_earlier
from flows.pages.final_states import state_of
from flows.reports import BECAUSE, tell
from flows.run.context import plainly
from flows.run.interrupts import Stop
from flows.run.observer import observing
from flows.run.order import CampaignSource, RunContext, conduct
from flows.serving.deployments import of_inbox
from flows.serving.inbox_watch import watch
from flows.side_by_side import Outcome, page
from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from tasks import inbox as due_files
from tasks.inbox import Situation, Trace, at_rest, due
from tasks.plan.pilot import confirm
from tests.support.campaigns import Office, people, settings_of
from tests.support.prefects.prefect_home import PrefectServer, WarmDesk, answer, kept
from tests.support.prefects.workers import wait_until

pytestmark = pytest.mark.xdist_group("prefect")

AT = datetime(2026, 12, 1, 9, tzinfo=UTC)
QUIET = timedelta(seconds=10)
NANO = 10**9


# -- whether somebody is writing --------------------------------------------------------------


def trace(size: int = 5, *, ago: float = 60) -> Trace:
    return Trace(size, round((AT.timestamp() - ago) * NANO))


@pytest.mark.parametrize(
    ("first", "second", "rests"),
    [
        (trace(), trace(), True),
        (trace(5), trace(6), False),
        (trace(ago=60), trace(ago=50), False),
        (trace(ago=10), trace(ago=10), True),
        (trace(ago=9.9), trace(ago=9.9), False),
        (None, trace(), False),
        (trace(), None, False),
        (None, None, False),
        # Another machine's clock runs ahead: only what is seen twice counts.
        (trace(ago=-3600), trace(ago=-3600), True),
        (trace(ago=-3600), trace(ago=-3601), False),
    ],
)
def test_a_file_at_rest(first: Trace | None, second: Trace | None, rests: bool) -> None:
    """Its size and time are the same twice, and nobody wrote to it for a while."""
    assert at_rest(first, second, AT, QUIET) is rests


# -- whether it is due again ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ending", "now", "again"),
    [
        (Ending.COMPLETED, Situation(), False),
        (Ending.COMPLETED, Situation(left=True), True),  # somebody is to be invited once more
        (Ending.NEEDS_ATTENTION, Situation(), False),
        (Ending.NEEDS_ATTENTION, Situation(left=True), True),  # a doubt was settled: send again
        (Ending.NOT_YET, Situation(), False),
        (Ending.NOT_YET, Situation(left=True), True),  # its time has come
        (Ending.NOT_YET, Situation(left=True, late=True), False),  # and gone
        (Ending.COMPLETED, Situation(left=True, paused=True), False),
        (Ending.AWAITS_APPROVAL, Situation(plan=Standing.OPEN), False),
        (Ending.AWAITS_APPROVAL, Situation(left=True, plan=Standing.APPROVED), True),
        (Ending.AWAITS_APPROVAL, Situation(plan=Standing.APPROVED), False),  # for its pilot
        (Ending.AWAITS_APPROVAL, Situation(plan=Standing.REJECTED), False),
        (Ending.AWAITS_APPROVAL, Situation(plan=Standing.LATE), True),
        (Ending.AWAITS_APPROVAL, Situation(plan=Standing.OVERTAKEN), True),
        (Ending.AWAITS_APPROVAL, Situation(True, paused=True, plan=Standing.APPROVED), False),
        (Ending.STOPPED, Situation(), True),
        (Ending.STOPPED, Situation(paused=True), False),
        (Ending.STOPPED, Situation(late=True), False),
        (Ending.STOPPED, Situation(plan=Standing.REJECTED), False),
        (BAD_CONTENT, Situation(left=True), False),
        (BAD_CONTENT, Situation(unreported="new.yaml"), True),
        (BEGUN, Situation(), True),
    ],
)
def test_what_is_due_again(ending: str, now: Situation, again: bool) -> None:
    """What is left to send goes on by itself, unless a person or its time stands against it."""
    assert due(Passed("spring", ending, AT), now, AT + timedelta(hours=1)) is again


def test_what_stopped_is_tried_again_after_a_while() -> None:
    """A service that is down over night costs some runs, not one with every look."""
    last = Passed("spring", Ending.STOPPED, AT)
    assert not due(last, Situation(), AT + timedelta(minutes=14, seconds=59))
    assert due(last, Situation(), AT + timedelta(minutes=15))


def test_a_report_that_could_not_be_written_is_tried_again_after_a_while() -> None:
    """A folder that may only be read costs no run with every look."""
    last, there = Passed(None, BAD_CONTENT, AT, "bad.yaml"), Situation(unreported="bad.yaml")
    assert not due(last, there, AT + timedelta(minutes=14, seconds=59))
    assert due(last, there, AT + timedelta(minutes=15))


def content_of(path: Path) -> str:
    return sources_of(path, None).digest


def test_a_content_is_known_wherever_it_lies(tmp_path: Path) -> None:
    """By its bytes and those of its table; a name or a time changes nothing."""
    (tmp_path / "a.csv").write_text("x")
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text("candidates: {file: a.csv}")
    before = content_of(tmp_path / "a.yaml")
    assert content_of(tmp_path / "b.yaml") == before
    (tmp_path / "a.csv").write_text("y")
    assert content_of(tmp_path / "a.yaml") != before
    (tmp_path / "bad.yaml").write_text("candidates: {file: gone.csv}")
    bad = content_of(tmp_path / "bad.yaml")
    (tmp_path / "gone.csv").write_text("x")
    assert content_of(tmp_path / "bad.yaml") != bad
    (tmp_path / "a.yaml").write_text("candidates: {file: [")
    broken = content_of(tmp_path / "a.yaml")
    assert content_of((tmp_path / "a.yaml").rename(tmp_path / "c.yaml")) == broken
    (tmp_path / "c.yaml").write_text("candidates: {file: [[")
    assert content_of(tmp_path / "c.yaml") != broken


# -- looks into a folder ----------------------------------------------------------------------


def save_workbook(path: Path, sheets: Mapping[str, Sequence[Sequence[Any]]]) -> Path:
    """Write a workbook that nobody has touched for a minute."""
    book = openpyxl.Workbook()
    del book["Sheet"]
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    book.close()
    old = path.stat().st_mtime - 60
    os.utime(path, (old, old))
    return path


class Died(BaseException):
    """Ends a look as the death of its process does: nothing is written after it."""


class Inbox:
    """A watched folder beside an office, looked into without Prefect."""

    def __init__(self, office: Office) -> None:
        self.office = office
        self.folder = office.folder / "inbox"
        self.folder.mkdir()
        self.runs: list[str | None] = []
        self.shown = ""

    async def campaign(
        self, file: str, key: str | None, *, digest: str | None, return_state: bool
    ) -> Any:
        """One campaign as the flow of one campaign runs it."""
        self.runs.append(key)
        observer = observing.get()
        try:
            with self.office.ledger() as ledger:
                desk = RunContext(
                    ledger, settings_of(self.office.service), self.office.local, clock=arrivals.now
                )
                end = await conduct(CampaignSource(Path(file), key, digest=digest), desk)
        except CampaignError as error:
            observer.on_failure(error)
            return inbox.Failed(name="BadInput", message=type(error).__name__)
        observer.on_end(end)
        return state_of(end)

    def look(self, *, quiet: float = 0, at_a_time: int = 2) -> tuple[str | None, str | None]:
        """Look once; answers the name and message of the final state."""
        self.runs.clear()
        state = asyncio.run(inbox.watch_inbox.fn(str(self.folder), at_a_time, quiet))
        return state.name, state.message

    def put(self, key: str, *names: str, more: str = "", name: str | None = None) -> Path:
        path = self.folder / (name or f"{key}.yaml")
        rows = "".join(
            f"  - {{first_name: {n}, last_name: X, email1: {n}@example.com}}\n" for n in names
        )
        path.write_text(
            f"campaign: {key}\nproject: {{name: E, timezone: UTC}}\nproblem: 42\n"
            f"candidates:\n{rows}{more}"
        )
        old = path.stat().st_mtime - 60
        os.utime(path, (old, old))
        return path

    def put_workbook(self, **campaigns: Sequence[str]) -> Path:
        """A workbook of several campaigns, each with its people."""
        rows = [
            (key, name.title(), "X", f"{name}@example.com")
            for key in campaigns
            for name in campaigns[key]
        ]
        return save_workbook(
            self.folder / "year.xlsx",
            {
                "campaigns": [
                    ("campaign", "project.name", "problem"),
                    *((key, "E", 42) for key in campaigns),
                ],
                "candidates": [("campaign", "first_name", "last_name", "email1"), *rows],
            },
        )

    def approve(self, key: str) -> None:
        with self.office.ledger() as ledger:
            asked, _ = ledger.read(approvals.look, key)
            assert asked is not None
            ledger.write(approvals.answer, asked, Answer.APPROVED, By("Mia", ""))

    def names(self) -> Sequence[str]:
        return sorted(file.name for file in self.folder.iterdir())


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Inbox]:
    with Sandbox() as service:
        found = Inbox(Office.at(tmp_path, service))
        monkeypatch.setenv("CAMPAIGN_DATABASE_URL", found.office.local.database_url)

        async def show(kind: str, place: Path, outcomes: list[Outcome]) -> None:
            found.shown = page(place.name, outcomes)

        monkeypatch.setattr(inbox, "as_task", plainly)
        monkeypatch.setattr(inbox, "show", show)
        monkeypatch.setattr(side_by_side, "run_campaign", found.campaign)
        yield found


def test_what_is_new_is_run_once(box: Inbox) -> None:
    """The next look starts nothing and asks nothing, also under another name."""
    path = box.put("spring", "ada")
    assert box.look() == ("Completed", "1 campaign: 1 completed")
    assert box.office.emails() == {"ada@example.com": 1}
    requests = box.office.service.api_requests()
    assert box.look() == ("Completed", "Nothing new")
    path.rename(box.folder / "renamed.yaml")
    assert box.look() == ("Completed", "Nothing new")
    assert box.runs == []
    assert box.office.service.api_requests() == requests
    assert box.names() == ["renamed.yaml", "spring.receipt"]


def test_a_changed_file_is_run_again(box: Inbox) -> None:
    """Another content is another thing; who is new in it is invited, nobody twice."""
    box.put("spring", "ada")
    box.look()
    box.put("spring", "ada", "grace")
    assert box.look() == ("Completed", "1 campaign: 1 completed")
    assert box.office.emails() == {"ada@example.com": 1, "grace@example.com": 1}


@pytest.mark.parametrize("names", [("spring.yaml", "spring.yaml"), ("new.yaml", "spring.yaml")])
@pytest.mark.parametrize("died", [False, True])
def test_a_version_that_comes_back_is_taken_again(
    box: Inbox, monkeypatch: pytest.MonkeyPatch, names: tuple[str, str], died: bool
) -> None:
    """Whoever was lost by a mistaken save is invited once that is undone."""
    early = "invites: {not_before: 2099-01-01 09:00}\n"
    old = box.put("spring", "ada", "eve", more=early)
    assert box.look()[1] == "1 campaign: 1 not yet"
    run, whole = box.campaign, old.read_bytes()

    async def dies_after(*args: Any, **how: Any) -> Any:
        await run(*args, **how)
        raise Died

    old.unlink()
    mistaken = box.put("spring", "ada", more=early, name=names[0])
    if died:
        monkeypatch.setattr(side_by_side, "run_campaign", dies_after)
        with pytest.raises(BaseExceptionGroup):
            box.look()
        monkeypatch.setattr(side_by_side, "run_campaign", run)
    else:
        assert box.look()[1] == "1 campaign: 1 not yet"
    mistaken.unlink()
    old.write_bytes(whole)
    os.utime(old, (0, 0))
    assert is_due(box.folder)
    assert box.look()[1] == "1 campaign: 1 not yet"
    assert box.look() == ("Completed", "Nothing new")
    assert not is_due(box.folder)
    monkeypatch.setattr(arrivals, "now", lambda: datetime(2099, 1, 1, 9, 1, tzinfo=UTC))
    assert box.look()[1] == "1 campaign: 1 completed"
    assert box.office.emails() == {"ada@example.com": 1, "eve@example.com": 1}


def test_a_report_goes_when_the_good_version_comes_back(box: Inbox) -> None:
    """Undoing a mistaken save mends a file as well as typing does; nothing is sent twice."""
    path = box.put("spring", "ada")
    box.look()
    good = path.read_bytes()
    box.put("spring", "ada", more="invites: {sned: true}\n")
    assert box.look()[0] == "NeedsAttention"
    path.write_bytes(good)
    os.utime(path, (0, 0))
    assert box.look() == ("Completed", "1 campaign: 1 completed")
    assert box.names() == ["spring.receipt", "spring.yaml"]
    assert box.office.emails() == {"ada@example.com": 1}


def test_an_older_version_in_another_folder_does_not_come_back(box: Inbox) -> None:
    """A synchronised copy of the folder lags behind; it does not undo what is new here."""
    box.put("spring", "ada")
    box.look()
    here, lagging = box.folder, box.folder.with_name("lagging")
    shutil.copytree(here, lagging)
    box.put("spring", "ada", "grace")
    box.look()
    box.folder = lagging
    assert box.look() == ("Completed", "Nothing new")
    assert not is_due(lagging)


@pytest.mark.parametrize("table", [False, True])
def test_a_file_that_is_being_written_is_left_for_the_next_time(
    box: Inbox, monkeypatch: pytest.MonkeyPatch, table: bool
) -> None:
    """Half a table must not be sent as if it were the whole, whichever of the two is written."""
    definition, people_file = box.folder / "spring.yaml", box.folder / "people.csv"
    definition.write_text(
        "campaign: spring\nproject: {name: E}\nproblem: 42\ncandidates: {file: people.csv}\n"
    )
    people_file.write_text("first_name,last_name,email1\n" + people("ada"))
    old = definition.stat().st_mtime - 60
    for file in (definition, people_file):
        os.utime(file, (old, old))
    written = people_file if table else definition

    async def meanwhile(_: Stop, seconds: float) -> None:
        """Somebody goes on writing; over a network a file may keep its old time: the size tells."""
        assert seconds == 5
        with written.open("a") as file:
            file.write("\n")
        os.utime(written, (old, old))

    async def at_once(_: Stop, seconds: float) -> None: ...

    monkeypatch.setattr(Stop, "or_after", meanwhile)
    told = "Nothing new; 1 still being written, left for the next time"
    assert box.look(quiet=5) == ("Completed", told)
    assert box.office.service.record.requests == []
    monkeypatch.setattr(Stop, "or_after", at_once)
    assert box.look(quiet=5) == ("Completed", "1 campaign: 1 completed")
    assert box.office.emails() == {"ada@example.com": 1}


@pytest.mark.parametrize("meanwhile", ["candidates: {file: [", "", "campaign: spring\n"])
def test_a_file_that_is_saved_while_it_is_looked_at_is_not_lost(
    box: Inbox, monkeypatch: pytest.MonkeyPatch, meanwhile: str
) -> None:
    """What came of half a file is never noted as what came of the whole one."""
    path = box.put("spring", "ada")
    whole, seen = path.read_bytes(), side_by_side.run_campaign

    async def halved_before(*args: Any, **more: Any) -> Any:
        path.write_text(meanwhile)
        return await seen(*args, **more)

    monkeypatch.setattr(side_by_side, "run_campaign", halved_before)
    assert box.look() == ("Completed", "Nothing new")
    assert box.names() == ["spring.yaml"]
    monkeypatch.setattr(side_by_side, "run_campaign", seen)
    path.write_bytes(whole)
    assert box.look() == ("Completed", "1 campaign: 1 completed")
    assert box.office.emails() == {"ada@example.com": 1}


def test_a_bad_file_is_told_once_beside_it_and_stops_no_other(box: Inbox) -> None:
    """Its report says what and where; the file stays; mended, it is taken and told no more."""
    bad = box.put("bad", "ada", more="invites: {sned: true}\n")
    written = bad.read_bytes()
    box.put("good", "grace")
    name, message = box.look()
    assert (name, message) == ("NeedsAttention", "2 campaigns: 1 completed, bad input: bad.yaml")
    report = (box.folder / "bad.yaml.problems.txt").read_text()
    assert "bad.yaml:6:11, invites.sned: " in report
    assert "campaign check bad.yaml" in report
    assert bad.read_bytes() == written
    assert box.office.emails() == {"grace@example.com": 1}
    assert box.look() == ("Completed", "Nothing new")
    assert box.runs == []
    box.put("bad", "ada")
    assert box.look() == ("Completed", "1 campaign: 1 completed")
    assert box.names() == ["bad.receipt", "bad.yaml", "good.receipt", "good.yaml"]


@pytest.mark.parametrize("letter", ["b", "才"])
def test_a_bad_file_with_a_long_name_is_told_and_stops_no_other(box: Inbox, letter: str) -> None:
    """The report's own name would be longer than a name may be."""
    name = letter * ((255 - len(".yaml")) // len(letter.encode())) + ".yaml"
    box.put("bad", "ada", more="invites: {sned: true}\n", name=name)
    box.put("good", "eve")
    assert box.look()[0] == "NeedsAttention"
    assert box.office.emails() == {"eve@example.com": 1}
    [report] = [each for each in box.names() if each.endswith(".problems.txt")]
    assert "sned" in (box.folder / report).read_text()
    assert box.look() == ("Completed", "Nothing new")


def test_the_report_on_a_file_that_is_gone_goes_as_well(box: Inbox) -> None:
    """It would look like a mistake that is still open; what people wrote stays."""
    path = box.put("bad", "ada", more="invites: {sned: true}\n")
    notes = box.folder / "notes.problems.txt"
    notes.write_text("Ask Mia.\n")
    box.look()
    assert "bad.yaml.problems.txt" in box.names()
    path.unlink()
    assert box.look() == ("Completed", "Nothing new")
    assert box.names() == ["notes.problems.txt"]


def test_a_report_goes_though_there_is_nothing_to_run(box: Inbox) -> None:
    """A run of the inbox begins only where there is; its watch goes on without one."""

    async def watch_until_it_is_gone() -> None:
        watching = asyncio.create_task(watch(of_inbox(box.folder)))
        await asyncio.to_thread(wait_until, lambda: not box.names())
        watching.cancel()

    path = box.put("bad", "ada", more="invites: {sned: true}\n")
    box.look()
    path.unlink()
    asyncio.run(watch_until_it_is_gone())


def test_a_table_that_does_not_come_is_reported(box: Inbox) -> None:
    """It may come after its definition; but nobody is forgotten because it never does."""
    path = box.put("spring", "ada")
    path.write_text(path.read_text().partition("candidates:")[0] + "candidates: {file: p.csv}\n")
    for minutes, message in (
        (4, "Nothing new; 1 still being written, left for the next time"),
        (6, "1 campaign: bad input: spring.yaml"),
    ):
        old = path.stat().st_ctime - minutes * 60
        os.utime(path, (old, old))
        assert box.look()[1] == message
    assert "p.csv" in (box.folder / "spring.yaml.problems.txt").read_text()
    table = box.folder / "p.csv"
    table.write_text("first_name,last_name,email1\nada,X,ada@example.com\n")
    os.utime(table, (old, old))
    assert box.look() == ("Completed", "1 campaign: 1 completed")
    assert box.names() == ["p.csv", "spring.receipt", "spring.yaml"]


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_nothing_waits_for_a_slow_campaign(
    box: Inbox, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """One with a rate may take days: what lies beside it, or is put there, is read and run."""

    other = box.folder / "renamed.yaml"

    def put_others() -> None:
        box.put("bad", "ada", more="invites: {sned: true}\n")
        box.put("quick", "eve")

    def go_slowly(file: str) -> None:
        if when == "meanwhile":
            put_others()
        Path(file).rename(other)
        wait_until(lambda: "bad.yaml.problems.txt" in box.names() and box.office.emails())
        box.put("quick", "eve", "bob")
        wait_until(lambda: "bob@example.com" in box.office.emails())

    async def campaign(file: str, key: str | None, **more: Any) -> Any:
        if key == "slow":
            await asyncio.to_thread(go_slowly, file)
        return await box.campaign(str(other) if key == "slow" else file, key, **more)

    def is_due_at_the_second_look(*args: Any) -> bool:
        looks.append(len(looks))
        if not looks[-1]:
            raise CampaignError("the folder is away for a moment")
        return is_due(*args)

    looks: list[int] = []
    monkeypatch.setattr(inbox, "is_due", is_due_at_the_second_look)
    monkeypatch.setattr(inbox, "EVERY", 0.01)
    monkeypatch.setattr(side_by_side, "run_campaign", campaign)
    box.put("slow", "grace")
    if when == "before":
        put_others()
    assert box.look() == ("NeedsAttention", "3 campaigns: 2 completed, bad input: bad.yaml")
    assert box.runs == [None, "quick", "quick", "slow"]
    assert box.office.emails() == {f"{name}@example.com": 1 for name in ("eve", "bob", "grace")}
    assert box.look() == ("Completed", "Nothing new")


def test_a_campaign_of_a_workbook_that_goes_on_beside_a_slow_one_hides_no_other(
    box: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came of the workbook's other campaigns stays in what the look says at its end."""

    def go_slowly() -> None:
        wait_until(lambda: len(ended) == 2)
        with box.office.ledger() as ledger:
            ledger.write(pauses.resume, "summer", By("Mia", "go"))
        wait_until(lambda: "bob@example.com" in box.office.emails())

    async def campaign(file: str, key: str | None, **more: Any) -> Any:
        if key == "slow":
            await asyncio.to_thread(go_slowly)
        state = await box.campaign(file, key, **more)
        ended.append(key)
        return state

    ended: list[str | None] = []
    monkeypatch.setattr(due_files, "TRY_AGAIN", timedelta(0))
    monkeypatch.setattr(inbox, "EVERY", 0.01)
    monkeypatch.setattr(side_by_side, "run_campaign", campaign)
    box.put("slow", "grace")
    box.put_workbook(spring=["ada"], summer=["bob"])
    with box.office.ledger() as ledger:
        ledger.write(pauses.pause, "summer", By("Mia", "wait"))
    assert box.look() == ("Completed", "3 campaigns: 3 completed")
    assert ended == ["spring", "summer", "summer", "slow"]


@pytest.mark.parametrize("content", ["", "campaign: spring\ninvites: {sned: true}\n"])
def test_each_file_with_the_same_mistakes_has_its_report(box: Inbox, content: str) -> None:
    """Under a new name too, beside the first, and once more when it comes back after a while."""
    for name in ("a.yaml", "b.yaml"):
        (box.folder / name).write_text(content)
        os.utime(box.folder / name, (0, 0))
        assert is_due(box.folder)
        assert box.look()[0] == "NeedsAttention"
        assert f"{name}.problems.txt" in box.names()
        assert not is_due(box.folder)
    assert box.look() == ("Completed", "Nothing new")


def test_a_bad_table_gets_a_marked_copy(box: Inbox) -> None:
    """Its bad cells are marked in a copy, which nobody's later report writes over."""
    path = save_workbook(
        box.folder / "spring.xlsx",
        {
            "campaign": [("campaign", "spring"), ("project.name", "E"), ("problem", 42)],
            "candidates": [("first_name", "last_name", "email1"), ("Ada", "X", "ada@")],
        },
    )
    box.look()
    [copy] = [name for name in box.names() if name.endswith(".xlsx") and ".problems." in name]
    assert copy in (box.folder / "spring.xlsx.problems.txt").read_text()
    mended = b"somebody mends it here"
    (box.folder / copy).write_bytes(mended)
    assert box.look() == ("Completed", "Nothing new")
    assert (box.folder / copy).read_bytes() == mended
    (box.folder / "spring.xlsx.problems.txt").unlink()
    [bad] = campaigns_of(path, sources_of(path, None))
    assert tell(path, bad.digest or "", bad.problems)
    assert (box.folder / copy).read_bytes() == mended


def test_a_table_without_a_definition_is_told(box: Inbox) -> None:
    """People laid there alone are not passed over in silence."""
    path = box.folder / "people.csv"
    path.write_text("first_name,last_name,email1\n" + people("ada"))
    os.utime(path, (0, 0))
    assert box.look()[0] == "NeedsAttention"
    report = (box.folder / "people.csv.problems.txt").read_text()
    assert f"{path}: " in report and " --campaign " in report
    assert box.look() == ("Completed", "Nothing new")
    named = box.put("spring", "ada")
    text = named.read_text().partition("candidates:")[0]
    named.write_text(f"{text}candidates: {{file: people.csv}}\n")
    os.utime(named, (0, 0))
    assert box.look() == ("Completed", "1 campaign: 1 completed")
    assert box.names() == ["people.csv", "spring.receipt", "spring.yaml"]


@pytest.mark.parametrize(
    "name",
    [
        "people.txt",
        "people.html",
        "p.xml",
        "p.xlsb",
        "p.numbers",
        "p.json",
        "p.pdf",
        "p.docx",
        "p.xltx",
        "p.xltm",
        "p.fods",
        "p.gsheet",
        "p.rtf",
        "p.eml",
        "p.msg",
        "p.zip",
        "s.yaml.txt",
    ],
)
def test_a_file_of_a_kind_that_is_not_read_is_reported(box: Inbox, name: str) -> None:
    """Once, if it may hold people; what other programs are still writing, and a note, are not."""
    table = "first_name,last_name,email1\n" + people("ada")
    for file in (name, f"~${name}", f".{name}", f"{name}.tmp", f"{name}.part"):
        (box.folder / file).write_text(table)
    (box.folder / "README.txt").write_text("What is in this folder.")
    for file in box.folder.iterdir():
        os.utime(file, (0, 0))
    assert box.look()[0] == "NeedsAttention"
    assert [file for file in box.names() if "problems" in file] == [f"{name}.problems.txt"]
    assert box.look() == ("Completed", "Nothing new")
    assert not is_due(box.folder)


def test_one_campaign_in_two_files_waits_until_one_is_gone(box: Inbox) -> None:
    """Both are told, once; the one that is left is then run."""
    box.put("spring", "ada")
    second = box.put("spring", "ada", "grace", name="spring-2.yaml")
    assert box.look()[0] == "NeedsAttention"
    assert box.look() == ("Completed", "Nothing new")
    assert box.office.service.record.requests == []
    second.unlink()
    assert box.look() == ("Completed", "1 campaign: 1 completed")
    assert "spring.yaml.problems.txt" not in box.names()
    assert box.office.emails() == {"ada@example.com": 1}


def test_a_report_that_cannot_be_written_is_said_where_runs_are_seen(
    box: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that may only be read still has its good files run."""

    make = tempfile.mkstemp

    def refuse(**by_name: Any) -> tuple[int, str]:
        if ".problems." in by_name.get("prefix", ""):
            raise PermissionError(13, "Permission denied")
        return make(**by_name)

    box.put("bad", "ada", more="invites: {sned: true}\n")
    box.put("good", "grace")
    monkeypatch.setattr("tempfile.mkstemp", refuse)
    name, message = box.look()
    assert name == "NeedsAttention"
    assert message == "2 campaigns: 1 completed, bad input: bad.yaml"
    assert "bad.yaml.problems.txt cannot be written" in box.shown
    assert box.office.emails() == {"grace@example.com": 1}


def test_what_is_left_goes_on_by_itself(box: Inbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that stopped is tried again after a while, without anybody touching the file."""
    box.office.service.faults.add(Fault("status", "invite", status=403, count=None))
    box.put("spring", "ada")
    assert box.look()[0] == "Stopped"
    box.office.service.faults.clear()
    assert box.look() == ("Completed", "Nothing new")
    monkeypatch.setattr(due_files, "TRY_AGAIN", timedelta(0))
    assert box.look() == ("Completed", "1 campaign: 1 completed")
    assert box.office.emails() == {"ada@example.com": 1}


def test_what_a_signal_ended_goes_on_with_the_next_look(
    box: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it broke off, and what it kept from beginning: neither failed, so nothing waits."""
    run = box.campaign

    async def signalled(file: str, key: str | None, **how: Any) -> Any:
        if len(box.runs) == 0:
            os.kill(os.getpid(), signal.SIGTERM)
        return await run(file, key, **how)

    monkeypatch.setattr(side_by_side, "run_campaign", signalled)
    for key in ("autumn", "spring", "winter"):
        box.put(key, key)
    assert box.look() == ("Stopped", "3 campaigns: stopped: autumn, spring, winter")
    assert (box.runs, box.office.emails()) == (["autumn", "spring"], {})
    monkeypatch.setattr(side_by_side, "run_campaign", run)
    assert box.look() == ("Completed", "3 campaigns: 3 completed")
    assert box.office.emails() == {
        f"{key}@example.com": 1 for key in ("autumn", "spring", "winter")
    }


@pytest.mark.parametrize("killed", [False, True])
def test_a_workbook_of_which_only_the_first_campaign_was_run_is_run_to_its_end(
    box: Inbox, monkeypatch: pytest.MonkeyPatch, killed: bool
) -> None:
    """Whether a signal ended the look, or its process died."""
    run = box.campaign

    async def ended_after(file: str, key: str | None, **how: Any) -> Any:
        state = await run(file, key, **how)
        if killed:
            raise Died
        os.kill(os.getpid(), signal.SIGTERM)
        return state

    monkeypatch.setattr(side_by_side, "run_campaign", ended_after)
    box.put_workbook(spring=["ada"], summer=["bob"], autumn=["cid"])
    if killed:
        with pytest.raises(BaseExceptionGroup):
            box.look(at_a_time=1)
    else:
        assert box.look(at_a_time=1)[0] == "Stopped"
    assert box.office.emails() == {"ada@example.com": 1}
    monkeypatch.setattr(side_by_side, "run_campaign", run)
    assert is_due(box.folder)
    assert box.look()[0] == "Completed"
    assert box.office.emails() == {f"{name}@example.com": 1 for name in ("ada", "bob", "cid")}
    assert not is_due(box.folder)


@pytest.mark.parametrize("removed", ["zz.yaml", "year.xlsx"])
def test_a_campaign_of_a_workbook_that_is_in_another_file_too_waits_until_one_is_gone(
    box: Inbox, removed: str
) -> None:
    """Each of the two files has its report, whatever came of the workbook's other campaigns."""
    box.put_workbook(spring=["ada"], summer=["bob"])
    box.put("spring", "zoe", name="zz.yaml")
    assert box.look()[0] == "NeedsAttention"
    reported = ["year.xlsx.problems.txt", "zz.yaml.problems.txt"]
    for _ in range(2):
        assert [name for name in box.names() if "problems" in name] == reported
        assert box.office.emails() == {"bob@example.com": 1}
        assert box.look() == ("Completed", "Nothing new")
    first = (box.folder / reported[0]).read_text().splitlines()[0]
    assert first == f"Nothing for spring was sent, {BECAUSE}"
    (box.folder / removed).unlink()
    assert box.look() == ("Completed", "1 campaign: 1 completed")
    left = "zoe" if removed == "year.xlsx" else "ada"
    assert box.office.emails() == {"bob@example.com": 1, f"{left}@example.com": 1}
    assert [name for name in box.names() if "problems" in name] == []


def test_a_paused_campaign_waits_for_the_person(
    box: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No look starts it while it is paused; the first after that does."""
    monkeypatch.setattr(due_files, "TRY_AGAIN", timedelta(0))
    box.put("spring", "ada")
    with box.office.ledger() as ledger:
        ledger.write(pauses.pause, "spring", By("Mia", "wait"))
        assert box.look()[0] == "Stopped"
        assert box.look() == ("Completed", "Nothing new")
        ledger.write(pauses.resume, "spring", By("Mia", "go"))
    assert box.look()[0] == "Completed"
    assert box.office.emails() == {"ada@example.com": 1}


def test_who_is_allowed_again_is_sent_to_by_the_next_look(box: Inbox) -> None:
    """Their file did not change, and was stored without them."""
    with box.office.ledger() as ledger:
        ledger.write(forgetting.forget, {"ada@example.com"}, By("mia", "asked"))
    box.put("spring", "ada", "grace")
    box.look()
    with box.office.ledger() as ledger:
        ledger.write(forgotten.lift, ["ada@example.com"])
    box.look()
    assert box.office.emails() == {"ada@example.com": 1, "grace@example.com": 1}
    assert box.look() == ("Completed", "Nothing new")


def test_an_approved_plan_is_carried_out_by_the_next_look(box: Inbox) -> None:
    """Shown once, and not again while nobody has answered."""
    box.put("spring", "ada", more="invites: {approval: required}\n")
    assert box.look()[0] == "NeedsAttention"
    assert box.look() == ("Completed", "Nothing new")
    box.approve("spring")
    assert box.look() == ("Completed", "1 campaign: 1 completed")
    assert box.office.emails() == {"ada@example.com": 1}


def test_an_approved_plan_whose_pilot_waits_for_a_person_is_not_run_at_every_look(
    box: Inbox,
) -> None:
    """One run sends the pilot; the next begins when somebody has confirmed it."""
    wishes = "invites: {approval: required, pilot: me@example.com}\n"
    box.put("spring", "ada", "bob", more=wishes)
    box.look()
    box.approve("spring")
    assert box.look()[0] == "NeedsAttention"
    assert box.office.emails() == {"me@example.com": 1}
    assert box.look() == ("Completed", "Nothing new")
    assert not is_due(box.folder)
    with box.office.ledger() as ledger:
        campaign = ledger.read(queries.find_campaign, "spring")
        assert campaign is not None
        confirm(ledger, campaign, "Mia", "")
    assert box.look() == ("Completed", "1 campaign: 1 completed")
    assert box.office.emails() == dict.fromkeys(
        ("me@example.com", "ada@example.com", "bob@example.com"), 1
    )


def test_before_their_time_people_are_added_and_the_next_look_does_nothing(box: Inbox) -> None:
    """A look each minute costs nothing until the time has come."""
    box.put("spring", "ada", more="invites: {not_before: 2099-01-01 09:00}\n")
    assert box.look() == ("Completed", "1 campaign: 1 not yet")
    requests = box.office.service.api_requests()
    assert box.look() == ("Completed", "Nothing new")
    assert box.office.service.api_requests() == requests
    assert box.office.emails() == {}


def test_a_missing_folder_is_said(box: Inbox) -> None:
    """A mistyped folder must not read as success."""
    box.folder.rmdir()
    assert box.look()[0] == "BadInput"


# -- really -----------------------------------------------------------------------------------

LOOK = """\
import asyncio, sys
from flows.inbox import watch_inbox
state = asyncio.run(watch_inbox(sys.argv[1], quiet_for=0, return_state=True))
print(state.name, state.message)
"""


def test_looks_that_found_nothing_do_not_bury_the_others() -> None:
    """Of the idle and the dropped looks only the present one stays; what ran something stays."""
    runs = {
        name: FlowRun(id=uuid4(), flow_id=uuid4(), state=state)
        for name, state in {
            "this": Completed(message="Nothing new"),
            "idle": Completed(message="Nothing new"),
            "unfinished": Completed(message="Nothing new; 1 still being written"),
            "dropped": Cancelled(message=DROPPED),
            "cancelled": Cancelled(message="1 campaign: cancelled: spring"),
            "ran": Completed(message="1 campaign: 1 completed"),
        }.items()
    }
    client = Mock(spec=PrefectClient)
    client.read_flow_runs.return_value = list(runs.values())
    client.delete_flow_run.side_effect = ObjectNotFound(Exception())  # another run was first
    assert asyncio.run(forget_earlier(client, uuid4(), runs["this"].id)) == 2
    deleted = {call.args[0] for call in client.delete_flow_run.await_args_list}
    assert deleted == {runs["idle"].id, runs["dropped"].id}


def test_of_scheduled_runs_that_end_alike_the_first_stays() -> None:
    """It may have sent something; what a person asked for stays whatever came of it."""
    words = "3 of 3 invited"
    runs = [
        FlowRun(
            id=uuid4(), flow_id=uuid4(), auto_scheduled=scheduled, state=Completed(message=said)
        )
        for scheduled, said in [
            (True, words),
            (True, words),
            (True, words),
            (False, words),
            (True, words),
            (True, "2 of 3 invited"),
        ]
    ]
    client = Mock(spec=PrefectClient)
    client.read_flow_runs.return_value = runs
    assert asyncio.run(forget_earlier(client, uuid4(), runs[0].id, words)) == 2
    deleted = {call.args[0] for call in client.delete_flow_run.await_args_list}
    assert deleted == {runs[1].id, runs[2].id}


def test_a_look_as_prefect_shows_it(desk: WarmDesk, prefect: PrefectServer) -> None:
    """The bad file has a run that says where it is wrong, a doubtful address is counted in a log;
    nobody's name is in Prefect.
    """
    box = Inbox(Office.at(desk.folder, desk.service))
    doubtful = box.put("spring", "ada", "ada+2")
    box.put("bad", "grace", more="invites: {sned: true}\n")
    ledger = {"CAMPAIGN_DATABASE_URL": box.office.local.database_url}
    end = answer(desk.python(LOOK, str(box.folder), **ledger))
    assert end.out == "NeedsAttention 2 campaigns: 1 completed, bad input: bad.yaml\n", end.err
    assert box.office.emails() == {"ada@example.com": 1, "ada+2@example.com": 1}
    [look] = prefect.ask("flow_runs", flow_runs={"name": {"like_": "inbox 20"}})
    assert look["state_name"] == "NeedsAttention"
    of_this_look = {"parent_flow_run_id": {"any_": [look["id"]]}}
    runs = {run["name"].split()[0]: run for run in prefect.begun(flow_runs=of_this_look)}
    states = {name: run["state_name"] for name, run in runs.items()}
    assert states == {"spring": "Completed", "bad": "BadInput"}
    which = {"flow_run_id": {"any_": [runs["spring"]["id"]]}}
    to_look_at = f"1 place in the file to look at; to see which: campaign check {doubtful}"
    wait_until(lambda: to_look_at in {log["message"] for log in prefect.ask("logs", logs=which)})
    everything = kept(prefect)
    assert any(b"inbox 20" in content for content in everything.values())
    for path, content in everything.items():
        assert b"ada@example.com" not in content, path.name
        assert b"grace@example.com" not in content, path.name
