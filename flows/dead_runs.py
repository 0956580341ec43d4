"""How `campaign up` looks after runs of campaigns in Prefect, every few seconds.

A run whose process is gone begins again as the same run. If several runs wait that would do the
same, only the first is kept. Runs to come get their names, and ended runs get their tags.
"""

import asyncio
import logging
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil
from prefect.client.orchestration import PrefectClient
from prefect.client.schemas.filters import FlowFilter, FlowRunFilter, LogFilter
from prefect.client.schemas.objects import FlowRun, State, WorkerStatus
from prefect.client.schemas.sorting import FlowRunSort
from prefect.states import AwaitingRetry, Cancelled
from sqlmodel import func, select

from config.errors import CampaignError, command
from config.reading import key_of
from data.store.lease import is_free
from data.store.ledger import Ledger
from data.store.tables import Campaign, Request, Run
from flows.deployments import FORMS, POOL
from flows.ending import End, Ending
from flows.notices import note_situation
from flows.page import SOLVE, announce, tag
from flows.this_run import CAMPAIGN, named

QUIET = 45.0  # seconds after which a run without a lease, or without its worker, counts as dead
TRIES = 6  # times that a run begins again without sending anything
OUR_WORKERS = f"{socket.gethostname()} "  # the names of our workers begin with this text
RECENT = timedelta(days=30)  # a run that crashed earlier does not begin again
A_WHILE = timedelta(minutes=5)  # after its end, a run's message and tag are repaired for this long
# What Prefect's message begins with if a signal ended a run.
BY_SIGNAL = ("Execution was cancelled", "Execution was aborted")
OVERWRITTEN = "Flow run was cancelled successfully."  # Prefect's worker puts this over our message
CANCELLED = f"{End.INTERRUPTED}: it was cancelled while nothing of it was at work."
GOES_ON = "Its process was gone; it goes on."
NEVER_BEGAN = (
    "it could not begin: its parameters are wrong, or its deployment names a module that is not "
    "there. The log of the run says which. Correct it, and start a new run."
)
GONE = "its process died again and again. What it sent is recorded."


class Runs:
    """Has each run of a worker begin again, as the same run, once the run's process is gone."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._gone_since: dict[tuple[object, object], float] = {}  # by run and state

    async def go_on(self, client: PrefectClient) -> None:
        """Have each run that is dead begin again, or say why it does not."""
        since, self._gone_since = self._gone_since, {}  # if this look fails, all runs wait anew
        here, looked = await asyncio.to_thread(_alive_here), time.monotonic()
        at_work = await _read(client, "PENDING", "RUNNING", "CANCELLING")
        # Selected by the time of the crash: a run may have been created weeks before.
        crashed = await _read(client, "CRASHED", within=RECENT)
        failed: list[Exception] = []
        for run in (*at_work, *crashed):
            with stops_no_other(run.name, failed):
                if run.state is None or run.deployment_id is None:  # a person typed it
                    continue
                if run.state.is_crashed():  # the run's worker saw it die
                    await self._revive(client, run, await _never_began(client, run))
                elif not await self._is_at_work(client, run, here):
                    which = run.id, run.state.id
                    first = self._gone_since[which] = since.get(which, looked)
                    # A run becomes Pending before its worker writes the worker's name into it.
                    gone = _is_ours(run) and not run.state.is_pending()
                    if looked - first > (0.0 if gone else QUIET):
                        await self._revive(client, run)
        if failed:
            raise failed[0]

    async def _revive(self, client: PrefectClient, run: FlowRun, end: Ending | None = None) -> None:
        """Have a dead run begin again, or give it its ending."""
        # The run keeps its own time, so that it comes before runs that were due later.
        first = run.expected_start_time
        state: State[Any] = AwaitingRetry(message=GOES_ON, scheduled_time=first)
        if run.state is not None and run.state.is_cancelling():  # no process is left to end it
            state = Cancelled(message=CANCELLED)
        elif ending := end or await self._gives_up(client, run):
            state = ending.state()
            note_situation(ending)
            await announce(ending, {})  # emits an event; `repair_endings` sets the run's tag
        await client.set_flow_run_state(run.id, state, force=True)

    async def _gives_up(self, client: PrefectClient, run: FlowRun) -> Ending | None:
        """The ending of a run that began again too often; None: it may begin again."""
        sent = select(func.max(Request.claimed_at)).join(Run).join(Campaign)
        with self._ledger.reading() as session:
            last = session.exec(sent.where(Campaign.key == _key_of(run))).one()
        states = await client.read_flow_run_states(run.id)
        began = [state.timestamp for state in states if state.message == GOES_ON]
        if sum(last is None or at > last for at in began) < TRIES:
            return None
        typed = command("run", run.parameters.get("file"))
        return Ending(_key_of(run) or run.name, End.STOPPED, GONE, typed)

    async def _is_at_work(self, client: PrefectClient, run: FlowRun, here: set[str]) -> bool:
        """Whether its process lives, or its lease is held elsewhere, or a worker will begin it."""
        waits, worker = run.state is not None and run.state.is_pending(), _worker_of(run)
        if str(run.id) in here or (waits and worker in here):
            return True
        if _is_ours(run):
            return False
        if waits:
            workers = await client.read_workers_for_work_pool(POOL)
            return worker in {w.name for w in workers if w.status is WorkerStatus.ONLINE}
        key = _key_of(run)
        return key is not None and not is_free(self._ledger, key)


async def tidy(client: PrefectClient) -> None:
    """Name the runs to come. Of runs that are due and would do the same, keep the first.

    The first keeps its place in Prefect's queue, so no campaign starves.
    """
    at, first = datetime.now(UTC), dict[tuple[object, ...], FlowRun]()
    for run in await _read(client, "SCHEDULED"):
        if run.name != (name := named(run.parameters, run.expected_start_time)):
            await client.update_flow_run(run.id, name=name)
        same, due = (run.deployment_id, str(run.parameters)), run.expected_start_time or at
        if due <= at and first.setdefault(same, run) is not run:
            await client.delete_flow_run(run.id)  # the schedule does not make it again


async def repair_endings(client: PrefectClient) -> None:
    """Repair what shows how runs ended: tags that a busy server did not take, and messages that
    Prefect's worker overwrote. A run loses its tag once a later run or form has solved its problem.
    """
    over = await _read(client, "CANCELLED", "FAILED", "COMPLETED", within=A_WHILE, forms=True)
    solved: set[str | None] = set()
    for run in sorted(over, key=lambda each: str(each.end_time), reverse=True):
        said, key = (run.state and run.state.message) or "", _key_of(run)
        if said == OVERWRITTEN:
            for state in await client.read_flow_run_states(run.id):
                if (state.message or "").startswith(End.INTERRUPTED):
                    ours: State[Any] = Cancelled(message=state.message)
                    await client.set_flow_run_state(run.id, ours, force=True)
        kind = next((each for each in End if said.startswith(f"{each}: ")), None)
        if kind in SOLVE:
            solved.add(key)
        if kind is not None:
            await tag(client, run, None if key in solved else kind)


@contextmanager
def stops_no_other(name: str, failed: list[Exception]) -> Iterator[None]:
    """Collect an error, with this name as its note, so that other runs or files have their turn."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - whatever it is
        error.add_note(name)
        failed.append(error)


def _alive_here() -> set[str]:
    """The run ids and worker names of all processes on this machine, among other words."""
    found: set[str] = set()
    for process in psutil.process_iter():
        with suppress(psutil.Error):  # a process has ended, or is another user's
            found |= {process.environ().get("PREFECT__FLOW_RUN_ID", ""), *process.cmdline()}
    return found - {""}


def _worker_of(run: FlowRun) -> str:
    return str(run.labels.get("prefect.worker.name", ""))


def _is_ours(run: FlowRun) -> bool:
    """Whether a worker of `campaign up` on this machine began the run."""
    return _worker_of(run).startswith(OUR_WORKERS)


def _key_of(run: FlowRun) -> str | None:
    try:
        key: str = run.parameters.get("campaign") or key_of(Path(run.parameters["file"]))
    except (CampaignError, KeyError):
        return None
    return key


async def _never_began(client: PrefectClient, run: FlowRun) -> Ending | None:
    """The ending of a run whose code never began and whose log has an error; else None."""
    by_signal = run.state is not None and (run.state.message or "").startswith(BY_SIGNAL)
    if run.run_count or by_signal:
        return None
    said = {"flow_run_id": {"any_": [run.id]}, "level": {"ge_": logging.ERROR}}
    knows = await client.read_logs(LogFilter.model_validate(said))
    return Ending(_key_of(run) or run.name, End.BAD_INPUT, NEVER_BEGAN) if knows else None


async def _read(
    client: PrefectClient, *states: str, within: timedelta | None = None, forms: bool = False
) -> list[FlowRun]:
    """Runs in these states by due time, with `forms` also of forms; `within`: ended so recently."""
    wanted: dict[str, Any] = {"state": {"type": {"any_": states}}}
    if within is not None:
        wanted["end_time"] = {"after_": datetime.now(UTC) - within}
    flows, found = [CAMPAIGN, *(FORMS if forms else ())], list[FlowRun]()
    while page := await client.read_flow_runs(
        flow_filter=FlowFilter.model_validate({"name": {"any_": flows}}),
        flow_run_filter=FlowRunFilter.model_validate(wanted),
        sort=FlowRunSort.EXPECTED_START_TIME_ASC,
        offset=len(found),
    ):
        found += page
    return found
