"""Deployments: what Prefect can start by itself, on a schedule, or from a form in its UI.

One for each campaign of a file, one for a whole folder, one for the inbox, and the forms. None has
a limit in Prefect: what comes due beside a run at work ends by itself (flows/at_work.py).
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from prefect import Flow
from prefect.client.orchestration import PrefectClient
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.client.schemas.responses import DeploymentResponse
from prefect.client.schemas.sorting import FlowRunSort
from prefect.deployments.runner import RunnerDeployment
from prefect.exceptions import ObjectNotFound
from prefect.schedules import Schedule
from prefect.types.entrypoint import EntrypointType

from config.definition.model import Definition
from config.reading.folder import Entry, campaigns_among
from config.timetable.spans import in_words
from flows.batch import run_batch
from flows.campaign import run_campaign
from flows.engine.prefect_settings import RUNS
from flows.engine.runs import find_runs
from flows.forms import approve_campaign, confirm_pilot, settle_campaign
from flows.inbox import watch_inbox
from flows.serving.kept_schedules import kept
from flows.wave_run import share_campaign

# The flows of this product, by the names that Prefect knows them by.
FLOWS: dict[str, Flow[..., Any]] = {
    flow.name: flow
    for flow in (
        run_campaign,
        run_batch,
        watch_inbox,
        approve_campaign,
        confirm_pilot,
        settle_campaign,
        share_campaign,
    )
}

NOT_OVER = [StateType.SCHEDULED, StateType.PENDING, StateType.RUNNING]


@dataclass(frozen=True, slots=True)
class Planned:
    """One deployment to be: which flow, under which name, with what, and when."""

    flow: Flow[..., Any]
    name: str
    parameters: dict[str, Any] = field(default_factory=dict)
    schedule: Schedule | None = None
    tags: tuple[str, ...] = ()
    description: str = ""
    watched: bool = False

    @property
    def full_name(self) -> str:
        """Its name, as Prefect knows it."""
        return f"{self.flow.name}/{self.name}"

    @property
    def folder(self) -> Path | None:
        """The folder of the file that it runs; None of what runs no file."""
        return Path(self.parameters["file"]).parent if "file" in self.parameters else None

    @property
    def when(self) -> str:
        """When it runs, for people."""
        if self.watched:
            return "when there is something new"
        if self.schedule is None:
            return "on demand"
        zone = self.schedule.timezone or "UTC"
        if self.schedule.cron:
            return f"{self.schedule.cron} ({zone})"
        interval = self.schedule.interval
        return f"every {in_words(interval)}" if interval else "never"


def of_campaign(file: Path, campaign: Definition) -> Planned:
    """The deployment of one campaign, with the schedule that it carries itself."""
    return Planned(
        run_campaign,
        campaign.campaign,
        {"file": str(file.resolve()), "campaign": campaign.campaign},
        schedule=_schedule(campaign),
        tags=(f"campaign:{campaign.campaign}",),
        description=f"The campaign {campaign.campaign} of {file.name}.",
    )


def of_folder(folder: Path) -> Planned:
    """The deployment of all campaigns of a folder, as they are found at each run."""
    name = folder.resolve().name
    return Planned(
        run_batch,
        name,
        {"folder": str(folder.resolve())},
        description=f"Every campaign in the folder {name}.",
    )


def of_wave_runs(pool: str) -> Planned:
    """The deployment from which large campaigns of a work pool ask for wave runs."""
    return Planned(
        share_campaign,
        pool,
        description="Shares the invitations of a large campaign; the campaign's own run starts it.",
    )


def _schedule(campaign: Definition) -> Schedule | None:
    own = campaign.schedule
    if own is None:
        return None
    if own.cron is not None:
        return Schedule(cron=own.cron, timezone=own.timezone)
    return every(own.every, own.timezone)


def every(interval: timedelta | None, timezone: str | None) -> Schedule:
    """A schedule at this interval, from a fixed past midnight: a new start shifts nothing."""
    zone = ZoneInfo(timezone or "UTC")
    return Schedule(
        interval=interval, timezone=zone.key, anchor_date=datetime(2024, 1, 1, tzinfo=zone)
    )


def of_inbox(folder: Path) -> Planned:
    """The deployment that runs what is new in a watched folder (flows/serving/inbox_watch.py)."""
    name = folder.resolve().name
    return Planned(
        watch_inbox,
        name,
        {"folder": str(folder.resolve())},
        watched=True,
        description=f"Runs what you put into the folder {name}.",
    )


def forms() -> list[Planned]:
    """What a person fills in and sends in Prefect's pages."""
    return [
        Planned(approve_campaign, "approve", description="Approve or reject a campaign's plan."),
        Planned(confirm_pilot, "confirm", description="Confirm the pilot's invitation."),
        Planned(settle_campaign, "settle", description="Decide what is unsure."),
    ]


def planned_of(
    places: Sequence[Path], schedule: Schedule | None
) -> tuple[list[Planned], list[Entry]]:
    """The deployments of files and folders, and the entries with something wrong.

    `schedule` is for the folders, and for campaigns of files without a schedule of their own.
    Raises BadInput: a folder that cannot be read.
    """
    entries = campaigns_among(places)
    folders = [place for place in places if place.is_dir()]
    files = {place.resolve() for place in places} - {folder.resolve() for folder in folders}
    planned = [replace(of_folder(folder), schedule=schedule) for folder in folders]
    for entry in entries:
        if entry.definition and not entry.problems:
            campaign = of_campaign(entry.file, entry.definition)
            own = campaign.schedule or (schedule if entry.file.resolve() in files else None)
            planned.append(replace(campaign, schedule=own))
    return planned, [entry for entry in entries if entry.problems]


async def renew(
    client: PrefectClient, planned: Planned, **where: Any
) -> tuple[RunnerDeployment, list[str]]:
    """A deployment as it is to be registered, and what a person should know of its schedule.

    What a person changed in Prefect stays; schedules that the definition no longer has are deleted.
    """
    there: DeploymentResponse | None = None
    with suppress(ObjectNotFound):
        there = await client.read_deployment_by_name(planned.full_name)
    stays = kept(planned.schedule, there)
    if there is not None:
        for schedule in stays.superseded:
            await client.delete_deployment_schedule(there.id, schedule.id)
    made: RunnerDeployment = await planned.flow.ato_deployment(
        planned.name,
        parameters=planned.parameters,
        schedules=list(stays.schedules),
        paused=stays.paused,
        version=stays.version,
        tags=list(planned.tags),
        description=planned.description,
        concurrency_limit=None,  # this also removes the limit that an earlier version set
        # A module is found from every folder that a process may be started in.
        entrypoint_type=EntrypointType.MODULE_PATH,
        **where,
    )
    words = f"the schedule of {planned.full_name} {stays.words}"
    return made, [words] if stays.words else []


def in_pool(pool: str) -> dict[str, Any]:
    """Where a deployment runs that the workers of a pool begin; one that is served has no pool."""
    return {"work_pool_name": pool, "job_variables": {"env": RUNS}}


async def next_unfinished(client: PrefectClient, deployment: UUID) -> FlowRun | None:
    """The first run of a deployment that is under way or still to come; None if there is none."""
    runs = await find_runs(
        client,
        sort=FlowRunSort.EXPECTED_START_TIME_ASC,
        limit=1,
        deployment_id={"any_": [deployment]},
        state={"type": {"any_": NOT_OVER}},
    )
    return next(iter(runs), None)
