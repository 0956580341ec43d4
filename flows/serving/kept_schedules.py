"""What a person changed or switched off in Prefect's pages stays so when a deployment is renewed.

A schedule of ours is known by its slug, and the deployment's version remembers what was registered
last. So a schedule that differs from it was changed there, and one that is missing was removed.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from prefect.client.schemas.actions import DeploymentScheduleCreate
from prefect.client.schemas.objects import DeploymentSchedule
from prefect.client.schemas.responses import DeploymentResponse
from prefect.client.schemas.schedules import SCHEDULE_TYPES, CronSchedule, IntervalSchedule
from prefect.schedules import Schedule

SLUG = "campaign"
_REMEMBERED = "schedule "
_NONE = f"{_REMEMBERED}none"


@dataclass(frozen=True, slots=True)
class Kept:
    """How a deployment is to be registered, and what a person should know of it.

    `superseded` are schedules of ours that the definition no longer has.
    """

    schedules: Sequence[DeploymentScheduleCreate]
    version: str
    paused: bool = False
    superseded: Sequence[DeploymentSchedule] = ()
    words: str | None = None


def kept(wanted: Schedule | None, there: DeploymentResponse | None) -> Kept:
    """Decide between what a definition says and what is there, as a person left it."""
    new = DeploymentScheduleCreate.from_schedule(wanted) if wanted else None
    version = _version(new.schedule if new else None)
    if there is None:
        return Kept(_only(new, active=True), version)
    registered = there.version or ""
    remembered = registered.startswith(_REMEMBERED)
    ours, others = _apart(there.schedules, remembered=remembered)
    added = [_again(schedule, schedule.slug or str(schedule.id)) for schedule in others]
    if ours is None:
        removed = remembered and registered != _NONE and new is not None
        stays = Kept(_only(new, active=not removed), version)
    elif remembered and _version(ours.schedule) != registered:
        words = "was changed in Prefect and is kept"
        return Kept([_again(ours, SLUG), *added], version, there.paused, words=words)
    else:
        stays = Kept(_only(new, active=ours.active), version, superseded=() if new else [ours])
    off = there.paused or any(not schedule.active for schedule in stays.schedules)
    return Kept(
        [*stays.schedules, *added],
        version,
        there.paused,
        stays.superseded,
        "is switched off in Prefect and stays off; switch it on there" if off else None,
    )


def _apart(
    schedules: Sequence[DeploymentSchedule], *, remembered: bool
) -> tuple[DeploymentSchedule | None, list[DeploymentSchedule]]:
    """Our schedule, and those that a person added; earlier versions gave ours no slug."""
    ours = next((schedule for schedule in schedules if schedule.slug == SLUG), None)
    if ours is None and not remembered and len(schedules) == 1:
        [ours] = schedules
    return ours, [schedule for schedule in schedules if schedule is not ours]


def _only(new: DeploymentScheduleCreate | None, *, active: bool) -> list[DeploymentScheduleCreate]:
    return [new.model_copy(update={"active": active, "slug": SLUG})] if new else []


def _again(schedule: DeploymentSchedule, slug: str) -> DeploymentScheduleCreate:
    return DeploymentScheduleCreate(
        schedule=schedule.schedule,
        active=schedule.active,
        max_scheduled_runs=schedule.max_scheduled_runs,
        parameters=schedule.parameters,
        slug=slug,
    )


def _version(schedule: SCHEDULE_TYPES | None) -> str:
    """Name a schedule by what it says, however it is written."""
    says: list[Any]
    match schedule:
        case None:
            return _NONE
        case CronSchedule():
            says = [schedule.cron, schedule.timezone, schedule.day_or]
        case IntervalSchedule():
            anchor = schedule.anchor_date.astimezone(UTC).isoformat()
            says = [schedule.interval.total_seconds(), anchor, schedule.timezone]
        case _:
            says = [schedule.model_dump(mode="json")]
    return _REMEMBERED + hashlib.sha256(json.dumps(says).encode()).hexdigest()[:12]
