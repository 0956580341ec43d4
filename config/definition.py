"""A campaign as a person writes it: the fields of a definition.

Each floor above uses these models. They are the editor's schema; the ledger stores them. Mistakes
quote the text below a field, up to its `;`. Functions that check a text raise ValueError.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PositiveInt,
    SecretStr,
    StringConstraints,
    Tag,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)

from config import timetable
from config.emails import checked_address
from config.errors import Place


def _checked(read: Callable[[str], Any]) -> AfterValidator:
    """Check that a text can be read, and keep the text: it is read again where it is used."""
    return AfterValidator(lambda typed: typed.strip() if read(typed) else typed)


def checked_name(typed: str) -> str:
    """Return a name as typed. Raises ValueError with what was wanted if it is no name."""
    if odd := re.search(r"[~→❌✗✘✖🚫⛔👎🔴†]|\*+$|\s/\s", typed):
        raise ValueError(f"a name without {odd[0].strip()} in it; correct it, or delete this row")
    counts = any(map(str.isdigit, typed)) and not any(map(str.isalpha, typed))
    if counts or typed in {"TRUE", "FALSE"} or _NO_NAME.search(typed):
        raise ValueError("a name, which is no number, no date, no TRUE, no address and has no :")
    return typed


def _share(typed: Any) -> Any:
    """Read `20%` as 0.2, and return anything else as it is."""
    percent = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%\s*", str(typed), re.ASCII)
    return float(percent[1]) / 100 if percent else typed


def _sizes(typed: Any) -> Any:
    """Read `[5, 50, rest]` as [5, 50]: everybody else follows the last wave anyway."""
    return typed[:-1] if isinstance(typed, list) and typed[-1:] == ["rest"] else typed


def as_list(typed: Any) -> Any:
    """Put a single value into a list, and return a list as it is."""
    return typed if isinstance(typed, list) else [typed]


def _text(characters: str) -> StringConstraints:
    """Text of these characters. A blank `<…>`, which `campaign new` wrote, is refused."""
    pattern = rf"^(?!<[^<>@]*>$){characters}$"
    return StringConstraints(strip_whitespace=True, max_length=10_000, pattern=pattern)


# Control characters, and characters that make a text look different from what it is.
ODD = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffd"
# An address, a label (but S:t Clair is a name), a time, or a date.
_NO_NAME = re.compile(r"@|:(?:\s|$|//)|\d:\d|\b(?:\d{4}-\d\d-\d\d|\d\d?([./])\d\d?\1(?:\d\d)+)\b")
KEY = r"(?i)^[a-z0-9][a-z0-9._-]{0,99}$"
Text = Annotated[str, _text(rf"[^{ODD}]*")]
Line = Annotated[str, _text(rf"[^{ODD}\t\r\n]+")]
File = Annotated[str, _text(rf"(?!.*://)[^{ODD}\t\r\n]+")]  # not a link, which may be a secret
Name = Annotated[Line, AfterValidator(checked_name)]
Key = Annotated[str, StringConstraints(strip_whitespace=True, to_lower=True, pattern=KEY)]
Email = Annotated[str, AfterValidator(checked_address)]
Whole = Annotated[int, Field(ge=0, lt=2**63)]
Id = Annotated[Whole, Field(gt=0)]
Moment = Annotated[datetime, BeforeValidator(timetable.moment), WithJsonSchema({"type": "string"})]
Zone = Annotated[str, AfterValidator(timetable.timezone)]
Span = Annotated[str, _checked(timetable.span)]
Hours = Annotated[str, _checked(timetable.hours)]
CronLine = Annotated[str, AfterValidator(timetable.cron)]
Share = Annotated[float, BeforeValidator(_share, str | float), Field(gt=0, le=1)]
Sizes = Annotated[list[PositiveInt], BeforeValidator(_sizes, list[int | Literal["rest"]])]
Values = Annotated[list[Text], BeforeValidator(as_list, list[str] | str), Field(min_length=1)]


class Fields(BaseModel):
    """The base of the models: it refuses unknown fields, and never changes once it was read."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        coerce_numbers_to_str=True,
        hide_input_in_errors=True,
        regex_engine="python-re",
        use_attribute_docstrings=True,
    )


class Candidate(Fields):
    """A person to add and invite, with exactly the fields that are sent (interface 4.5)."""

    first_name: Name
    """A first name on one line; sent as typed."""
    last_name: Name
    """A last name on one line; sent as typed."""
    email1: Email
    """An email address; sent as typed, and the person must log in with exactly this one."""
    source: Text = ""
    """A text that says where the person came from."""
    notes: Text = ""
    """A remark, sent to the service."""
    stage_id: Whole | None = None
    """The person's stage, a whole number; left out, the campaign's."""

    def __repr_args__(self) -> list[tuple[str | None, Any]]:
        return []  # no log and no traceback shows a person


# The fields that a table's column may hold. A full name is split into first and last name.
COLUMNS = (*Candidate.model_fields, "full_name")
ORDERS = ".orders.csv"  # the ending of the tables that the order desk writes


@dataclass(frozen=True, slots=True)
class Listed:
    """A person of a campaign: the fields to send, the email key, and the place in the file."""

    candidate: Candidate = field(repr=False)
    key: str = field(repr=False)
    place: Place


class Project(Fields):
    """The project to create, or (`id`) an existing one to use as it is."""

    id: Id | None = None
    """The id of a project made in the web application, a whole number above 0."""
    timezone: Zone | None = None
    """The timezone of the campaign's times, such as Europe/Paris."""
    name: Line | None = None
    """The project's name; only for a project to create."""
    description: Text = ""
    """A description of the project, sent as written."""
    state: Line = "open"
    """A state such as open, sent as written."""
    starttime: Moment | None = None
    """When the project opens, such as 2026-12-01 09:00."""
    endtime: Moment | None = None
    """When it closes, later than starttime."""

    @property
    def ends(self) -> datetime | None:
        """The moment (UTC) of endtime, if any; without a timezone, when it passed everywhere."""
        zone = ZoneInfo(self.timezone or "Etc/GMT+12")
        return timetable.instant(self.endtime, zone) if self.endtime else None

    def body(self) -> dict[str, str]:
        """The body of the request that creates the project (interface 4.3)."""
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
    title: Line | None = None
    """The problem's title instead of its id; must match exactly one in the service's list."""


class PeopleTable(Fields):
    """A table with the people in it: a file, or what an address or a query answers."""

    file: File | None = None
    """The name of the file with the people, such as people.csv, beside the definition."""
    url: SecretStr | None = None
    """The https address of a .csv or .xlsx, instead of file."""
    query: File | None = None
    """The name of a file with one SELECT, such as people.sql; instead of file."""
    database: Annotated[str, StringConstraints(pattern="^[A-Z][A-Z0-9_]*$")] | None = None
    """Where query runs, such as PEOPLE: the address in CAMPAIGN_DATABASE_PEOPLE."""
    sheet: Line | None = None
    """The name of its sheet, if several have people."""
    encoding: Line | None = None
    """The encoding of a file that is not in UTF-8, such as windows-1250; check asks for it."""
    where: dict[str, Values] = {}
    """Columns with the values to keep; nobody else is added or invited."""
    split_name: bool = False
    """True to split whole names into first and last name, else false."""
    several: Literal["first"] | None = None
    """The word first, to take the first of several addresses in a cell."""
    ignore: Annotated[list[Line], BeforeValidator(as_list, list[str] | str)] = []
    """Columns that you looked at and that decide nothing."""
    hidden_rows: Literal["skip", "read"] | None = None
    """Skip or read: rows that are hidden, struck, coloured, commented, or like a test."""
    columns: dict[str, Line] = {}
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
    holidays: list[date] = []
    """Dates on which no invitation goes out, as in [2026-12-25, 2027-01-01]."""
    per_hour: float | None = Field(None, gt=0, le=1_000_000)
    """The most invitations an hour over all runs, a number above 0."""
    pilot: Email | None = None
    """An address of yours: invited first; nobody else is until you approve."""
    waves: Sizes = []
    """Sizes of the waves in which invitations go out, such as [5, 50, rest]."""
    between: Span | None = None
    """The time from one wave to the next, such as 2 days."""
    not_within: Span | None = None
    """How long somebody is left alone after any campaign invited them, such as 6 months."""


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
    every: Span | None = None
    """How often a run starts, such as 1 hour; instead of cron."""


MODELS = (Project, Problem, Invites, Guard, Schedule)  # each is the model of the field of its name


def _problem(typed: Any) -> Any:
    """Read `problem: 42` as `problem: {id: 42}`."""
    return {"id": typed} if isinstance(typed, str | int) else typed


def _kind_of(typed: Any) -> str | None:
    kinds: dict[type, str] = {list: "list", dict: "table", PeopleTable: "table"}
    return kinds.get(type(typed))


class Definition(Fields):
    """A campaign: one project, one problem, and the people to invite."""

    campaign: Key
    """A key of letters, digits, - _ and ., such as backend-2026; kept for good."""
    project: Project
    """The project to create with its name, or the id of one made in the web application."""
    problem: Annotated[Problem, BeforeValidator(_problem, int | Problem)]
    """The problem's id, a number above 0, or {title: "Two sum"}; a workbook says problem.title."""
    candidates: Annotated[
        Annotated[list[Candidate], Tag("list")] | Annotated[PeopleTable, Tag("table")],
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

    @field_validator("invites", "schedule")
    @classmethod
    def _on_the_projects_clock(cls, part: Any, info: ValidationInfo) -> Any:
        zone = getattr(info.data.get("project"), "timezone", None)
        own = part is None or part.timezone or zone is None
        return part if own else part.model_copy(update={"timezone": zone})
