"""Deployments: what Prefect can start by itself, on a schedule, or from a form in its UI.

One for each campaign of a file, one for a whole folder, one for the inbox, and the forms. Each
runs once at a time: a run that comes due meanwhile is dropped, for the next one does all that is
left. Claims in the ledger would keep two of them safe as well.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prefect import Flow
from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy
from prefect.deployments.runner import RunnerDeployment
from prefect.schedules import Schedule
from prefect.types.entrypoint import EntrypointType

from config.definition import Definition
from config.reading import read_campaigns
from flows.campaign import run_campaign
from flows.forms import approve_campaign, settle_campaign
from flows.prefect_settings import RUNS

# The flows of this product, by the names that Prefect knows them by.
FLOWS = (run_campaign.name, approve_campaign.name, settle_campaign.name)

POOL = "campaigns"

ONE_AT_A_TIME = ConcurrencyLimitConfig(
    limit=1, collision_strategy=ConcurrencyLimitStrategy.CANCEL_NEW
)


@dataclass(frozen=True, slots=True)
class Planned:
    """One deployment to be: which flow, under which name, with what, and when."""

    flow: Flow[..., Any]
    name: str
    parameters: dict[str, Any] = field(default_factory=dict)
    schedule: Schedule | None = None
    tags: tuple[str, ...] = ()
    description: str = ""

    @property
    def when(self) -> str:
        """When it runs, for people."""
        if self.schedule is None:
            return "when it is started in Prefect"
        zone = self.schedule.timezone or "UTC"
        if self.schedule.cron:
            return f"{self.schedule.cron} ({zone})"
        return f"every {self.schedule.interval}"


def of_file(file: Path, definition: Path | None = None) -> list[Planned]:
    """A deployment for each campaign of a file. Raises BadInput."""
    return [
        of_campaign(file, campaign, definition)
        for campaign in read_campaigns(file, definition).definitions
    ]


def of_campaign(file: Path, campaign: Definition, definition: Path | None = None) -> Planned:
    """The deployment of one campaign, with the schedule that it carries itself."""
    parameters = {"file": str(file.resolve()), "campaign": campaign.campaign}
    if definition is not None:
        parameters["definition"] = str(definition.resolve())
    return Planned(
        run_campaign,
        campaign.campaign,
        parameters,
        tags=(f"campaign:{campaign.campaign}",),
        description=f"The campaign {campaign.campaign} of {file.name}.",
    )


def forms() -> list[Planned]:
    """What a person fills in and sends in Prefect's pages."""
    return [
        Planned(approve_campaign, "approve", description="Approve or reject a campaign's plan."),
        Planned(settle_campaign, "settle", description="Say what came of an unsure call."),
    ]


async def to_serve(planned: Planned) -> RunnerDeployment:
    """For a process that serves it itself."""
    return await _made(planned)


async def to_work(planned: Planned, pool: str) -> RunnerDeployment:
    """For the workers of a pool."""
    return await _made(planned, work_pool_name=pool, job_variables={"env": RUNS})


async def _made(planned: Planned, **more: Any) -> RunnerDeployment:
    made: RunnerDeployment = await planned.flow.ato_deployment(
        planned.name,
        parameters=planned.parameters,
        schedules=[planned.schedule] if planned.schedule else [],
        tags=list(planned.tags),
        description=planned.description,
        concurrency_limit=ONE_AT_A_TIME,
        # A module is found from every folder that a process may be started in.
        entrypoint_type=EntrypointType.MODULE_PATH,
        **more,
    )
    return made
