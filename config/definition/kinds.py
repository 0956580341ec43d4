"""The kinds of value in a definition: how each is read, and what a mistake says was wanted."""

import unicodedata
from collections.abc import Callable
from datetime import datetime, timedelta
from sys import intern
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
)
from pydantic_core import PydanticCustomError

from config.definition import patterns
from config.definition.patterns import shown_as
from config.people import email_address
from config.tables.cells import is_error
from config.timetable import moments, schedule, spans

LONGEST_TEXT = 10_000
# They reverse the text that follows, so that a name looks different from what it is.
DIRECTIONS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
LARGEST_ID = 2**63 - 1
ID_WANTED = "a whole number above 0"
TIMEZONE_WANTED = "a timezone such as Europe/Paris"


def wanted(what: str) -> PydanticCustomError:
    """Refuse a value, and say what belongs there."""
    return PydanticCustomError("wanted", "{wanted}", {"wanted": what})


def sentence(message: str) -> PydanticCustomError:
    """Refuse a value with a whole sentence."""
    return PydanticCustomError("sentence", "{message}", {"message": message})


def _sendable(text: str, allowed: str = "") -> str:
    """Refuse what no person's text contains: spreadsheet errors, control characters, very long
    texts.
    """
    text = text.strip()
    if is_error(text):
        raise PydanticCustomError(
            "cell_error", "is the error that a spreadsheet shows for a cell it could not calculate"
        )
    if len(text) > LONGEST_TEXT:
        raise wanted(f"at most {LONGEST_TEXT:,} characters, not {len(text):,}")
    if not text.isprintable():
        for character in text:
            if character in allowed:
                continue
            if unicodedata.category(character) in {"Cc", "Cs"}:
                code = f"U+{ord(character):04X}"
                raise wanted(f"text without the control character {code}")
            if character in DIRECTIONS:
                name = unicodedata.name(character)
                raise wanted(f"text without the invisible {name}")
    return text


def _note(typed: str) -> str:
    # Text that is copied from a phone's contacts often brings direction marks along.
    return _sendable(typed, allowed="\n\r\t" + DIRECTIONS)


def _name(typed: str) -> str:
    text = _sendable(typed)
    if not any(c.isprintable() and not c.isspace() for c in text):
        raise PydanticCustomError("blank", "is blank")
    return text


def read_by(read: Callable[[str], Any]) -> Callable[[Any], Any]:
    """Make a validator of a reader whose ValueError says what was wanted.

    What is not a text, such as a number without a unit, is read as an empty one.
    """

    def reader(typed: Any) -> Any:
        try:
            return read(typed if isinstance(typed, str) else "")
        except ValueError as error:
            # The same few reasons in every row: kept once.
            raise wanted(intern(str(error))) from None

    return reader


def _moment(typed: Any) -> datetime | None:
    """Read a text or a date-time cell; the interface writes "" for an open end."""
    try:
        if isinstance(typed, datetime):
            return moments.whole_minute(typed)
        if isinstance(typed, str):
            return moments.wall_time(typed) if typed.strip() else None
    except moments.NotAMoment as error:
        raise wanted(str(error)) from None
    raise wanted(moments.WANTED)


def _timezone(typed: str) -> str:
    name = typed.strip()
    if moments.timezone_known(name):
        return name
    near = moments.nearest_timezone(name)
    hint = f"; did you mean {near}?" if near else ""
    raise wanted(f"a timezone such as Europe/Paris{hint}")


Text = Annotated[str, AfterValidator(_note)]
Name = Annotated[str, AfterValidator(_name), shown_as(patterns.NAME)]
Email = Annotated[
    str, AfterValidator(read_by(email_address.email_address)), shown_as(patterns.EMAIL)
]
Moment = Annotated[datetime | None, BeforeValidator(_moment), shown_as(patterns.MOMENT)]
Timezone = Annotated[str, AfterValidator(_timezone), shown_as(patterns.TIMEZONE)]
Span = Annotated[timedelta, BeforeValidator(read_by(spans.span)), shown_as(patterns.SPAN)]
CronLine = Annotated[str, AfterValidator(read_by(schedule.read_cron)), shown_as(patterns.CRON)]
Id = Annotated[int, Field(gt=0, le=LARGEST_ID)]
StageId = Annotated[int, Field(ge=0, le=LARGEST_ID)]


class Fields(BaseModel):
    """Refuses unknown fields, and converts nothing silently."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        hide_input_in_errors=True,
        # Most of these models are parts of others, so nothing has to be built for them alone.
        defer_build=True,
    )


def zone_of(own: ValidationInfo) -> str | None:
    """The zone in which times are read: their own, or else the project's; "" if that one is
    invalid.

    The project's zone comes in the context of the validation, under the name `timezone`.
    """
    if "timezone" not in own.data:
        return ""
    given = own.data["timezone"] or (own.context or {}).get("timezone")
    return None if given is None else str(given)
