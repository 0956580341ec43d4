"""A folder of campaigns: each a run of its own, some side by side, and none stops another."""

import asyncio
import json
import os
import signal
from collections import Counter
from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from config.errors import BadInput
from config.mistakes import Mistake, Place
from config.reading.folder import Entry, campaign_files, campaigns_at, stray_files
from flows import side_by_side
from flows.run.observer import Observers, RunObserver
from flows.side_by_side import Outcome, page, run_all, state_of_all
from sandbox.faults.faults import Fault
from tests.support.prefects.prefect_home import Desk, PrefectServer, answer, most_sent
from tests.support.session import PATIENCE

pytestmark = pytest.mark.xdist_group("prefect")

DEFINITION = """\
campaign: {key}
project: {{name: Engineers}}
problem: 42
candidates:
  - {{first_name: Ada, last_name: Lovelace, email1: ada@{key}.example.com}}
  - {{first_name: Grace, last_name: Hopper, email1: grace@{key}.example.com}}
"""


def write(folder: Path, key: str, *, more: str = "", name: str | None = None) -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / (name or f"{key}.yaml")
    file.write_text(DEFINITION.format(key=key) + more)
    return file


# -- what is in a folder ----------------------------------------------------------------------


def test_only_finished_files_of_people_are_campaigns(tmp_path: Path) -> None:
    """Locks, drafts, half-copied files, receipts, reports and folders are none of ours."""
    file = write(tmp_path, "spring")
    for name in (
        *("~$spring.xlsx", ".~lock.spring.ods#", ".spring.yaml", "#spring.yaml", "~spring.yml"),
        *("spring.yaml.tmp", "spring.xlsx.part", "spring.yaml.crdownload", "spring.yaml~"),
        *("spring.receipt", "spring.yaml.problems.txt", "people.problems.xlsx", "notes.txt"),
    ):
        (tmp_path / name).write_text(file.read_text())
    (tmp_path / "folder.yaml").mkdir()
    assert campaign_files(tmp_path) == [file]


def test_a_table_of_people_is_no_campaign(tmp_path: Path) -> None:
    """What a definition names belongs to it; a table that none names is told where it is asked."""
    for key, table in (("spring", "people.xlsx"), ("summer", "people.csv")):
        (tmp_path / f"{key}.yaml").write_text(
            f"campaign: {key}\nproject: {{name: E}}\nproblem: 42\ncandidates: {{file: {table}}}\n"
        )
    for name in ("people.xlsx", "people.csv", "other.csv", "own.xlsx"):
        (tmp_path / name).write_bytes(b"")
    names = [file.name for file in campaign_files(tmp_path)]
    assert names == ["own.xlsx", "spring.yaml", "summer.yaml"]
    assert [file.name for file in stray_files(tmp_path)] == ["other.csv"]


def test_one_campaign_in_two_files_is_run_from_neither(tmp_path: Path) -> None:
    """Nobody can tell which of them is meant."""
    write(tmp_path, "spring")
    write(tmp_path, "spring", name="copy of spring.yaml")
    write(tmp_path, "summer")
    entries = campaigns_at(tmp_path)
    assert [(entry.file.name, bool(entry.problems)) for entry in entries] == [
        ("copy of spring.yaml", True),
        ("spring.yaml", True),
        ("summer.yaml", False),
    ]
    assert "is in spring.yaml as well" in str(entries[0].problems[0])


def test_an_empty_folder_is_bad_input(tmp_path: Path) -> None:
    """A mistyped folder must not read as success."""
    with pytest.raises(BadInput) as refused:
        campaigns_at(tmp_path)
    assert "no campaigns" in str(refused.value.problems[0])


def test_a_workbook_of_campaigns_is_a_batch_too(tmp_path: Path) -> None:
    """One entry for each row of its sheet."""
    path = tmp_path / "all.xlsx"
    book = openpyxl.Workbook()
    del book["Sheet"]
    sheets = {
        "campaigns": [("campaign", "project.name", "problem"), ("a", "A", 42), ("b", "B", 42)],
        "candidates": [
            ("campaign", "first_name", "last_name", "email1"),
            ("a", "Ada", "Lovelace", "ada@example.com"),
            ("b", "Ada", "Lovelace", "ada@example.com"),
        ],
    }
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    book.close()
    assert [entry.key for entry in campaigns_at(path)] == ["a", "b"]


# -- how they come out ------------------------------------------------------------------------


def outcome(name: str, state: str, why: str = "", **counts: int) -> Outcome:
    return Outcome(
        Entry(Path(f"{name}.yaml"), name), state, why, counts and {"removed": 0} | counts
    )


@pytest.mark.parametrize(
    ("states", "name", "message"),
    [
        (["Completed"], "Completed", "1 campaign: 1 completed"),
        (["Completed", "NotYet"], "Completed", "2 campaigns: 1 completed, 1 not yet"),
        (
            ["Completed", "NeedsAttention"],
            "NeedsAttention",
            "2 campaigns: 1 completed, needs attention: c1",
        ),
        (
            ["BadInput", "Completed", "WaitingForApproval", "BadInput"],
            "NeedsAttention",
            "4 campaigns: 1 completed, waiting for approval: c2, bad input: c0, c3",
        ),
        (
            ["Completed", "Cancelled"],
            "Cancelled",
            "2 campaigns: 1 completed, cancelled: c1",
        ),
        (["Stopped", "BadInput"], "Stopped", "2 campaigns: bad input: c1, stopped: c0"),
        (["Completed", "Crashed"], "Stopped", "2 campaigns: 1 completed, crashed: c1"),
        (
            ["BadInput"] * 12,
            "NeedsAttention",
            "12 campaigns: bad input: c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, 2 more",
        ),
    ],
)
def test_the_state_of_them_all(states: Sequence[str], name: str, message: str) -> None:
    """Completed only if nobody is needed for any; else who is, and the worst of it as its name."""
    state = state_of_all([outcome(f"c{n}", state) for n, state in enumerate(states)])
    assert (state.name, state.message) == (name, message)
    assert state.is_completed() == (name == "Completed")


def test_the_page_tells_counts_and_what_to_do() -> None:
    """Who needs a person comes first; what a file is called cannot be markup."""
    counts = {"candidates": 1200, "invited": 1199, "waiting": 0, "refused": 0, "unsure": 1}
    told = page(
        "autumn|2026",
        [
            outcome("fine", "Completed", "", **counts),
            outcome("<b>*odd*</b>", "BadInput", "odd.yaml:1:1"),
        ],
    )
    lines = told.splitlines()
    assert lines[0] == r"# autumn\|2026"
    assert lines[6].startswith(r"| &lt;b&gt;\*odd\*&lt;/b&gt; | bad input |")
    assert lines[7] == "| fine | completed | 1,200 | 1,199 | 0 | 0 | 1 |"
    assert lines[-1].endswith("odd.yaml:1:1")


# -- side by side -----------------------------------------------------------------------------


class Runs:
    """Stands in for the flow of one campaign; counts how many are under way."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self.order: list[str | None] = []

    async def __call__(
        self, file: str, key: str | None, *, digest: None, return_state: bool
    ) -> Any:
        self.order.append(key)
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(5):
            await asyncio.sleep(0)
        self.now -= 1
        if key == "c2":
            raise RuntimeError("Ada Lovelace")
        if key == "c1":
            os.kill(os.getpid(), signal.SIGTERM) if self.order[0] == "signal" else None
            await asyncio.sleep(0.01)
        return state_of_all([outcome("x", "Completed")])


@pytest.mark.parametrize("at_a_time", [1, 3])
def test_so_many_at_a_time(monkeypatch: pytest.MonkeyPatch, at_a_time: int) -> None:
    """As many as asked, and one that breaks off breaks no other."""
    runs = Runs()
    monkeypatch.setattr(side_by_side, "run_campaign", runs)
    entries = [Entry(Path(f"c{n}.yaml"), f"c{n}") for n in range(7)]
    outcomes = asyncio.run(run_all(entries, asyncio.Semaphore(at_a_time)))
    assert runs.most == at_a_time
    assert runs.order == [entry.key for entry in entries]
    assert [each.entry for each in outcomes] == entries
    assert [each.state for each in outcomes].count("Completed") == 6
    # One that broke off broke no other, and what its error said stays out of Prefect.
    assert outcomes[2].state == "Stopped"
    assert "Lovelace" not in outcomes[2].why
    assert "RuntimeError" in outcomes[2].why


def test_whoever_watches_one_of_several_hears_all_of_it() -> None:
    """What a run says when it is typed alone, it says in a folder too: its doubts as its end."""
    heard: list[str] = []

    class Listening(RunObserver):
        def __getattribute__(self, name: str) -> Any:
            return lambda *_: heard.append(name)

    hearing = Observers(RunObserver(), Listening())
    words = [name for name in vars(RunObserver) if not name.startswith("_") and name != "of"]
    for name in words:
        method = getattr(hearing, name)
        method(*[None for _ in signature(method).parameters])
    assert heard == words


def test_a_signal_lets_none_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C and SIGTERM are meant for all of them, also for those that wait for their turn."""
    runs = Runs()
    runs.order.append("signal")
    monkeypatch.setattr(side_by_side, "run_campaign", runs)
    entries = [Entry(Path(f"c{n}.yaml"), f"c{n}") for n in (0, 1, 3, 4)]
    outcomes = asyncio.run(run_all(entries, asyncio.Semaphore()))
    assert runs.order == ["signal", "c0", "c1"]
    assert [each.state for each in outcomes] == ["Completed", "Completed", "Stopped", "Stopped"]


def test_where_a_file_is_wrong_is_told_without_what_was_found(tmp_path: Path) -> None:
    """What was found in a cell may be somebody's name, and Prefect keeps what it is told."""
    people = tmp_path / "people.csv"
    people.touch()
    problems = tuple(
        Mistake(Place(str(people), line), "email1", f'"Ada{line}"', 'an email; "Ada" is none')
        for line in range(2, 10)
    )
    entry = Entry(Path("/x/spring.yaml"), "spring", problems)
    [bad] = asyncio.run(run_all([entry], asyncio.Semaphore()))
    assert bad.why == (
        "people.csv:2, email1; people.csv:3, email1; people.csv:4, email1; people.csv:5, email1; "
        "people.csv:6, email1; 3 more places. What is wrong there: campaign check /x/spring.yaml"
    )


# -- really -----------------------------------------------------------------------------------


def emails_of(desk: Desk) -> Counter[str]:
    return Counter(invitation.email for invitation in desk.service.record.invitations)


def test_a_bad_file_and_a_stopped_campaign_stop_no_other(
    desk: Desk, prefect: PrefectServer
) -> None:
    """Each is a run of its own; the batch names who needs a person; a rerun asks only for them."""
    folder = desk.folder / "harvest"  # a name that no document has: the server is shared
    write(folder, "fine")
    doubtful = write(folder, "fine2")
    doubtful.write_text(doubtful.read_text().replace("Hopper", '"NaN"'))
    write(folder, "stopped")
    write(folder, "bad", more="invites: {sned: true}\n")
    desk.service.faults.add(
        Fault("status", "invite", status=403, email="ada@stopped.example.com", count=None)
    )
    end = desk.type("run", folder)
    assert end.code == 1, end.err
    assert set(emails_of(desk).values()) == {1}
    assert {"ada@fine.example.com", "grace@fine2.example.com"} <= set(emails_of(desk))
    assert not any("bad." in email for email in emails_of(desk))
    assert "bad.yaml:7:11, invites.sned: " in end.err
    assert "fine: 2 invited" in end.out
    assert "Warning: " in end.err and "fine2.yaml:6" in end.err

    runs = prefect.ask("flow_runs", flow_runs={"name": {"like_": "harvest "}})
    [batch] = runs
    assert (batch["state_type"], batch["state_name"]) == ("FAILED", "Stopped")
    message = batch["state"]["message"]
    assert message == "4 campaigns: 2 completed, bad input: bad.yaml, stopped: stopped"
    children = prefect.begun(flow_runs={"parent_flow_run_id": {"any_": [batch["id"]]}})
    states = {run["name"].split()[0]: run["state_name"] for run in children}
    assert states == {
        "fine": "Completed",
        "fine2": "Completed",
        "bad": "BadInput",
        "stopped": "Stopped",
    }
    assert len(children) == 4

    shown = prefect.call("GET", "artifacts/batch-harvest/latest")["data"]
    assert "| fine | completed | 2 | 2 | 0 | 0 | 0 |" in shown
    assert "bad.yaml:7:11, invites.sned" in shown
    assert "Lovelace" not in shown

    desk.service.faults.clear()
    (folder / "bad.yaml").unlink()
    write(folder, "fine", more="invites: {send: true}\n")
    before = Counter(request.operation for request in desk.service.record.requests)
    again = desk.type("run", folder, "--json")
    assert again.code == 0, again.err
    assert [status["campaign"] for status in json.loads(again.out)] == ["fine", "fine2", "stopped"]
    asked = Counter(request.operation for request in desk.service.record.requests) - before
    assert set(asked) <= {"token", "list_problems", "invite"}
    assert set(emails_of(desk).values()) == {1}
    requests = desk.service.api_requests()
    assert desk.type("run", folder).code == 0
    assert desk.service.api_requests() == requests


def two_slow(desk: Desk, name: str, people: int, seconds: float = 0.5) -> Path:
    """A folder with two campaigns of so many people, whose invitations take so long each.

    There are minutes of them, so that on a busy machine the one is not done before the other.
    """
    folder = desk.folder / name
    folder.mkdir()
    for key in (f"{name}-1", f"{name}-2"):
        rows = [f"F{n},L{n},p{n}@{key}.example.com" for n in range(people)]
        (folder / f"{key}.csv").write_text("\n".join(["first_name,last_name,email1", *rows, ""]))
        (folder / f"{key}.yaml").write_text(
            f"campaign: {key}\nproject: {{name: E}}\nproblem: 42\ncandidates: {{file: {key}.csv}}\n"
        )
    desk.service.faults.add(Fault("slow", "invite", count=None, seconds=seconds))
    return folder


def both_under_way(record: Any) -> bool:
    return len({each.email.partition("@")[2] for each in record.invitations}) == 2


def test_a_signal_stops_all_of_them_gently(desk: Desk) -> None:
    """SIGTERM in the middle of two campaigns: no doubt, and the same command goes on."""
    people = 800
    folder = two_slow(desk, "gently", people // 2, seconds=3)
    process = desk.start("run", folder)
    desk.service.wait_for(both_under_way, timeout=PATIENCE)
    process.send_signal(signal.SIGTERM)
    end = answer(process)
    assert end.code == 1
    assert end.err.count("interrupted") == 2
    assert 0 < len(emails_of(desk)) < people
    for key in ("gently-1", "gently-2"):
        counts = json.loads(desk.type("status", key, "--json").out)["counts"]
        assert counts["unsure"] == counts["sending"] == 0
        assert counts["waiting"] > 0
    desk.service.faults.clear()
    assert desk.type("run", folder).code == 0
    assert len(emails_of(desk)) == people
    assert set(emails_of(desk).values()) == {1}


def sent_by(desk: Desk) -> Counter[str]:
    """How many were invited by each campaign of `two_slow`, whose people have a domain each."""
    return Counter(email.partition("@")[2] for email in emails_of(desk))


def test_a_cancel_of_the_whole_stops_every_campaign_in_it(
    desk: Desk, prefect: PrefectServer
) -> None:
    """Cancelled in Prefect: each stops within a wave, and all of them read as cancelled."""
    folder = two_slow(desk, "cancelled", 3_000)
    process = desk.start("run", folder)
    desk.service.wait_for(both_under_way, timeout=PATIENCE)
    [batch] = prefect.ask("flow_runs", flow_runs={"name": {"like_": "cancelled 20"}})
    asked = {"state": {"type": "CANCELLING", "name": "Cancelling"}, "force": True}
    prefect.call("POST", f"flow_runs/{batch['id']}/set_state", asked)
    until_then = sent_by(desk)
    end = answer(process)
    assert end.code == 1
    assert end.err.count("cancelled in Prefect") == 2
    assert all(sent <= most_sent(until_then[key]) for key, sent in sent_by(desk).items())
    runs = prefect.ask("flow_runs", flow_runs={"name": {"like_": "cancelled"}})
    assert [run["state_type"] for run in runs] == ["CANCELLED"] * 3


def test_a_folder_is_typed_alone(desk: Desk) -> None:
    """With files beside it, nobody could say what a bad one of them means."""
    folder = desk.folder / "alone"
    write(folder, "alone")
    assert desk.type("run", folder, folder / "alone.yaml").code == 2
    assert desk.service.record.requests == []
