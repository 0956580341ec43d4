"""What the ledger remembers of what people were told."""

import asyncio
from collections.abc import Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from uuid import UUID, uuid4

import pytest
from prefect import Flow
from prefect.client.schemas.objects import FlowRun, State, StateType

from data.campaigns import notices
from data.store.clock import now
from data.store.ledger import Ledger
from flows.campaign import run_campaign
from flows.pages.notices import AT_WORK, OurFlow, tell, tell_what_waits
from tests.support.ledgers.databases import ledger_at
from tests.support.webhook import Webhook, webhook


@pytest.fixture
def hook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Webhook]:
    with webhook() as hook:
        monkeypatch.setenv("CAMPAIGN_NOTIFY_URL", hook.url)
        monkeypatch.setenv("CAMPAIGN_DATABASE_URL", ledger_at(tmp_path))
        yield hook


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(ledger_at(tmp_path)) as ledger:
        yield ledger


def test_a_state_of_a_run_is_noted_once(ledger: Ledger) -> None:
    """Whoever comes second, the run or a look at it, has nothing to tell."""
    first = ledger.write(notices.note, "a run", "Gone", "spring: Gone.", now())
    assert first is not None
    assert ledger.write(notices.note, "a run", "Gone", "spring: Gone.", now()) is None
    assert ledger.write(notices.note, "a run", "Stopped", "spring: Stopped.", now()) is not None
    assert ledger.read(notices.noted, ["a run"]) == {("a run", "Gone"), ("a run", "Stopped")}


def test_what_was_not_taken_is_told_by_a_later_look(hook: Webhook, ledger: Ledger) -> None:
    """Until it is taken, and then never again; what somebody may be telling just now is left."""
    long_ago = now() - AT_WORK
    for key, at in (("first", long_ago), ("second", long_ago), ("third", now())):
        ledger.write(notices.note, key, "Stopped", f"{key}: Stopped.", at)
    hook.refuses = True
    asyncio.run(tell_what_waits())
    assert (hook.refused, hook.told) == (1, [])
    hook.refuses = False
    for _ in range(2):
        asyncio.run(tell_what_waits())
    assert hook.told == ["first: Stopped.", "second: Stopped."]


def test_what_is_noted_goes_after_a_while(ledger: Ledger) -> None:
    """A ledger that is used for years does not grow by what was told long ago."""
    old = now() - notices.KEPT - timedelta(seconds=1)
    ledger.write(notices.note, "old", "Stopped", "old: Stopped.", old)
    ledger.write(notices.note, "new", "Stopped", "new: Stopped.", now())
    assert ledger.read(notices.noted, ["old", "new"]) == {("new", "Stopped")}


def test_without_a_ledger_nothing_waits(tmp_path: Path, hook: Webhook) -> None:
    asyncio.run(tell_what_waits())
    assert hook.told == []
    assert not (tmp_path / "ledger.db").exists()


@pytest.mark.parametrize(
    ("kind", "deployment", "told"),
    [
        (StateType.FAILED, uuid4(), True),
        (StateType.CRASHED, None, True),
        (StateType.CRASHED, uuid4(), False),
    ],
)
def test_of_a_deployed_run_that_crashed_only_the_lookout_tells(
    hook: Webhook,
    ledger: Ledger,
    monkeypatch: pytest.MonkeyPatch,
    kind: StateType,
    deployment: UUID | None,
    told: bool,
) -> None:
    """Where it crashed before it began, it still has a name that Prefect made up."""
    run = FlowRun(id=uuid4(), flow_id=uuid4(), name="admirable-kraken", deployment_id=deployment)

    async def read_flow_run(_: UUID) -> FlowRun:
        return run

    @asynccontextmanager
    async def client():  # type: ignore[no-untyped-def]  # Prefect's, as far as it is asked
        yield SimpleNamespace(read_flow_run=read_flow_run)

    monkeypatch.setattr("flows.pages.notices.get_client", client)
    asyncio.run(tell(run_campaign, run, State(type=kind, name="Ended")))
    assert bool(hook.told) is told


@pytest.mark.parametrize(
    "parameters",
    [
        {"file": "hiring.yaml", "campaign": None, "accept_removed": True, "wave": 3},
        {"file": Path("hiring.yaml"), "campaigns": ["spring", Path("fall")]},
        {},
    ],
)
def test_parameters_reach_prefect_as_it_would_send_them(parameters: dict[str, object]) -> None:
    """Whether they are plain already, or Prefect has to make them so."""
    there = Flow.serialize_parameters(run_campaign, parameters)
    assert run_campaign.serialize_parameters(parameters) == there
    assert isinstance(run_campaign, OurFlow)
