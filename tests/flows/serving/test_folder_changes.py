"""Files that come, change, break or go while they are served, as a Prefect server has them."""

import asyncio
from asyncio import CancelledError
from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from prefect.client.orchestration import PrefectClient, get_client
from prefect.runner import Runner
from prefect.settings import PREFECT_API_URL, temporary_settings

from config.timetable.moments import in_zone
from flows.serving import folder_changes
from flows.serving.deployments import Planned
from flows.serving.folder_changes import FolderChanges, Given
from flows.serving.serving import _register
from tests.support.prefects.prefect_home import PrefectServer, Standing, WarmDesk, answer
from tests.support.prefects.workers import wait_until

pytestmark = pytest.mark.xdist_group("schedules")

PARIS = "Europe/Paris"
YEARLY = f'schedule: {{cron: "0 9 1 1 *", timezone: {PARIS}}}\n'
# Executes a run of a deployment as a runner does.
EXECUTE = """\
import os, runpy, sys
os.environ["PREFECT__FLOW_RUN_ID"] = sys.argv.pop()
runpy.run_module("prefect.engine", run_name="__main__")
"""


@pytest.fixture
def standing(automated: Standing) -> Standing:
    return automated


class Served:
    """A folder of campaigns on a yearly schedule, served without a process that serves."""

    def __init__(self, desk: WarmDesk, prefect: PrefectServer) -> None:
        self.desk, self.prefect = desk, prefect
        self.folder = desk.folder / "year"
        self.folder.mkdir()
        self.says: list[str] = []
        self.server_is_away = False

    def campaign(self, key: str, more: str = "") -> Path:
        """Write a campaign of five people."""
        file = self.desk.campaign(key, 5).rename(self.folder / f"{key}.yaml")
        (self.desk.folder / "people.csv").rename(self.folder / "people.csv")
        file.write_text(file.read_text() + YEARLY + more)
        return file

    def start(self) -> None:
        """Serve it, or serve it anew."""
        runner = Runner(name="campaign", pause_on_shutdown=False)

        async def register(client: PrefectClient, planned: Sequence[Planned]) -> list[str]:
            if self.server_is_away:
                raise ConnectionError
            return await _register(runner, client, planned)

        self.changes = FolderChanges(Given([self.folder]), register, self.says.extend)

        async def begin() -> None:
            async with get_client() as client:
                self.says += await self.changes.begin(client)

        self._do(begin)

    def look(self) -> None:
        """Look so often that what has changed is read."""
        for _ in range(2):
            self._do(self.changes.look)

    def _do(self, what: Callable[[], Coroutine[Any, Any, None]]) -> None:
        with temporary_settings({PREFECT_API_URL: self.prefect.api}):
            asyncio.run(what())

    def deployed(self, *keys: str) -> dict[str, list[bool]]:
        """Which of these campaigns are deployed, and whether their schedules are on."""
        return {
            each["name"]: [schedule["active"] for schedule in each["schedules"]]
            for each in self.prefect.ask("deployments", deployments={"name": {"any_": keys}})
        }

    def to_come(self, key: str) -> list[dict[str, Any]]:
        """The runs of a campaign that somebody asked for and that have not begun."""
        runs = self.prefect.ask("flow_runs", deployments={"name": {"any_": [key]}})
        return [
            run for run in runs if run["state_type"] == "SCHEDULED" and not run["auto_scheduled"]
        ]

    def by_schedule(self, key: str) -> set[str]:
        """The ids of the runs that Prefect has made from a campaign's schedule."""
        runs = self.prefect.ask("flow_runs", deployments={"name": {"any_": [key]}})
        return {run["id"] for run in runs if run["auto_scheduled"]}


@pytest.fixture
def served(desk: WarmDesk, prefect: PrefectServer) -> Served:
    return Served(desk, prefect)


@pytest.mark.parametrize("restarts", [False, True])
def test_the_next_wave_outlasts_a_file_that_is_away_for_a_moment(
    served: Served, restarts: bool
) -> None:
    """As in a checkout, or while a program syncs: who waits for the wave is not left to the
    schedule, which comes a year later. Meanwhile the schedule begins nothing without its file."""
    key = f"waving-{restarts}".lower()
    file = served.campaign(key, "invites: {waves: [2, rest], between: 1 hour}\n")
    served.start()
    first = served.prefect.start(f"campaign/{key}")
    ended = answer(served.desk.python(EXECUTE, first))
    assert ended.code == 0, ended.err
    last = served.desk.service.record.of("invite")[-1].at
    [wave] = served.to_come(key)
    due = datetime.fromisoformat(wave["expected_start_time"])
    assert timedelta(minutes=59) < due - last < timedelta(minutes=61)

    planned = wait_until(lambda: served.by_schedule(key))
    away = file.rename(served.desk.folder / "away.yaml")
    served.start() if restarts else served.look()
    # Prefect's scheduler may have been in the middle of making others from what it read before.
    assert not planned & served.by_schedule(key)
    away.rename(file)
    served.start() if restarts else served.look()
    assert [run["id"] for run in served.to_come(key)] == [wave["id"]]
    assert served.deployed(key) == {key: [True]}
    gone = f"No longer served: campaign/{key}: "
    assert [line for line in served.says if line.startswith(gone) and in_zone(due, PARIS) in line]
    assert not [line for line in served.says if "in Prefect" in line]


def test_what_goes_while_it_runs_stays_until_its_run_is_over(
    served: Served, prefect: PrefectServer
) -> None:
    """A run under way asks its own deployment for the next wave. What has no run goes entirely."""
    idle, busy = served.campaign("idle"), served.campaign("busy")
    served.start()
    run = prefect.start("campaign/busy")
    at_work = {"state": {"type": "RUNNING", "name": "Running"}, "force": True}
    prefect.call("POST", f"flow_runs/{run}/set_state", at_work)
    idle.unlink()
    busy.unlink()
    served.look()
    assert served.deployed("idle", "busy") == {"busy": []}
    assert sorted(served.says) == [
        "No longer served: campaign/busy: no file has it any more",
        "No longer served: campaign/idle: no file has it any more",
    ]


def test_what_could_not_be_registered_is_tried_again(served: Served) -> None:
    """As while the server starts again: the file itself does not change any more."""
    served.campaign("first")
    served.start()
    served.campaign("second")
    served.server_is_away = True
    with pytest.raises(ConnectionError):
        served.look()
    served.server_is_away = False
    served.look()
    assert served.deployed("first", "second") == {"first": [True], "second": [True]}


def test_a_bad_table_takes_no_schedule_away_and_is_told_without_the_people_in_it(
    served: Served,
) -> None:
    """Its definition is still there. What is told goes into a log: a place, and what to type."""
    file = served.campaign("spring")
    served.start()
    served.campaign("spring", "guard: {removed: 50%}\n")
    (served.folder / "people.csv").write_text("first_name,last_name,email1\nAda,L,ada@\n")
    served.look()
    assert served.deployed("spring") == {"spring": [True]}
    [said] = served.says
    assert said.startswith("Left out until you fix it: people.csv:2, email1. ")
    assert said.endswith(f": campaign check {file}")
    assert "ada@" not in said


def test_one_warning_tells_of_a_server_that_stays_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """However often it is tried; the next time it is away there is another."""
    looks = iter([ConnectionError(), ConnectionError(), None, ConnectionError(), CancelledError()])
    warned: list[str] = []

    async def look(_: FolderChanges) -> None:
        if (error := next(looks)) is not None:
            raise error

    logger = SimpleNamespace(warning=lambda _, why: warned.append(why))
    monkeypatch.setattr(folder_changes, "EVERY", 0.0)
    monkeypatch.setattr(folder_changes, "get_logger", lambda _: logger)
    monkeypatch.setattr(FolderChanges, "look", look)
    with pytest.raises(CancelledError):
        asyncio.run(FolderChanges(Given([]), _never, _never).keep())
    assert warned == ["ConnectionError", "ConnectionError"]


def _never(*_: object) -> Any:
    raise AssertionError
