"""Which runs a worker takes, beside those it has."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from prefect.client.schemas.objects import FlowRun
from prefect.utilities.dispatch import lookup_type
from prefect.workers.base import BaseWorker
from prefect.workers.process import ProcessWorker

from flows.engine.sharing import WAVE_RUN
from flows.serving.pool_worker import FOR_OTHERS, is_its_turn

AT = datetime(2026, 12, 1, 9, tzinfo=UTC)


def due(tags: list[str], ago: timedelta) -> FlowRun:
    return FlowRun(id=uuid4(), flow_id=uuid4(), tags=tags, expected_start_time=AT - ago)


@pytest.mark.parametrize(
    ("others", "ago", "takes"),
    [(0, 0.0, True), (1, 0.0, False), (1, 1.0, True), (2, 1.0, False), (2, 2.0, True)],
)
def test_wave_runs_go_to_a_worker_that_has_fewer(others: int, ago: float, takes: bool) -> None:
    """Whoever has some runs of the campaign waits so many times; others of them come first."""
    assert is_its_turn(due([WAVE_RUN], ago * FOR_OTHERS), others, AT) is takes


@pytest.mark.parametrize("others", [0, 1, 9])
def test_any_other_run_waits_for_nobody(others: int) -> None:
    """A form is filled in by a person, who looks at it."""
    assert is_its_turn(due(["campaign:spring"], timedelta()), others, AT)


def test_prefect_goes_on_starting_its_own_worker() -> None:
    """`prefect worker start` names a type, and ours is of the same one."""
    assert lookup_type(BaseWorker, ProcessWorker.type) is ProcessWorker
