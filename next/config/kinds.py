"""The kinds of value in a definition: how each is read, and what a mistake says was wanted."""

import re
import unicodedata
from collections.abc import Callable
from datetime import date, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, WithJsonSchema
from pydantic_core import PydanticCustomError

from config import emails, timetable

LONGEST_TEXT = 10_000
PLACEHOLDER = re.compile(r"\s*<[^<>@]*>\s*")
# Text with these looks different from what it is.
DIRECTIONS = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def wanted(what: str) -> PydanticCustomError:
    """Refuse a value, and say what belongs there."""
    return PydanticCustomError("wanted", "{wanted}", {"wanted": what})


def sentence(message: str, at: str = "") -> PydanticCustomError:
    """Refuse a value with a whole sentence; `at` names the field below this one that is wrong."""
    return PydanticCustomError("sentence", "{message}", {"message": message, "at": at})


def is_placeholder(value: object) -> bool:
    """Whether `campaign new` wrote this for a person to decide; it is never sent."""
    return isinstance(value, str) and bool(PLACEHOLDER.fullmatch(value))


def read_by(read: Callable[[str], Any], keep: type | None = None) -> BeforeValidator:
    """Make a validator of a reader whose ValueError says what was wanted.

    What is no text is read as an empty one, unless it is of the type that the reader makes.
    """

    def reader(typed: Any) -> Any:
        if keep and isinstance(typed, keep):
            return typed
        try:
            return read(typed if isinstance(typed, str) else "")
        except ValueError as error:
            raise wanted(str(error)) from None

    return BeforeValidator(reader)


def _text(typed: str) -> str:
    """Trim, and refuse what no person's text contains."""
    text = typed.strip()
    if text[:1] == "<" and is_placeholder(text):
        raise ValueError("a placeholder")
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
    if not text.isprintable() and (odd := [c for c in text if c in DIRECTIONS or c in "\n\r\t"]):
        raise wanted(f"text on one line, without {unicodedata.name(odd[0], 'line breaks or tabs')}")
    return text


def number(typed: Any) -> int | None:
    """Read digits as a number; a truth value or a fraction is none."""
    if isinstance(typed, str) and re.fullmatch(r"\s*[0-9]{1,19}\s*", typed, re.ASCII):
        return int(typed)
    return typed if type(typed) is int else None


def _whole(typed: Any) -> int:
    if (whole := number(typed)) is None:
        raise wanted("a whole number")
    return whole


def _key(typed: str) -> str:
    key = typed.strip().lower()
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,99}", key):
        raise ValueError("a key of letters, digits, - _ and ., such as backend-2026")
    return key


def _share(typed: str) -> float:
    written = re.fullmatch(r"\s*(\d{1,3}(?:\.\d{1,4})?)\s*%\s*", typed, re.ASCII)
    if written is None or not 0 < float(written[1]) <= 100:
        raise ValueError("a share such as 20%")
    return float(written[1]) / 100


def _listed(typed: Any) -> Any:
    """Read a text with commas, as in a cell, as a list."""
    return re.split(r"\s*[,;]\s*", typed.strip(" []")) if isinstance(typed, str) else typed


def _dates(typed: Any) -> Any:
    try:
        return [d if isinstance(d, date) else date.fromisoformat(d.strip()) for d in _listed(typed)]
    except (TypeError, ValueError, AttributeError):
        raise wanted("dates, as in holidays: [2026-12-25, 2027-01-01]") from None


def _sizes(typed: Any) -> Any:
    """Read `[5, 50, rest]` as [5, 50]: whatever comes last, the rest follows."""
    parts = _listed(typed) if isinstance(_listed(typed), list) else []
    if parts and str(parts[-1]).strip().lower() == "rest":
        parts = parts[:-1]
    sizes = [number(part) or 0 for part in parts]
    if typed != [] and min(sizes, default=0) < 1:
        raise wanted("sizes of waves, whole numbers above 0, such as [5, 50, rest]")
    return sizes


def _where(typed: Any) -> Any:
    if not isinstance(typed, dict):
        raise wanted("columns and the values to keep, as in where: {Stage: Take-home test}")
    return {str(name).strip(): values for name, values in typed.items()}


def _values(typed: Any) -> list[str]:
    """Read one value of a column or a list of values, each as text."""
    values = typed if isinstance(typed, list) else [typed]
    for value in filter(is_placeholder, values):
        raise sentence(f"{value} is still there: look at the line, then delete this")
    if not values or any(isinstance(value, dict | list) for value in values):
        raise wanted("a value of this column, or a list of values")
    return [str(value).lower() if isinstance(value, bool) else str(value) for value in values]


def as_typed(read: Callable[[str], Any]) -> BeforeValidator:
    """Keep a text that can be read; it is read again where it acts."""
    return read_by(lambda typed: typed.strip() if read(typed) else "")


def once(wall: datetime | None, info: ValidationInfo) -> datetime | None:
    """Refuse a time that the clocks of its zone skip or show twice."""
    zone = info.data.get("timezone")
    if wall and zone and (why_not := timetable.clock_change(wall, zone)):
        raise wanted(why_not)
    return wall


Text = Annotated[str, AfterValidator(_text)]
Line = Annotated[str, AfterValidator(_line)]
Key = Annotated[str, read_by(_key)]
Email = Annotated[str, read_by(emails.checked_address)]
Whole = Annotated[int, BeforeValidator(_whole, json_schema_input_type=int), Field(ge=0, lt=2**63)]
Id = Annotated[Whole, Field(gt=0)]
Moment = Annotated[
    datetime, read_by(timetable.moment, keep=datetime), WithJsonSchema({"type": "string"})
]
Zone = Annotated[str, read_by(timetable.timezone)]
Span = Annotated[str, as_typed(timetable.span)]
Share = Annotated[float, read_by(_share, keep=float), Field(gt=0, le=1)]
Sizes = Annotated[list[int], BeforeValidator(_sizes, json_schema_input_type=list[int | str] | str)]
Dates = Annotated[list[date], BeforeValidator(_dates, json_schema_input_type=list[str] | str)]
Values = Annotated[list[str], BeforeValidator(_values, json_schema_input_type=list[str] | str)]
Where = Annotated[dict[str, Values], BeforeValidator(_where)]
Hours = Annotated[str, as_typed(timetable.hours)]
CronLine = Annotated[str, read_by(timetable.cron)]
