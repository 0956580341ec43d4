"""The flow that runs one campaign: the order of the steps, as Prefect shows and schedules it.

Prefect runs, schedules and shows; it never guards. The ledger decides what may be sent.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Completed, Failed

from config.settings import load_local, load_service
from data.ledger import Ledger
from data.states import Ending
from flows.ending import Finish
from flows.order import Desk, conduct
from flows.watching import watcher
from tasks.asked import Asked
from tasks.shell import as_task, in_words

# The final state's name is the outcome. Only a finished campaign reads as success; the others
# are Failed, so that automations fire on them.
COMPLETED = "Completed"
NEEDS_ATTENTION = "NeedsAttention"
STOPPED = "Stopped"
BAD_INPUT = "BadInput"


def _name() -> str:
    asked = flow_run.parameters
    key = asked.get("campaign") or Path(asked["file"]).stem
    return f"{key} {datetime.now(UTC):%Y-%m-%d %H:%M}"


@flow(name="campaign", flow_run_name=_name, persist_result=False, retries=0)
async def run_campaign(
    file: str, campaign: str | None = None, definition: str | None = None
) -> State[Any]:
    """Create the project, add its problem and its people, invite them, write their links.

    `file` is the definition (YAML or workbook) or a table of candidates with its `definition`;
    `campaign` picks one of several in a file. Safe to run again at any time.
    """
    asked = Asked(Path(file), campaign, Path(definition) if definition else None)
    watching = watcher.get()
    try:
        service, local = load_service(), load_local()
        with Ledger.open(local.database_url) as ledger:
            desk = Desk(ledger, service, local, as_task, watching.expects, watching.hears)
            end = await conduct(asked, desk)
        watching.ended(end)
        return state_of(end)
    except Exception as error:  # noqa: BLE001 - a traceback in Prefect may name people
        watching.failed(error)
        input_is_bad = getattr(error, "exit_code", 1) == 2
        return Failed(name=BAD_INPUT if input_is_bad else STOPPED, message=in_words(error))


def state_of(end: Finish) -> State[Any]:
    """The final state of a run, with a message a person understands."""
    counts = end.counts
    invited = f"{counts.get('invited', 0):,} of {counts.get('candidates', 0):,} invited"
    if end.ending is Ending.COMPLETED:
        return Completed(name=COMPLETED, message=invited)
    if end.ending is Ending.NEEDS_ATTENTION:
        words = f"{invited}, {counts['refused']:,} refused, {counts['unsure']:,} unsure."
        return Failed(
            name=NEEDS_ATTENTION,
            message=f"{words} See who: campaign status {end.campaign}",
        )
    return Failed(name=STOPPED, message=f"{invited}. {end.reason}")
