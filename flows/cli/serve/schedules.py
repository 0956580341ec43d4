"""A schedule as it is typed: a cron line or a number of minutes, in a time zone."""

from typing import TYPE_CHECKING, Annotated

import typer

from config.errors import CampaignError

if TYPE_CHECKING:
    from prefect.schedules import Schedule

Cron = Annotated[
    str | None, typer.Option(metavar="LINE", help='When, as a cron line: "0 9 * * 1-5".')
]
Every = Annotated[
    int | None, typer.Option(min=1, metavar="MINUTES", help="Or a number of minutes between runs.")
]
Timezone = Annotated[
    str | None, typer.Option(metavar="ZONE", help="Such as Europe/Paris; default: UTC.")
]


class BadSchedule(CampaignError):
    """The schedule that was typed cannot be read."""

    exit_code = 2


def schedule_of(cron: str | None, every: int | None, timezone: str | None) -> "Schedule | None":
    """The schedule that was typed; None when there was none. Raises BadSchedule."""
    from datetime import timedelta
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    from prefect.schedules import Schedule

    from config.timetable.schedule import NotACron, read_cron
    from flows.serving.deployments import every as so_often

    if timezone is not None:
        try:
            ZoneInfo(timezone)
        except (ZoneInfoNotFoundError, ValueError):
            wrong = f"{timezone} is not a time zone; write it like Europe/Paris"
            raise BadSchedule(wrong) from None
    if cron is not None and every is not None:
        raise BadSchedule("give --cron or --every, not both")
    if cron is not None:
        try:
            return Schedule(cron=read_cron(cron), timezone=timezone or "UTC")
        except NotACron as error:
            raise BadSchedule(f'--cron: found "{cron}", wanted {error}') from None
    if every is not None:
        return so_often(timedelta(minutes=every), timezone)
    return None
