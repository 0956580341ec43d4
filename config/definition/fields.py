"""The rules of a definition, field by field: the same for YAML and for spreadsheets.

The description of each field is what a complaint says was wanted there.
"""

from datetime import datetime, timedelta
from typing import Any

from pydantic import Field, ValidationInfo
from pydantic import field_validator as validates

from config.definition.invite_fields import GuardFields, InvitesFields
from config.definition.kinds import (
    ID_WANTED,
    TIMEZONE_WANTED,
    CronLine,
    Email,
    Fields,
    Id,
    Moment,
    Name,
    Span,
    StageId,
    Text,
    Timezone,
    sentence,
    wanted,
    zone_of,
)
from config.people import email_address
from config.tables import where
from config.timetable import cron, moments, spans

SCHEDULE_WANTED = 'a mapping, as in schedule: {cron: "0 9 * * 1-5"} or schedule: {every: 1 hour}'
GUARD_WANTED = "a mapping, as in guard: {removed: 20%}"


class ProjectFields(Fields):
    """A project to create, or the id of one made in the web application.

    Each rule looks only at the fields above its own, so that all of them are judged at once.
    """

    id: Id | None = Field(None, description=ID_WANTED)
    timezone: Timezone | None = Field(None, description=TIMEZONE_WANTED)
    name: Name | None = Field(
        None,
        description="the project's name",
        validate_default=True,
    )
    description: Text = Field("", description="a description")
    state: Name = Field("open", description='a state such as "open"')
    starttime: Moment = Field(None, description=moments.WANTED)
    endtime: Moment = Field(None, description=moments.WANTED)

    @validates("timezone", "name", "description", "state", "starttime", "endtime")
    @classmethod
    def _only_of_a_new_project(cls, value: Any, info: ValidationInfo) -> Any:
        """A project that exists is used, never changed (the interface has no update)."""
        made = info.data.get("id")
        if made is not None and value is not None:
            raise sentence(
                f"project {made} exists and is used as it is; leave out {info.field_name}, "
                "or leave out id to create a new project"
            )
        return value

    @validates("name")
    @classmethod
    def _named_when_created(cls, name: str | None, info: ValidationInfo) -> str | None:
        if name is None and "id" in info.data and info.data["id"] is None:
            raise wanted("the project's name, or the id of one made in the web application")
        return name

    @validates("starttime", "endtime")
    @classmethod
    def _one_moment(cls, wall: datetime | None, info: ValidationInfo) -> datetime | None:
        timezone = info.data.get("timezone")
        if wall and timezone and (why_not := moments.clock_change(wall, timezone)):
            raise wanted(why_not)
        return wall

    @validates("endtime")
    @classmethod
    def _after_the_start(cls, end: datetime | None, info: ValidationInfo) -> datetime | None:
        start = info.data.get("starttime")
        if start and end and end <= start:
            raise wanted(f"a time after starttime, which is {start:%Y-%m-%d %H:%M}")
        return end


class ProblemFields(Fields):
    """The one problem of the project: by its id, or by its title."""

    id: Id | None = Field(None, description=ID_WANTED)
    title: Name | None = Field(None, description="the problem's title", validate_default=True)
    unlisted: bool = Field(False, description="true or false")

    @validates("unlisted")
    @classmethod
    def _by_its_id(cls, unlisted: bool, info: ValidationInfo) -> bool:
        if unlisted and "id" in info.data and info.data["id"] is None:
            raise sentence("a problem that the service does not list is named only with its id")
        return unlisted

    @validates("title")
    @classmethod
    def _one_of_both(cls, title: str | None, info: ValidationInfo) -> str | None:
        if "id" not in info.data:
            return title
        if title is None and info.data["id"] is None:
            raise wanted("the problem's id or its title")
        if title is not None and info.data["id"] is not None:
            raise sentence("a problem is named by its id or by its title; leave one out")
        return title


class ScheduleFields(Fields):
    """When a campaign is run by itself: by a cron line, or every so often."""

    timezone: Timezone | None = Field(None, description=TIMEZONE_WANTED)
    cron: CronLine | None = Field(None, description=cron.WANTED)
    every: Span | None = Field(None, description=spans.WANTED, validate_default=True)

    @validates("cron")
    @classmethod
    def _read_in_a_place(cls, line: str | None, info: ValidationInfo) -> str | None:
        if line and zone_of(info) is None:
            raise sentence(
                "a cron line needs a timezone: that of the project, or  timezone: Europe/Paris  "
                "beside it"
            )
        return line

    @validates("every")
    @classmethod
    def _one_of_both(cls, every: timedelta | None, info: ValidationInfo) -> timedelta | None:
        if "cron" in info.data and (info.data["cron"] is None) == (every is None):
            raise sentence('a schedule has either  cron: "0 9 * * 1-5"  or  every: 1 hour')
        return every


class ColumnsFields(Fields):
    """Which column of a table holds which field, where its header does not say so itself."""

    first_name: Name | None = Field(None, description="the header of a column")
    last_name: Name | None = Field(None, description="the header of a column")
    email1: Name | None = Field(None, description="the header of a column")
    source: Name | None = Field(None, description="the header of a column")
    notes: Name | None = Field(None, description="the header of a column")
    stage_id: Name | None = Field(None, description="the header of a column")
    timezone: Name | None = Field(None, description="the header of a column")
    full_name: Name | None = Field(None, description="the header of a column, to be split")


ADD_AGAIN = "add_again"
UNSURE_WANTED = f"ask, or {ADD_AGAIN} to add people once more whom an add may have missed"


class PeopleFileFields(Fields):
    """A file with the people in it, relative to the definition; or the people themselves."""

    file: Name | None = Field(None, description="the name of a file, such as people.csv")
    sheet: Name | None = Field(None, description="the name of a sheet")
    columns: ColumnsFields | None = Field(
        None, description='a mapping, as in columns: {email1: "Work e-mail"}'
    )
    split_name: bool = Field(
        False, description="true, to split a full name into first and last name, or false"
    )
    several: str | None = Field(
        None, pattern=r"^first\z", description="first, or nothing: several addresses are a mistake"
    )
    where: dict[str, tuple[str, ...]] | None = Field(None, description=where.WANTED)
    # Taken out before, where it is a list: each person in it is judged by itself.
    people: None = Field(None, description="a list of people")
    when_unsure: str = Field("ask", pattern=rf"^(ask|{ADD_AGAIN})\z", description=UNSURE_WANTED)

    @validates("where", mode="before")
    @classmethod
    def _columns_and_values(cls, written: Any) -> dict[str, tuple[str, ...]]:
        try:
            return where.read_where(written)
        except ValueError as error:
            raise wanted(str(error)) from None


class DefinitionFields(Fields):
    """The definition; `candidates` only where it is not the list of people itself."""

    campaign: str = Field(
        pattern=r"^[a-z0-9][a-z0-9._-]{0,99}\z",
        description="a key of lower-case letters, digits, - _ and . that begins with a letter or "
        "a digit, such as backend-2026",
    )
    project: ProjectFields = Field(
        description="a mapping with name, or with the id of a project made in the web application"
    )
    problem: ProblemFields | None = Field(
        None, description="the problem's id, a whole number above 0, or {title: …}"
    )
    candidates: PeopleFileFields | None = Field(
        None, description="a list of people, or {file: people.csv}"
    )
    stage_id: StageId = Field(1, description="a whole number")
    invites: InvitesFields = Field(
        default_factory=InvitesFields, description="a mapping, as in invites: {send: true}"
    )
    guard: GuardFields | None = Field(None, description=GUARD_WANTED)
    schedule: ScheduleFields | None = Field(None, description=SCHEDULE_WANTED)


class CandidateFields(Fields):
    """One person (interface 2, "Candidate")."""

    first_name: Name = Field(description="a first name")
    last_name: Name = Field(description="a last name")
    email1: Email = Field(description=email_address.WANTED)
    source: Text = Field("", description="text naming where the person came from")
    notes: Text = Field("", description="text")
    stage_id: StageId | None = Field(None, description="a whole number")
    timezone: Timezone | None = Field(None, description=TIMEZONE_WANTED)
