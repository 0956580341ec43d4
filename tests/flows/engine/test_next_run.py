"""Waiting campaigns continue by themselves: the run that finds one waiting schedules the next."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self
from uuid import UUID, uuid4

import pytest

from flows.engine import next_run
from tests.support.prefects.prefect_home import PrefectServer, WarmDesk, answer

pytestmark = pytest.mark.xdist_group("prefect")

HERE = uuid4()
# Deploys a file, asks for a run of it, and executes that run as a worker does.
DEPLOYED = """\
import asyncio, os, runpy, sys
from pathlib import Path
from prefect.client.orchestration import get_client
from flows.serving.deployments import planned_of, renew

async def deployed():
    [planned], _ = planned_of([Path(sys.argv[1])], None)
    async with get_client() as client:
        made, _ = await renew(client, planned)
        return (await client.create_flow_run_from_deployment(await made.aapply())).id

os.environ["PREFECT__FLOW_RUN_ID"] = str(asyncio.run(deployed()))
sys.argv.pop()
runpy.run_module("prefect.engine", run_name="__main__")
"""


def test_the_next_wave_is_scheduled_once(desk: WarmDesk, prefect: PrefectServer) -> None:
    """One run of the campaign's own deployment, an hour after the wave, however often it ran."""
    path = desk.campaign("waving", 5)
    path.write_text(path.read_text() + "invites: {waves: [2, rest], between: 1 hour}\n")
    for _ in range(2):
        ended = answer(desk.python(DEPLOYED, path))
        assert ended.code == 0, ended.err
    assert len(desk.service.record.invitations) == 2
    last = desk.service.record.of("invite")[-1].at
    runs = prefect.ask("flow_runs", deployments={"name": {"any_": ["waving"]}})
    # One that Prefect's client asked for twice is due at once, and nobody serves it here.
    soon = last.astimezone(UTC) + timedelta(minutes=30)
    waiting = [
        run
        for run in runs
        if run["state_type"] == "SCHEDULED"
        and datetime.fromisoformat(run["expected_start_time"]) > soon
    ]
    begun = prefect.begun(deployments={"name": {"any_": ["waving"]}})
    assert [run["state_name"] for run in begun] == ["NotYet", "NotYet"]
    [run] = waiting
    begins = datetime.fromisoformat(run["expected_start_time"])
    assert timedelta(0) <= last.astimezone(UTC) + timedelta(hours=1) - begins < timedelta(minutes=5)
    assert run["parameters"] == {"file": str(Path(path)), "campaign": "waving"}


class RunsByKey:
    """Prefect's flow runs as its server keeps them: whoever asks with a key again gets its run."""

    def __init__(self) -> None:
        self.runs: dict[str, Any] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None: ...

    async def read_flow_run(self, run: UUID) -> Any:
        begun = [kept for kept in self.runs.values() if kept.id == run]
        return begun[0] if begun else self._run(run, "2026-12-01 of a schedule")

    async def read_deployment_by_name(self, _: str) -> Any:
        return SimpleNamespace(id=HERE)

    async def create_flow_run_from_deployment(
        self, _: UUID, state: object, idempotency_key: str
    ) -> Any:
        return self.runs.setdefault(idempotency_key, self._run(uuid4(), idempotency_key))

    def _run(self, run: UUID, key: str) -> Any:
        return SimpleNamespace(id=run, deployment_id=HERE, idempotency_key=key)


def test_a_run_that_begins_early_for_its_moment_schedules_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Prefect lets a run begin up to half a second early, however often: it waits for another run
    and not for itself. One for each run, also if it is retried; a run of the schedule that is early
    as well shares the first."""
    server = RunsByKey()
    monkeypatch.setattr(next_run, "get_client", lambda: server)
    moment = datetime(2026, 12, 1, 9, tzinfo=UTC)

    def runs_begin_early(run: UUID) -> None:
        begun = SimpleNamespace(root_flow_run_id=None, id=str(run))
        monkeypatch.setattr("flows.engine.runs.flow_run", begun)
        for _ in range(2):
            asyncio.run(next_run.schedule_next("waving", moment))

    of_the_schedule = [uuid4(), uuid4()]
    for run in of_the_schedule:
        runs_begin_early(run)
        assert len(server.runs) == 1
    for number in (2, 3, 4):
        [*_, last] = server.runs.values()
        runs_begin_early(last.id)
        assert len(server.runs) == number


def test_what_a_person_typed_is_told_and_not_scheduled(
    desk: WarmDesk, prefect: PrefectServer
) -> None:
    """Nobody deployed it: the moment is said, and nothing happens behind anybody's back."""
    path = desk.campaign("typed", 3)
    path.write_text(path.read_text() + "invites: {waves: [2, rest], between: 1 hour}\n")
    ended = desk.type("run", path)
    assert (ended.code, "Wave 2 " in ended.err) == (1, True)
    runs = prefect.ask("flow_runs", flow_runs={"name": {"like_": "typed "}})
    assert [run["state_name"] for run in runs] == ["NotYet"]


def test_the_form_confirms_the_pilot_and_sends_the_others(
    desk: WarmDesk, prefect: PrefectServer
) -> None:
    """What the terminal does, Prefect's form does: the word is kept, and the rest is invited."""
    path = desk.campaign("piloted", 3)
    path.write_text(path.read_text() + "invites: {pilot: me@example.com}\n")
    assert desk.type("run", path).code == 3
    assert [one.email for one in desk.service.record.invitations] == ["me@example.com"]
    form = (
        "import asyncio; from flows.forms import confirm_pilot; "
        "asyncio.run(confirm_pilot('piloted', 'Grace', return_state=True))"
    )
    assert answer(desk.python(form)).code == 0
    assert len(desk.service.record.invitations) == 4
    runs = prefect.ask("flow_runs", flow_runs={"name": {"like_": "confirm pilot: piloted"}})
    assert [run["state_name"] for run in runs] == ["Completed"]
