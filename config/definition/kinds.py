"""The kinds of value in a definition: how each is read, and mistakes in the words of the person who
wrote it.
"""

import unicodedata
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from difflib import get_close_matches
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
from pydantic_core import ErrorDetails, PydanticCustomError

from config.definition import schema_parts
from config.definition.schema_parts import shown_as
from config.mistakes import Mistake, Place, shown
from config.people import email_address
from config.tables.cells import is_error
from config.timetable import moments, schedule, spans

LONGEST_TEXT = 10_000
# They reverse the text that follows, so that a name looks different from what it is.
DIRECTIONS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
LARGEST_ID = 2**63 - 1
ID_WANTED = "a whole number above 0"
STAGE_WANTED = "a whole number, 0 or more"
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
        raise ValueError("an error of a spreadsheet")
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
        raise ValueError("blank")
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
    except ValueError as error:
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
Name = Annotated[str, AfterValidator(_name), shown_as(schema_parts.NAME)]
Email = Annotated[
    str, AfterValidator(read_by(email_address.email_address)), shown_as(schema_parts.EMAIL)
]
Moment = Annotated[datetime | None, BeforeValidator(_moment), shown_as(schema_parts.MOMENT)]
Timezone = Annotated[str, AfterValidator(_timezone), shown_as(schema_parts.TIMEZONE)]
Span = Annotated[timedelta, BeforeValidator(read_by(spans.span)), shown_as(schema_parts.SPAN)]
CronLine = Annotated[str, AfterValidator(read_by(schedule.read_cron)), shown_as(schema_parts.CRON)]
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


def optional(purpose: str, wanted: str, default: Any = None, **rules: Any) -> Any:
    """A field that may be left out: what it is for, and what a mistake says was wanted there."""
    return Field(default, title=purpose, description=wanted, **rules)


def zone_of(own: ValidationInfo) -> str | None:
    """The zone in which times are read: their own, or else the project's; "" if that one is
    invalid.

    The project's zone comes in the context of the validation, under the name `timezone`.
    """
    if "timezone" not in own.data:
        return ""
    given = own.data["timezone"] or (own.context or {}).get("timezone")
    return None if given is None else str(given)


def unknown_field(
    place: Place, field: str, name: str, names: Iterable[str], deeper: Iterable[str] = ()
) -> Mistake:
    """Report a field that does not exist, and name the nearest one that does.

    `deeper` are dotted names of fields that belong one mapping deeper.
    """
    spellings = {full.rpartition(".")[2]: full for full in (*deeper, *names)}
    spellings |= {full: full for full in names}
    near = get_close_matches(name.casefold(), spellings, n=1, cutoff=0.7)
    hint = f"did you mean {spellings[near[0]]}?" if near else f"the fields are {', '.join(names)}"
    return Mistake(place, field, shown(name), message=f"there is no field {name}; {hint}")


def complaint(detail: ErrorDetails, place: Place, field: str, what: str) -> Mistake:
    """Put one error of pydantic into the words of the definition."""
    kind, value = detail["type"], detail["input"]
    context = detail.get("ctx", {})
    if kind == "missing":
        return Mistake(place, field, found="nothing", wanted=what)
    if isinstance(value, str) and is_error(value.strip()):
        return Mistake(place, field, found=f"the error {value.strip()}", wanted=what)
    if kind == "sentence":
        return Mistake(place, field, found=shown(value), message=context["message"])
    if kind == "wanted":
        return Mistake(place, field, found=shown(value), wanted=context["wanted"])
    if kind == "string_type" and isinstance(value, int | float):
        # YAML took it for a number or a truth value; only quotes say that it is meant as text.
        return Mistake(place, field, found=shown(value), wanted=f"{what}; put quotes around it")
    return Mistake(place, field, found=shown(value), wanted=what)
