"""Campaigns that Prefect starts: a worker runs them on schedules, dies in the middle, goes on."""

import json
import signal
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import psutil
import pytest

from flows.engine.worker_files import FILE, FOLDERS, left_in
from flows.serving.lookout import BEGUN_AGAIN
from sandbox.faults.faults import Fault
from tests.support.prefects.prefect_home import (
    Desk,
    PrefectServer,
    Standing,
    WarmDesk,
    answer,
    kept_no_secret,
)
from tests.support.prefects.workers import (
    TEMPORARY,
    entrusted,
    go_down,
    runs_of,
    wait_until,
    worker,
)
from tests.support.session import PATIENCE
from tests.support.webhook import webhook

# Each group has a server, and is done beside the other: nearly all of it is waiting.
dying = pytest.mark.xdist_group("workers")
coming_due = pytest.mark.xdist_group("schedules")

ENDED = {"COMPLETED", "FAILED", "CRASHED", "CANCELLED"}

# So many invitations a second, in all of a ledger: who sends 300 is amid them for minutes, however
# long it takes to begin another run or to stop this one, and no answer has long to come.
PACE = {"CAMPAIGN_INVITES_PER_SECOND": "2"}


# At an hour that has passed for the day, or is far off.
DAILY = ("--cron", f"0 {(datetime.now(UTC).hour + 12) % 24} * * *", "--timezone", "UTC")


@pytest.fixture
def standing(automated: Standing) -> Standing:
    return automated


def invitations(desk: Desk) -> Counter[tuple[int, str]]:
    """How many emails each person got for each project."""
    return Counter((sent.project_id, sent.email) for sent in desk.service.record.invitations)


def both_under_way(desk: Desk) -> bool:
    sent = Counter(project for project, _ in invitations(desk))
    return len(sent) == 2 and min(sent.values()) >= 8


def went_on(prefect: PrefectServer, key: str) -> list[dict[str, Any]]:
    """A campaign's first run and the one that ended it."""
    first, *later = runs_of(prefect, f"campaign:{key}")
    ended = [run for run in later if run["state_name"] in {"Completed", "NeedsAttention"}]
    return [first, ended[0]] if ended else []


@dying
def test_a_worker_that_stops_or_is_killed_leaves_nobody_twice(
    desk: WarmDesk, prefect: PrefectServer
) -> None:
    """Worker and run end by SIGTERM or SIGKILL amid the waves. Told to stop, nobody is unsure;
    killed, no more than were in flight, and the run is marked. Both campaigns go on by themselves,
    each person has one email, and a person is told once of each. What Prefect left of the killed
    one on the disk holds no secret: its environment had none."""
    with webhook() as hook:
        desk = entrusted(desk)
        desk.service.faults.add(Fault("slow", "invite", count=None, seconds=1))
        slowly = replace(desk, environment=desk.environment | PACE)
        signals = {"killed": signal.SIGKILL, "terminated": signal.SIGTERM}
        with ExitStack() as workers:
            processes = {}
            for problem, key in enumerate(signals, 42):  # nobody is invited to one problem twice
                file = desk.campaign(key, 300, problem=problem)
                deployed = desk.type("deploy", file, "--pool", key, CAMPAIGN_NOTIFY_URL=hook.url)
                assert deployed.code == 0, deployed.err
            for key in signals:
                prefect.start(f"campaign/{key}")
                processes[key] = workers.enter_context(worker(slowly, key))
            wait_until(partial(both_under_way, desk), desk.folder / "worker.log")
            for key, number in signals.items():
                go_down(processes[key], number)
        kept_no_secret(desk.folder / TEMPORARY, desk.service, ["**/*"])
        assert [*desk.folder.glob(f"{TEMPORARY}/{FOLDERS}/{FILE}")] != []
        assert left_in(desk.folder / TEMPORARY) == []
        desk.service.faults.clear()
        ended = {}
        with worker(desk, "terminated"), worker(desk, "killed"):
            for key in signals:
                first, second = ended[key] = wait_until(
                    partial(went_on, prefect, key), desk.folder / "worker.log"
                )
                assert first["parameters"] == second["parameters"]
        assert [runs[0]["state_name"] for runs in ended.values()] == ["Gone", "Stopped"]
        told = [text for text in hook.told if ended["killed"][0]["id"] in text]
        assert len(told) == 1
        assert "killed 20" in told[0]
        assert BEGUN_AGAIN in told[0]
    kept_no_secret(desk.folder / TEMPORARY, desk.service, ["**/*"])
    assert set(invitations(desk).values()) == {1}
    for key, most in (("killed", 8), ("terminated", 0)):
        counts = json.loads(desk.type("status", key, "--json").out)["counts"]
        assert counts["invited"] + counts["unsure"] == counts["candidates"] == 300
        assert counts["unsure"] <= most


@coming_due
def test_what_a_custom_run_gets_wrong_is_named(desk: WarmDesk, prefect: PrefectServer) -> None:
    """Each ends once, in words and without a stack: also with a parameter that there is none of,
    which no process can begin with."""
    file = desk.campaign("custom", 1)
    assert desk.type("deploy", file, "--pool", "custom").code == 0
    wrong = {
        '"shet"': {"shet": "People"},
        "has changed since it was read": {"digest": "abc"},
        "which has no sheets": {"sheet": "Nobody"},
        ".: this is a folder": {"file": ""},
        f"{desk.folder.name}: this is a folder": {"file": str(desk.folder)},
    }
    asked = {prefect.start("campaign/custom", **given): words for words, given in wrong.items()}
    log = desk.folder / "worker.log"

    def ended() -> dict[str, str]:
        runs = prefect.ask("flow_runs", flow_runs={"id": {"any_": [*asked]}})
        failed = [run for run in runs if run["state_name"] == "BadInput"]
        return {run["id"]: run["state"]["message"] for run in failed if len(failed) == len(asked)}

    with worker(desk, "custom"):
        messages = wait_until(ended, log)
    for run, words in asked.items():
        assert words in messages[run]
    assert {run["id"] for run in runs_of(prefect, "campaign:custom")} == asked.keys()
    assert "Traceback" not in log.read_text()
    assert "custom 20" in log.read_text().partition(': There is no parameter "shet"')[0]


@dying
def test_a_worker_killed_as_it_begins_a_run_stands_in_nobodys_way(
    desk: WarmDesk, prefect: PrefectServer
) -> None:
    """Between Pending and Running, by SIGKILL: the next scheduled run goes, none is dropped."""
    desk = entrusted(desk)
    file = desk.campaign("slot", 3)
    assert desk.type("deploy", file, "--pool", "slot", *DAILY).code == 0
    log = desk.folder / "worker.log"
    deployment = prefect.call("GET", "deployments/name/campaign/slot")
    path = f"deployments/{deployment['id']}"

    def in_state(*types: str) -> list[dict[str, Any]]:
        return [run for run in runs_of(prefect, "campaign:slot") if run["state_type"] in types]

    # A process that never says that it runs.
    asleep = deployment["job_variables"] | {"command": "sleep 3600"}
    prefect.call("PATCH", path, {"job_variables": asleep})
    comes_due(prefect, "campaign/slot", 2)
    with worker(desk, "slot") as process:
        [killed] = wait_until(partial(in_state, "PENDING"), log)
        wait_until(lambda: psutil.Process(process.pid).children(recursive=True), log)
        go_down(process, signal.SIGKILL)
    assert [run["id"] for run in in_state("PENDING")] == [killed["id"]]
    prefect.call("PATCH", path, {"job_variables": deployment["job_variables"]})
    comes_due(prefect, "campaign/slot", 1)
    with worker(desk, "slot"):
        wait_until(partial(in_state, "COMPLETED"), log)
    assert in_state("CANCELLED") == []
    assert set(invitations(desk).values()) == {1}


@coming_due
def test_a_schedule_fires_and_one_bad_campaign_stops_no_other(
    desk: WarmDesk, prefect: PrefectServer
) -> None:
    """A folder of three, one of them bad: two complete, the third says why, in a run of its own
    each; and what comes due again sends nothing."""
    folder = desk.folder / "three"
    folder.mkdir()
    inside = WarmDesk(folder, desk.service, desk.environment, desk.warm)
    for problem, key in enumerate(("first", "second"), 42):
        inside.campaign(key, 3, problem=problem)
    bad = (folder / "first.yaml").read_text().replace("first", "third").replace("42", "no number")
    (folder / "third.yaml").write_text(bad)
    assert desk.type("deploy", folder, *DAILY).code == 2
    with worker(desk):
        for number in (1, 2):
            comes_due(prefect, "batch/three", 3 - number)
            runs = wait_until(partial(batches, prefect, number), desk.folder / "worker.log")
    for run in runs:
        assert run["state_type"] == "FAILED"
        assert "third.yaml" in run["state"]["message"]
    for key in ("first", "second"):
        begun = prefect.begun(flow_runs={"tags": {"any_": [f"campaign:{key}"]}})
        assert min(begun, key=lambda run: run["start_time"])["state_name"] == "Completed"
    assert len(invitations(desk)) == 6
    assert set(invitations(desk).values()) == {1}


@dying
def test_a_cancel_ends_the_run_of_a_worker_gently(desk: WarmDesk, prefect: PrefectServer) -> None:
    """The worker ends the run's process: what was in flight still gets its answer, nothing is
    unsure, the run is cancelled, and the next one goes on. A secret in the worker's environment
    lies on the disk meanwhile: the run says so."""
    desk.service.faults.add(Fault("slow", "invite", count=None, seconds=1))
    assert desk.type("deploy", desk.campaign("halted", 300)).code == 0
    with worker(replace(desk, environment=desk.environment | PACE)):
        run = prefect.start("campaign/halted")
        desk.service.wait_for(lambda record: len(record.invitations) >= 10, timeout=PATIENCE)
        assert left_in(desk.folder / TEMPORARY) != []
        cancelling = {"state": {"type": "CANCELLING", "name": "Cancelling"}}
        prefect.call("POST", f"flow_runs/{run}/set_state", cancelling)
        wait_until(lambda: state_of(prefect, run) == "CANCELLED", desk.folder / "worker.log")
        counts = wait_until(partial(at_rest, desk, "halted"), desk.folder / "worker.log")
    [warned] = wait_until(partial(warnings_of, prefect, run), desk.folder / "worker.log")
    assert "campaign credentials NAME" in warned
    assert counts["unsure"] == 0
    assert 10 <= counts["invited"] == len(invitations(desk)) < 300
    desk.service.faults.clear()
    assert desk.type("run", desk.folder / "halted.yaml").code == 0
    assert len(invitations(desk)) == 300
    assert set(invitations(desk).values()) == {1}


def warnings_of(prefect: PrefectServer, run: str) -> list[str]:
    """What a run said of a secret, once Prefect's server has it: logs are sent now and then."""
    said = prefect.call("POST", "logs/filter", {"logs": {"flow_run_id": {"any_": [run]}}})
    return [one["message"] for one in said if "ASSESSMENT_CLIENT_SECRET" in one["message"]]


def state_of(prefect: PrefectServer, run: str) -> str:
    return str(prefect.call("GET", f"flow_runs/{run}")["state_type"])


def at_rest(desk: Desk, key: str) -> dict[str, int] | None:
    """The counts of a campaign, once no run is sending anything of it."""
    counts: dict[str, int] = json.loads(desk.type("status", key, "--json").out)["counts"]
    return None if counts["sending"] else counts


def comes_due(prefect: PrefectServer, deployment: str, days_ago: int) -> None:
    """Have the run of a past day, which nobody has begun yet, made of a daily schedule."""
    ends = datetime.now(UTC) - timedelta(days=days_ago - 1)
    day = {"start_time": str(ends - timedelta(days=1)), "end_time": str(ends)}
    prefect.call("POST", f"deployments/{prefect.deployment(deployment)}/schedule", day)


def batches(prefect: PrefectServer, number: int) -> list[dict[str, Any]]:
    """The batch's runs that came to an end of their own, once there are so many."""
    ended = prefect.ask(
        "flow_runs",
        deployments={"name": {"any_": ["three"]}},
        flow_runs={"state": {"type": {"any_": ["COMPLETED", "FAILED"]}}},
    )
    return ended if len(ended) >= number else []


@coming_due
def test_runs_take_the_credentials_that_prefect_keeps(
    desk: WarmDesk, prefect: PrefectServer
) -> None:
    """With nothing of the service in the environment, a run uses the named block; with a part of
    it, it refuses to mix the two; with a wrong name, it says what to type."""
    kept_there = desk.type("credentials", "production")
    assert kept_there.code == 0, kept_there.err
    assert "sandbox-secret" not in kept_there.out + kept_there.err
    bare = {name: "" for name in desk.environment if name.startswith("ASSESSMENT_")}
    file = desk.campaign("credentials", 2)
    run = desk.type("run", file, CAMPAIGN_CREDENTIALS_BLOCK="production", **bare)
    assert run.code == 0, run.err
    assert sum(invitations(desk).values()) == 2
    address = {"ASSESSMENT_BASE_URL": desk.environment["ASSESSMENT_BASE_URL"]}
    mixed = desk.type("run", file, CAMPAIGN_CREDENTIALS_BLOCK="production", **bare | address)
    assert (mixed.code, "ASSESSMENT_CLIENT_SECRET" in mixed.err) == (2, True)
    unknown = desk.type("run", file, CAMPAIGN_CREDENTIALS_BLOCK="nowhere", **bare)
    assert (unknown.code, "campaign credentials nowhere" in unknown.err) == (2, True)


@coming_due
def test_the_doctor_looks_at_the_credentials_that_prefect_keeps(
    desk: WarmDesk, prefect: PrefectServer
) -> None:
    """With what a run would be given there a token is asked for, and nothing of it is printed;
    where nothing is kept by that name, it says what to type."""
    assert desk.type("credentials", "looked-at").code == 0
    bare = {name: "" for name in desk.environment if name.startswith("ASSESSMENT_")}
    well = desk.type("doctor", CAMPAIGN_CREDENTIALS_BLOCK="looked-at", **bare)
    assert well.code == 0, well.out
    for said in ("as looked-at", "a token", "it answers", "clock"):
        assert said in well.out
    assert "sandbox-secret" not in well.out + well.err
    unknown = desk.type("doctor", CAMPAIGN_CREDENTIALS_BLOCK="nowhere", **bare)
    assert (unknown.code, "campaign credentials nowhere" in unknown.out) == (1, True)


@coming_due
def test_whoever_asks_the_service_takes_the_credentials_that_prefect_keeps(
    desk: WarmDesk, prefect: PrefectServer
) -> None:
    """As a run does; where they are refused, the words say where they are and how to replace them,
    as nothing of them is set on this machine."""
    file = desk.campaign("asked", 2)
    bare = {name: "" for name in desk.environment if name.startswith("ASSESSMENT_")}
    assert desk.type("credentials", "asking").code == 0
    for words in (("problems",), ("plan", file, "--ask-service")):
        asked = desk.type(*words, CAMPAIGN_CREDENTIALS_BLOCK="asking", **bare)
        assert asked.code == 0, asked.err
    assert desk.type("credentials", "mistyped", ASSESSMENT_CLIENT_SECRET="wrong").code == 0
    for words in (("run", file), ("problems",)):
        refused = desk.type(*words, CAMPAIGN_CREDENTIALS_BLOCK="mistyped", **bare)
        assert (refused.code, "refused (status 401)" in refused.err) == (1, True), refused.err
        assert "type: campaign credentials mistyped." in refused.err
    assert sum(invitations(desk).values()) == 0


def deployed(prefect: PrefectServer, key: str) -> bool:
    """Whether a deployment is there; the server tells nobody when one appears."""
    return key in {one["name"] for one in prefect.ask("deployments")}


@coming_due
def test_a_cancel_of_a_served_run_stops_it_as_well(desk: WarmDesk, prefect: PrefectServer) -> None:
    """There the cancel ends the run's process, gently: no doubt, and the next run goes on."""
    desk.service.faults.add(Fault("slow", "invite", count=None, seconds=1))
    file = desk.campaign("served", 300)
    server = desk.start("serve", file, **PACE)
    try:
        wait_until(lambda: server.poll() is not None or deployed(prefect, "served"))
        assert server.poll() is None, answer(server)
        run = prefect.start("campaign/served")
        desk.service.wait_for(lambda record: len(record.invitations) >= 10, timeout=PATIENCE)
        cancelling = {"type": "CANCELLING", "name": "Cancelling"}
        prefect.call("POST", f"flow_runs/{run}/set_state", {"state": cancelling})
        wait_until(lambda: state_of(prefect, run) in ENDED)
    finally:
        server.terminate()
        stopped = answer(server)
    assert stopped.code == 0, stopped.err
    assert state_of(prefect, run) == "CANCELLED"
    status = json.loads(desk.type("status", "served", "--json").out)
    assert status["counts"]["unsure"] == status["counts"]["sending"] == 0
    assert 10 <= status["counts"]["invited"] == sum(invitations(desk).values()) < 300
    desk.service.faults.clear()
    assert desk.type("run", file).code == 0
    assert sum(invitations(desk).values()) == 300
    assert set(invitations(desk).values()) == {1}
