"""`campaign rehearse`: the real definition against a service of its own, and nothing real."""

import asyncio
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from config.reading.reading import read_campaigns
from config.settings import LocalSettings
from data.store.states import Ending
from flows.cli.run.rehearse import _folder
from flows.cli.run.sandbox import tidily_stopped
from flows.rehearsal.rehearsal import FIRST_STAND_IN, Stage, kept_out, stage, stand_ins, truth
from flows.rehearsal.troubles import TROUBLES, Troubles
from flows.run.ending import Finish
from flows.run.observer import RunObserver
from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from sandbox.visitor import Visitor
from tasks.outputs.exports import Link
from tasks.plan.target import CampaignSource
from tasks.service.embed import embed_url
from tests.support.browsers.candidate import one_candidate
from tests.support.campaigns import Office, people
from tests.support.prefects.prefect_home import CAMPAIGN
from tests.support.session import PATIENCE

# Most of them type the command, which begins a service and a run of its own.
pytestmark = pytest.mark.journey
NAMES = [f"person{n}" for n in range(40)]
MANY_ADDS = {"CAMPAIGN_CANDIDATES_PER_REQUEST": "10"}


@pytest.fixture
def desk(tmp_path: Path) -> dict[str, str]:
    """An environment without a single setting of the service."""
    for name in ("home", "tmp"):
        (tmp_path / name).mkdir()
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path / "home"),
        "TMPDIR": str(tmp_path / "tmp"),
        "CAMPAIGN_DATABASE_URL": f"sqlite:///{tmp_path}/real.db",
        "CAMPAIGN_OUTPUT_DIR": str(tmp_path / "out"),
    }


def definition(folder: Path, *names: str, problem: str = "42", project: str = "{name: Us}") -> Path:
    table = folder / "people.csv"
    table.write_text("first_name,last_name,email1\n" + people(*names))
    path = folder / "hiring.yaml"
    asked = f"problem: {problem}\n" if problem else ""
    path.write_text(
        f"campaign: hiring\nproject: {project}\n{asked}candidates: {{file: people.csv}}\n"
    )
    return path


def rehearse(
    path: Path, environment: dict[str, str], *words: str
) -> subprocess.CompletedProcess[str]:
    command = [CAMPAIGN, "rehearse", str(path), *words]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE
    )


def test_a_rehearsal_needs_nothing_and_leaves_nothing(tmp_path: Path, desk: dict[str, str]) -> None:
    """Without credentials every step is seen; no ledger, receipt, link or folder stays behind."""
    path = definition(tmp_path, *NAMES)
    there = sorted(tmp_path.iterdir())
    ended = rehearse(path, desk)
    assert (ended.returncode, ended.stderr) == (0, "")

    assert "40 of 40 links" in ended.stdout
    assert f"For real: campaign run {path}" in ended.stdout
    assert sorted(tmp_path.iterdir()) == there
    assert not any((tmp_path / "tmp").iterdir())
    assert not any(one.is_file() for one in (tmp_path / "home").rglob("*"))


def test_troubles_are_shown_and_the_promise_holds(tmp_path: Path, desk: dict[str, str]) -> None:
    """Lost answers, throttling and an outage: what each did, what a person found, nobody twice."""
    ended = rehearse(definition(tmp_path, *NAMES), desk | MANY_ADDS, "--faults")
    assert (ended.returncode, ended.stderr) == (0, "")
    for trouble in TROUBLES:
        assert re.search(rf"{re.escape(trouble.what)} +\d", ended.stdout)
    assert ": campaign settle hiring --project ID" in ended.stdout
    assert "10 of the 20 unsure had been added" in ended.stdout
    assert "stopped: " in ended.stdout and "same command again" in ended.stdout
    assert "40 of 40 links" in ended.stdout


def test_bad_input_is_told_before_anything_runs(tmp_path: Path, desk: dict[str, str]) -> None:
    """Every check of a real run, with the same places and the same exit code."""
    path = definition(tmp_path, "ada", "ad a")
    ended = rehearse(path, desk)
    assert ended.returncode == 2
    assert "people.csv" in ended.stderr and "Traceback" not in ended.stderr
    assert "rehearsal" not in ended.stdout


def test_a_campaign_that_ran_for_real_is_rehearsed_beside_its_receipt(
    tmp_path: Path, desk: dict[str, str]
) -> None:
    """The receipt of the real ledger neither stops the rehearsal nor is it changed by it."""
    with Sandbox() as real:
        office = Office.at(tmp_path, real)
        path = definition(tmp_path, *NAMES[:2])
        office.run(path)
    receipt = path.with_suffix(".receipt").read_bytes()
    assert rehearse(path, desk).returncode == 0
    assert path.with_suffix(".receipt").read_bytes() == receipt


def test_what_is_kept_open_shows_the_outbox_until_it_is_stopped(
    tmp_path: Path, desk: dict[str, str]
) -> None:
    """With --open a person looks around at leisure; Ctrl-C ends it and deletes everything."""
    path = definition(tmp_path, "ada")
    command = [CAMPAIGN, "rehearse", str(path), "--open"]
    with subprocess.Popen(command, env=desk, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        said = next(line for line in running.stdout if "stays open" in line)
        address = re.search(r"http://127\.0\.0\.1:\d+", said)
        assert address
        assert "ada@example.com" in httpx.get(f"{address[0]}/outbox").text
        running.send_signal(signal.SIGINT)
        assert "deleted" in running.stdout.read()
    assert running.returncode == 0
    assert not any((tmp_path / "tmp").iterdir())


@pytest.mark.parametrize("moment", ["to add", "of 40 invited", "into the arena"])
def test_wherever_it_is_stopped_nobody_stays_on_the_disk(
    tmp_path: Path, desk: dict[str, str], moment: str
) -> None:
    """The names and addresses that a rehearsal wrote are deleted when somebody ends it."""
    command = [CAMPAIGN, "rehearse", str(definition(tmp_path, *NAMES))]
    with subprocess.Popen(
        command, env=desk, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert any(moment in line for line in running.stdout)
        running.send_signal(signal.SIGTERM)
        _, complaint = running.communicate(timeout=PATIENCE)
    # Where it had deleted all of it, the signal may have met a process that only had to end.
    assert running.returncode in (0, 1, 130, -signal.SIGTERM)
    assert "Traceback" not in complaint
    assert not any((tmp_path / "tmp").iterdir())


def test_sigterm_amid_an_event_loop_cancels_what_runs_there() -> None:
    """As Ctrl-C does: an error out of nowhere left a lock of its threads taken, for ever."""
    ended: list[str] = []

    async def told_to_stop() -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), tidily_stopped():
            asyncio.run(told_to_stop())
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended == ["cancelled"]


def test_a_signal_amid_the_deletion_leaves_nobody_either(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has ended all the rest by then, and ends the process no sooner."""
    delete = tempfile.TemporaryDirectory[str].cleanup

    def told_to_stop(folder: tempfile.TemporaryDirectory[str]) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        delete(folder)

    monkeypatch.setattr(tempfile.TemporaryDirectory, "cleanup", told_to_stop)
    with suppress(KeyboardInterrupt), tidily_stopped(), _folder() as folder:
        (folder / "people.csv").write_text("ada@example.com")
    assert not folder.exists()


# ---- the parts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("problem", "project", "stand_in"),
    [
        ("42", "{name: Us}", (42, "Problem 42")),
        ("{title: Two sum}", "{name: Us}", (FIRST_STAND_IN, "Two sum")),
        ("", "{id: 777}", (FIRST_STAND_IN, "project 777")),
        ("42", "{id: 777}", (42, "Problem 42")),
    ],
)
def test_the_sandbox_has_what_the_definition_expects(
    tmp_path: Path, problem: str, project: str, stand_in: tuple[int, str]
) -> None:
    """A problem by id or title, a project made in the web application: all are stood in for."""
    path = definition(tmp_path, "ada", problem=problem, project=project)
    definitions = read_campaigns(path).definitions
    [made] = stand_ins(definitions).values()
    assert (made["id"], made["title"][-len(stand_in[1]) :]) == stand_in
    with on_stage(tmp_path, path) as set_up:
        assert run(set_up, path).counts["invited"] == 1
        [only] = set_up.service.projects
        assert only.problem_ids == [stand_in[0]]
        assert (only.id == 777) is ("777" in project)


def test_a_plan_that_needs_approval_is_seen_through(tmp_path: Path) -> None:
    """What a person must approve for real is approved here, where there is nothing to lose."""
    path = definition(tmp_path, "ada")
    path.write_text(path.read_text() + "invites: {approval: required}\n")
    with on_stage(tmp_path, path) as set_up:
        assert run(set_up, path).counts["invited"] == 1


@pytest.mark.parametrize("when", ["not_before: 2099-01-05 09:00", "not_after: 2001-01-05 09:00"])
def test_a_rehearsal_does_not_wait_for_its_time(tmp_path: Path, when: str) -> None:
    """What will be sent between two times is seen now: on the stage it is time."""
    path = definition(tmp_path, *NAMES, project="{name: Us, timezone: UTC}")
    path.write_text(f"{path.read_text()}invites: {{{when}}}\n")
    with on_stage(tmp_path, path) as set_up:
        end = set_up.run(CampaignSource(path, "hiring"), RunObserver())
        assert (end.ending, len(set_up.service.record.invitations)) == (Ending.COMPLETED, 40)


def test_a_rehearsal_plays_through_pilot_waves_and_hours(tmp_path: Path) -> None:
    """The pilot is confirmed, waves follow each other at once, and no rate is waited for."""
    path = definition(tmp_path, *NAMES, project="{name: Us, timezone: UTC}")
    rules = "pilot: me@example.com, waves: [1, 5, rest], between: 1 hour, per_hour: 1"
    path.write_text(f"{path.read_text()}invites: {{{rules}, hours: Mon 09:00-10:30}}\n")
    with on_stage(tmp_path, path) as set_up:
        assert run(set_up, path).ending is Ending.COMPLETED
        assert len(set_up.service.record.invitations) == 41


def on_stage(folder: Path, path: Path):
    """A stage for this definition."""
    own = folder / "stage"
    own.mkdir()
    return stage(own, read_campaigns(path).definitions, LocalSettings())


def run(set_up: Stage, path: Path) -> Finish:
    return set_up.run(CampaignSource(path, "hiring"), RunObserver())


@pytest.mark.parametrize(
    ("number", "project", "send"),
    [
        (1, "{name: Us}", True),
        (3, "{id: 777}", True),
        (8, "{id: 777}", False),
        (40, "{name: Us}", True),
    ],
)
def test_troubles_leave_a_campaign_of_any_size_whole(
    tmp_path: Path, number: int, project: str, send: bool
) -> None:
    """Run, settled by what is there and run again, each person has one email in the end."""
    path = definition(tmp_path, *NAMES[:number], project=project)
    path.write_text(f"{path.read_text()}invites: {{send: {str(send).lower()}}}\n")
    [whole] = read_campaigns(path).definitions
    with on_stage(tmp_path, path) as set_up:
        troubles = Troubles(set_up.service, whole, per_request=100)
        for _ in range(len(TROUBLES)):
            troubles.begin(number)
            end = run(set_up, path)
            came = troubles.end()
            if not set_up.settle("hiring") and not came:
                break
        assert end.ending is Ending.COMPLETED
        assert len(set_up.service.record.invitations) == (number if send else 0)
        assert truth(set_up.service, set_up.links("hiring")).promise_kept
        met = {one.fault.operation for one, _ in troubles.came}
        named = project == "{name: Us}"
        assert met == {
            "attach_problem",
            "add_candidates",
            *(["create_project"] if named else []),
            *(["invite"] if send else []),
        }


@pytest.mark.parametrize("work", [True, False])
def test_the_person_of_a_rehearsal_says_what_is_there(tmp_path: Path, work: bool) -> None:
    """Each lost call is settled as the service has it, whether the work was done or not."""
    path = definition(tmp_path, *NAMES[:2])
    calls = ("create_project", "attach_problem", "add_candidates", "invite")
    looked = []
    with on_stage(tmp_path, path) as set_up:
        for call in calls:
            set_up.service.faults.add(Fault("lost", call, after_work=work))
            run(set_up, path)
            looked += set_up.settle("hiring")
        run(set_up, path)
        assert [(one.operation, one.happened, one.of) for one in looked] == [
            (call, work * many, many) for call, many in zip(calls, (1, 1, 2, 1), strict=True)
        ]
        assert looked[0].project_id == (101 if work else None)
        assert len(set_up.service.record.invitations) == len(set_up.service.candidates) == 2
        assert len(set_up.service.projects) == 1


@pytest.fixture
def service() -> Iterator[Sandbox]:
    with Sandbox() as service:
        yield service


def test_a_broken_promise_would_be_seen(service: Sandbox) -> None:
    """Two emails to one person, or none to somebody called invited, is no rehearsal passed."""
    ada = one_candidate(service)
    link = Link("Ada", "Lovelace", ada.email1, ada.candidate_id, None, "done")
    assert truth(service, [link]).missing == 1
    service.record.invite(ada, "link", None)
    assert truth(service, [link]).promise_kept
    service.record.invite(ada, "link", None)
    assert truth(service, [link]).twice == 1


def test_who_does_not_reach_the_arena_is_told_where(service: Sandbox) -> None:
    """Each door that stays shut is named: the welcome page, the login, the arena."""
    ada = one_candidate(service)
    bare = one_candidate(service, "bob@example.com", 42, 43)

    def link(candidate_id: int, project_id: int, email: str) -> Link:
        url = embed_url(service.app_url, project_id, candidate_id)
        return Link("A", "B", email, candidate_id, url, "done")

    links = [
        link(ada.candidate_id, ada.project_id, ada.email1),
        link(ada.candidate_id, ada.project_id, "eve@example.com"),
        link(ada.candidate_id, bare.project_id, ada.email1),
        link(bare.candidate_id, bare.project_id, bare.email1),
    ]
    assert kept_out(service, links) == [
        "the login answers 403",
        "the welcome page answers 404",
        "the welcome page answers 409",
    ]
    with Visitor(service.app_url) as visitor:
        elsewhere = visitor.kept_out("https://other.example/embedded/welcome?projectId=1", "a@b.c")
        assert elsewhere == "the link does not lead to the application"
