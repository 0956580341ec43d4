"""What a scheduled run tells Prefect beside its states, so that these are heard at once."""

import asyncio
from datetime import UTC, datetime
from typing import Any
from unittest.mock import AsyncMock
from uuid import uuid4

import pytest
from prefect.client.schemas.objects import FlowRun
from prefect.states import Running, Scheduled, State

from flows.batch import run_batch
from flows.campaign import run_campaign
from flows.engine import event_order
from flows.inbox import watch_inbox

FIRST: State[Any] = Scheduled(scheduled_time=datetime(2026, 12, 1, tzinfo=UTC))


@pytest.mark.parametrize("flow", [run_campaign, run_batch, watch_inbox])
@pytest.mark.parametrize("scheduled", [True, False])
def test_a_scheduled_run_says_what_the_scheduler_left_out(
    monkeypatch: pytest.MonkeyPatch, flow: Any, scheduled: bool
) -> None:
    """That it was, as the event that the next one names. Where Prefect said it, nothing."""
    said: list[tuple[str, object]] = []
    monkeypatch.setattr(
        event_order, "emit_event", lambda event, **more: said.append((event, more["id"]))
    )
    client = AsyncMock()
    client.read_flow_run_states.return_value = [Running(), FIRST]
    client.__aenter__.return_value = client
    monkeypatch.setattr(event_order, "get_client", lambda: client)
    run = FlowRun(id=uuid4(), flow_id=uuid4(), auto_scheduled=scheduled)
    for hook in flow.on_running_hooks:
        asyncio.run(hook(flow, run, Running()))
    assert said == ([("prefect.flow-run.Scheduled", FIRST.id)] if scheduled else [])
