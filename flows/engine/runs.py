"""Runs as Prefect knows them: the one under way here, others, and where each is at work."""

import inspect
import logging
import socket
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, TextIO, cast
from uuid import UUID

import psutil
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.filters import FlowFilter, FlowFilterName, FlowRunFilter
from prefect.client.schemas.objects import FlowRun
from prefect.client.schemas.sorting import FlowRunSort
from prefect.context import FlowRunContext
from prefect.exceptions import ObjectNotFound, SignatureMismatchError, TerminationSignal
from prefect.runtime import flow_run

MACHINE = "campaign.machine"  # the label of a run that says where it is at work
# Prefect's own, in each run and in whatever starts runs.
LISTENERS = ("FlowRunSuspendingObserver", "FlowRunCancellingObserver")
STEPS = "prefect.task_runs"  # what says how each step ended
RUNS = ("prefect.flow_runs", "prefect.engine")  # what says how a run ended
PRINTS = "critical_service_loop"  # what of Prefect prints stacks past its logs
_RUN = "PREFECT__FLOW_RUN_ID"  # in the environment of each process that runs a deployment
AT_ONCE = 200  # runs in an answer of Prefect; it gives no more


def this_run() -> FlowRun | None:
    """The run that is under way in this task, if one is."""
    context = FlowRunContext.get()
    return context.flow_run if context else None


async def root_run(client: PrefectClient) -> FlowRun:
    """The run that the one under way is a part of, or is itself."""
    return await client.read_flow_run(UUID(flow_run.root_flow_run_id or flow_run.id))


async def find_runs(
    client: PrefectClient,
    flows: Collection[str] = (),
    sort: FlowRunSort | None = None,
    limit: int = AT_ONCE,
    **where: Any,
) -> list[FlowRun]:
    """The runs of these flows (none: of any) that Prefect's filter of runs `where` lets through."""
    return await client.read_flow_runs(
        flow_filter=flows_named(flows) if flows else None,
        flow_run_filter=FlowRunFilter.model_validate(where),
        sort=sort,
        limit=limit,
    )


def flows_named(names: Collection[str]) -> FlowFilter:
    return FlowFilter(name=FlowFilterName(any_=[*names]))


async def say_where() -> None:
    """Say where the run that is under way is at work, if it has a process of its own."""
    run = this_run()
    if run is None or run.deployment_id is None:
        return
    async with get_client() as client:
        await client.update_flow_run_labels(run.id, {MACHINE: socket.gethostname()})


def is_of_this_machine(run: FlowRun) -> bool:
    """Whether a run said that it is at work here."""
    return run.labels.get(MACHINE) == socket.gethostname()


def runs_here() -> set[UUID]:
    """The runs of deployments that have a process on this machine."""
    runs = (run_of(process) for process in psutil.process_iter())
    return {run for run in runs if run is not None}


def run_of(process: psutil.Process) -> UUID | None:
    """The run of a deployment that a process is of."""
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return UUID(process.environ()[_RUN])
    except (psutil.Error, OSError, KeyError, ValueError):
        return None  # another person's, or none of a run


def leave_its_stack_out() -> None:
    """Leave out a stack trace where a signal ends a run while its last state is being recorded, or
    where Prefect's server goes away that a run, or what starts runs, listens to; and what stands in
    the place of a trace ("NoneType: None") where a step failed in our words. So it does where
    somebody deletes a run that is at work, or starts one with a parameter that there is none of
    (flows/serving/lookout.py says which).

    Prefect reports each in a line of its own; the event loop would add the trace. It holds for this
    process; calling it again changes nothing.
    """
    logging.getLogger("asyncio").addFilter(_is_no_end)
    for name in LISTENERS:
        logging.getLogger(f"prefect.{name}").addFilter(_without_its_stack)
    logging.getLogger(STEPS).addFilter(_without_an_empty_stack)
    for name in RUNS:
        logging.getLogger(name).addFilter(_without_that_of_a_wrong_run)


@contextmanager
def printed_stacks_left_out() -> Iterator[None]:
    """Leave out what Prefect prints, beside its logs, while its server does not answer."""
    with redirect_stdout(cast(TextIO, _WithoutStacks(sys.stdout))):
        yield


class _WithoutStacks:
    """Standard output for everybody but PRINTS; what runs say passes through it."""

    def __init__(self, output: TextIO) -> None:
        self._output = output

    def write(self, text: str) -> int:
        frame = inspect.currentframe()
        prints = frame and frame.f_back and frame.f_back.f_code.co_name == PRINTS
        return len(text) if prints else self._output.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._output, name)


def _is_no_end(record: logging.LogRecord) -> bool:
    terminated = record.exc_info and isinstance(record.exc_info[1], TerminationSignal)
    return not terminated and not any(name in record.getMessage() for name in LISTENERS)


def _without_its_stack(record: logging.LogRecord) -> bool:
    record.exc_info = record.exc_text = None
    return True


def _without_an_empty_stack(record: logging.LogRecord) -> bool:
    if record.exc_info and record.exc_info[0] is None:
        record.exc_info = None
    return True


def _without_that_of_a_wrong_run(record: logging.LogRecord) -> bool:
    wrong = ObjectNotFound | SignatureMismatchError
    if record.exc_info and isinstance(record.exc_info[1], wrong):
        record.exc_info = None
    return True
