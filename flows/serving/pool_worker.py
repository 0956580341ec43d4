"""A worker of a pool: Prefect's own, with two differences.

Told to stop, it lets its runs end gently first, as `campaign serve` does. And it leaves the wave
runs of a campaign that it sends for to other workers for a while, so that they spread.
"""

import abc
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from prefect.client.schemas.objects import FlowRun
from prefect.workers.process import ProcessJobConfiguration, ProcessWorker, ProcessWorkerResult

from flows.engine.sharing import WAVE_RUN
from flows.serving.serving import Served, until_stopped

if TYPE_CHECKING:
    from prefect.client.schemas.responses import WorkerFlowRunResponse

FOR_OTHERS = timedelta(seconds=30)


class PoolWorker(ProcessWorker, abc.ABC):  # ABC: Prefect does not register it by its type's name
    """Prefect's process worker, which can take no more runs, and spreads wave runs."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._closed = False
        self._sends_for: list[object] = []  # keys of the campaigns whose runs are under way here

    def close(self) -> None:
        self._closed = True

    async def run(
        self,
        flow_run: FlowRun,
        configuration: ProcessJobConfiguration,
        task_status: Any = None,
    ) -> ProcessWorkerResult:
        """Run it in a process of its own."""
        key = flow_run.parameters.get("campaign")
        self._sends_for.append(key)
        try:
            return await super().run(flow_run, configuration, task_status)
        finally:
            self._sends_for.remove(key)

    async def _submit_scheduled_flow_runs(
        self, flow_run_response: "list[WorkerFlowRunResponse]"
    ) -> list[FlowRun]:
        sends_for, taken = Counter(self._sends_for), []
        for each in flow_run_response if not self._closed else []:
            key = each.flow_run.parameters.get("campaign")
            if is_its_turn(each.flow_run, sends_for[key], datetime.now(UTC)):
                sends_for[key] += 1
                taken.append(each)
        return await super()._submit_scheduled_flow_runs(taken)


def is_its_turn(run: FlowRun, others: int, at: datetime) -> bool:
    """Whether a worker takes a run that has so many `others` of its campaign under way."""
    waits = FOR_OTHERS * others if WAVE_RUN in run.tags else timedelta()
    return at - (run.expected_start_time or at) >= waits


async def work(
    pool: str, *, patience: float, limit: int | None, health: bool, ready: Callable[[], None]
) -> None:
    """Run what comes due in a pool, until SIGINT or SIGTERM.

    `patience` is in seconds: how long runs under way may take to end by themselves; `limit` how
    many there may be at once. `health`: answer on a port whether it still works (Prefect's
    settings name it). `ready` is called once.
    """
    worker = PoolWorker(work_pool_name=pool, limit=limit)

    async def begin() -> None:
        ready()

    async def end() -> bool:
        return False

    start = partial(worker.start, with_healthcheck=health, printer=lambda _: None)
    await until_stopped(Served(begin, start, end, worker.close), patience, alone=False)
