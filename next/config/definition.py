"""A campaign as a person writes it: the fields of a definition.

These models are what every other floor uses, what the editor's schema is made of, and what the
ledger keeps. The line below a field says what it is: here, in the editor, and in a mistake.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
)
from pydantic import field_validator as validates

from config import timetable
from config.errors import Place
from config.kinds import (
    CronLine,
    Dates,
    Email,
    Hours,
    Id,
    Key,
    Line,
    Moment,
    Share,
    Sizes,
    Span,
    Text,
    Where,
    Whole,
    Zone,
    number,
    once,
    sentence,
    wanted,
)


class Fields(BaseModel):
    """Refuses unknown fields; never changed once read."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, hide_input_in_errors=True, use_attribute_docstrings=True
    )


class Candidate(Fields):
    """A person to add and invite: exactly what is sent of them (interface 4.5)."""

    first_name: Line
    """A first name, sent as typed."""
    last_name: Line
    """A last name, sent as typed."""
    email1: Email
    """An email address, sent as typed; the person must log in with exactly this one."""
    source: Text = ""
    """Text that says where the person came from."""
    notes: Text = ""
    """A remark, sent to the service."""
    stage_id: Whole | None = None
    """The person's stage, a whole number; left out, the campaign's."""

    def __repr_args__(self) -> list[tuple[str | None, Any]]:
        return []  # no log and no traceback shows a person


# What a column of a table may hold; a whole name becomes first and last name.
COLUMNS = (*Candidate.model_fields, "full_name")


def _column(name: str) -> str:
    if name not in COLUMNS:
        raise ValueError("no field")
    return name


@dataclass(frozen=True, slots=True)
class Listed:
    """A person of a campaign: what is sent of them, who they are, and where that is written."""

    candidate: Candidate = field(repr=False)
    key: str = field(repr=False)
    place: Place


class Project(Fields):
    """The project to create, or `id`: one made in the web application, used as it is."""

    id: Id | None = None
    """The id of a project made in the web application, a whole number above 0."""
    timezone: Zone | None = None
    """The timezone of the campaign's times, such as Europe/Paris."""
    name: Line | None = Field(None, validate_default=True)
    """The project's name, or the id of one made in the web application."""
    description: Text = ""
    """A description of the project, sent as written."""
    state: Line = "open"
    """A state such as open, sent as written."""
    starttime: Moment | None = None
    """When the project opens, such as 2026-12-01 09:00."""
    endtime: Moment | None = None
    """When it closes, later than starttime."""

    _clock = validates("starttime", "endtime")(once)

    @validates("timezone", "name", "description", "state", "starttime", "endtime")
    @classmethod
    def _only_of_a_new_project(cls, value: Any, info: ValidationInfo) -> Any:
        made, name = info.data.get("id"), str(info.field_name)
        if made is not None and value != cls.model_fields[name].default:
            raise sentence(
                f"project {made} already exists and is used as it is; leave out {name}, or leave "
                "out id to create a new project"
            )
        if name == "name" and value is None and info.data.get("id", 0) is None:
            raise wanted("the project's name, or the id of one made in the web application")
        return value

    @validates("endtime")
    @classmethod
    def _still_to_come(cls, end: datetime | None, info: ValidationInfo) -> datetime | None:
        """The context holds `now` while a person's file is read, and only then."""
        start, now = info.data.get("starttime"), (info.context or {}).get("now")
        if end and start and end <= start:
            raise wanted(f"a time after starttime, which is {start:%Y-%m-%d %H:%M}")
        # Without a zone, it has ended once it is over everywhere on earth.
        zone = ZoneInfo(info.data.get("timezone") or "Etc/GMT+12")
        if end and now and timetable.instant(end, zone) <= now:
            raise sentence(f"the project already ended on {end:%Y-%m-%d %H:%M}")
        return end

    def body(self) -> dict[str, str]:
        """What is sent to create it (interface 4.3)."""
        return {
            "name": self.name or "",
            "description": self.description,
            "state": self.state,
            "starttime": timetable.as_sent(self.starttime),
            "endtime": timetable.as_sent(self.endtime),
        }


class Problem(Fields):
    """The one problem of the project: by its id, or by its title."""

    id: Id | None = None
    """The number of the problem, above 0."""
    title: Line | None = Field(None, validate_default=True)
    """The problem's title instead of its id; must match exactly one in the service's list."""

    @validates("title")
    @classmethod
    def _one_of_both(cls, title: str | None, info: ValidationInfo) -> str | None:
        if "id" in info.data and (info.data["id"] is None) == (title is None):
            raise wanted("exactly one of id and title")
        return title


class Table(Fields):
    """A file with the people in it."""

    file: Line
    """The name of the file with the people, such as people.csv, beside the definition."""
    sheet: Line | None = None
    """The name of its sheet, if several have people."""
    where: Where = {}
    """Columns with the values to keep; nobody else is added or invited."""
    split_name: bool = False
    """True to split whole names into first and last name, else false."""
    several: Literal["first"] | None = None
    """The word first, to take the first of several addresses in a cell."""
    hidden_rows: Literal["skip", "read"] | None = None
    """Either skip or read: what to do with rows that are hidden, filtered or struck through."""
    columns: dict[Annotated[str, AfterValidator(_column)], Line] = {}
    """Which column holds which field, as in columns: {notes: "Recruiter notes"}."""


class Invites(Fields):
    """Whether invitations are sent, who is asked first, and when they may go out."""

    send: bool = True
    """True or false; with false people are added and get links, and nobody is invited."""
    approval: Literal["required"] | None = None
    """The word required: a person approves each plan before anything is sent."""
    timezone: Zone | None = None
    """The timezone of the times below, such as Europe/Paris; left out, the project's."""
    not_before: Moment | None = None
    """The time before which no invitation goes out, such as 2026-12-01 09:00."""
    not_after: Moment | None = None
    """The time after which no invitation goes out."""
    hours: Hours | None = None
    """Days and hours for invitations, such as Mon-Fri 09:00-18:00."""
    holidays: Dates = []
    """Dates without working hours."""
    per_hour: float | None = Field(None, gt=0, le=1_000_000)
    """The most invitations an hour over all runs, a number above 0."""
    pilot: Email | None = None
    """An address of yours: invited first; nobody else is until you approve."""
    waves: Sizes = []
    """Sizes of the waves in which invitations go out, such as [5, 50, rest]."""
    between: Span | None = None
    """The time from one wave to the next, such as 2 days."""

    _clock = validates("not_before", "not_after")(once)

    @validates("not_after")
    @classmethod
    def _after_the_begin(cls, end: datetime | None, info: ValidationInfo) -> datetime | None:
        begin = info.data.get("not_before")
        if end and begin and end <= begin:
            raise wanted(f"a time after not_before, which is {begin:%Y-%m-%d %H:%M}")
        return end

    @validates("holidays", "between")
    @classmethod
    def _beside_another(cls, value: Any, info: ValidationInfo) -> Any:
        other = {"holidays": "hours", "between": "waves"}[str(info.field_name)]
        if value and other in info.data and not info.data[other]:
            raise sentence(f"{info.field_name} goes with {other}: write {other} as well")
        return value


class Guard(Fields):
    """What stops a run before it sends anything, so that a person decides."""

    removed: Share = 0.2
    """A share such as 20%: a run stops if more of the people than this are gone from the file."""


class Schedule(Fields):
    """When a campaign runs on its own: by a cron line, or at fixed intervals."""

    timezone: Zone | None = None
    """The timezone of cron, such as Europe/Paris; left out, the project's."""
    cron: CronLine | None = None
    """When runs start, as a cron line such as "0 9 * * 1-5"."""
    every: Span | None = Field(None, validate_default=True)
    """How often a run starts, such as 1 hour; instead of cron."""

    @validates("every")
    @classmethod
    def _one_of_both(cls, every: str | None, info: ValidationInfo) -> str | None:
        if "cron" in info.data and (info.data["cron"] is None) == (every is None):
            raise sentence('a schedule has either  cron: "0 9 * * 1-5"  or  every: 1 hour')
        return every


def _problem(typed: Any) -> Any:
    """`problem: 42` is short for the mapping."""
    if isinstance(typed, dict | Problem):
        return typed
    if (number(typed) or 0) > 0:
        return {"id": typed}
    raise wanted('the problem\'s id, a whole number above 0, or {title: "Two sum"}')


def _kind_of(typed: Any) -> str | None:
    if isinstance(typed, list):
        return "list"
    return "table" if isinstance(typed, dict | Table) else None


class Definition(Fields):
    """A campaign: one project, one problem, and the people to invite."""

    campaign: Key
    """The key by which the ledger knows the campaign for good, such as backend-2026."""
    project: Project
    """The project to create with its name, or the id of one made in the web application."""
    problem: Annotated[Problem, BeforeValidator(_problem, json_schema_input_type=int | Problem)]
    """The problem's id, a whole number above 0, or {title: "Two sum"}."""
    candidates: Annotated[
        Annotated[list[Candidate], Tag("list")] | Annotated[Table, Tag("table")],
        Discriminator(_kind_of),
    ]
    """A list of people, or a table of them, as in {file: people.csv}."""
    stage_id: Whole = 1
    """The stage of everybody who has none of their own, a whole number."""
    invites: Invites = Invites()
    """Whether, when and how fast invitations go out, as in {send: true}."""
    guard: Guard = Guard()
    """What stops a run before it sends anything, as in {removed: 20%}."""
    schedule: Schedule | None = None
    """When the campaign runs on its own, as in {cron: "0 9 * * 1-5"} or {every: 1 hour}."""

    @validates("invites", "schedule")
    @classmethod
    def _on_the_projects_clock(cls, value: Any, info: ValidationInfo) -> Any:
        """This program, not the service, decides whether it is time: that needs a timezone."""
        project = info.data.get("project")
        if project is None or value is None or value.timezone:
            return value
        for name in ("not_before", "not_after", "hours", "cron"):
            if (time := getattr(value, name, None)) is None:
                continue
            if project.timezone is None:
                needed = "needs a timezone: the project's, or  timezone: Europe/Paris  beside it"
                raise sentence(f"{name} {needed}", name)
            is_time = isinstance(time, datetime)
            if is_time and (why_not := timetable.clock_change(time, project.timezone)):
                raise sentence(f"wanted {why_not}", name)
        return value.model_copy(update={"timezone": project.timezone})

    @validates("invites")
    @classmethod
    def _while_the_project_is_open(cls, invites: Invites, info: ValidationInfo) -> Invites:
        project, now = info.data.get("project"), (info.context or {}).get("now")
        first = timetable.may_send(invites, now) if now else None
        if first and first < timetable.NEVER and project and project.endtime:
            zone = ZoneInfo(project.timezone or invites.timezone or "UTC")
            if timetable.instant(project.endtime, zone) <= first:
                ends = f"the project ends on {project.endtime:%Y-%m-%d %H:%M}"
                at = "not_before" if invites.not_before else "hours"
                raise sentence(f"{ends}, before the first invitation may go out", at)
        return invites
