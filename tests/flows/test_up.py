"""`campaign up` told to stop, or with a part of it killed, in the middle of sending."""

import signal
from collections.abc import Callable

import psutil
import pytest

from sandbox.faults import ALWAYS, late
from tests.promises.support.commands import Campaign
from tests.promises.support.up import Up

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
PEOPLE = 400  # half a minute of sending, if nothing stops it


def under_way(up: Up, service) -> None:
    """Sending, with most people still to come."""
    up.put("hiring", people=PEOPLE)
    up.until(lambda: service.arrived("invite", 12))


def part_of(up: Up, *words: str) -> psutil.Process:
    """The process of `up` whose command has these words."""
    children = psutil.Process(up.running.process.pid).children(recursive=True)
    (found,) = [each for each in children if each.cmdline()[1 : len(words) + 1] == [*words]]
    return found


@pytest.mark.parametrize(
    "stop",
    [
        lambda up: up.running.send(signal.SIGINT),  # its whole group
        lambda up: up.running.process.terminate(),  # it alone
    ],
    ids=["Ctrl-C", "systemd"],
)
def test_told_to_stop_it_leaves_nothing_unsure_and_the_same_run_goes_on(
    stop: Callable[[Up], None], campaign: Campaign, sandbox
) -> None:
    service = sandbox(invite=late(0.5, times=ALWAYS))
    with Up(campaign) as up:
        under_way(up, service)
        (run,) = up.runs("hiring")
        stop(up)
        up.running.process.wait(timeout=300)
    counts = campaign.status()["counts"]
    assert (counts["unsure"], counts["sending"]) == (0, 0)
    assert 0 < counts["invited"] == len(service.invited()) < PEOPLE
    service.faults["invite"] = None
    with Up(campaign) as up:
        up.ended("hiring")
        assert [(each["id"], each["state_type"]) for each in up.runs("hiring")] == [
            (run["id"], "COMPLETED")
        ]
        said = {"logs": {"flow_run_id": {"any_": [run["id"]]}, "level": {"ge_": 40}}}
        assert up.ask("POST", "logs/filter", said) == []  # it is well
    assert len(service.invited()) == PEOPLE
    assert not service.twice()


@pytest.mark.parametrize(
    "part",
    [("-m", "prefect", "worker", "start"), ("-m", "flows.server")],
    ids=["worker", "server"],
)
def test_a_part_that_is_killed_alone_is_started_again_and_its_run_never_stops(
    part: tuple[str, ...], campaign: Campaign, sandbox
) -> None:
    service = sandbox(invite=late(0.5, times=ALWAYS))
    with Up(campaign) as up:
        under_way(up, service)
        part_of(up, *part).kill()
        up.running.until_shown("is started again")
        service.faults["invite"] = None
        up.until(lambda: len(service.invited()) == PEOPLE)
        up.until(lambda: [run["state_type"] for run in up.runs("hiring")] == ["COMPLETED"])
        assert set(campaign.states().values()) == {"done"}
    assert not service.twice()


def test_it_prints_its_login_at_a_terminal_alone_and_what_it_put_right(
    campaign: Campaign, sandbox
) -> None:
    sandbox()
    with Up(campaign) as up:
        up.running.until_shown("Ready.")
        assert up.login not in up.running.shown()
        assert "job template" not in up.running.shown()
        other = {key: {"type": "object"} for key in ("job_configuration", "variables")}
        up.ask("PATCH", "work_pools/campaigns", {"base_job_template": other})
    again = campaign.start("up", up.folder, "--port", up.port, terminal=True).until_shown("Ready.")
    assert up.login in again.shown()
    assert "The job template of the work pool campaigns was changed." in again.shown()


CANCELLED = {"state": {"type": "CANCELLING"}, "force": True}
FORCED = {"state": {"type": "FAILED", "name": "Failed"}, "force": True}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "flow_runs/{run}/set_state", CANCELLED),
        ("DELETE", "flow_runs/{run}", None),
        ("DELETE", "deployments/{deployment}", None),
        ("POST", "flow_runs/{run}/set_state", FORCED),
    ],
    ids=["cancelled", "deleted", "its deployment deleted", "forced"],
)
def test_whatever_ends_a_run_in_prefect_ends_its_sending_as_gently(
    method: str, path: str, body: dict | None, campaign: Campaign, sandbox
) -> None:
    service = sandbox(invite=late(0.5, times=ALWAYS))
    with Up(campaign) as up:
        under_way(up, service)
        (run,) = up.runs("hiring")
        up.ask(method, path.format(run=run["id"], deployment=run["deployment_id"]), body)
        up.until(lambda: campaign.status()["counts"]["sending"] == 0)
        service.faults["invite"] = None
        up.put("other", people=["eve@people.test"], problem=43)
        up.ended("other")  # meanwhile it has looked again and again
        left = up.runs("hiring")
        assert not {run["state_type"] for run in left} & {"COMPLETED", "SCHEDULED"}
        if body is CANCELLED:
            up.until(lambda: "interrupted:" in str(up.runs("hiring")[0]["state"]["message"]))
            assert [run["state_type"] for run in up.runs("hiring")] == ["CANCELLED"]
    assert "unsure" not in campaign.states().values()
    assert len(service.invited()) < PEOPLE + 1


def test_what_is_too_early_goes_on_later(campaign: Campaign, sandbox) -> None:
    sandbox()
    with Up(campaign) as up:
        dates = {"starttime": "2040-01-01 09:00", "endtime": "2040-02-01 09:00"}
        project = {"name": "Evening", "timezone": "Europe/Paris"} | dates
        invites = {"not_before": "2039-05-04 09:00"}
        up.put("evening", people=2, problem=43, project=project, invites=invites)
        campaign("block", "ada@people.test", "--why", "she asked")
        them = ["ada@people.test", "ben@people.test"]
        up.put("partly", people=them, problem=43, project=project, invites=invites)
        for key, state in (("evening", "COMPLETED"), ("partly", "FAILED")):
            # Somebody of the second is held, which is to be seen; the other goes on.
            assert up.ended(key)["state_type"] == state
            (goes_on,) = [run for run in up.runs(key) if run["state_type"] == "SCHEDULED"]
            assert goes_on["next_scheduled_start_time"].startswith("2039-05-04T07:00")
        assert up.ended("evening")["state"]["message"].startswith("not yet: 0 of 2 invited")
