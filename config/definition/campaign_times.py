"""Compare the times of a campaign: those of its project, its invitations and its schedule."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from config.definition.fields import DefinitionFields
from config.definition.invite_fields import NEEDS_AN_END, InvitesFields
from config.email_key import email_key
from config.mistakes import Mistake
from config.tables.written import Places
from config.timetable.hours import Hours
from config.timetable.moments import timezone_known
from config.timetable.timetable import Timetable
from config.timetable.waves import HoldOn, Waves
from config.timetable.window import Window


def project_zone(fields: Mapping[str, Any]) -> str | None:
    """The project's timezone as written, for all other times too; "" if it is not a timezone."""
    project = fields.get("project")
    named = project.get("timezone") if isinstance(project, Mapping) else None
    if named is None:
        return None
    name = named.strip() if isinstance(named, str) else ""
    return name if name and timezone_known(name) else ""


def outside_the_project(head: DefinitionFields, places: Places) -> Iterator[Mistake]:
    """Report invitations that would go out before the project opens or after it closes."""
    project, invites = head.project, head.invites
    if project.timezone is None or invites.timezone not in (None, project.timezone):
        return  # no telling which moments the project's own times are
    begin, end = invites.not_before, invites.not_after
    if begin and project.endtime and begin >= project.endtime:
        yield _outside("not_before", begin, "after the project's end", project.endtime, places)
    if end and project.starttime and end <= project.starttime:
        yield _outside("not_after", end, "before the project's start", project.starttime, places)
    elif end and project.endtime and end > project.endtime:
        yield _outside("not_after", end, "after the project's end", project.endtime, places)


def _outside(name: str, wall: datetime, where: str, bound: datetime, places: Places) -> Mistake:
    message = f"{wall:%Y-%m-%d %H:%M} is {where}, {bound:%Y-%m-%d %H:%M}"
    return Mistake(places.value(("invites", name)), f"invites.{name}", message=message)


def without_an_end(head: DefinitionFields, places: Places) -> Iterator[Mistake]:
    """Refuse a least time if it is not known here when the project ends."""
    project = head.project
    if head.invites.least_time is None or (project.endtime and project.timezone):
        return
    if project.id is not None:
        message = "the end of an existing project is not known here; give not_after instead"
    else:
        message = NEEDS_AN_END
    yield Mistake(places.value(("invites", "least_time")), "invites.least_time", message=message)


def timetable_of(head: DefinitionFields) -> Timetable:
    """Collect everything that `invites` says about time; the zones were checked before."""
    invites = head.invites
    zone = invites.timezone or head.project.timezone or ""
    least, refuses = invites.least_time or (timedelta(0), False)
    end = head.project.endtime
    latest = None
    if end is not None and invites.least_time is not None:
        moment = end.replace(tzinfo=ZoneInfo(head.project.timezone or "")).astimezone(UTC)
        latest = moment - least
    return Timetable(
        window=Window.of(invites.not_before, invites.not_after, zone),
        hours=Hours(*invites.hours, invites.holidays or frozenset(), zone)
        if invites.hours
        else None,
        gap=_gap(invites),
        latest=latest if refuses else None,
        advised=latest,
        pilot=email_key(invites.pilot) if invites.pilot else None,
        waves=Waves(invites.waves, invites.between or timedelta(0)) if invites.waves else None,
        hold_on=HoldOn(invites.hold_on.refused, invites.hold_on.unsure)
        if invites.hold_on
        else None,
    )


def _gap(invites: InvitesFields) -> timedelta:
    """The time between two invitations that keeps both rates."""
    spans = [
        timedelta(seconds=seconds / rate)
        for rate, seconds in ((invites.per_second, 1), (invites.per_hour, 3600))
        if rate
    ]
    return max(spans, default=timedelta(0))
