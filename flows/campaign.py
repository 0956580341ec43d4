"""The flow that runs one campaign: the order of the steps, as Prefect shows and schedules it.

Prefect runs, schedules and shows; it never guards. The ledger decides what may be sent.
"""

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from getpass import getuser
from pathlib import Path
from typing import Any

from prefect.client.schemas.objects import State
from prefect.logging import get_run_logger
from prefect.runtime import flow_run
from prefect.states import Failed

from config.command_line import as_typed
from config.errors import BadInput, CampaignError
from config.settings import LocalSettings, ServiceSettings, load_local
from data.campaigns.same_campaign import AnotherCampaign
from data.sending import idle_runs
from data.sending.processes import HEARTBEAT_EXPIRES
from data.store.clock import now
from data.store.errors import LedgerUnusable
from data.store.ledger import Ledger
from data.store.states import Ending
from flows.at_work import dropped_beside_another
from flows.engine.credentials import service_settings
from flows.engine.next_run import schedule_next
from flows.engine.runs import this_run
from flows.engine.sharing import ask_for_wave_runs
from flows.engine.worker_files import written_down
from flows.pages.final_states import BAD_INPUT, broken_off, state_of
from flows.pages.notices import OF_CAMPAIGN, our_flow
from flows.pages.seen import Seen, named_by_its_clock, seen
from flows.pages.wrong_places import where_wrong
from flows.run.ending import Finish
from flows.run.idle import nothing_new
from flows.run.interrupts import listen_again
from flows.run.observer import Observers, observing
from flows.run.order import RunContext, conduct
from tasks.plan.target import CampaignSource, Rewritten
from tasks.retention import forget_due
from tasks.shell import as_task
from tasks.status import logs

# How many seconds a run of a shared campaign waits for other runs that make no progress: longer
# than it takes to notice that one of them has died on another machine. A run that somebody typed
# waits A_MOMENT longer than any request takes, so that it can report how the campaign ended.
PATIENCE = HEARTBEAT_EXPIRES.total_seconds() + 30
A_MOMENT = 15.0


def _name() -> str:
    asked = flow_run.parameters
    what = asked.get("campaign") or Path(asked["file"]).stem
    keys = [tag.removeprefix(OF_CAMPAIGN) for tag in flow_run.tags if tag.startswith(OF_CAMPAIGN)]
    return named_by_its_clock(what, next(iter(keys), what))


@our_flow("campaign", _name)
@dropped_beside_another
async def run_campaign(
    file: str,
    campaign: str | None = None,
    definition: str | None = None,
    accept_removed: bool = False,
    keep_project: bool = False,
    digest: str | None = None,
    sheet: str | None = None,
) -> State[Any]:
    """Create the project, add its problem and its people, invite them, write their links.

    `file` is the definition (YAML or workbook) or a table of candidates with its `definition`;
    `campaign` picks one of several in a file, `sheet` is that of the candidates. Safe to run again
    at any time. `accept_removed` lets it go on even if more people are gone from the definition
    than its guard allows, and `keep_project` even if the definition names another project or
    problem than the campaign has. `digest` is of the bytes that a person has looked at, if only
    those may be sent.
    """
    beside = Path(definition) if definition else None
    asked = CampaignSource(Path(file), campaign, beside, keep_project, digest, sheet)
    return await run_to_end(asked, accept_removed)


async def run_to_end(
    asked: CampaignSource, accept_removed: bool = False, most: int | None = None
) -> State[Any]:
    """Do all that is left of a campaign in this run; returns the run's final state.

    `most`: how many runs may share it, this one included; None: as the settings say.
    """
    listen_again()  # for the runs beside this one
    observer = observing.get()
    try:
        service, local = await service_settings(), load_local()
        if local.log_format == "json":
            logs.listen()
        if (warning := written_down(os.environ)) is not None:
            get_run_logger().warning(warning)
        with Ledger.open(local.database_url) as ledger:
            if (done := await _done_already(asked, ledger, service, local)) is not None:
                return state_of(done)
            async with seen(ledger, local, service.base_url) as pages:
                context = RunContext(
                    ledger,
                    service,
                    local,
                    as_task,
                    observer=Observers(pages, observer),
                    stopped=pages.stopped_lately,
                    accept_removed=_who() if accept_removed else None,
                    shares=partial(ask_for_wave_runs, asked, most or local.wave_runs),
                    patience=PATIENCE if local.wave_runs > 1 else local.request_deadline + A_MOMENT,
                )
                end = await _conducted(asked, context, pages)
                await pages.ended(end)
                await _forget_due(ledger, local, context.observer.on_warning)
        if end.again is not None:
            await schedule_next(end.campaign, end.again)
        observer.on_end(end)
        return state_of(end)
    except Exception as error:  # noqa: BLE001 - a traceback in Prefect may name people
        observer.on_failure(error)
        if isinstance(error, AnotherCampaign | Rewritten):  # names nobody; no check would show it
            return Failed(name=BAD_INPUT, message="\n".join(map(str, error.problems)))
        if isinstance(error, BadInput):
            typed = as_typed(asked.file, asked.definition, sheet=asked.sheet)
            where = where_wrong(error.problems, *typed)
            return Failed(name=BAD_INPUT, message=where)
        return broken_off(error)


async def _done_already(
    asked: CampaignSource, ledger: Ledger, service: ServiceSettings, local: LocalSettings
) -> Finish | None:
    """Where a schedule began this run and there is nothing to do: how the campaign stands."""
    run, since = this_run(), now()
    if run is None or not run.auto_scheduled:
        return None
    end = await asyncio.to_thread(nothing_new, asked, ledger, service)
    if end is not None:
        note = partial(idle_runs.note, reason=None)
        await asyncio.to_thread(ledger.write, note, end.campaign, since, end.ending)
        await _forget_due(ledger, local, get_run_logger().warning)
    return end


async def _conducted(asked: CampaignSource, context: RunContext, pages: Seen) -> Finish:
    """Conduct a campaign; `campaign status` then tells of this run, also where it sent nothing."""
    since = now()
    try:
        end = await conduct(asked, context)
    except CampaignError as error:
        first_line = str(error).partition("\n")[0]
        await _note(context, asked.campaign, since, Ending.STOPPED, first_line)
        raise
    if end.ending is Ending.STOPPED and (why := await pages.stopped()):
        # A worker's cancel comes as a signal, which only says that it was interrupted.
        end = replace(end, reason=why)
    await _note(context, end.campaign, since, end.ending, end.reason)
    return end


async def _note(
    context: RunContext, campaign: str | None, since: datetime, ending: Ending, reason: str | None
) -> None:
    if campaign is None:
        return
    try:
        write = context.ledger.write
        await asyncio.to_thread(write, idle_runs.note, campaign, since, ending, reason)
    except LedgerUnusable as error:  # what ended the run is said all the same
        context.observer.on_warning(str(error))


def _who() -> str:
    """Name the person whose run this is, for what is recorded about it."""
    try:
        return getuser()
    except (OSError, KeyError, ImportError):
        return "somebody"


async def _forget_due(ledger: Ledger, local: LocalSettings, warn: Callable[[str], None]) -> None:
    """Keep people no longer than CAMPAIGN_KEEP; where that fails, the next run does it."""
    try:
        lines = await asyncio.to_thread(forget_due, ledger, local, now())
    except CampaignError as error:
        lines = [str(error)]
    for line in lines:
        warn(line)
