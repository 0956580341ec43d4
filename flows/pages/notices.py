"""A person is told of each run that needs one, by the run itself, at its end.

To CAMPAIGN_NOTIFY_URL, or to the address that `campaign deploy` keeps in Prefect for its workers.
The ledger records each notice before it is sent. Notices that could not be delivered, and those of
runs that died, are sent by `campaign up`, `serve` or `worker` (flows/serving/lookout.py).
Prefect's automations are not used: a busy server loses the events that they wait for.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from datetime import timedelta
from types import NoneType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from prefect import Flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun, State, StateType
from prefect.logging import get_logger
from prefect.settings import get_current_settings

from config.errors import CampaignError
from config.settings import load_local
from data.campaigns import notices
from data.store.clock import now
from data.store.ledger import Ledger
from data.store.tables import Notice
from flows.engine.runs import leave_its_stack_out
from flows.engine.temporary_server import is_temporary
from flows.pages.markdown import artifact_key

if TYPE_CHECKING:
    from flows.engine.notice_address import Address

P = ParamSpec("P")
Value = TypeVar("Value")

OF_CAMPAIGN = "campaign:"  # the beginning of the tag with a run's campaign
AT_WORK = timedelta(minutes=2)  # for so long, the process that recorded a notice may be sending it


async def tell(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:
    """A hook of our flows: send a notice of how a run has ended."""
    del flow
    if is_temporary():  # somebody typed it, and reads it there
        return
    async with get_client() as client:
        # Its name and its tags have changed since it began.
        run = await client.read_flow_run(flow_run.id)
    if state.type is StateType.CRASHED and run.deployment_id is not None:
        return  # the lookout names it, begins it again, and says so (flows/serving/lookout.py)
    await tell_of(run, state)


class OurFlow(Flow[P, Value]):
    """A flow whose parameters are plain mostly: then they are sent to Prefect's server as they are.
    Prefect would import all of FastAPI to make them so, which takes a twentieth of a small run.
    """

    def serialize_parameters(self, parameters: dict[str, Any]) -> dict[str, Any]:
        if {type(value) for value in parameters.values()} <= {str, bool, int, NoneType}:
            return parameters
        return super().serialize_parameters(parameters)


def our_flow(
    name: str, run_name: Callable[[], str], tells_of: Collection[str] | None = None
) -> Callable[[Callable[P, Value]], Flow[P, Value]]:
    """Make a function a flow of ours: a run that ends in one of these states is told of.

    `tells_of` None: in any that is failed or crashed. Prefect keeps no result and repeats nothing:
    what was sent is in the ledger. Whatever process has such a flow shows no stack of Prefect's.
    """
    leave_its_stack_out()

    async def at_end(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:
        if tells_of is None or state.name in tells_of:
            await tell(flow, flow_run, state)

    def flow_of(function: Callable[P, Value]) -> Flow[P, Value]:
        return OurFlow(
            function,
            name=name,
            flow_run_name=run_name,
            persist_result=False,
            retries=0,
            on_failure=[at_end],
            on_crashed=[at_end],
        )

    return flow_of


async def tell_of(run: FlowRun, state: State[Any], more: str = "") -> None:
    """Send a notice of a run's state, unless it was sent already. Raises nothing.

    `more` is a sentence to add.
    """
    try:
        if (address := await _address()) is None:
            return
        says = " ".join(filter(None, (f"{run.name}: {state.name}.", state.message, more)))
        says = f"{says} {_page(run)}"
        try:
            noted = await _in_ledger(
                Ledger.write, notices.note, str(run.id), str(state.name), says, now()
            )
        except CampaignError:  # there is no ledger that could remember it
            await _send(address, says)
            return
        await _send_noted(address, [noted] if noted else [])
    except Exception as error:  # noqa: BLE001 - Prefect and addresses fail in ways of their own
        _not_told(error)


async def tell_what_waits() -> None:
    """Send the notices that are not delivered yet. Raises nothing."""
    try:
        waiting = await _in_ledger(Ledger.read, notices.waiting, now() - AT_WORK)
        if waiting and (address := await _address()) is not None:
            await _send_noted(address, waiting)
    except CampaignError:
        return  # no ledger, so nothing was noted
    except Exception as error:  # noqa: BLE001 - Prefect and addresses fail in ways of their own
        _not_told(error)


async def not_noted(runs: Sequence[FlowRun]) -> list[FlowRun]:
    """Those of these runs whose state has no notice yet; none if there is no ledger."""
    try:
        states = await _in_ledger(Ledger.read, notices.noted, [str(run.id) for run in runs])
    except CampaignError:
        return []
    return [run for run in runs if (str(run.id), run.state_name) not in states]


def _page(run: FlowRun) -> str:
    """Where a person sees more: the campaign's page, if it is known which, and the run's."""
    pages = get_current_settings().ui_url or ""
    keys = [tag.removeprefix(OF_CAMPAIGN) for tag in run.tags if tag.startswith(OF_CAMPAIGN)]
    links = [f"{pages}/artifacts/key/{artifact_key('campaign', key)}" for key in keys[:1]]
    return " ".join([*links, f"{pages}/runs/flow-run/{run.id}"])


async def _address() -> "Address | None":
    from flows.engine.notice_address import address_at, kept_address  # noqa: PLC0415 - slow

    url = load_local().notify_url
    return address_at(url) if url is not None else await kept_address()


async def _send_noted(address: "Address", noted: Sequence[Notice]) -> None:
    for notice in noted:
        await _send(address, notice.says)
        await _in_ledger(Ledger.write, notices.tell, notice.id, now())


async def _send(address: "Address", says: str) -> None:
    from flows.engine.notice_address import send  # noqa: PLC0415 - slow

    await send(address, says.partition(". ")[0], says)


async def _in_ledger(
    work: Callable[Concatenate[Ledger, P], Value], *args: P.args, **kwargs: P.kwargs
) -> Value:
    """Read or write the ledger, in a thread. Raises CampaignError: there is none."""

    def whole() -> Value:
        with Ledger.open(load_local().database_url, create=False) as ledger:
            return work(ledger, *args, **kwargs)

    return await asyncio.to_thread(whole)


def _not_told(error: Exception) -> None:
    # Its class alone: what it says may hold the address, which is a secret.
    get_logger("campaign").warning(
        "No notice could be sent yet (%s). It is tried again while campaign up, serve or worker "
        "runs.",
        type(error).__name__,
    )
