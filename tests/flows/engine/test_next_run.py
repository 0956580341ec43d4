"""Waiting campaigns continue by themselves: the run that finds one waiting schedules the next."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.prefects.prefect_home import PrefectServer, WarmDesk, answer

pytestmark = [pytest.mark.xdist_group("prefect"), pytest.mark.timeout(600)]

# Deploys a file, asks for a run of it, and executes that run as a worker does.
DEPLOYED = """\
import asyncio, os, sys
from pathlib import Path
from prefect.client.orchestration import get_client
from flows.serving.deployments import look_up, to_serve
from flows.serving.given import planned_of

async def deployed():
    [planned], _ = planned_of([Path(sys.argv[1])], None)
    async with get_client() as client:
        made = await (await to_serve(planned, await look_up(client, planned))).aapply()
        return (await client.create_flow_run_from_deployment(made)).id

os.environ["PREFECT__FLOW_RUN_ID"] = str(asyncio.run(deployed()))
os.execv(sys.executable, [sys.executable, "-m", "prefect.engine"])
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


def test_what_a_person_typed_is_told_and_not_scheduled(
    desk: WarmDesk, prefect: PrefectServer
) -> None:
    """Nobody deployed it: the moment is said, and nothing happens behind anybody's back."""
    path = desk.campaign("typed", 3)
    path.write_text(path.read_text() + "invites: {waves: [2, rest], between: 1 hour}\n")
    ended = desk.type("run", path)
    assert (ended.code, "Wave 2 of the invitations goes out from" in ended.err) == (1, True)
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
