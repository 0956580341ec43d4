"""The rules of `invites`: who must approve, and when invitations may go out."""

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ValidationInfo
from pydantic import field_validator as validates

from config.definition import schema_parts
from config.definition.kinds import (
    TIMEZONE_WANTED,
    Email,
    Fields,
    Moment,
    Span,
    Timezone,
    optional,
    read_by,
    sentence,
    wanted,
    zone_of,
)
from config.definition.model import Trust
from config.definition.schema_parts import given, left_out, shown_as, together
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
GO_WITH = {"holidays": ("hours", WITH_HOURS), "between": ("waves", WITH_WAVES)}
RATE_WANTED = "a number above 0"
LARGEST_RATE = schema_parts.LARGEST_RATE
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
    except ValueError as error:
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
    except ValueError:
        raise wanted(LEAST_TIME_WANTED) from None


Hours = Annotated[
    tuple[frozenset[int], time, time],
    BeforeValidator(read_by(hours.hours)),
    shown_as(schema_parts.HOURS),
]
Share = Annotated[float, BeforeValidator(read_by(waves.share)), shown_as(schema_parts.SHARE)]
Rate = Annotated[float, BeforeValidator(_rate), shown_as(schema_parts.RATE)]
Holidays = Annotated[frozenset[date], BeforeValidator(_holidays), shown_as(schema_parts.HOLIDAYS)]
LeastTime = Annotated[
    tuple[timedelta, bool], BeforeValidator(_least_time), shown_as(schema_parts.LEAST_TIME)
]
Sizes = Annotated[tuple[int, ...], BeforeValidator(_sizes), shown_as(schema_parts.WAVES)]
Approved = Annotated[str, shown_as(schema_parts.APPROVAL)]


def _some_bound(fields: "HoldOnFields") -> "HoldOnFields":
    if fields.refused is None and fields.unsure is None:
        raise wanted(HOLD_ON_WANTED)
    return fields


class ApprovalFields(Fields):
    """A person has to approve the plan of a run before anything is sent."""

    within: Span | None = optional(
        "How long the plan may wait for an answer; without it there is no limit", spans.WANTED
    )


class HoldOnFields(Fields):
    """What pauses a campaign until a person resumes it."""

    model_config = together(
        {
            "if": left_out(["refused"]),
            "then": given("unsure", f"wanted {HOLD_ON_WANTED}"),
        }
    )

    refused: Share | None = optional(
        "Pause the campaign when this share of the invitations is refused", waves.SHARE_WANTED
    )
    unsure: int | None = optional(
        "Pause the campaign when this many invitations are unsure", "a whole number above 0", ge=1
    )


class InvitesFields(Fields):
    """Whether invitations are sent, who is asked first, and when they may go out."""

    model_config = together(
        *(
            {"if": given(name), "then": given(other, why_not)}
            for name, (other, why_not) in GO_WITH.items()
        )
    )

    send: bool = optional(
        "false adds people and makes their links, and invites nobody", "true or false", True
    )
    approval: Annotated[
        ApprovalFields | None,
        BeforeValidator(_approval, json_schema_input_type=ApprovalFields | Approved),
    ] = optional("A person approves each plan before anything is sent", APPROVAL_WANTED)
    timezone: Timezone | None = optional(
        "The zone of the times below; default: the project's", TIMEZONE_WANTED
    )
    not_before: Moment = optional(
        "No invitation goes out before this time, whenever a run starts", moments.WANTED
    )
    not_after: Moment = optional("No invitation goes out after this time", moments.WANTED)
    hours: Hours | None = optional(
        "Working hours for invitations, on each person's own clock if known", hours.WANTED
    )
    holidays: Holidays | None = optional("Dates without working hours", HOLIDAYS_WANTED)
    per_second: Rate | None = optional("The most invitations a second, over all runs", RATE_WANTED)
    per_hour: Rate | None = optional("The most invitations an hour, over all runs", RATE_WANTED)
    least_time: LeastTime | None = optional(
        "People with less time than this before endtime are not invited; with warn, they are "
        "invited, and the plan counts them",
        LEAST_TIME_WANTED,
    )
    pilot: Email | None = optional(
        "An address of yours: invited first; nobody else is invited until you confirm",
        email_address.WANTED,
    )
    waves: Sizes | None = optional(
        "Send in waves of these sizes; rest is everybody else", waves.WANTED
    )
    between: Span | None = optional("The time from one wave to the next", spans.WANTED)
    hold_on: Annotated[HoldOnFields, AfterValidator(_some_bound)] | None = optional(
        "Pause the campaign when too much goes wrong, until a person resumes it", HOLD_ON_WANTED
    )
    cooldown: Span | None = optional(
        "How long to leave a person out after another campaign's invitation", spans.WANTED
    )
    # Not strict: strict mode would accept only a Python Trust, which nobody can write in a file.
    trust: Trust = optional(
        "What proves that a request did nothing: its status, or only that it never left this "
        "machine",
        "status or wire",
        Trust.STATUS,
        strict=False,
    )

    @validates(*NEED_A_ZONE)
    @classmethod
    def _on_some_clock(cls, value: Any, info: ValidationInfo) -> Any:
        """This program, not the service, decides whether it is time: each needs a timezone."""
        zone = zone_of(info)
        if value is not None and zone is None:
            raise sentence(needs_a_zone(info.field_name))
        if isinstance(value, datetime) and zone and (why_not := moments.clock_change(value, zone)):
            raise wanted(why_not)
        return value

    @validates("not_after")
    @classmethod
    def _after_the_begin(cls, end: datetime | None, info: ValidationInfo) -> datetime | None:
        begin = info.data.get("not_before")
        if begin and end and end <= begin:
            raise wanted(f"a time after not_before, which is {begin:%Y-%m-%d %H:%M}")
        return end

    @validates(*GO_WITH)
    @classmethod
    def _beside_another(cls, value: Any, info: ValidationInfo) -> Any:
        other, why_not = GO_WITH[str(info.field_name)]
        if value is not None and other in info.data and info.data[other] is None:
            raise sentence(why_not)
        return value


def needs_a_zone(name: str | None) -> str:
    verb = "need" if name == "hours" else "needs"
    return f"{name} {verb} a timezone: the project's, or  timezone: Europe/Paris  beside it"


class GuardFields(Fields):
    """What stops a run before it sends anything, so that a person decides."""

    removed: Share | None = optional(
        "Stop and ask when this share of the people is gone from the file", waves.SHARE_WANTED
    )
