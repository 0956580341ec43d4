"""The rules between the fields of a definition; what one field may hold stands in its model."""

from collections.abc import Iterator
from datetime import datetime
from zoneinfo import ZoneInfo

from config.definition import COLUMNS, Definition, Schedule, Table
from config.field_names import meaning, unknown
from config.timetable import NEVER, instant, may_send, no_one_moment

MOMENTS = ("project.starttime", "project.endtime", "invites.not_before", "invites.not_after")


def broken_rules(definition: Definition, now: datetime) -> Iterator[tuple[str, str]]:
    """The field that breaks a rule, and the rule in a sentence, for each that is broken.

    A project that ended before `now`, or ends before anybody can be invited, breaks one.
    """
    for is_broken, name, sentence in _rules(definition, now):
        if is_broken:
            yield name, sentence


def _rules(definition: Definition, now: datetime) -> Iterator[tuple[bool, str, str]]:
    project, problem, people = definition.project, definition.problem, definition.candidates
    invites, schedule = definition.invites, definition.schedule or Schedule(every="1 day")
    for name in project.model_fields_set - {"id", "timezone"}:
        why = f"project {project.id} already exists and is used as it is; leave out {name}, or"
        yield bool(project.id), f"project.{name}", f"{why} leave out id to create a new project"
    name = f"missing, wanted {meaning('project.name')}"
    yield not (project.id or project.name), "project.name", name
    one = "wanted exactly one of id and title"
    yield bool(problem.id) == bool(problem.title), "problem.title", one
    for name in {*people.columns} - {*COLUMNS} if isinstance(people, Table) else ():
        yield True, f"candidates.columns.{name}", unknown(name, "candidates.table.columns")
    begin, end = project.starttime, project.endtime
    late = "wanted a time after starttime"
    yield bool(begin and end and begin >= end), "project.endtime", late
    begin, end = invites.not_before, invites.not_after
    late = "wanted a time after not_before"
    yield bool(begin and end and begin >= end), "invites.not_after", late
    for part, name in (each.split(".") for each in MOMENTS):
        fields = getattr(definition, part)
        why = no_one_moment(getattr(fields, name), fields.timezone)
        yield bool(why), f"{part}.{name}", why
    # This program, not the service, decides whether it is time.
    zone = "needs a timezone: the project's, or  timezone: Europe/Paris  beside it"
    for name in ("not_before", "not_after", "hours", "holidays"):
        lacks = bool(getattr(invites, name)) and not invites.timezone
        yield lacks, f"invites.{name}", f"{name} {zone}"
    yield bool(schedule.cron) and not schedule.timezone, "schedule.cron", f"cron {zone}"
    either = 'wanted either  cron: "0 9 * * 1-5"  or  every: 1 hour'
    yield bool(schedule.cron) == bool(schedule.every), "schedule.every", either
    waves = "between goes with waves: write waves as well"
    yield bool(invites.between) and not invites.waves, "invites.between", waves
    if project.endtime:
        # Without a zone, it has ended once it is over everywhere on earth.
        over = instant(project.endtime, ZoneInfo(project.timezone or "Etc/GMT+12"))
        ends = f"on {project.endtime:%Y-%m-%d %H:%M}"
        yield over <= now, "project.endtime", f"the project already ended {ends}"
        first = may_send(invites, now) or now
        name = "invites.not_before" if invites.not_before else "invites.hours"
        why = f"the project ends {ends}, before the first invitation may go out"
        yield now < over <= first < NEVER, name, why
