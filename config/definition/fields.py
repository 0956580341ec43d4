"""The rules of a definition, field by field: the same for YAML and for spreadsheets.

A field's description is what a mistake says was wanted there; its title is what the field is for.
Both are in docs/definition.md and in the schema that editors read.
"""

from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo
from pydantic import field_validator as validates

from config.definition import schema_parts
from config.definition.invite_fields import (
    NEED_A_ZONE,
    NEEDS_AN_END,
    GuardFields,
    InvitesFields,
    needs_a_zone,
)
from config.definition.kinds import (
    STAGE_WANTED,
    TIMEZONE_WANTED,
    CronLine,
    Email,
    Fields,
    Name,
    Span,
    StageId,
    Text,
    Timezone,
    optional,
    sentence,
    wanted,
    zone_of,
)
from config.definition.project_fields import ProblemFields, ProjectFields
from config.definition.schema_parts import given, left_out, shown_as, together, within
from config.people import email_address
from config.tables import where
from config.timetable import schedule, spans

SCHEDULE_WANTED = 'a mapping, as in schedule: {cron: "0 9 * * 1-5"} or schedule: {every: 1 hour}'
ONE_OF_BOTH = 'a schedule has either  cron: "0 9 * * 1-5"  or  every: 1 hour'
CRON_NEEDS_A_ZONE = (
    "a cron line needs a timezone: the project's, or  timezone: Europe/Paris  beside it"
)
GUARD_WANTED = "a mapping, as in guard: {removed: 20%}"


class ScheduleFields(Fields):
    """When a campaign runs on its own: by a cron line, or at fixed intervals."""

    model_config = together(
        {
            "if": given("cron"),
            "then": left_out(["every"], ONE_OF_BOTH),
            "else": given("every", ONE_OF_BOTH),
        }
    )

    timezone: Timezone | None = optional(
        "The zone of cron; default: the project's", TIMEZONE_WANTED
    )
    cron: CronLine | None = optional("When runs start, as a cron line", schedule.WANTED)
    every: Span | None = optional(
        "How often a run starts, instead of cron", spans.WANTED, validate_default=True
    )

    @validates("cron")
    @classmethod
    def _read_in_a_place(cls, line: str | None, info: ValidationInfo) -> str | None:
        if line and zone_of(info) is None:
            raise sentence(CRON_NEEDS_A_ZONE)
        return line

    @validates("every")
    @classmethod
    def _one_of_both(cls, every: timedelta | None, info: ValidationInfo) -> timedelta | None:
        if "cron" in info.data and (info.data["cron"] is None) == (every is None):
            raise sentence(ONE_OF_BOTH)
        return every


def _column(what: str, wanted: str = "the header of a column") -> Any:
    return optional(f"Which column has {what}", wanted)


class ColumnsFields(Fields):
    """Which column of a table holds which field, if its header does not say so."""

    first_name: Name | None = _column("the first name")
    last_name: Name | None = _column("the last name")
    email1: Name | None = _column("the email address")
    source: Name | None = _column("the source")
    notes: Name | None = _column("the notes to send")
    stage_id: Name | None = _column("the stage; null: none has it")
    timezone: Name | None = _column("each person's own timezone; never sent")
    full_name: Name | None = _column(
        "the whole name, to be split", "the header of a column, to be split"
    )


ADD_AGAIN = "add_again"
UNSURE_WANTED = f"ask, or {ADD_AGAIN} to add those people again"


PEOPLE_WANTED = "a list of people, or {file: people.csv}"
PEOPLE_TWICE = "the people come from a file or from this list, not both"
WHERE_OF_A_FILE = "where selects rows of a file; leave it out when you list the people here"


class PeopleFileFields(Fields):
    """A file with the people in it, relative to the definition; or the people themselves."""

    model_config = together(
        {
            "if": given("people"),
            "then": left_out(["file"], PEOPLE_TWICE),
            "else": given("file", f"wanted {PEOPLE_WANTED}"),
        },
        {"if": given("people"), "then": left_out(["where"], WHERE_OF_A_FILE)},
    )

    file: Name | None = optional(
        "The table with the people, beside the definition", "the name of a file, such as people.csv"
    )
    sheet: Name | None = optional(
        "Which sheet of it, if several have people", "the name of a sheet"
    )
    columns: ColumnsFields | None = optional(
        "Which column holds which field, if its header does not say so",
        'a mapping, as in columns: {email1: "Work e-mail"}',
    )
    split_name: bool = optional(
        "Split the column with whole names into first and last name",
        "true, to split a full name into first and last name, or false",
        False,
    )
    several: Literal["first"] | None = optional(
        "Take the first of several addresses in a cell",
        "first, or leave it out: then several addresses are a mistake",
    )
    where: Annotated[dict[str, tuple[str, ...]] | None, shown_as(schema_parts.WHERE)] = optional(
        "Which rows to use; nobody else is added or invited", where.WANTED
    )
    # A list is taken out earlier: each person in it is checked one by one.
    people: None = optional(
        "The people themselves, if candidates has other fields too", "a list of people"
    )
    when_unsure: Literal["ask", "add_again"] = optional(
        "What to do with people who may or may not have been added", UNSURE_WANTED, "ask"
    )

    @validates("where", mode="before")
    @classmethod
    def _columns_and_values(cls, written: Any) -> dict[str, tuple[str, ...]]:
        try:
            return where.read_where(written)
        except ValueError as error:
            raise wanted(str(error)) from None


PROBLEM_WANTED = "the problem's id, a whole number above 0, or {title: …}"


class DefinitionFields(Fields):
    """A campaign: one project, one problem, and the people to invite.

    `candidates` only where it is not the list of people itself.
    """

    model_config = together(
        {
            "if": {"not": within("project", given("id"))},
            "then": given("problem", f"wanted {PROBLEM_WANTED}"),
        },
        *(
            {
                "if": within(part, {**given(name), "allOf": [left_out(["timezone"])]}),
                "then": within("project", given("timezone", why_not)),
            }
            for part, name, why_not in (
                ("schedule", "cron", CRON_NEEDS_A_ZONE),
                *(("invites", name, needs_a_zone(name)) for name in NEED_A_ZONE),
            )
        ),
        {
            "if": within("invites", given("least_time")),
            "then": within(
                "project",
                {"allOf": [given(name, NEEDS_AN_END) for name in ("endtime", "timezone")]},
            ),
        },
    )

    campaign: str = Field(
        pattern=r"^[a-z0-9][a-z0-9._-]{0,99}\z",
        title="The key by which the ledger knows the campaign; keep it for good",
        description="a key of lower-case letters, digits, - _ and . that begins with a letter or "
        "a digit, such as backend-2026",
    )
    project: ProjectFields = Field(
        title="The project to create, or one that you made",
        description="a mapping with name, or with the id of a project made in the web application",
    )
    problem: ProblemFields | None = optional(
        "The one problem of the project; needed unless project.id has one already", PROBLEM_WANTED
    )
    candidates: PeopleFileFields | None = optional(
        "The people, or the table that has them; needed", PEOPLE_WANTED
    )
    stage_id: StageId = optional(
        "The stage of everybody who has none of their own", STAGE_WANTED, 1
    )
    invites: InvitesFields = Field(
        default_factory=InvitesFields,
        title="Whether, when and how fast invitations go out",
        description="a mapping, as in invites: {send: true}",
    )
    guard: GuardFields | None = optional("What stops a run before it sends anything", GUARD_WANTED)
    schedule: ScheduleFields | None = optional("When the campaign runs on its own", SCHEDULE_WANTED)


class CandidateFields(Fields):
    """A person to invite.

    The service calls them a candidate (interface 2, "Candidate").
    """

    first_name: Name = Field(title="Sent as typed", description="a first name")
    last_name: Name = Field(title="Sent as typed", description="a last name")
    email1: Email = Field(
        title="Sent as typed; the person must log in with exactly this address",
        description=email_address.WANTED,
    )
    source: Text = optional(
        "Where the person came from, for the service",
        "text that says where the person came from",
        "",
    )
    notes: Text = optional("A remark, sent to the service", "text", "")
    stage_id: StageId | None = optional("The person's stage; default: the campaign's", STAGE_WANTED)
    timezone: Timezone | None = optional(
        "The person's own clock for invites.hours; never sent", TIMEZONE_WANTED
    )
