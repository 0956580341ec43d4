"""`reconcile` and its deployments, at a Prefect server: dead runs, a folder, and what is off."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from prefect import states
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.schedules import CronSchedule
from prefect.exceptions import TerminationSignal
from prefect.states import Cancelling, Completed, Crashed, Failed, Pending, Running, Scheduled
from prefect.testing.utilities import prefect_test_harness
from sqlmodel import select

from config.reading import read_campaign
from data.store.lease import lease
from data.store.states import Op
from data.store.tables import Notice, Request, Run, now
from flows import dead_runs
from flows.campaign import run_campaign
from flows.dead_runs import GOES_ON, GONE, NEVER_BEGAN, Runs, repair_endings, tidy
from flows.deployments import POOL, deploy, deploy_forms, make_pool
from flows.ending import End, Ending
from flows.forms import approve_campaign, settle_campaign
from flows.page import announce
from flows.reconcile import Watched
from flows.this_run import run_now
from tests.flows.conftest import write

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.xdist_group("reconcile"),
    pytest.mark.filterwarnings("default"),
]


@pytest.fixture(scope="module", autouse=True)
def _server() -> Iterator[None]:
    with prefect_test_harness(server_startup_timeout=300):
        yield


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def client() -> AsyncIterator[PrefectClient]:
    """A client of the server, which has the forms and the deployment for any file."""
    async with get_client() as asks:
        await make_pool(asks)
        await deploy_forms(asks)
        yield asks


DAILY = {"cron": "0 9 * * *", "timezone": "Europe/Paris"}
HOURLY = DAILY | {"cron": "0 * * * *"}


# -- deployments -------------------------------------------------------------------------------


async def deployed(client, folder: Path, key: str, name: str = "", **said: object):
    """The deployment of a definition that says this."""
    file = write(folder, key, name, **said)
    await deploy(client, file, read_campaign(file).definition)
    return await client.read_deployment_by_name(f"campaign/{key}")


async def test_what_a_person_changed_stays_until_the_schedule_of_the_file_changes(
    client, folder
) -> None:
    there = await deployed(client, folder, "switched", schedule=DAILY)
    (own,) = there.schedules
    assert (own.active, own.schedule.cron, there.paused) == (True, DAILY["cron"], False)
    await client.update_deployment_schedule(there.id, own.id, active=False)
    await client.create_deployment_schedules(there.id, [(own.schedule, True)])
    await client.pause_deployment(there.id)
    again = await deployed(client, folder, "switched", schedule=HOURLY)
    by_slug = {each.slug == "definition": each for each in again.schedules}
    assert len(again.schedules) == 2
    assert (by_slug[True].active, by_slug[True].schedule.cron) == (False, HOURLY["cron"])
    assert (by_slug[False].active, by_slug[False].schedule.cron) == (True, DAILY["cron"])
    assert again.paused
    theirs = CronSchedule(cron="7 7 * * *")
    await client.update_deployment_schedule(there.id, own.id, schedule=theirs)
    edited = await deployed(client, folder, "switched", "else.yaml", schedule=HOURLY)
    assert "7 7 * * *" in {each.schedule.cron for each in edited.schedules}
    await client.delete_deployment_schedule(there.id, own.id)
    deleted = await deployed(client, folder, "switched", schedule=HOURLY)
    assert [each.schedule.cron for each in deleted.schedules] == [DAILY["cron"]]
    same = await deployed(client, folder, "switched", schedule=HOURLY)
    assert same.updated == deleted.updated  # or its runs to come would be lost
    changed = await deployed(client, folder, "switched", schedule=DAILY)
    assert len(changed.schedules) == 2
    last = await deployed(client, folder, "switched")
    (kept,) = last.schedules
    assert (kept.active, kept.schedule.cron) == (True, DAILY["cron"])


async def test_every_hour_is_a_whole_hour_and_what_is_there_is_not_deployed_again(
    client, folder
) -> None:
    hourly = {"every": "1 hour", "timezone": "Europe/Paris"}
    first, again = [await deployed(client, folder, "often", schedule=hourly) for _ in range(2)]
    assert again.updated == first.updated
    (own,) = first.schedules
    anchor = own.schedule.anchor_date
    assert (anchor.hour, anchor.minute, anchor.second, anchor.microsecond) == (0, 0, 0, 0)


# -- runs whose process is gone ----------------------------------------------------------------


async def begun(client, state, days_ago: int = 0):
    """A run of a campaign that a worker has begun, in this state."""
    there = await client.read_deployment_by_name("campaign/any")
    asked = {"file": "dead.yaml", "campaign": "dead"}
    due = Scheduled(scheduled_time=datetime.now(UTC) - timedelta(days=days_ago))
    run = await client.create_flow_run_from_deployment(there.id, parameters=asked, state=due)
    await client.set_flow_run_state(run.id, state, force=True)
    return run


async def state_of(client, run) -> str:
    return (await client.read_flow_run(run.id)).state.name


@pytest.mark.parametrize(
    ("state", "after"), [(Running(), "AwaitingRetry"), (Cancelling(), "Cancelled")]
)
async def test_a_run_goes_on_or_is_cancelled_once_nobody_holds_its_lease(
    client, ledger, monkeypatch, state, after
) -> None:
    monkeypatch.setattr(dead_runs, "QUIET", 0.0)
    # It waited for its time for two months, and is the same run.
    run, runs = await begun(client, Running(), days_ago=60), Runs(ledger)
    await client.set_flow_run_state(run.id, state, force=True)
    with lease(ledger, "dead"):
        await runs.go_on(client)
        await runs.go_on(client)
        assert await state_of(client, run) == state.name
    await runs.go_on(client)  # begins to be quiet
    assert await state_of(client, run) == state.name
    late = await client.read_deployment_by_name("campaign/any")
    await client.create_flow_run_from_deployment(late.id, parameters={"file": "late.yaml"})
    await runs.go_on(client)
    assert await state_of(client, run) == after
    if after == "AwaitingRetry":
        queue = await client.get_scheduled_flow_runs_for_work_pool(POOL)
        assert queue[0].flow_run.id == run.id


@pytest.fixture
def process():
    """Begins a process as a worker begins it: with this in its environment, or in its name."""
    began: list[subprocess.Popen] = []

    def begin(run: str = "", worker: str = "") -> subprocess.Popen:
        words = [sys.executable, "-c", "print('begun', flush=True); input()", worker]
        environment = os.environ | {"PREFECT__FLOW_RUN_ID": str(run)}
        began.append(
            subprocess.Popen(
                words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        )
        assert began[-1].stdout.readline() == "begun\n"
        return began[-1]

    yield begin
    for each in began:
        each.kill()
        each.communicate()


async def looks(client, ledger, number: int = 3) -> None:
    runs = Runs(ledger)
    for _ in range(number):
        await runs.go_on(client)


@pytest.mark.parametrize("state", [Pending(), Running()], ids=["Pending", "Running"])
async def test_a_run_of_this_machine_is_dead_when_its_process_is_gone_and_not_before(
    client, ledger, process, state, monkeypatch
) -> None:
    """A Pending one after a while: a worker that has only just taken it has not named itself."""
    run = await begun(client, state)
    worker = dead_runs.OUR_WORKERS + "1"
    await client.update_flow_run_labels(run.id, {"prefect.worker.name": worker})
    monkeypatch.setattr(dead_runs, "QUIET", -1.0)
    lives = process(run=run.id) if state.is_running() else process(worker=worker)
    await looks(client, ledger)
    assert await state_of(client, run) == state.name
    lives.kill()
    lives.wait()
    monkeypatch.setattr(dead_runs, "QUIET", 1e9)
    await looks(client, ledger)
    waits = "Pending" if state.is_pending() else "AwaitingRetry"
    assert await state_of(client, run) == waits


async def test_a_run_that_has_not_begun_belongs_to_its_worker_elsewhere(
    client, ledger, monkeypatch
) -> None:
    monkeypatch.setattr(dead_runs, "QUIET", 0.0)
    lives, gone = await begun(client, Pending()), await begun(client, Pending())
    await client.update_flow_run_labels(lives.id, {"prefect.worker.name": "theirs"})
    await client.update_flow_run_labels(gone.id, {"prefect.worker.name": "gone"})
    await client.send_worker_heartbeat(POOL, "theirs", heartbeat_interval_seconds=300)
    await looks(client, ledger)
    assert await state_of(client, lives) == "Pending"
    assert await state_of(client, gone) == "AwaitingRetry"


async def test_how_long_a_run_is_quiet_is_counted_from_when_it_began(
    client, ledger, monkeypatch
) -> None:
    run, runs = await begun(client, Pending()), Runs(ledger)
    clock = SimpleNamespace(monotonic=partial(next, iter(range(0, 1000, 40))))
    monkeypatch.setattr(dead_runs, "time", clock)
    await runs.go_on(client)
    await client.set_flow_run_state(run.id, Running(), force=True)
    await runs.go_on(client)  # 40 s later, and quiet from now on
    await runs.go_on(client)
    assert await state_of(client, run) == "Running"
    await runs.go_on(client)
    assert await state_of(client, run) == "AwaitingRetry"


async def test_a_run_that_could_never_begin_is_told_once_and_is_not_begun_again(
    client, ledger
) -> None:
    """But for one that a signal ended as it began, of which Prefect logs an error as well."""
    run, stopped = await begun(client, Pending()), await begun(client, Pending())
    signalled = await states.exception_to_crashed_state(TerminationSignal(signal.SIGTERM))
    for each, why in ((run, "exit code 1"), (stopped, signalled.message)):
        refused = {"flow_run_id": str(each.id), "name": "prefect.flow_runs", "level": 40}
        at = datetime.now(UTC).isoformat()
        await client.create_logs([{**refused, "message": why, "timestamp": at}])
        await client.set_flow_run_state(each.id, Crashed(message=why), force=True)
    await looks(client, ledger)
    assert await state_of(client, stopped) == "AwaitingRetry"
    last = (await client.read_flow_run(run.id)).state
    assert (last.type.name, last.message) == ("FAILED", f"bad input: {NEVER_BEGAN}")
    with ledger.reading() as session:
        (notice,) = session.exec(select(Notice)).all()
    assert "bad input" in notice.text


async def test_how_often_a_run_died_is_counted_since_it_last_sent_something(
    client, ledger, desk, monkeypatch
) -> None:
    monkeypatch.setattr(dead_runs, "TRIES", 2)
    desk.take_in("Ada", key="dead")
    run, runs = await begun(client, Running()), Runs(ledger)

    async def crashes() -> str:
        await client.set_flow_run_state(run.id, Crashed(message="killed"), force=True)
        await runs.go_on(client)
        return (await client.read_flow_run(run.id)).state.message

    assert [await crashes(), await crashes()] == [GOES_ON] * 2
    with desk.at("dead") as (session, campaign_id):
        sent = Run(campaign_id=campaign_id, host="any", pid=1, began=now())
        session.add(sent)
        session.flush()
        session.add(Request(run_id=sent.id, op=Op.INVITE, claimed_at=now()))
    assert [await crashes(), await crashes()] == [GOES_ON] * 2
    assert await crashes() == f"stopped: {GONE}\ncampaign run dead.yaml"
    assert await state_of(client, run) == "Failed"
    with ledger.reading() as session:
        (notice,) = session.exec(select(Notice)).all()
    assert "died again and again" in notice.text


@pytest.mark.parametrize(("recent", "state"), [(30, "AwaitingRetry"), (0, "Crashed")])
async def test_a_run_that_crashed_goes_on_for_a_month(
    client, ledger, recent: int, state: str, monkeypatch
) -> None:
    monkeypatch.setattr(dead_runs, "RECENT", timedelta(days=recent))
    run = await begun(client, Crashed(message="killed"), days_ago=60)
    await Runs(ledger).go_on(client)
    assert await state_of(client, run) == state


async def test_a_tag_that_a_busy_server_did_not_take_is_set_later_unless_it_is_solved(
    client,
) -> None:
    red, done = Failed(message="needs attention: 1 unsure."), Completed(message="done: all.")
    no, runs = Failed(message="bad input: no such plan."), []
    for key, by, said in (
        ("1", approve_campaign, done),
        ("2", run_campaign, done),
        ("3", settle_campaign, no),
    ):
        for flow, state in ((run_campaign, red), (by, said)):  # the second solves it, or not
            run = await client.create_flow_run(flow, parameters={"campaign": key})
            await client.set_flow_run_state(run.id, state, force=True)
            runs.append(run.id)
    await client.update_flow_run(runs[0], tags=["needs attention"])  # set beside the second
    await repair_endings(client)
    tags = [(await client.read_flow_run(run)).tags for run in runs[::2]]
    assert tags == [[], [], ["needs attention"]]
    await client.update_flow_run(runs[4], tags=["campaign:3", "needs attention"])
    await announce(Ending("3", End.DONE, "all."), {})  # at once, however long ago it ended
    assert (await client.read_flow_run(runs[4])).tags == ["campaign:3"]


# -- one run of a campaign at a time ------------------------------------------------------------


async def test_what_was_asked_for_while_a_run_was_at_work_begins_after_it(client, folder) -> None:
    """Once, however often it was asked for."""
    file = write(folder, "alone")
    await deploy(client, file, read_campaign(file).definition)
    there = await client.read_deployment_by_name("campaign/alone")

    async def asked_for():
        assert await run_now(client, file, "alone")
        await tidy(client)
        runs = [run for run in await client.read_flow_runs() if run.deployment_id == there.id]
        for run in (new := [run for run in runs if run.state.name == "Scheduled"]):
            await client.set_flow_run_state(run.id, Pending())  # as a worker does, or tries to
        return new

    [at_work], [waits], none = [await asked_for() for _ in range(3)]
    assert none == []  # the one that waits reads the file as it is then
    await client.set_flow_run_state(at_work.id, Running())
    await client.create_flow_run_from_deployment(there.id)
    await tidy(client)
    found = [run for run in await client.read_flow_runs() if run.deployment_id == there.id]
    left = {run.id: run.state.name for run in found}
    assert left == {at_work.id: "Running", waits.id: "AwaitingConcurrencySlot"}
    await client.set_flow_run_state(at_work.id, Completed())
    await client.set_flow_run_state(waits.id, Pending())
    assert await state_of(client, waits) == "Pending"


async def test_of_missed_runs_the_first_begins_so_that_it_keeps_its_place(client, folder) -> None:
    there = await deployed(client, folder, "missed")
    runs = {}
    for minutes in (3, 1, 2, -9):
        at = Scheduled(scheduled_time=datetime.now(UTC) - timedelta(minutes=minutes))
        made = await client.create_flow_run_from_deployment(there.id, state=at)
        runs[made.id] = minutes
    another = {"digest": ""}
    made = await client.create_flow_run_from_deployment(there.id, parameters=another)
    await tidy(client)
    left = {run.id for run in await client.read_flow_runs() if run.deployment_id == there.id}
    assert {runs.get(number, "another") for number in left} == {3, -9, "another"}


# -- the folder --------------------------------------------------------------------------------


async def began(client, folder: Path) -> list[str]:
    """The files of a folder that runs began of since it was last asked; by now these are over."""
    waits = [run for run in await client.read_flow_runs() if run.state.name == "Scheduled"]
    runs = [run for run in waits if Path(run.parameters.get("file", "")).parent == folder]
    for run in (now := [run for run in runs if not run.auto_scheduled]):
        await client.set_flow_run_state(run.id, Completed(), force=True)
    return sorted(Path(run.parameters["file"]).name for run in now)


async def test_a_folder_is_read_at_rest_and_each_file_run_once_for_each_content(
    client, folder, ledger
) -> None:
    watched = Watched(folder, ledger, print)

    async def looks(number: int = 2) -> list[str]:
        for _ in range(number):
            await watched.run_what_is_new(client)
        return await began(client, folder)

    write(folder, "now")
    write(folder, "daily", schedule=DAILY)
    (folder / "bad.yaml").write_text("campaign: bad\ncandidates: nobody\n")
    assert await looks(1) == []  # it may still be written
    assert await looks() == ["bad.yaml", "now.yaml"]
    assert await looks(3) == []
    assert (await client.read_deployment_by_name("campaign/daily")).schedules
    write(folder, "now", problem=43)
    assert await looks() == ["now.yaml"]
    write(folder, "now")  # as it was at first
    assert await looks() == ["now.yaml"]
    watched = Watched(folder, ledger, print)  # of the next `up`
    assert await looks() == []


async def test_what_changes_while_a_deployment_is_paused_is_sent_once_it_is_on(
    client, folder, ledger
) -> None:
    async def runs(watched: Watched) -> int:
        for _ in range(3):
            await watched.run_what_is_new(client)
        return len(await began(client, folder))

    watched = Watched(folder, ledger, print)
    write(folder, "paused")
    assert await runs(watched) == 1
    there = await client.read_deployment_by_name("campaign/paused")
    await client.pause_deployment(there.id)
    write(folder, "paused", problem=43)
    assert await runs(watched) == 0
    await client.resume_deployment(there.id)
    assert await runs(Watched(folder, ledger, print)) == 1


async def test_a_definition_that_is_gone_has_no_schedule_and_one_that_is_back_has_its_own(
    client, folder, ledger
) -> None:
    watched = Watched(folder, ledger, print)

    async def schedules() -> dict[str, list[bool]]:
        for _ in range(2):
            await watched.run_what_is_new(client)
        names = ("gone", "off", "renamed", "stays")
        found = [await client.read_deployment_by_name(f"campaign/{n}") for n in names]
        return {each.name: [one.active for one in each.schedules] for each in found}

    files = [write(folder, key, schedule=DAILY) for key in ("gone", "off", "renamed")]
    write(folder, "stays", schedule=DAILY)
    assert [*(await schedules()).values()] == [[True]] * 4
    off = await client.read_deployment_by_name("campaign/off")
    await client.update_deployment_schedule(off.id, off.schedules[0].id, active=False)
    files[0].unlink(), files[1].unlink()
    write(folder, "another", "renamed.yaml")
    (folder / "stays.yaml").write_text("campaign: stays\nschedule: {cron: never}\n")
    after = {"gone": [], "off": [False], "renamed": [], "stays": [True]}
    assert await schedules() == after
    write(folder, "gone", schedule=DAILY), write(folder, "off", schedule=DAILY)
    assert await schedules() == after | {"gone": [True]}


@pytest.mark.parametrize(("name", "looks"), [("../export.csv", 4), ("ordered.orders.csv", 1)])
async def test_a_table_that_a_definition_reads_is_watched_too(
    client, folder, ledger, name, looks
) -> None:
    """Wherever it is; one of orders is run though it changes at each look."""
    table = folder / name
    rows = ["first_name,last_name,email1", "Ada,Of X,ada@x.test"]
    table.write_text("\n".join(rows))
    write(folder, Path(name).name.partition(".")[0], candidates={"file": name})
    watched = Watched(folder, ledger, print)
    for number in range(3):
        for _ in range(looks + 3 * (number == 0)):
            await watched.run_what_is_new(client)
        rows.append(f"Ben{number},Of X,ben{number}@x.test")
        table.write_text("\n".join(rows))
        os.utime(table, (number, number))
        assert len(await began(client, folder)) == 1
