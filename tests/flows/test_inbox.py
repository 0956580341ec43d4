"""A watched folder: what is new is run once, what is bad is told beside it, nothing is moved."""

import asyncio
import logging
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
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
from data.campaigns import approvals, pauses
from data.campaigns.approvals import Answer, Standing
from data.campaigns.inbox import BAD_CONTENT, Passed
from data.store.states import By, Ending
from flows import inbox, side_by_side
from flows.batch_summary import page
from flows.engine.idle_looks import DROPPED, UntilBusy, forget_earlier
from flows.pages.final_states import state_of
from flows.reports import tell
from flows.run.context import plainly
from flows.run.interrupts import Stop
from flows.run.observer import observing
from flows.run.order import CampaignSource, RunContext, conduct
from flows.side_by_side import Outcome
from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from tasks import inbox as due_files
from tasks.inbox import Situation, Trace, at_rest, due
from tests.support.campaigns import Office, people, settings_of
from tests.support.prefects.prefect_home import PrefectServer, WarmDesk, answer, kept

pytestmark = [pytest.mark.xdist_group("prefect"), pytest.mark.timeout(600)]

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
        (Ending.AWAITS_APPROVAL, Situation(plan=Standing.APPROVED), True),
        (Ending.AWAITS_APPROVAL, Situation(plan=Standing.REJECTED), False),
        (Ending.AWAITS_APPROVAL, Situation(plan=Standing.LATE), True),
        (Ending.AWAITS_APPROVAL, Situation(plan=Standing.OVERTAKEN), True),
        (Ending.AWAITS_APPROVAL, Situation(plan=Standing.APPROVED, paused=True), False),
        (Ending.STOPPED, Situation(), True),
        (Ending.STOPPED, Situation(paused=True), False),
        (Ending.STOPPED, Situation(late=True), False),
        (Ending.STOPPED, Situation(plan=Standing.REJECTED), False),
        (BAD_CONTENT, Situation(left=True), False),
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
                desk = RunContext(ledger, settings_of(self.office.service), self.office.local)
                end = await conduct(CampaignSource(Path(file), key, digest=digest), desk)
        except CampaignError as error:
            observer.on_failure(error)
            return inbox.Failed(name="BadInput", message=type(error).__name__)
        observer.on_end(end)
        return state_of(end)

    def look(self, *, quiet: float = 0) -> tuple[str | None, str | None]:
        """Look once; answers the name and message of the final state."""
        self.runs.clear()
        state = asyncio.run(inbox.watch_inbox.fn(str(self.folder), 2, quiet))
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
    assert "bad.yaml:6:11, invites.sned: there is no field sned" in report
    assert "campaign check bad.yaml" in report
    assert bad.read_bytes() == written
    assert box.office.emails() == {"grace@example.com": 1}
    assert box.look() == ("Completed", "Nothing new")
    assert box.runs == []
    box.put("bad", "ada")
    assert box.look() == ("Completed", "1 campaign: 1 completed")
    assert box.names() == ["bad.receipt", "bad.yaml", "good.receipt", "good.yaml"]


def test_a_bad_table_gets_a_marked_copy(box: Inbox) -> None:
    """Its bad cells are marked in a copy, which nobody's later report writes over."""
    path = box.folder / "spring.xlsx"
    book = openpyxl.Workbook()
    del book["Sheet"]
    for name, rows in {
        "campaign": [("campaign", "spring"), ("project.name", "E"), ("problem", 42)],
        "candidates": [("first_name", "last_name", "email1"), ("Ada", "X", "ada@")],
    }.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    book.close()
    old = path.stat().st_mtime - 60
    os.utime(path, (old, old))
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
    assert "this file has only candidates" in report
    assert box.look() == ("Completed", "Nothing new")


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


def test_an_approved_plan_is_carried_out_by_the_next_look(box: Inbox) -> None:
    """Shown once, and not again while nobody has answered."""
    box.put("spring", "ada", more="invites: {approval: required}\n")
    assert box.look()[0] == "NeedsAttention"
    assert box.look() == ("Completed", "Nothing new")
    with box.office.ledger() as ledger:
        asked, _ = ledger.read(approvals.look, "spring")
        assert asked is not None
        ledger.write(approvals.answer, asked, Answer.APPROVED, By("Mia", ""))
    assert box.look() == ("Completed", "1 campaign: 1 completed")
    assert box.office.emails() == {"ada@example.com": 1}


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


LOOKS = """\
import asyncio, sys
from flows.inbox import watch_inbox
for place in sys.argv[1:]:
    print("look", file=sys.stderr, flush=True)
    state = asyncio.run(watch_inbox(place, quiet_for=0, return_state=True))
    print(state.name)
"""


@pytest.mark.parametrize(
    ("level", "words", "written"),
    [
        (logging.INFO, "Finished in state Completed('Nothing new')", False),
        (logging.ERROR, f"Finished in state Cancelled('{DROPPED}')", False),
        (logging.WARNING, "Prefect's pages are not up to date (OSError).", True),
        (logging.ERROR, "Crash detected! Execution was aborted by Prefect.", True),
    ],
)
def test_of_a_look_that_does_nothing_only_warnings_are_written(
    level: int, words: str, written: bool
) -> None:
    """That it was dropped beside the one before is none. Nothing of another flow is held back."""
    holding = UntilBusy("inbox")
    about = {"msg": words, "levelno": level, "flow_name": "inbox", "flow_run_id": "1"}
    line = logging.makeLogRecord(about)
    assert holding.filter(line) is written
    assert holding.filter(logging.makeLogRecord(about | {"flow_name": "campaign"}))
    holding.busy("1")
    assert holding.filter(line)


def test_an_idle_inbox_writes_no_line(desk: WarmDesk, prefect: PrefectServer) -> None:
    """Neither in the terminal nor in Prefect; a look that did or met something writes as ever."""
    box = Inbox(Office.at(desk.folder, desk.service))
    empty = desk.folder / "nothing-there"
    empty.mkdir()
    box.folder = box.folder.rename(desk.folder / "letters")  # by its name the runs are known
    box.put("summer", "ada")
    looks = [empty, box.folder, box.folder, empty, desk.folder / "gone"]
    ledger = {"CAMPAIGN_DATABASE_URL": box.office.local.database_url}
    end = subprocess.run(  # where Prefect writes to the terminal, as under `campaign up`
        [sys.executable, "-c", LOOKS, *map(str, looks)],
        env=desk.environment | ledger,
        capture_output=True,
        text=True,
        check=True,
    )
    assert end.stdout.split() == [*["Completed"] * 4, "BadInput"], end.stderr
    assert box.office.emails() == {"ada@example.com": 1}
    # A run that is served is made by the server; this is how one is made here.
    lines = [line for line in end.stderr.splitlines() if "prefect.engine - View at" not in line]
    _, *shown = "\n".join([*lines, ""]).split("look\n")
    assert [bool(lines) for lines in shown] == [False, True, False, False, True], end.stderr
    assert "Beginning flow run" in shown[1] and "Finished in state" in shown[1]
    kept_lines = {}
    for name in ("nothing-there", "gone"):
        looked = prefect.ask("flow_runs", flow_runs={"name": {"like_": f"{name} 20"}})
        of_these = {"flow_run_id": {"any_": [run["id"] for run in looked]}}
        kept_lines[name] = prefect.call("POST", "logs/filter", {"logs": of_these})
    assert [bool(lines) for lines in kept_lines.values()] == [False, True]


def test_looks_that_found_nothing_do_not_bury_the_others() -> None:
    """Of the idle and the dropped looks only the present one stays; what ran something stays."""
    runs = {
        name: FlowRun(id=uuid4(), flow_id=uuid4(), state=state)
        for name, state in {
            "this": Completed(message="Nothing new"),
            "idle": Completed(message="Nothing new"),
            "unfinished": Completed(message="Nothing new; 1 still being written, left for the …"),
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
    """The bad file has a run that says where it is wrong; nobody's name is in Prefect."""
    box = Inbox(Office.at(desk.folder, desk.service))
    box.put("spring", "ada")
    box.put("bad", "grace", more="invites: {sned: true}\n")
    ledger = {"CAMPAIGN_DATABASE_URL": box.office.local.database_url}
    end = answer(desk.python(LOOK, str(box.folder), **ledger))
    assert end.out == "NeedsAttention 2 campaigns: 1 completed, bad input: bad.yaml\n", end.err
    assert box.office.emails() == {"ada@example.com": 1}
    [look] = prefect.ask("flow_runs", flow_runs={"name": {"like_": "inbox 20"}})
    assert look["state_name"] == "NeedsAttention"
    of_this_look = {"parent_flow_run_id": {"any_": [look["id"]]}}
    states = {
        run["name"].split()[0]: run["state_name"] for run in prefect.begun(flow_runs=of_this_look)
    }
    assert states == {"spring": "Completed", "bad": "BadInput"}
    everything = kept(prefect)
    assert any(b"inbox 20" in content for content in everything.values())
    for path, content in everything.items():
        assert b"ada@example.com" not in content, path.name
        assert b"grace@example.com" not in content, path.name
