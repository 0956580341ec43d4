"""The command line, typed word by word: what it prints, where, and its exit code."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from html import unescape
from io import StringIO
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter
from pydantic import SecretStr
from sqlalchemy import update

from config.mistakes import Mistake, Place
from config.reading.reading import read_campaigns
from config.settings import ServiceSettings
from data.campaigns import queries
from data.sending import queue
from data.sending import runs as campaign_runs
from data.sending.claims import Claim
from data.sending.outcomes import Outcome
from data.sending.runs import Begun
from data.store import tables
from data.store.clock import now
from data.store.ledger import Ledger
from data.store.states import AttemptState, Ending, Operation, Step
from flows.cli.commands import COMMANDS
from flows.cli.main import main
from flows.cli.prepare.problems import matching
from flows.run.interrupts import AT_ONCE
from flows.words.closing import COUNTED, next_steps, summary
from flows.words.complaints import FIRST_OF_MANY, SHOWN_OF_ONE_CAUSE, lines_of
from sandbox.server import Sandbox
from tasks.outputs.exports import COLUMNS
from tasks.outputs.links import write_links
from tasks.plan.target import CampaignSource, Target, intent_of
from tasks.service.problem import Problem as ServiceProblem
from tests.support.doubtful_campaign import Answer
from tests.support.session import PATIENCE

BASE_URL = "https://api.example.com"
DEFINITION = """\
campaign: backend-2026
project: {name: Backend engineer}
problem: 42
candidates:
  - {first_name: Ada, last_name: Lovelace, email1: ada@example.com}
  - {first_name: Zoë, last_name: "[bold]Müller", email1: zoe@example.com}
  - {first_name: Grace, last_name: Hopper, email1: grace@example.com}
"""


Typed = Callable[..., Answer]


@pytest.fixture(autouse=True)
def clean_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of this machine reaches a test; each has a ledger and a folder of its own."""
    for name in os.environ:
        if name.startswith(("ASSESSMENT_", "CAMPAIGN_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", f"sqlite:///{tmp_path}/ledger.db")
    monkeypatch.setenv("CAMPAIGN_OUTPUT_DIR", str(tmp_path / "out"))
    monkeypatch.setattr("config.folders.home", lambda: tmp_path / "home")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """Type a command and wait for its end."""

    def type_it(*words: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["campaign", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return Answer(ended.value.code or 0, out, err)  # type: ignore[arg-type]

    return type_it


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "hiring.yaml"
    path.write_text(DEFINITION, encoding="utf-8")
    return path


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(f"sqlite:///{tmp_path}/ledger.db") as opened:
        yield opened


SERVICE = ServiceSettings(
    auth_url="https://auth.example.com",
    base_url=BASE_URL,
    app_url="https://app.example.com",
    client_id="id",
    client_secret=SecretStr("secret"),
    audience="audience",
)


def begin(ledger: Ledger, file: Path) -> Begun:
    """Begin a run of the one campaign in a file."""
    [definition] = read_campaigns(file).definitions
    wanted = Target(definition.campaign, "digest", definition, None)
    intent = intent_of(wanted, CampaignSource(file), SERVICE, None)
    return campaign_runs.begin(ledger, definition.campaign, definition, intent)


def send(
    ledger: Ledger, run: Begun, operation: Operation, step: Step, *rows: int, **learned: Any
) -> None:
    """Claim one call and record what came of it; SENDING leaves it claimed."""
    [claimed] = ledger.write_beside(
        campaign_runs.commit,
        [],
        [Claim(operation, run.campaign, run.run, now(), rows)],
        ledger.gone,
    )
    assert claimed is not None
    if step is not Step.SENDING:
        state = AttemptState(step.value)
        outcome = Outcome(claimed.attempt, operation, state, step, now(), rows, **learned)
        ledger.write_beside(campaign_runs.commit, [outcome], [], ledger.gone)


def sent_project(ledger: Ledger, run: Begun) -> None:
    send(ledger, run, Operation.CREATE, Step.DONE, project_id=101)
    send(ledger, run, Operation.ATTACH, Step.DONE)


def added(ledger: Ledger, run: Begun) -> list[int]:
    """Add everyone who waits; answers the rows, with ids from 5001."""
    rows = ledger.read(queue.to_add, run.campaign)
    ids = {row: 5000 + number for number, row in enumerate(rows, start=1)}
    send(ledger, run, Operation.ADD, Step.DONE, *rows, ids=ids)
    return rows


@pytest.fixture
def half_done(ledger: Ledger, file: Path) -> Begun:
    """Ada is invited, Zoë unsure, Grace refused."""
    run = begin(ledger, file)
    sent_project(ledger, run)
    ada, zoe, grace = added(ledger, run)
    send(ledger, run, Operation.INVITE, Step.DONE, ada)
    send(ledger, run, Operation.INVITE, Step.UNSURE, zoe, why="no answer came")
    send(ledger, run, Operation.INVITE, Step.REFUSED, grace, why="status 422")
    campaign_runs.end(ledger, run.run, Ending.NEEDS_ATTENTION, None)
    return run


# -- help and usage -----------------------------------------------------------------------


def test_help_lists_the_commands_in_their_order(typed: Typed) -> None:
    """The help reads in the order in which the commands are used."""
    answer = typed("--help")
    assert answer.code == 0
    listed = [line.split()[0] for line in answer.out.partition("Start:")[2].splitlines() if line]
    assert [word for word in listed if not word.endswith(":")] == [one.name for one in COMMANDS]
    assert "Nobody is invited twice, nobody is forgotten" in " ".join(answer.out.split())


def test_the_version_is_said(typed: Typed) -> None:
    """`campaign --version` names the program and its version."""
    answer = typed("--version")
    assert answer.code == 0
    assert answer.out.split()[0] == "campaign"
    assert answer.out.split()[1][0].isdigit()


# -- new and check ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words", ["export notanemail", "forget notanemail --why x --yes", "block x@ --why x"]
)
def test_what_is_no_address_is_no_verdict(typed: Typed, words: str) -> None:
    """Each is told with what was wanted, in words about addresses."""
    answer = typed(*words.split())
    assert answer.code == 2
    assert f"{words.split()[1]}: wanted an email address" in answer.err
    assert "verdict" not in answer.err


def test_check_says_ok_and_what_to_type_next(typed: Typed, file: Path, tmp_path: Path) -> None:
    """A usable file is summed up; no ledger appears."""
    answer = typed("check", "hiring.yaml")
    assert answer.code == 0
    assert "backend-2026" in answer.out and "3 candidates" in answer.out
    assert "OK" in answer.out
    assert answer.out.splitlines()[-1].endswith("campaign plan hiring.yaml")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hiring.yaml"]


def test_check_answers_a_program_with_one_object(typed: Typed, file: Path) -> None:
    """`--json` is one object on standard output, good or bad; people read standard error."""
    good = typed("check", file.name, "--json")
    assert (good.code, good.object["ok"], good.object["problems"]) == (0, True, [])
    assert "OK" in good.err
    file.write_text(DEFINITION.replace("problem: 42", "problem: yes"))
    bad = typed("check", file.name, "--json")
    assert (bad.code, bad.object["ok"]) == (2, False)
    [problem] = bad.object["problems"]
    keys = ["file", "line", "column", "sheet", "cell", "field", "found", "wanted", "message"]
    assert list(problem) == keys
    assert (problem["file"], problem["line"], problem["column"]) == ("hiring.yaml", 3, 10)
    assert problem["sheet"] is None
    assert "hiring.yaml:3:10" in bad.err


def test_a_cause_that_repeats_is_told_once_it_is_clear() -> None:
    """Of a cause that repeats a few are shown, then where all are; another is never hidden."""
    place = Place("people.csv", 1)
    wrong = Mistake(place, "email1", '"ana@"', "an email address")
    many = [replace(wrong, place=replace(place, line=line)) for line in range(2, 502)]
    lines = lines_of([*many, Mistake(place, "stage_id", '"x"', "a whole number")])
    assert len(lines) == FIRST_OF_MANY + 2
    assert lines[0] == 'people.csv:2, email1: found "ana@", wanted an email address'
    assert lines[-2] == 'people.csv:1, stage_id: found "x", wanted a whole number'
    assert lines[-1].startswith("people.csv, email1: 500 ")
    assert lines[-1].endswith(": wanted an email address; at lines 2-501")
    assert lines_of(many[:SHOWN_OF_ONE_CAUSE]) == [str(one) for one in many[:SHOWN_OF_ONE_CAUSE]]


@pytest.mark.parametrize("name", ["mine.yaml", "mine.xlsx"])
def test_a_new_definition_passes_check(typed: Typed, tmp_path: Path, name: str) -> None:
    """What `campaign new` writes is usable as it is, and is never written over another file."""
    first = typed("new", name)
    assert first.code == 0
    assert first.out.splitlines()[-1].endswith(f"campaign check {name}")
    assert typed("check", name).code == 0
    before = (tmp_path / name).read_bytes()
    second = typed("new", name)
    assert second.code == 2
    assert name in second.err
    assert (tmp_path / name).read_bytes() == before


# -- plan ---------------------------------------------------------------------------------


def test_a_first_plan_counts_every_call(
    typed: Typed, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first run everything is to be done; planning leaves no ledger behind."""
    monkeypatch.setenv("CAMPAIGN_CANDIDATES_PER_REQUEST", "2")
    answer = typed("plan", file.name)
    assert answer.code == 0
    assert 'create "Backend engineer"' in answer.out and "attach 42" in answer.out
    assert "3 candidates in 2 requests" in answer.out and "3 emails" in answer.out
    assert answer.out.splitlines()[-1] == "Next: campaign run hiring.yaml"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hiring.yaml"]
    [plan] = typed("plan", file.name, "--json").object["campaigns"]
    calls = (plan["create"], plan["attach"], plan["add"], plan["requests"], plan["invite"])
    assert calls == (True, True, 3, 2, 3)


@pytest.mark.parametrize("word", ["check", "plan"])
def test_a_schedule_is_shown_with_its_next_times(typed: Typed, file: Path, word: str) -> None:
    """Three of them, in the schedule's zone, which is named; nothing where there is none."""
    assert "schedule" not in typed(word, file.name).out
    own = 'schedule: {cron: "0 9 31 12 *", timezone: Asia/Tokyo}\n'
    file.write_text(DEFINITION + own, encoding="utf-8")
    lines = typed(word, file.name).out.splitlines()
    own_line = "  schedule    0 9 31 12 * (Asia/Tokyo), "
    [at] = [number for number, line in enumerate(lines) if line.startswith(own_line)]
    year = int(lines[at + 1].split()[1][:4])
    shown = ", ".join(f"{year + n}-12-31 09:00" for n in range(3))
    assert lines[at + 1] == f"              next {shown}"


def test_a_plan_after_a_change_adds_and_reports(
    typed: Typed, ledger: Ledger, file: Path, half_done: Begun
) -> None:
    """New rows are added; changed, removed, unsure and refused ones are told and left alone."""
    text = DEFINITION.replace("Ada, last", "Augusta, last").replace("grace@", "joan@")
    text = text.replace("name: Backend engineer", "name: Backend Engineer, description: New words")
    file.write_text(text, encoding="utf-8")
    before = list(queries.candidates(ledger, half_done.campaign))
    answer = typed("plan", file.name)
    assert answer.code == 0
    told = {line.split()[0]: line for line in answer.out.splitlines()[1:]}
    assert "101, nothing to do" in told["project"]
    assert "1 candidate in 1 request" in told["add"] and "1 email" in told["invite"]
    assert "ada@example.com (first_name)" in answer.out
    assert "\n  changed     project.name, project.description: " in answer.out
    assert "grace@example.com" in told["removed"]
    assert "1 candidate" in told["unsure"] and "1 candidate" in told["refused"]
    assert answer.out.splitlines()[-1] == "Next: campaign run hiring.yaml"
    [plan] = typed("plan", file.name, "--json").object["campaigns"]
    assert plan["new"] == ["joan@example.com"] and plan["removed"] == ["grace@example.com"]
    assert plan["changed"] == [{"email1": "ada@example.com", "fields": ["first_name"]}]
    assert list(queries.candidates(ledger, half_done.campaign)) == before


def test_what_to_look_at_is_told_before_anything_is_sent(typed: Typed, file: Path) -> None:
    """Check and plan point at a doubtful address, also beside mistakes, also to programs."""
    doubtful = DEFINITION.replace("ada@example.com", "ada@gmial.com")
    file.write_text(doubtful, encoding="utf-8")
    slip = " gmail.com"
    assert slip in typed("check", file.name).out
    assert slip in typed("plan", file.name).err
    [warning] = typed("plan", file.name, "--json").object["warnings"]
    assert slip in warning["message"]
    file.write_text(doubtful.replace("problem: 42", "problem: 0"), encoding="utf-8")
    for command in ("check", "plan", "run"):
        answer = typed(command, file.name)
        assert answer.code == 2 and slip in answer.err, command


def test_a_plan_with_nothing_left_says_so(
    typed: Typed, ledger: Ledger, file: Path, half_done: Begun
) -> None:
    """A run that would make no request is not suggested; what is unsure is."""
    answer = typed("plan", file.name)
    assert answer.out.splitlines()[-1] == "Unsure: campaign settle backend-2026"
    assert "campaign run" not in answer.out


def test_what_a_dead_run_was_sending_is_unsure_in_a_plan(
    typed: Typed, ledger: Ledger, file: Path
) -> None:
    """A claim without its run may have been sent; the plan says so and writes nothing."""
    run = begin(ledger, file)
    sent_project(ledger, run)
    ada, *_ = added(ledger, run)
    send(ledger, run, Operation.INVITE, Step.SENDING, ada)
    [alive] = typed("plan", file.name, "--json").object["campaigns"]
    assert (alive["sending"], alive["unsure"], alive["invite"]) == (1, 0, 2)
    # The process of the run goes away without a word.
    with ledger._transactions.writing() as connection:
        connection.exec_driver_sql("UPDATE run SET process_start = 'another'")
    [dead] = typed("plan", file.name, "--json").object["campaigns"]
    assert (dead["sending"], dead["unsure"], dead["invite"]) == (0, 1, 2)
    assert next(queries.candidates(ledger, run.campaign)).invite_state == Step.SENDING


# -- status -------------------------------------------------------------------------------


def test_status_before_any_run(typed: Typed, tmp_path: Path) -> None:
    """Without a ledger there is nothing to show, and asking creates none."""
    plain = typed("status")
    assert (plain.code, plain.out.strip() != "") == (0, True)
    assert typed("status", "--json").object["campaigns"] == []
    assert typed("status", "backend-2026").code == 2
    assert list(tmp_path.iterdir()) == []


def test_status_says_whose_clock_is_ahead(typed: Typed, ledger: Ledger, file: Path) -> None:
    """A dead run of another machine, and this clock was set back: known in minutes, not in days."""
    run = begin(ledger, file)
    sent_project(ledger, run)
    ada, *_ = added(ledger, run)
    send(ledger, run, Operation.INVITE, Step.SENDING, ada)

    def heard(ago: timedelta) -> None:
        with ledger._transactions.writing() as connection:
            table = tables.runs
            connection.execute(update(table).values(host="elsewhere", heartbeat_at=now() - ago))

    heard(-timedelta(days=2, hours=1))
    first, second = (typed("status", "backend-2026").out for _ in range(2))
    assert "clocks    The clock of elsewhere is 2 days ahead of this machine's." in first
    assert ": campaign status backend-2026" in first
    assert "clocks" not in second and "1 sending" in second
    heard(timedelta(minutes=3))
    assert "1 unsure" in typed("status", "backend-2026").out


def test_status_tells_a_run_at_work_from_one_that_is_gone(
    typed: Typed, ledger: Ledger, file: Path
) -> None:
    """At work: look again, and start no other. Gone without an end: what it was sending is
    unsure at once, in words, counts and the next step."""
    run = begin(ledger, file)
    sent_project(ledger, run)
    ada, *_ = added(ledger, run)
    send(ledger, run, Operation.INVITE, Step.SENDING, ada)
    alive = typed("status", "backend-2026").out
    assert "a run is in progress; look again: campaign status backend-2026" in alive
    assert "campaign run" not in alive and "1 sending" in alive
    with ledger._transactions.writing() as connection:
        connection.exec_driver_sql("UPDATE run SET process_start = 'another'")
    [listed] = typed("status", "--json").object["campaigns"]
    assert (listed["counts"]["sending"], listed["counts"]["unsure"]) == (0, 1)
    gone = typed("status", "backend-2026").out
    assert "its process disappeared" in gone and "2 waiting, 1 unsure" in gone
    assert "unsure: campaign settle backend-2026" in gone and "campaign run" in gone


def test_status_answers_a_program_as_documented(typed: Typed, half_done: Begun) -> None:
    """`status KEY --json` is the status object, every field of it."""
    answer = typed("status", "backend-2026", "--json").object
    candidates = answer.pop("candidates")
    counts = {"candidates": 3, "added": 3, "invited": 1, "waiting": 0, "sending": 0}
    assert answer == {
        "format_version": 1,
        "campaign": "backend-2026",
        "service": BASE_URL,
        "timezone": None,
        "project_id": 101,
        "problem_id": 42,
        "project": "done",
        "problem": "done",
        "counts": counts | {"unsure": 1, "refused": 1, "withdrawn": 0},
        "withdrawn_since": 0,
        "removed": 0,
        "held": 0,
        "holds": [],
        "paused": None,
        "to_confirm": False,
        "problem_doubt": None,
        "clean_up": [],
        "service_wrote": [],
        "typed_ids": [],
        "listed_refused": None,
    }
    assert candidates[0] == {
        "email1": "ada@example.com",
        "candidate_id": 5001,
        "add": "done",
        "invite": "done",
        "listed": True,
        "embed_url": "https://app.example.com/embedded/welcome?projectId=101&candidateId=5001",
        "why": None,
        "service_wrote": None,
    }


@pytest.mark.parametrize("command", ["status", "links"])
def test_an_unknown_key_names_the_nearest(typed: Typed, half_done: Begun, command: str) -> None:
    """A mistyped key is bad input, and the likely one is offered."""
    answer = typed(command, "backend-206")
    assert (answer.code, answer.out) == (2, "")
    assert "Did you mean backend-2026?" in answer.err


@pytest.mark.parametrize(
    ("counts", "since", "now", "line"),
    [
        ({"invited": 3, "added": 3}, 0, 3, "3 invited"),
        ({"invited": 3, "added": 3}, 0, 1, "1 invited now, 3 in all"),
        ({"invited": 3, "added": 4}, 0, 0, "0 invited now, 3 in all, 4 added"),
        ({"invited": 9, "added": 9, "withdrawn": 2}, 2, 1,
         "1 invited now, 9 in all (2)"),
        ({"added": 2, "waiting": 2}, 0, 0, "2 added, 2 waiting"),
    ],
)  # fmt: skip
def test_what_a_run_did_is_told_from_what_there_was(
    counts: dict[str, int], since: int, now: int, line: str
) -> None:
    """The emails of this very run, and those of all."""
    stand = {"counts": dict.fromkeys(COUNTED, 0) | counts, "withdrawn_since": since}
    assert re.sub(r"\((\d+) of them [^)]+\)", r"(\1)", summary(stand, now)) == line


@pytest.mark.parametrize(
    ("counts", "refused", "line", "steps"),
    [
        ({"invited": 47, "added": 50, "refused": 1, "unsure": 2}, "invite",
         "47 invited, 50 added, 1 refused, 2 unsure", ["unsure", "refused", "refused"]),
        ({"invited": 4, "added": 4, "refused": 1}, "add", "4 invited, 1 refused",
         ["refused", "refused", "refused"]),
        ({"candidates": 5, "invited": 5, "added": 5}, "", "5 invited", ["links"]),
        ({"candidates": 5, "added": 5, "withdrawn": 5}, "", "5 added, 5 withdrawn", []),
        ({"added": 5, "waiting": 5}, "", "5 added, 5 waiting", ["waiting"]),
        ({}, "", "nobody added yet", []),
    ],
)  # fmt: skip
def test_the_last_line_says_what_to_type(
    counts: dict[str, int], refused: str, line: str, steps: list[str]
) -> None:
    """What happened is one line, and each thing left to do names its command."""
    person = {"add": "done", "invite": "done"} | ({refused: "refused"} if refused else {})
    status = {"campaign": "k", "project": "done", "problem": "done", "candidates": [person]}
    code = "0a1b2c3d" if refused == "add" else None
    stand = status | {"counts": dict.fromkeys(COUNTED, 0) | counts, "listed_refused": code}
    assert summary(stand) == line
    said = next_steps(stand, "my people.csv", "--campaign", "k.yaml")
    assert [step.partition(":")[0] for step in said] == steps
    assert all(
        "campaign run 'my people.csv' --campaign k.yaml" in step
        for step in said
        if step.startswith(("waiting", "refused: mend"))
    )


def test_a_bare_table_is_run_again_with_its_definition(
    typed: Typed, ledger: Ledger, file: Path, tmp_path: Path
) -> None:
    """Without its definition the table would not be understood."""
    people = tmp_path / "my people.csv"
    people.write_text("first_name,last_name,email1\nAda,L,ada@example.com\n", encoding="utf-8")
    asked = CampaignSource(people, definition=file)
    [definition] = read_campaigns(people, file).definitions
    wanted = Target(definition.campaign, "digest", definition, None)
    begun = campaign_runs.begin(
        ledger, definition.campaign, definition, intent_of(wanted, asked, SERVICE, None)
    )
    campaign_runs.end(ledger, begun.run, Ending.STOPPED, None)
    again = f"campaign run '{people}' --campaign {file}"
    assert f"waiting: {again}\n" in typed("status", "backend-2026").out
    assert f"waiting: {again}\n" in typed("settle", "backend-2026").out
    assert typed("report", "backend-2026", "-o", "r.html").code == 0
    page = unescape((tmp_path / "r.html").read_text("utf-8"))
    assert f"waiting: campaign run 'my people.csv' --campaign {file.name}" in page
    typed("pause", "backend-2026")
    assert (
        f"paused: campaign resume backend-2026, then {again}\n"
        in typed("status", "backend-2026").out
    )
    assert f"next: {again}\n" in typed("resume", "backend-2026").out
    words = ("links", "backend-2026", "--into", people, "--failed-only", "-o", "failed.csv")
    assert (
        f"Fix it, then: campaign run failed.csv --campaign {file} --accept-removed\n"
        in typed(*words).err
    )


# -- links --------------------------------------------------------------------------------


def test_links_has_a_row_for_everybody(typed: Typed, ledger: Ledger, file: Path) -> None:
    """Also who is not in the project yet has a row, with an empty URL."""
    run = begin(ledger, file)
    waiting = typed("links", "backend-2026")
    rows = list(csv.DictReader(StringIO(waiting.out)))
    assert [row["embed_url"] for row in rows] == ["", "", ""]
    assert "3 candidates without a URL" in waiting.err
    sent_project(ledger, run)
    added(ledger, run)
    answer = typed("links", "backend-2026", "--format", "json")
    people = json.loads(answer.out)
    assert answer.code == 0 and answer.err == ""
    assert tuple(people[0]) == COLUMNS
    assert [one["candidate_id"] for one in people] == [5001, 5002, 5003]
    assert people[1]["embed_url"].endswith("projectId=101&candidateId=5002")
    assert {one["invite"] for one in people} == {"waiting"}


@pytest.mark.parametrize(
    ("form", "name", "starts"),
    [
        ("csv", "links.csv", b"\xef\xbb\xbffirst_name,"),
        ("xlsx", "links.xlsx", b"PK"),
        ("json", "links.json", b"["),
        ("html", "pages/index.html", b"<!doctype html>"),
    ],
)
def test_links_are_written_to_a_file(
    typed: Typed, tmp_path: Path, half_done: Begun, form: str, name: str, starts: bytes
) -> None:
    """-o names a file, or for html a folder, and standard output stays empty."""
    output = name.partition("/")[0]
    answer = typed("links", "backend-2026", "--format", form, "-o", output)
    assert (answer.code, answer.out) == (0, "")
    assert f"3 candidates in {name}" in answer.err
    assert (tmp_path / name).read_bytes().startswith(starts)


def test_a_run_leaves_its_links_in_the_output_folder(
    ledger: Ledger, tmp_path: Path, half_done: Begun
) -> None:
    """links.csv and links.json of a campaign lie in a folder of its key."""
    campaign = ledger.read(queries.find_campaign, "backend-2026")
    assert campaign is not None
    path = write_links(ledger, campaign, tmp_path / "out")
    assert path == tmp_path / "out" / "backend-2026" / "links.csv"
    assert path.read_text(encoding="utf-8-sig").count("\n") == 4
    assert len(json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))) == 3


# -- problems -----------------------------------------------------------------------------


def test_problems_are_listed_and_searched(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    """The service's own list, searchable by part of an id, title, skill or difficulty."""
    with Sandbox() as service:
        for name, value in service.environment().items():
            monkeypatch.setenv(name, value)
        everything = typed("problems", "--json").object["problems"]
        assert {42} <= {problem["id"] for problem in everything}
        assert len(everything[0]) == 21
        title = everything[0]["title"]
        found = typed("problems", title.upper())
        assert found.code == 0 and title in found.out
        assert service.projects == []
        monkeypatch.setenv("ASSESSMENT_CLIENT_SECRET", "not-the-secret")
        refused = typed("problems", "--json")
    assert (refused.code, refused.object["ok"]) == (1, False)
    assert "(status 401)" in refused.err
    assert "not-the-secret" not in refused.err + refused.out and "Traceback" not in refused.err


def test_problems_without_settings_names_the_variables(typed: Typed) -> None:
    """Missing settings are bad input, for people and for programs."""
    answer = typed("problems", "--json")
    assert answer.code == 2
    assert answer.object["ok"] is False
    assert "ASSESSMENT_CLIENT_SECRET" in answer.object["error"]
    assert "ASSESSMENT_CLIENT_SECRET is not set" in answer.err


@pytest.mark.parametrize(
    ("search", "ids"),
    [("", [1, 42]), ("TWO", [42]), ("graph", [1]), ("easy", [42]), ("4", [42]), ("x", [])],
)
def test_the_search_looks_where_people_look(search: str, ids: list[int]) -> None:
    """A part in any case of the title, skills, difficulty or id; a missing field is no match."""
    listed = [
        ServiceProblem(id=1, title="Islands", skills="Graphs"),
        ServiceProblem(id=42, title="Two sum", difficulty="easy"),
    ]
    assert [problem.id for problem in matching(search, listed)] == ids


# -- real processes -----------------------------------------------------------------------


Process = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def process() -> Iterator[Process]:
    """Start the installed command in a process of its own, which never outlives the test."""
    kept = {name: os.environ[name] for name in os.environ if name.startswith("CAMPAIGN_")}
    with ExitStack() as running:

        def start(*words: str, **more: str) -> "subprocess.Popen[bytes]":
            started = subprocess.Popen(
                [Path(sys.executable).with_name("campaign"), *words],
                env={"PATH": os.environ["PATH"], "HOME": str(Path.cwd())} | kept | more,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            running.enter_context(started)
            running.callback(started.kill)
            return started

        yield start


@pytest.mark.journey
@pytest.mark.parametrize(
    "words", [("status", "backend-2026"), ("links", "backend-2026"), ("check", "hiring.yaml")]
)
def test_a_terminal_without_umlauts_breaks_nothing(
    file: Path, half_done: Begun, process: Process, words: tuple[str, ...]
) -> None:
    """LANG=C with an ASCII stream shows what it can; CSV is UTF-8 all the same."""
    file.write_text(DEFINITION.replace("Backend engineer", "Ingénieur"), encoding="utf-8")
    running = process(*words, PYTHONIOENCODING="ascii", LANG="C", LC_ALL="C")
    out, err = running.communicate(timeout=PATIENCE)
    assert (running.returncode, b"Traceback" in err) == (0, False), err
    if words[0] == "links":
        assert "Zoë" in out.decode("utf-8")


def test_a_name_in_brackets_is_no_markup_and_no_escape_is_passed_on(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """What others typed is shown as typed, and cannot steer the terminal."""
    from flows.words.speech import say, say_table

    say_table(["name", "id"], [["[bold]Müller\x1b[31m", 5001]])
    say("[red]\x1b]0;title\x07")
    out = capfd.readouterr().out
    assert "[bold]Müller" in out and "[red]" in out
    assert "\x1b" not in out and "\x07" not in out


@pytest.mark.journey
@pytest.mark.parametrize("words", [("links", "backend-2026"), ("--version",)])
def test_a_reader_that_leaves_early_costs_no_stack_trace(
    ledger: Ledger, file: Path, process: Process, words: tuple[str, ...]
) -> None:
    """`campaign links KEY | head -1` ends quietly, whether there is much to say or little."""
    people = "".join(
        f"  - {{first_name: A, last_name: B{number}, email1: p{number}@example.com}}\n"
        for number in range(3000)
    )
    file.write_text(DEFINITION + people, encoding="utf-8")
    begin(ledger, file)
    running = process(*words)
    assert running.stdout is not None and running.stderr is not None
    running.stdout.close()
    err = running.stderr.read()
    running.stderr.close()
    assert running.wait(PATIENCE) == 1
    assert b"Traceback" not in err and b"BrokenPipe" not in err


@pytest.mark.journey
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_sandbox_runs_until_it_is_stopped(
    tmp_path: Path, process: Process, number: signal.Signals
) -> None:
    """It says where it is, keeps its record in its folder, and a signal ends it with 0."""
    running = process("sandbox", "--port", "0", "--folder", str(tmp_path / "desk"))
    assert running.stdout is not None
    lines = [running.stdout.readline().decode() for _ in range(9)]
    assert "http://127.0.0.1:" in lines[0]
    assert any("export ASSESSMENT_BASE_URL=http://127.0.0.1:" in line for line in lines)
    second = process("sandbox", "--port", "0", "--folder", str(tmp_path / "desk"))
    _, err = second.communicate(timeout=PATIENCE)
    assert (second.returncode, b"Another sandbox" in err, b"Traceback" in err) == (1, True, False)
    running.send_signal(number)
    running.communicate(timeout=PATIENCE)
    assert running.returncode == 0
    assert (tmp_path / "desk" / "journal.jsonl").exists()


def test_an_interrupt_ends_with_130(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is a person's wish: no stack trace, and what to believe."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("config.settings.load_local", interrupted)
    answer = typed("status")
    assert (answer.code, answer.out) == (130, "")
    assert answer.err.strip() == AT_ONCE


# -- tables handed back -------------------------------------------------------------------

BOOK = (("campaign", "backend-2026"), ("project.name", "Backend"), ("problem", 42))
PEOPLE = (
    ("Given name", "Surname", "E-mail"),
    ("Grace", "Hopper", "grace@example.com"),
    ("Ada", "Lovelace", "ada@example.com"),
)


def write_book(path: Path, *people: tuple[str, ...], campaigns: Sequence[str] = ()) -> Path:
    """A workbook of one campaign with these rows of people, or of several."""
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("campaigns" if campaigns else "campaign")
        rows: list[tuple[Any, ...]] = list(BOOK)
        if campaigns:
            rows = [("campaign", "name", "problem"), *((key, key, 42) for key in campaigns)]
        for number, row in enumerate(rows):
            sheet.write_row(number, 0, row)
        sheet = book.add_worksheet("Candidates")
        for number, row in enumerate(people):
            sheet.write_row(number, 0, row)
    return path


def cells_of(path: Path, sheet: str = "Candidates") -> list[tuple[Any, ...]]:
    return list(openpyxl.load_workbook(path)[sheet].iter_rows(values_only=True))


def test_a_workbook_of_people_alone_is_checked_with_its_definition(
    typed: Typed, file: Path, tmp_path: Path
) -> None:
    """The same command could never succeed; the one that is named does."""
    write_book(tmp_path / "ats.xlsx", *PEOPLE)
    exported = openpyxl.load_workbook(tmp_path / "ats.xlsx")
    for sheet in set(exported.sheetnames) - {"Candidates"}:
        del exported[sheet]
    exported["Candidates"].title = "Export"
    exported.save(tmp_path / "ats.xlsx")
    then = typed("check", "ats.xlsx").err.splitlines()[-1]
    assert then == "Then type: campaign new ats.yaml --from ats.xlsx"
    assert typed("check", "ats.xlsx", "--campaign", file).code == 0


def test_check_hands_back_a_marked_copy(typed: Typed, tmp_path: Path) -> None:
    """The copy shows what is wrong where it is; the answer is still 2, and says what to type."""
    write_book(tmp_path / "people.xlsx", *PEOPLE, ("Bob", "Byte", "bob@"))
    answer = typed("check", "people.xlsx", "--mark", "out.xlsx", "--json")
    assert answer.code == 2
    assert [problem["cell"] for problem in answer.object["problems"]] == ["C4"]
    assert "out.xlsx has 1 cell marked" in answer.err
    assert answer.err.endswith("Fix it, then: campaign check out.xlsx\n")
    marked = openpyxl.load_workbook(tmp_path / "out.xlsx")["Candidates"]["C4"]
    assert marked.comment and "bob@" in marked.comment.text


def test_a_marked_copy_never_overwrites(typed: Typed, tmp_path: Path) -> None:
    """Somebody may have mended half of it, and the original table is not ours."""
    path = write_book(tmp_path / "people.xlsx", *PEOPLE, ("Bob", "Byte", "bob@"))
    before = path.read_bytes()
    answer = typed("check", "people.xlsx", "--mark", "people.xlsx")
    assert answer.code == 2 and "already exists" in answer.err
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("check", "people.xlsx", "--mark", "out.csv"), "name it .xlsx"),
        (("check", "people.xlsx", "--mark", "out.xlsm"), "must end in .xlsx"),
        (("links", "backend-2026", "--failed-only"), "use this with --into"),
        (("links", "backend-2026", "--into", "people.xlsx"), "name it with -o"),
        (("links", "backend-2026", "--into", "people.xlsx", "-o", "a.csv"), "must end in .xlsx"),
        (("links", "backend-2026", "--into", "people.xlsx", "-o", "people.xlsx"), "original table"),
        (
            ("links", "backend-2026", "--into", "p.ods", "-o", "a.ods"),
            "p.ods must end in .xlsx: ",
        ),
    ],
)
def test_a_copy_has_a_name_and_a_kind_of_its_own(
    typed: Typed, tmp_path: Path, half_done: Begun, words: tuple[str, ...], said: str
) -> None:
    """Where a copy cannot be what it is called, or would replace the original, nothing is done."""
    before = write_book(tmp_path / "people.xlsx", *PEOPLE, ("Bob", "B", "bob@")).read_bytes()
    there = set(tmp_path.iterdir())
    answer = typed(*words)
    assert answer.code == 2 and said in " ".join(answer.err.split()), answer.err
    assert (tmp_path / "people.xlsx").read_bytes() == before
    assert set(tmp_path.iterdir()) == there


def test_check_marks_what_to_look_at(typed: Typed, tmp_path: Path) -> None:
    """A likely slip is no mistake: the answer is 0, and the copy shows where to look."""
    write_book(tmp_path / "people.xlsx", *PEOPLE, ("Bob", "Byte", "bob@gmial.com"))
    answer = typed("check", "people.xlsx", "--mark", "out.xlsx")
    assert answer.code == 0 and "out.xlsx has 1 cell marked, with a note that" in answer.out
    assert openpyxl.load_workbook(tmp_path / "out.xlsx")["Candidates"]["C4"].comment


def test_nothing_to_mark_writes_nothing(typed: Typed, file: Path, tmp_path: Path) -> None:
    """Neither for a campaign without a problem, nor for problems that stand in YAML."""
    answer = typed("check", file, "--mark", "out.xlsx")
    assert (answer.code, (tmp_path / "out.xlsx").exists()) == (0, False)
    file.write_text(DEFINITION.replace("ada@example.com", "ada@"), encoding="utf-8")
    answer = typed("check", file, "--mark", "out.xlsx")
    assert answer.code == 2 and "out.xlsx was not written" in answer.err
    assert not (tmp_path / "out.xlsx").exists()


def test_links_go_into_a_copy_of_ones_own_table(
    typed: Typed, tmp_path: Path, half_done: Begun
) -> None:
    """Each row gets what came of that person; who is missing from the table is told."""
    path = write_book(tmp_path / "people.xlsx", *PEOPLE)
    before = path.read_bytes()
    words = ("links", "backend-2026", "--into", "people.xlsx", "-o")
    for _ in range(2):  # onto the earlier copy as well
        answer = typed(*words, "done.xlsx")
        assert (answer.code, answer.out) == (0, "")
    assert "2 rows of backend-2026 in done.xlsx: 1 refused, 1 invited" in answer.err
    assert "\n1 candidate of backend-2026 " in answer.err
    header, grace, ada = cells_of(tmp_path / "done.xlsx")
    assert header == (*PEOPLE[0], "candidate_id", "embed_url", "status", "why")
    url = "https://app.example.com/embedded/welcome?projectId=101&candidateId="
    assert grace == (*PEOPLE[1], 5003, f"{url}5003", "refused", "status 422")
    assert ada == (*PEOPLE[2], 5001, f"{url}5001", "invited", None)
    mine = tmp_path / "mine.xlsx"
    mine.write_bytes(before)
    assert typed(*words, mine).code == 2
    assert mine.read_bytes() == path.read_bytes() == before


def test_only_the_rows_to_mend_come_back(typed: Typed, tmp_path: Path, half_done: Begun) -> None:
    """A workbook that is a campaign again, with those who are not done; how to send it is said."""
    write_book(tmp_path / "people.xlsx", *PEOPLE, ("Zoë", "Müller", "zoe@example.com"))
    words = ("links", "backend-2026", "--into", "people.xlsx", "--failed-only", "-o", "failed.xlsx")
    answer = typed(*words)
    assert answer.code == 0
    assert [row[2] for row in cells_of(tmp_path / "failed.xlsx")[1:]] == [
        "grace@example.com",
        "zoe@example.com",
    ]
    zoe = cells_of(tmp_path / "failed.xlsx")[2]
    assert zoe[-2:] == ("unsure", "no answer came. To settle it: campaign settle backend-2026")
    *_, again, unsure = answer.err.splitlines()
    assert again.endswith(": campaign resend backend-2026 EMAIL --why TEXT")
    assert unsure == "Unsure: campaign settle backend-2026"
    new = write_book(tmp_path / "new.xlsx", *PEOPLE, ("Bo", "Bit", "bo@example.com"))
    answer = typed(*words[:3], new, *words[4:-1], "others.xlsx")
    # The last run of this campaign was of a definition in YAML.
    again = f"campaign run others.xlsx --campaign {tmp_path}/hiring.yaml --accept-removed"
    assert answer.err.endswith(f"Fix it, then: {again}\n")
    [definition] = read_campaigns(tmp_path / "failed.xlsx").definitions
    assert len(definition.candidates) == 2
    # Half of it may be mended by now.
    assert "already exists" in typed(*words).err
    done = write_book(tmp_path / "done.xlsx", *PEOPLE[::2])
    answer = typed("links", "backend-2026", "--into", done, "--failed-only", "-o", "none.xlsx")
    assert "none.xlsx was not written" in answer.err and not (tmp_path / "none.xlsx").exists()


# -- some campaigns of a batch ------------------------------------------------------------


def batch(tmp_path: Path) -> Path:
    people = [("campaign", "first name", "last name", "email")]
    people += [(key, key, "Person", f"{key}@example.com") for key in ("one", "two", "three")]
    return write_book(tmp_path / "batch.xlsx", *people, campaigns=("one", "two", "three"))


def test_only_picks_campaigns_of_a_batch(
    typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The campaigns named, in the file's order, and no other; the next command names them too."""
    ran: list[str] = []
    monkeypatch.setattr(
        "flows.cli.run.sending.through_prefect", lambda runs, *_: ran.extend(r.key for r in runs)
    )
    for name in ("AUTH_URL", "BASE_URL", "APP_URL"):
        monkeypatch.setenv(f"ASSESSMENT_{name}", BASE_URL)
    for name in ("CLIENT_ID", "CLIENT_SECRET", "AUDIENCE"):
        monkeypatch.setenv(f"ASSESSMENT_{name}", name)
    path = batch(tmp_path)
    typed("run", path, "--only", "three", "--only", "one")
    assert ran == ["one", "three"]
    answer = typed("plan", path, "--only", "two")
    assert answer.code == 0 and "one" not in answer.out.split()
    assert answer.out.endswith(f"Next: campaign run {path} --only two\n")


@pytest.mark.parametrize("command", ["run", "plan"])
def test_a_campaign_that_is_not_in_the_files_is_said(
    typed: Typed, tmp_path: Path, file: Path, command: str
) -> None:
    """A slip of the key runs nothing and names the nearest one, over all the files."""
    files = [batch(tmp_path), *([file] if command == "run" else [])]
    answer = typed(command, *files, "--only", "thre", "--only", "one")
    assert answer.code == 2
    assert " thre " in answer.err and "did you mean three?" in answer.err
    assert not (tmp_path / "ledger.db").exists()
