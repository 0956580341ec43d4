"""The flow that shares the invitations of a large campaign with the run that asked for it."""

from pathlib import Path
from typing import Any

from prefect.client.schemas.objects import State
from prefect.runtime import flow_run

from flows.campaign import run_to_end
from flows.engine.runs import say_where
from flows.engine.sharing import WAVE_RUN
from flows.pages.notices import our_flow
from flows.pages.seen import name_of, tolerantly
from flows.run.observer import whole
from tasks.plan.target import CampaignSource


def _name() -> str:
    return f"{name_of(flow_run.parameters['campaign'])} wave run"


@our_flow(WAVE_RUN, _name, [])
async def share_campaign(
    file: str, campaign: str, definition: str | None = None, sheet: str | None = None
) -> State[Any]:
    """Do what is left of a campaign, beside other runs. Safe to run at any time.

    If somebody cancels the run that asked for it, this one ends too.
    """
    await tolerantly(say_where())
    whole.set(flow_run.parent_flow_run_id)
    beside = Path(definition) if definition else None
    asked = CampaignSource(Path(file), campaign, beside, sheet=sheet)
    return await run_to_end(asked, most=1)
