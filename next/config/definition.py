"""A campaign as a person writes it: the fields of a definition, and what each must be.

These models are what every other floor uses, what the editor's schema is made of, and what the
ledger keeps. A field's `title` is what a mistake says was wanted there; its `description` is what
the field is for.
"""

import re
import unicodedata
from collections.abc import Callable
from datetime import date, datetime, timedelta
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
    WithJsonSchema,
    field_validator,
)
from pydantic_core import PydanticCustomError

from config import emails, timetable

LONGEST_TEXT = 10_000
LARGEST_ID = 2**63 - 1
KEY_WANTED = "a key of letters, digits, - _ and ., such as backend-2026"
PROBLEM_WANTED = 'the problem\'s id, a whole number above 0, or {title: "Two sum"}'
PEOPLE_WANTED = "a list of people, or {file: people.csv}"
SHARE_WANTED = "a share such as 20%"
WAVES_WANTED = "sizes of waves, such as [5, 50, rest]"
ZONE_WANTED = "a timezone such as Europe/Paris"
ID_WANTED = "a whole number above 0"
# `campaign new` writes these where a person has to decide; nothing that has one is ever sent.
PLACEHOLDER = re.compile(r"\s*<[^<>@]*>\s*")
# Text with these looks different from what it is.
DIRECTIONS = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def wanted(what: str) -> PydanticCustomError:
    """Refuse a value, and say what belongs there."""
    return PydanticCustomError("wanted", "{wanted}", {"wanted": what})


def sentence(message: str, at: str = "") -> PydanticCustomError:
    """Refuse a value with a whole sentence; `at` names the field below this one that is wrong."""
    return PydanticCustomError("sentence", "{message}", {"message": message, "at": at})


def read_by(read: Callable[[str], Any], *, or_as_it_is: type = str) -> Callable[[Any], Any]:
    """Make a validator of a reader whose ValueError says what was wanted."""

    def reader(typed: Any) -> Any:
        if or_as_it_is is not str and isinstance(typed, or_as_it_is):
            return typed
        if isinstance(typed, str) and PLACEHOLDER.fullmatch(typed):
            raise placeholder(typed)
        try:
            return read(typed if isinstance(typed, str) else "")
        except ValueError as error:
            raise wanted(str(error)) from None

    return reader


def placeholder(typed: str) -> PydanticCustomError:
    """Refuse what `campaign new` wrote and nobody filled in."""
    return sentence(f"{typed.strip()} is still the placeholder; write your own value in its place")


def _text(typed: str) -> str:
    """Trim, and refuse what no person's text contains."""
    text = typed.strip()
    if PLACEHOLDER.fullmatch(text):
        raise placeholder(text)
    if len(text) > LONGEST_TEXT:
        raise wanted(f"at most {LONGEST_TEXT:,} characters, not {len(text):,}")
    if not text.isprintable():
        for character in text:
            if character not in "\n\r\t" and unicodedata.category(character) in {"Cc", "Cs"}:
                raise wanted(f"text without the control character U+{ord(character):04X}")
    return text


def _line(typed: str) -> str:
    text = _text(typed)
    if not any(c.isprintable() and not c.isspace() for c in text):
        raise ValueError("blank")
    if not text.isprintable():
        for character in text:
            if character in "\n\r\t":
                raise wanted("text on one line")
            if character in DIRECTIONS:
                raise wanted(f"text without the invisible {unicodedata.name(character)}")
    return text


def _whole(typed: Any) -> Any:
    """Read digits as a number; a truth value or a fraction is none."""
    if isinstance(typed, str) and re.fullmatch(r"\s*[0-9]{1,19}\s*", typed, re.ASCII):
        return int(typed)
    if isinstance(typed, str) and PLACEHOLDER.fullmatch(typed):
        raise placeholder(typed)
    return typed if type(typed) is int else "no number"


def _key(typed: str) -> str:
    key = typed.strip().lower()
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,99}", key):
        raise ValueError(KEY_WANTED)
    return key


def _share(typed: str) -> float:
    written = re.fullmatch(r"\s*(\d{1,3}(?:\.\d{1,4})?)\s*%\s*", typed, re.ASCII)
    if written is None or not 0 < float(written[1]) <= 100:
        raise ValueError(SHARE_WANTED)
    return float(written[1]) / 100


def _dates(typed: Any) -> Any:
    """Read a list of dates, or a text with commas between them, as in a cell."""
    listed = re.split(r"[,;]", typed.strip(" []")) if isinstance(typed, str) else typed
    try:
        return [day if isinstance(day, date) else date.fromisoformat(day.strip()) for day in listed]
    except (TypeError, ValueError, AttributeError):
        raise wanted("dates, as in holidays: [2026-12-25, 2027-01-01]") from None


def _sizes(typed: Any) -> Any:
    """Read `[5, 50, rest]` as [5, 50]: whatever comes last, the rest follows."""
    parts = re.split(r"\s*[,;]\s*", typed.strip(" []")) if isinstance(typed, str) else typed
    if not isinstance(parts, list):
        raise wanted(WAVES_WANTED)
    parts = parts[:-1] if str(parts[-1:]).strip("[]'\" ").lower() == "rest" else parts
    sizes = [_whole(part) for part in parts]
    if not sizes or not all(isinstance(size, int) and size > 0 for size in sizes):
        raise wanted(f"{WAVES_WANTED}, whole numbers above 0")
    return sizes


def _where(typed: Any) -> Any:
    """Read columns with one value or a list of values, each as text."""
    if not isinstance(typed, dict) or not typed:
        raise wanted("columns and the values to keep, as in where: {Stage: Take-home test}")
    lists = {name: value if isinstance(value, list) else [value] for name, value in typed.items()}
    for name, values in lists.items():
        if not values or any(isinstance(value, dict | list) for value in values):
            raise sentence(f"give a value of the column {name}, or a list of values", name)
    return {
        str(name).strip(): [str(v).lower() if isinstance(v, bool) else str(v) for v in values]
        for name, values in lists.items()
    }


def _once(wall: datetime | None, info: ValidationInfo) -> datetime | None:
    """Refuse a time that the clocks of its zone skip or show twice."""
    zone = info.data.get("timezone")
    if wall and zone and (why_not := timetable.clock_change(wall, zone)):
        raise wanted(why_not)
    return wall


Text = Annotated[str, AfterValidator(_text)]
Line = Annotated[str, AfterValidator(_line)]
Key = Annotated[str, BeforeValidator(read_by(_key))]
Email = Annotated[str, BeforeValidator(read_by(emails.checked_address))]
Id = Annotated[int, BeforeValidator(_whole, json_schema_input_type=int), Field(gt=0, le=LARGEST_ID)]
Stage = Annotated[
    int, BeforeValidator(_whole, json_schema_input_type=int), Field(ge=0, le=LARGEST_ID)
]
Moment = Annotated[
    datetime,
    BeforeValidator(read_by(timetable.moment, or_as_it_is=datetime)),
    WithJsonSchema({"type": "string"}),
]
Zone = Annotated[str, BeforeValidator(read_by(timetable.timezone))]
Share = Annotated[
    float,
    BeforeValidator(read_by(_share, or_as_it_is=float)),
    Field(gt=0, le=1),
    WithJsonSchema({"type": "string", "pattern": "%"}),
]


def _checked(read: Callable[[str], Any]) -> Callable[[str], str]:
    """Keep a text as typed, once it can be read."""

    def checker(typed: str) -> str:
        read(typed)
        return typed.strip()

    return checker


Span = Annotated[str, BeforeValidator(read_by(_checked(timetable.span)))]
OpenHours = Annotated[str, BeforeValidator(read_by(_checked(timetable.hours)))]
CronLine = Annotated[str, BeforeValidator(read_by(timetable.cron))]


class Fields(BaseModel):
    """Refuses unknown fields; never changed once read."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class Candidate(Fields):
    """A person to add and invite: exactly what is sent of them (interface 4.5)."""

    first_name: Line = Field(title="a first name", description="Sent as typed")
    last_name: Line = Field(title="a last name", description="Sent as typed")
    email1: Email = Field(
        title=emails.WANTED,
        description="Sent as typed; the person must log in with exactly this address",
    )
    source: Text = Field("", title="text", description="Where the person came from")
    notes: Text = Field("", title="text", description="A remark, sent to the service")
    stage_id: Stage | None = Field(
        None, title="a whole number", description="The person's stage; default: the campaign's"
    )


class Project(Fields):
    """The project to create, or `id`: one made in the web application, used as it is."""

    id: Id | None = Field(
        None, title=ID_WANTED, description="A project made in the web application, used as it is"
    )
    timezone: Zone | None = Field(
        None, title=ZONE_WANTED, description="The zone of the campaign's times"
    )
    name: Line | None = Field(
        None,
        title="the project's name",
        description="The name of the project to create; needed unless there is an id",
        validate_default=True,
    )
    description: Text = Field("", title="text", description="Its description, sent as written")
    state: Line = Field("open", title='a state such as "open"', description="Sent as written")
    starttime: Moment | None = Field(
        None, title=timetable.MOMENT_WANTED, description="When the project opens"
    )
    endtime: Moment | None = Field(
        None, title=timetable.MOMENT_WANTED, description="When it closes"
    )

    _clock = field_validator("starttime", "endtime")(_once)

    @field_validator("timezone", "name", "description", "state", "starttime", "endtime")
    @classmethod
    def _only_of_a_new_project(cls, value: Any, info: ValidationInfo) -> Any:
        made = info.data.get("id")
        default = cls.model_fields[str(info.field_name)].default
        if made is not None and value != default:
            raise sentence(
                f"project {made} already exists and is used as it is; leave out "
                f"{info.field_name}, or leave out id to create a new project"
            )
        if info.field_name == "name" and value is None and info.data.get("id", 0) is None:
            raise wanted("the project's name, or the id of one made in the web application")
        return value

    @field_validator("endtime")
    @classmethod
    def _still_to_come(cls, end: datetime | None, info: ValidationInfo) -> datetime | None:
        """The context holds `now` while a person's file is read, and nothing later."""
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

    id: Id | None = Field(None, title=ID_WANTED, description="The number of the problem")
    title: Line | None = Field(
        None,
        title="the problem's title",
        description="Instead of the id; must match exactly one problem in the service's list",
        validate_default=True,
    )

    @field_validator("title")
    @classmethod
    def _one_of_both(cls, title: str | None, info: ValidationInfo) -> str | None:
        if "id" in info.data and (info.data["id"] is None) == (title is None):
            raise wanted("exactly one of id and title")
        return title


class Table(Fields):
    """A file with the people in it."""

    file: Line = Field(
        title="the name of a file, such as people.csv",
        description="The table with the people, beside the definition",
    )
    sheet: Line | None = Field(
        None, title="the name of a sheet", description="Which sheet of it, if several have people"
    )
    where: Annotated[
        dict[str, list[str]],
        BeforeValidator(_where),
        WithJsonSchema({"type": "object", "minProperties": 1}),
    ] = Field(
        {}, title="columns and values", description="Which rows to use; nobody else is invited"
    )
    split_name: bool = Field(
        False, title="true or false", description="Split whole names into first and last name"
    )
    several: Literal["first"] | None = Field(
        None, title="first, or nothing", description="Take the first of several addresses in a cell"
    )
    hidden_rows: Literal["skip", "read"] | None = Field(
        None,
        title="skip or read",
        description="What to do with rows that are hidden, filtered or struck through",
    )
    columns: dict[
        Literal["first_name", "last_name", "email1", "source", "notes", "stage_id"], Line
    ] = Field(
        {},
        title='a mapping, as in columns: {notes: "Recruiter notes"}',
        description="Which column holds which field, if its header does not say so",
    )


class Invites(Fields):
    """Whether invitations are sent, who is asked first, and when they may go out."""

    send: bool = Field(
        True,
        title="true or false",
        description="false adds people and makes their links, and invites nobody",
    )
    approval: Literal["required"] | None = Field(
        None, title="required", description="A person approves each plan before anything is sent"
    )
    timezone: Zone | None = Field(
        None, title=ZONE_WANTED, description="The zone of the times below; default: the project's"
    )
    not_before: Moment | None = Field(
        None, title=timetable.MOMENT_WANTED, description="No invitation goes out before this time"
    )
    not_after: Moment | None = Field(
        None, title=timetable.MOMENT_WANTED, description="No invitation goes out after this time"
    )
    hours: OpenHours | None = Field(
        None, title=timetable.HOURS_WANTED, description="Working hours for invitations"
    )
    holidays: Annotated[list[date], BeforeValidator(_dates)] = Field(
        [], title="dates", description="Dates without working hours"
    )
    per_hour: float | None = Field(
        None,
        title="a number above 0",
        description="The most invitations an hour, over all runs",
        gt=0,
        le=1_000_000,
    )
    pilot: Email | None = Field(
        None,
        title=emails.WANTED,
        description="An address of yours: invited first; nobody else is until you approve",
    )
    waves: Annotated[
        list[int], BeforeValidator(_sizes), WithJsonSchema({"type": ["array", "string"]})
    ] = Field([], title=WAVES_WANTED, description="Send in waves of these sizes")
    between: Span | None = Field(
        None, title=timetable.SPAN_WANTED, description="The time from one wave to the next"
    )

    _clock = field_validator("not_before", "not_after")(_once)

    @field_validator("not_after")
    @classmethod
    def _after_the_begin(cls, end: datetime | None, info: ValidationInfo) -> datetime | None:
        begin = info.data.get("not_before")
        if end and begin and end <= begin:
            raise wanted(f"a time after not_before, which is {begin:%Y-%m-%d %H:%M}")
        return end

    @field_validator("holidays", "between")
    @classmethod
    def _beside_another(cls, value: Any, info: ValidationInfo) -> Any:
        other = {"holidays": "hours", "between": "waves"}[str(info.field_name)]
        if value and other in info.data and not info.data[other]:
            raise sentence(f"{info.field_name} goes with {other}: write {other} as well")
        return value

    def least_gap(self) -> timedelta:
        """The time between two waves."""
        return timetable.span(self.between) if self.between else timedelta(0)


class Guard(Fields):
    """What stops a run before it sends anything, so that a person decides."""

    removed: Share = Field(
        0.2,
        title=SHARE_WANTED,
        description="Stop and ask when more than this share of the people is gone from the file",
    )


class Schedule(Fields):
    """When a campaign runs on its own: by a cron line, or at fixed intervals."""

    timezone: Zone | None = Field(
        None, title=ZONE_WANTED, description="The zone of cron; default: the project's"
    )
    cron: CronLine | None = Field(
        None, title='a cron line such as "0 9 * * 1-5"', description="When runs start"
    )
    every: Span | None = Field(
        None,
        title=timetable.SPAN_WANTED,
        description="How often a run starts, instead of cron",
        validate_default=True,
    )

    @field_validator("every")
    @classmethod
    def _one_of_both(cls, every: str | None, info: ValidationInfo) -> str | None:
        if "cron" in info.data and (info.data["cron"] is None) == (every is None):
            raise sentence('a schedule has either  cron: "0 9 * * 1-5"  or  every: 1 hour')
        return every


def _problem(typed: Any) -> Any:
    """`problem: 42` is short for the mapping."""
    if isinstance(typed, dict | Problem):
        return typed
    if isinstance(_whole(typed), int):
        return {"id": typed}
    raise wanted(PROBLEM_WANTED)


def _kind_of(typed: Any) -> str | None:
    if isinstance(typed, list):
        return "list"
    return "table" if isinstance(typed, dict | Table) else None


class Definition(Fields):
    """A campaign: one project, one problem, and the people to invite."""

    campaign: Key = Field(
        title=KEY_WANTED, description="The key by which the ledger knows the campaign, for good"
    )
    project: Project = Field(
        title="a mapping with name, or with the id of a project made in the web application",
        description="The project to create, or one that you made",
    )
    problem: Annotated[Problem, BeforeValidator(_problem, json_schema_input_type=int | Problem)] = (
        Field(title=PROBLEM_WANTED, description="The one problem of the project")
    )
    candidates: Annotated[
        Annotated[list[Candidate], Tag("list")] | Annotated[Table, Tag("table")],
        Discriminator(_kind_of),
    ] = Field(title=PEOPLE_WANTED, description="The people, or the table that has them")
    stage_id: Stage = Field(
        1, title="a whole number", description="The stage of everybody who has none of their own"
    )
    invites: Invites = Field(
        default_factory=Invites,
        title="a mapping, as in invites: {send: true}",
        description="Whether, when and how fast invitations go out",
    )
    guard: Guard = Field(
        default_factory=Guard,
        title="a mapping, as in guard: {removed: 20%}",
        description="What stops a run before it sends anything",
    )
    schedule: Schedule | None = Field(
        None,
        title='a mapping, as in schedule: {cron: "0 9 * * 1-5"}',
        description="When the campaign runs on its own",
    )

    @field_validator("invites")
    @classmethod
    def _on_the_projects_clock(cls, invites: Invites, info: ValidationInfo) -> Invites:
        """This program, not the service, decides whether it is time: that needs a timezone."""
        project = info.data.get("project")
        if project is None or invites.timezone:
            return invites
        for name in ("not_before", "not_after", "hours"):
            if (value := getattr(invites, name)) is None:
                continue
            if project.timezone is None:
                needed = "needs a timezone: the project's, or  timezone: Europe/Paris  beside it"
                raise sentence(f"{name} {needed}", name)
            if isinstance(value, datetime):
                why_not = timetable.clock_change(value, project.timezone)
                if why_not:
                    raise sentence(f"wanted {why_not}", name)
        return invites.model_copy(update={"timezone": project.timezone})

    @field_validator("invites")
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

    @field_validator("schedule")
    @classmethod
    def _in_a_zone(cls, schedule: Schedule | None, info: ValidationInfo) -> Schedule | None:
        project = info.data.get("project")
        if schedule is None or schedule.cron is None or schedule.timezone or project is None:
            return schedule
        if project.timezone is None:
            raise sentence("cron needs a timezone: the project's, or one beside it", "cron")
        return schedule.model_copy(update={"timezone": project.timezone})
