"""The rules of `invites`: who must approve, and when invitations may go out."""

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo
from pydantic import field_validator as validates

from config.definition import patterns
from config.definition.kinds import (
    TIMEZONE_WANTED,
    Email,
    Fields,
    Moment,
    Span,
    Timezone,
    read_by,
    sentence,
    wanted,
    zone_of,
)
from config.definition.model import Trust
from config.definition.patterns import shown_as
from config.definition.schema_rules import given, left_out, together
from config.people import email_address
from config.timetable import hours, moments, spans, waves

APPROVAL_WANTED = "required, or a time limit, as in approval: {within: 2 days}"
HOLIDAYS_WANTED = "dates, as in holidays: [2026-12-25, 2027-01-01]"
HOLD_ON_WANTED = "a mapping, as in hold_on: {refused: 2%, unsure: 1}"
LEAST_TIME_WANTED = "a span of time, such as 3 days, or  warn 3 days"
NEED_A_ZONE = ("not_before", "not_after", "hours")
NEEDS_AN_END = "least_time needs the project's endtime and timezone"
WITH_HOURS = "holidays go with hours: give  hours: Mon-Fri 09:00-18:00  as well"
WITH_WAVES = "between goes with waves: give  waves: [5, 50, rest]  as well"
RATE_WANTED = "a number above 0"
LARGEST_RATE = patterns.LARGEST_RATE
WARN = "warn "


def _approval(typed: Any) -> Any:
    """`required` and `within 2 days` are short for the mapping."""
    if isinstance(typed, str):
        first, _, rest = typed.strip().partition(" ")
        if first == "required" and not rest:
            return {}
        if first == "within":
            return {"within": rest}
    elif isinstance(typed, Mapping):
        return typed
    raise wanted(APPROVAL_WANTED)


def _holidays(typed: Any) -> frozenset[date]:
    """Read a list of dates, or a text with commas between the dates, as in a cell."""
    listed = typed.replace(";", ",").split(",") if isinstance(typed, str) else typed
    if not isinstance(listed, list):
        raise wanted(HOLIDAYS_WANTED)
    try:
        return frozenset(date.fromisoformat(day.strip()) for day in listed)
    except (TypeError, ValueError, AttributeError):
        raise wanted(HOLIDAYS_WANTED) from None


def _sizes(typed: Any) -> tuple[int, ...]:
    """Read a list of sizes, or a text with commas between them, as in a cell."""
    listed = typed.strip().strip("[]").split(",") if isinstance(typed, str) else typed
    if isinstance(typed, str):
        listed = [int(part) if part.strip().isdecimal() else part for part in listed]
    try:
        return waves.sizes(listed if isinstance(listed, list) else [])
    except waves.NotWaves as error:
        raise wanted(str(error)) from None


def _rate(typed: Any) -> float:
    try:
        rate = float("nan") if isinstance(typed, bool) else float(typed)
    except (TypeError, ValueError):
        raise wanted(RATE_WANTED) from None
    if not 0 < rate <= LARGEST_RATE:
        raise wanted(RATE_WANTED)
    return rate


def _least_time(typed: Any) -> tuple[timedelta, bool]:
    """Read `3 days`, or `warn 3 days`: the span, and whether less time than that stops an
    invitation.
    """
    text = typed.strip() if isinstance(typed, str) else ""
    try:
        return spans.span(text.removeprefix(WARN)), not text.startswith(WARN)
    except spans.NotASpan:
        raise wanted(LEAST_TIME_WANTED) from None


Hours = Annotated[
    tuple[frozenset[int], time, time],
    BeforeValidator(read_by(hours.hours)),
    shown_as(patterns.HOURS),
]
Share = Annotated[float, BeforeValidator(read_by(waves.share)), shown_as(patterns.SHARE)]
Rate = Annotated[float, BeforeValidator(_rate), shown_as({"anyOf": patterns.RATE})]
Approved = Annotated[str, shown_as(patterns.APPROVAL)]


def _some_bound(fields: "HoldOnFields") -> "HoldOnFields":
    if fields.refused is None and fields.unsure is None:
        raise wanted(HOLD_ON_WANTED)
    return fields


class ApprovalFields(Fields):
    """A person has to approve the plan of a run before anything is sent."""

    within: Span | None = Field(
        None,
        title="How long the plan may wait for an answer; without it there is no limit",
        description=spans.WANTED,
    )


class HoldOnFields(Fields):
    """What pauses a campaign until a person resumes it."""

    model_config = together(
        {
            "if": left_out(["refused"]),
            "then": given("unsure", f"wanted {HOLD_ON_WANTED}"),
        }
    )

    refused: Share | None = Field(
        None,
        title="Pause the campaign when this share of the invitations is refused",
        description=waves.SHARE_WANTED,
    )
    unsure: int | None = Field(
        None,
        ge=1,
        title="Pause the campaign when this many invitations are unsure",
        description="a whole number above 0",
    )


class InvitesFields(Fields):
    """Whether invitations are sent, who is asked first, and when they may go out."""

    model_config = together(
        {"if": given("holidays"), "then": given("hours", WITH_HOURS)},
        {"if": given("between"), "then": given("waves", WITH_WAVES)},
    )

    send: bool = Field(
        True,
        title="false adds people and makes their links, and invites nobody",
        description="true or false",
    )
    approval: Annotated[
        ApprovalFields | None,
        BeforeValidator(_approval, json_schema_input_type=ApprovalFields | Approved),
    ] = Field(
        None,
        title="A person approves each plan before anything is sent",
        description=APPROVAL_WANTED,
    )
    timezone: Timezone | None = Field(
        None,
        title="The zone of the times below; default: the project's",
        description=TIMEZONE_WANTED,
    )
    not_before: Moment = Field(
        None,
        title="No invitation goes out before this time, whenever a run starts",
        description=moments.WANTED,
    )
    not_after: Moment = Field(
        None, title="No invitation goes out after this time", description=moments.WANTED
    )
    hours: Hours | None = Field(
        None,
        title="Working hours for invitations, on each person's own clock if known",
        description=hours.WANTED,
    )
    holidays: (
        Annotated[
            frozenset[date], BeforeValidator(_holidays), shown_as({"anyOf": patterns.HOLIDAYS})
        ]
        | None
    ) = Field(None, title="Dates without working hours", description=HOLIDAYS_WANTED)
    per_second: Rate | None = Field(
        None, title="The most invitations a second, over all runs", description=RATE_WANTED
    )
    per_hour: Rate | None = Field(
        None, title="The most invitations an hour, over all runs", description=RATE_WANTED
    )
    least_time: (
        Annotated[
            tuple[timedelta, bool], BeforeValidator(_least_time), shown_as(patterns.LEAST_TIME)
        ]
        | None
    ) = Field(
        None,
        title="People with less time than this before endtime are not invited; with warn, they are "
        "invited, and the plan counts them",
        description=LEAST_TIME_WANTED,
    )
    pilot: Email | None = Field(
        None,
        title="An address of yours: invited first; nobody else is invited until you confirm",
        description=email_address.WANTED,
    )
    waves: (
        Annotated[tuple[int, ...], BeforeValidator(_sizes), shown_as({"anyOf": patterns.WAVES})]
        | None
    ) = Field(
        None, title="Send in waves of these sizes; rest is everybody else", description=waves.WANTED
    )
    between: Span | None = Field(
        None, title="The time from one wave to the next", description=spans.WANTED
    )
    hold_on: Annotated[HoldOnFields, AfterValidator(_some_bound)] | None = Field(
        None,
        title="Pause the campaign when too much goes wrong, until a person resumes it",
        description=HOLD_ON_WANTED,
    )
    cooldown: Span | None = Field(
        None,
        title="How long to leave a person out after another campaign's invitation",
        description=spans.WANTED,
    )
    # Not strict: strict mode would accept only a Python Trust, which nobody can write in a file.
    trust: Trust = Field(
        Trust.STATUS,
        strict=False,
        title="What proves that a request did nothing: its status, or only that it never left this "
        "machine",
        description="status or wire",
    )

    @validates("not_before", "not_after")
    @classmethod
    def _one_moment(cls, wall: datetime | None, info: ValidationInfo) -> datetime | None:
        """This program, not the service, decides whether it is time: each needs a timezone."""
        zone = zone_of(info)
        if wall and zone is None:
            raise sentence(needs_a_zone(info.field_name))
        if wall and zone and (why_not := moments.clock_change(wall, zone)):
            raise wanted(why_not)
        return wall

    @validates("not_after")
    @classmethod
    def _after_the_begin(cls, end: datetime | None, info: ValidationInfo) -> datetime | None:
        begin = info.data.get("not_before")
        if begin and end and end <= begin:
            raise wanted(f"a time after not_before, which is {begin:%Y-%m-%d %H:%M}")
        return end

    @validates("hours")
    @classmethod
    def _on_some_clock(cls, value: Any, info: ValidationInfo) -> Any:
        if value is not None and zone_of(info) is None:
            raise sentence(needs_a_zone(info.field_name))
        return value

    @validates("holidays")
    @classmethod
    def _from_hours(cls, value: Any, info: ValidationInfo) -> Any:
        if value is not None and "hours" in info.data and info.data["hours"] is None:
            raise sentence(WITH_HOURS)
        return value

    @validates("between")
    @classmethod
    def _of_waves(cls, value: Any, info: ValidationInfo) -> Any:
        if value is not None and "waves" in info.data and info.data["waves"] is None:
            raise sentence(WITH_WAVES)
        return value


def needs_a_zone(name: str | None) -> str:
    """Say that a time of `invites` needs a timezone."""
    verb = "need" if name == "hours" else "needs"
    return f"{name} {verb} a timezone: the project's, or  timezone: Europe/Paris  beside it"


class GuardFields(Fields):
    """What stops a run before it sends anything, so that a person decides."""

    removed: Share | None = Field(
        None,
        title="Stop and ask when this share of the people is gone from the file",
        description=waves.SHARE_WANTED,
    )
