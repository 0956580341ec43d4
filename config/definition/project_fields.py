"""The rules of `project` and `problem`: created by us or in the web application, and open when."""

from datetime import datetime
from typing import Any

from pydantic import ValidationInfo
from pydantic import field_validator as validates

from config.definition.kinds import (
    ID_WANTED,
    TIMEZONE_WANTED,
    Fields,
    Id,
    Moment,
    Name,
    Text,
    Timezone,
    optional,
    sentence,
    wanted,
)
from config.definition.schema_parts import OF_A_RULE, given, left_out, together
from config.timetable import moments

NAME_WANTED = "the project's name, or the id of one made in the web application"
OF_A_NEW_PROJECT = ("timezone", "name", "description", "state", "starttime", "endtime")
AS_IT_IS = "a project with an id is used as it is; leave this out, or leave out id to create one"
PROBLEM_NAME_WANTED = "the problem's id or its title"
ONE_NAME = "give a problem by its id or by its title, not both"
UNLISTED_BY_ID = "a problem that the service does not list can only be given by its id"


class ProjectFields(Fields):
    """A project to create, or the id of one made in the web application.

    Each rule looks only at the fields above its own, so that all of them are judged at once.
    """

    model_config = together(
        {
            "if": given("id"),
            "then": left_out([*OF_A_NEW_PROJECT], AS_IT_IS),
            "else": given("name", f"wanted {NAME_WANTED}"),
        }
    )

    id: Id | None = optional("A project made in the web application, used as it is", ID_WANTED)
    timezone: Timezone | None = optional("The zone of the campaign's times", TIMEZONE_WANTED)
    name: Name | None = optional(
        "The name of the project to create; needed unless there is an id",
        "the project's name",
        validate_default=True,
    )
    description: Text = optional(
        "A description of the project, sent as written", "a description", ""
    )
    state: Name = optional(
        "The state of the new project, sent as written", 'a state such as "open"', "open"
    )
    starttime: Moment = optional(
        "When the project opens, on the clock of its timezone", moments.WANTED
    )
    endtime: Moment = optional("When it closes: later than starttime", moments.WANTED)

    @validates(*OF_A_NEW_PROJECT)
    @classmethod
    def _only_of_a_new_project(cls, value: Any, info: ValidationInfo) -> Any:
        """A project that exists is used, never changed (the interface has no update)."""
        made = info.data.get("id")
        if made is not None and value is not None:
            raise sentence(
                f"project {made} already exists and is used as it is; leave out "
                f"{info.field_name}, or leave out id to create a new project"
            )
        return value

    @validates("name")
    @classmethod
    def _named_when_created(cls, name: str | None, info: ValidationInfo) -> str | None:
        if name is None and "id" in info.data and info.data["id"] is None:
            raise wanted(NAME_WANTED)
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

    model_config = together(
        {
            "if": given("id"),
            "then": left_out(["title"], ONE_NAME),
            "else": given("title", f"wanted {PROBLEM_NAME_WANTED}"),
        },
        {
            "if": {
                "properties": {"unlisted": {"const": True} | OF_A_RULE},
                "required": ["unlisted"],
            },
            "then": given("id", UNLISTED_BY_ID),
        },
    )

    id: Id | None = optional("The number of the problem; problem: 42 is short for it", ID_WANTED)
    title: Name | None = optional(
        "Its title instead of the id; must match exactly one problem in the service's list",
        "the problem's title",
        validate_default=True,
    )
    unlisted: bool = optional(
        "Use this id although the service's list does not have it", "true or false", False
    )

    @validates("unlisted")
    @classmethod
    def _by_its_id(cls, unlisted: bool, info: ValidationInfo) -> bool:
        if unlisted and "id" in info.data and info.data["id"] is None:
            raise sentence(UNLISTED_BY_ID)
        return unlisted

    @validates("title")
    @classmethod
    def _one_of_both(cls, title: str | None, info: ValidationInfo) -> str | None:
        if "id" not in info.data:
            return title
        if title is None and info.data["id"] is None:
            raise wanted(PROBLEM_NAME_WANTED)
        if title is not None and info.data["id"] is not None:
            raise sentence(ONE_NAME)
        return title
