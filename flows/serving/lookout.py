"""Runs whose process is gone: found, told to a person, and begun again.

Prefect's server only knows what it was told, and a killed process tells nothing. So `campaign up`,
`serve` and `worker` look every few seconds, from their start on. Whatever is begun again, the
ledger decides what may be sent.
"""

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from uuid import UUID

from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.objects import FlowRun, State, StateType
from prefect.client.schemas.sorting import FlowRunSort
from prefect.events.filters import EventFilter, EventOccurredFilter, EventResourceFilter
from prefect.exceptions import ObjectNotFound
from prefect.logging import get_logger
from prefect.states import Crashed, Failed, Scheduled

from config.mistakes import shown
from config.timetable.moments import in_zone
from data.store.clock import now
from flows.campaign import run_campaign
from flows.engine.runs import find_runs, flows_named, is_of_this_machine, runs_here
from flows.forms import NOT_DECIDED
from flows.pages.final_states import BAD_INPUT, STOPPED
from flows.pages.notices import not_noted, tell_of, tell_what_waits
from flows.serving.deployments import FLOWS, forms
from flows.wave_run import share_campaign

EVERY = 10.0  # seconds between two looks
# A run says every 30 seconds that it lives (flows/engine/prefect_settings.py).
SILENCE = timedelta(seconds=90)
A_MOMENT = timedelta(seconds=20)  # a run's process may begin so long after its state says that it
# runs, and may be gone so long before its state says that it ended
STARTS = timedelta(seconds=45)  # from a worker's taking a run, on any machine, to its process
TELLS = timedelta(minutes=1)  # a run may take so long to send the notice of its own end
OLDEST = timedelta(days=1)  # what ended before is no longer looked at
# A run that lives so long is not one that crashes at every start.
WELL = timedelta(minutes=10)
IN_A_ROW = 5
GONE = "Gone"  # the state of a run whose process is gone; its type is crashed
MESSAGE = "Its process is gone. What it was sending at that moment is unsure."
NEVER_BEGAN = "Its process is gone. It had not begun, so it sent nothing."
BEGUN_AGAIN = "Another run goes on with the rest."
TOO_OFTEN = (
    f"That was the {IN_A_ROW + 1}th time in a row, so no other run is started. "
    "Find out why, then run it again."
)
_NAMED = re.compile(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}")  # by us; Prefect's own names say nothing
_AGAIN = "begun again"  # the beginning of an idempotency key: Prefect starts only one such run


# -- what is decided ----------------------------------------------------------------------------


def is_gone(since: datetime, heard: datetime | None, at: datetime, patience: timedelta) -> bool:
    """Whether a run without a process is gone: nothing was heard of it for so long.

    `since` is when its state was set, or, where that was later, when we began to listen.
    """
    return at - max(since, heard or since) >= patience


def patience_with(run: FlowRun, of_here: bool) -> timedelta:
    """How long nothing may be heard of a run; `of_here`: its process could be seen here."""
    if of_here:
        return A_MOMENT
    return STARTS if run.state is not None and run.state.type is StateType.PENDING else SILENCE


def in_a_row(run: FlowRun) -> int:
    """How often a run was begun again before, one soon after the other."""
    words = (run.idempotency_key or "").split()
    return int(words[2]) if " ".join(words[:2]) == _AGAIN else 0


def key_of_next(run: FlowRun) -> str | None:
    """The key of the run that goes on where this one crashed; None where nothing is to go on."""
    ended, began = run.state.timestamp if run.state else None, run.start_time
    lived = ended - began if ended and began else timedelta()
    number = 1 if lived >= WELL else in_a_row(run) + 1
    return f"{_AGAIN} {number} {run.id}" if number <= IN_A_ROW else None


def goes_on_by_itself(run: FlowRun, later: Sequence[FlowRun], at: datetime) -> bool:
    """Whether a later run of the same deployment does what a crashed one was doing."""
    return any(
        other.id != run.id and other.parameters == run.parameters and _is_under_way(other, run, at)
        for other in later
    )


def _is_under_way(other: FlowRun, run: FlowRun, at: datetime) -> bool:
    if other.state is None or run.state is None:
        return False
    if other.state.type in (StateType.PENDING, StateType.RUNNING):
        return True
    if other.state.type is StateType.SCHEDULED:
        return other.expected_start_time is not None and other.expected_start_time <= at + A_MOMENT
    return other.start_time is not None and other.start_time >= run.state.timestamp


def is_told(flow: str, run: FlowRun, at: datetime) -> bool:
    """Whether a notice is due now of how a run of a flow ended.

    Most runs send it themselves, at their end. For a wave run the campaign's main run does, and for
    a form the run that it started.
    """
    if run.state is None or flow == share_campaign.name:
        return False
    if is_crashed(run):
        return True
    is_final = flow not in _forms() or run.state.name == NOT_DECIDED
    return is_final and at - run.state.timestamp >= TELLS


def _forms() -> set[str]:
    return {form.flow.name for form in forms()}


def is_crashed(run: FlowRun) -> bool:
    """Whether its process ended without a word of its own."""
    return run.state is not None and run.state.type is StateType.CRASHED


def not_taken(flow: str, run: FlowRun) -> str:
    """Say which parameters of a run its flow does not have; nothing where it has all of them.

    Prefect's server takes any, and then no process can begin with them.
    """
    parameters = FLOWS[flow].parameters.properties
    unknown = " or ".join(shown(name) for name in run.parameters if name not in parameters)
    return unknown and (
        f"There is no parameter {unknown}; there are {', '.join(parameters)}. Nothing was sent. "
        "Start another run with these alone."
    )


def what_next(run: FlowRun) -> str:
    """What becomes of a run that crashed; nothing of others, or of one that somebody typed."""
    if not is_crashed(run) or run.deployment_id is None:
        return ""
    return BEGUN_AGAIN if key_of_next(run) else TOO_OFTEN


# -- what is done -------------------------------------------------------------------------------


class Lookout:
    """Looks for runs whose process is gone.

    `alone`: this server has no runs on other machines.
    """

    def __init__(self, *, alone: bool) -> None:
        self._alone = alone
        self._listening: datetime | None = None  # since when the server answers
        self._is_away = False
        self._looked_after: set[UUID] = set()
        self._told: set[UUID] = set()

    async def keep(self) -> None:
        """Look again and again, until this is cancelled."""
        while True:
            try:
                await self.look()
                self._is_away = False
            except Exception as error:  # noqa: BLE001 - Prefect may fail in ways of its own
                if not self._is_away:
                    _not_looked_after(error)
                self._is_away, self._listening = True, None
            await asyncio.sleep(EVERY)

    async def look(self) -> None:
        """Mark, tell and begin again what is gone, and tell what nobody has told."""
        async with get_client() as client:
            self._listening = self._listening or now()
            await self._mark(client)
            late = {"before_": now() - A_MOMENT}  # nobody began these when they came due
            scheduled = {"type": {"any_": [StateType.SCHEDULED]}}
            for run in await find_runs(client, FLOWS, state=scheduled, expected_start_time=late):
                await self._name(client, run)
            ended, flows = await _ended(client), await _flows(client)
            for run in ended:
                if is_crashed(run):
                    await self._look_after(client, run, flows[run.flow_id])
        await self._tell([run for run in ended if is_told(flows[run.flow_id], run, now())])
        await tell_what_waits()

    async def _mark(self, client: PrefectClient) -> None:
        begun = [StateType.PENDING, StateType.RUNNING]
        under_way = await find_runs(client, FLOWS, state={"type": {"any_": begun}})
        here = await asyncio.to_thread(runs_here) if under_way else set()
        for run in under_way:
            if run.id not in here and await self._is_gone(client, run):
                message = MESSAGE if run.start_time else NEVER_BEGAN
                state: State[None] = Crashed(name=GONE, message=message)
                await client.set_flow_run_state(run.id, state)  # refused where it has ended

    async def _is_gone(self, client: PrefectClient, run: FlowRun) -> bool:
        if run.state is None or self._listening is None:
            return False
        # What was typed in a terminal, and a run within another one, has no process of its own.
        of_here = run.deployment_id is not None and (self._alone or is_of_this_machine(run))
        patience = patience_with(run, of_here)
        since = max(run.state.timestamp, self._listening)
        if not is_gone(since, None, now(), patience):
            return False
        return of_here or is_gone(since, await _heard(client, run), now(), patience)

    async def _look_after(self, client: PrefectClient, run: FlowRun, flow: str) -> None:
        """Name a run that crashed, and begin again what it was doing, if it could begin."""
        if run.id in self._looked_after or run.deployment_id is None:
            return
        await self._name(client, run)
        if why := not_taken(flow, run):
            run.state = Failed(name=NOT_DECIDED if flow in _forms() else BAD_INPUT, message=why)
            await client.set_flow_run_state(run.id, run.state, force=True)
            get_logger("campaign").warning("%s: %s", run.name, why)
        else:
            with suppress(ObjectNotFound):  # its deployment is gone: nothing is to be done any more
                await begin_again(client, run, flow, key_of_next(run))
        self._looked_after.add(run.id)

    async def _name(self, client: PrefectClient, run: FlowRun) -> None:
        """Name a run that never came so far as to name itself."""
        due = run.expected_start_time
        if due is None or run.deployment_id is None or _NAMED.search(run.name):
            return
        with suppress(ObjectNotFound):
            deployment = await client.read_deployment(run.deployment_id)
            zones = (getattr(each.schedule, "timezone", None) for each in deployment.schedules)
            what = run.parameters.get("campaign") or deployment.name
            run.name = f"{what} {in_zone(due, next(zones, None))}"
            await client.update_flow_run(run.id, name=run.name)

    async def _tell(self, runs: Sequence[FlowRun]) -> None:
        """Send the notices of runs that did not send them themselves."""
        fresh = [run for run in runs if run.id not in self._told]
        for run in await not_noted(fresh):
            if run.state is not None:
                await tell_of(run, run.state, what_next(run))
        self._told |= {run.id for run in fresh}


async def go_on_later(runs: Sequence[UUID]) -> None:
    """Start other runs that do the rest of these, which were told to stop. Raises nothing."""
    try:
        async with get_client() as client:
            flows = await _flows(client)
            for run in [await client.read_flow_run(each) for each in runs]:
                if run.state_name == STOPPED or is_crashed(run):
                    with suppress(ObjectNotFound):  # of this one alone: the others go on
                        await begin_again(client, run, flows[run.flow_id], f"{_AGAIN} 0 {run.id}")
    except Exception as error:  # noqa: BLE001 - Prefect may fail in ways of its own
        _not_looked_after(error)


async def begin_again(client: PrefectClient, run: FlowRun, flow: str, key: str | None) -> None:
    """Start a run that does the rest of this one, if none does already. Raises ObjectNotFound."""
    if key is None or run.deployment_id is None:
        return
    deployment, parameters = run.deployment_id, run.parameters
    if flow in _forms():  # its answer was recorded, or has to be given again: run the campaign
        name = f"{run_campaign.name}/{parameters['campaign']}"
        deployment, parameters = (await client.read_deployment_by_name(name)).id, {}
    elif goes_on_by_itself(run, await _later(client, run), now()):
        return
    await client.create_flow_run_from_deployment(
        deployment, parameters=parameters, state=Scheduled(), idempotency_key=key
    )


async def _ended(client: PrefectClient) -> list[FlowRun]:
    return await find_runs(
        client,
        FLOWS,
        FlowRunSort.EXPECTED_START_TIME_DESC,
        state={"type": {"any_": [StateType.CRASHED, StateType.FAILED]}},
        end_time={"after_": now() - OLDEST},
    )


async def _flows(client: PrefectClient) -> dict[UUID, str]:
    return {flow.id: flow.name for flow in await client.read_flows(flow_filter=flows_named(FLOWS))}


async def _later(client: PrefectClient, run: FlowRun) -> list[FlowRun]:
    """The runs of its deployment that were to begin after it."""
    return await find_runs(
        client,
        deployment_id={"any_": [run.deployment_id]},
        expected_start_time={"after_": run.expected_start_time},
    )


async def _heard(client: PrefectClient, run: FlowRun) -> datetime | None:
    """When a run last gave a sign of life, if it did within `SILENCE`."""
    events = await client.read_events(
        EventFilter(
            resource=EventResourceFilter(id=[f"prefect.flow-run.{run.id}"]),
            occurred=EventOccurredFilter(since=now() - SILENCE),
        ),
        limit=1,
    )
    return max((event.occurred for event in events.events), default=None)


def _not_looked_after(error: Exception) -> None:
    why = type(error).__name__
    get_logger("campaign").warning("Could not look after runs that ended (%s).", why)
