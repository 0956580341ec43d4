"""The times of a campaign beside each other: of its project, its invitations and its schedule."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from config.fields import DefinitionFields
from config.moments import timezone_known
from config.places import Problem
from config.written import Places


def project_zone(fields: Mapping[str, Any]) -> str | None:
    """The project's timezone as written, for every other time; "" where it is no timezone."""
    project = fields.get("project")
    named = project.get("timezone") if isinstance(project, Mapping) else None
    if named is None:
        return None
    name = named.strip() if isinstance(named, str) else ""
    return name if name and timezone_known(name) else ""


def outside_the_project(head: DefinitionFields, places: Places) -> Iterator[Problem]:
    """Point at invitations that would come before the project opens, or after it has closed."""
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


def _outside(name: str, wall: datetime, where: str, bound: datetime, places: Places) -> Problem:
    message = f"{wall:%Y-%m-%d %H:%M} is {where}, {bound:%Y-%m-%d %H:%M}"
    return Problem(places.value(("invites", name)), f"invites.{name}", message=message)
