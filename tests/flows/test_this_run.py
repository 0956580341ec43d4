"""What a run asks of Prefect's server, and what becomes of it when the server does not answer."""

import asyncio
import os
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from types import SimpleNamespace
from uuid import uuid4

import pytest
from prefect.exceptions import Abort
from prefect.runtime import flow_run
from prefect.states import Cancelling, Completed, Scheduled

from flows import this_run
from flows.this_run import begin_another, everything_recorded, go_on_later, stopping_gently

PAGE = 200  # as many answers a question to Prefect gets
LATER = datetime(2040, 1, 1, tzinfo=UTC)


class Prefect:
    """A server that takes down what it is asked for, unless it is away."""

    def __init__(self) -> None:
        self.is_away = False
        self.asked: list[dict] = []
        self.counted: set[str] = set()
        self.over: set[str] = set()  # what was planned before, and is over
        self.looks = 0  # at the run, which is being cancelled; the first has no answer

    async def create_flow_run_from_deployment(self, number: object, **asked) -> SimpleNamespace:
        self.asked.append(asked)
        is_over = asked["idempotency_key"] in self.over
        return SimpleNamespace(id="planned", state=Completed() if is_over else Scheduled())

    async def read_flow_run(self, number: object) -> SimpleNamespace:
        self.looks += 1
        if self.looks == 1:
            await asyncio.Event().wait()
        return SimpleNamespace(deployment_id=None, state=Cancelling())

    async def read_task_runs(self, task_run_filter) -> list[SimpleNamespace]:
        found = task_run_filter.id.any_[:PAGE]
        self.counted |= {str(each) for each in found}
        return [SimpleNamespace(id=each, state=Completed()) for each in found]


@pytest.fixture
def prefect(monkeypatch: pytest.MonkeyPatch) -> Prefect:
    server = Prefect()

    @asynccontextmanager
    async def client():
        if server.is_away:
            raise ConnectionError
        yield server

    monkeypatch.setattr(this_run, "get_client", client)
    asked = {"file": "my.yaml", "campaign": "mine", "digest": "of what was shown"}
    monkeypatch.setattr(flow_run, "parameters", asked, raising=False)
    return server


def test_all_that_wait_for_the_same_time_plan_one_run_and_none_that_is_over(
    prefect: Prefect,
) -> None:
    """It does the same file, as that is then."""
    for _ in range(2):
        asyncio.run(begin_another(LATER))
    once, again = (asked["idempotency_key"] for asked in prefect.asked)
    assert once == again
    assert prefect.asked[0]["parameters"] == {"file": "my.yaml", "campaign": "mine"}
    assert prefect.asked[0]["state"].state_details.scheduled_time == LATER
    prefect.over.add(once)
    asyncio.run(begin_another(LATER))
    assert prefect.asked[-1]["idempotency_key"] not in prefect.over


@pytest.mark.parametrize(
    "goes_on", [lambda: begin_another(LATER), lambda: go_on_later("interrupted", LATER)]
)
def test_without_an_answer_a_run_stays_under_way_to_be_taken_up(goes_on, prefect: Prefect) -> None:
    prefect.is_away = True
    with pytest.raises(Abort):  # which sets no state
        asyncio.run(goes_on())


@pytest.mark.parametrize("typed", [True, False])
def test_a_run_hears_of_a_cancel_that_a_busy_server_tells_late_and_of_its_worker_s_death(
    prefect: Prefect, monkeypatch: pytest.MonkeyPatch, typed: bool
) -> None:
    """A typed run has no worker; its shell may end before it."""
    parents: list[int] = []  # another one at each look
    monkeypatch.setattr(os, "getppid", lambda: parents.append(0) or len(parents))
    monkeypatch.setattr(this_run, "is_typed", lambda: typed)
    monkeypatch.setattr(this_run, "LOOKS", 0.0)
    monkeypatch.setattr(this_run, "ANSWERS_WITHIN", 0.1)
    monkeypatch.setattr(flow_run, "id", "this", raising=False)

    async def run() -> None:
        async with stopping_gently() as stop:
            await stop.wait()

    asyncio.run(run())
    assert (prefect.looks == 2) == typed


def test_every_task_run_is_seen_to_arrive_however_many_there_are(prefect: Prefect) -> None:
    tasks = [str(uuid4()) for _ in range(2 * PAGE + 1)]
    asyncio.run(everything_recorded(tasks))
    assert prefect.counted == {*tasks}
