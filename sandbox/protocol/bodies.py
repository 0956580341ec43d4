"""What a request body must look like, field by field.

The interface names fields and types but not which are required (its gap in part 2); the sandbox
wants every named field and no other, so that a slip shows here first. Each function returns what
is wrong, in words, or nothing.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

CREDENTIALS = {"grant_type": str, "client_id": str, "client_secret": str, "audience": str}
PROJECT = {"name": str, "description": str, "state": str, "starttime": str, "endtime": str}
LINK = {"problemid": int}
CANDIDATE = {
    "first_name": str,
    "last_name": str,
    "email1": str,
    "source": str,
    "notes": str,
    "stage_id": int,
}

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_TIME = re.compile(
    rf"({'|'.join(MONTHS)}) ([1-9]\d?), (\d{{4}}) ([1-9]|1[0-2]):([0-5]\d) (am|pm)", re.ASCII
)
_SURROGATE = re.compile("[\ud800-\udfff]")  # half a character, which JSON lets through
_EMAIL = re.compile(r"[^\s@<>]+@[^\s@<>]+")


def wrong_fields(body: object, fields: Mapping[str, type]) -> str | None:
    """Compare one JSON object with the fields it must have; a boolean is not an integer."""
    if not isinstance(body, dict):
        return "wanted a JSON object"
    if missing := fields.keys() - body.keys():
        return f"missing: {', '.join(sorted(missing))}"
    if unknown := body.keys() - fields.keys():
        return f"unknown: {', '.join(sorted(unknown))}"
    for name, wanted in fields.items():
        if type(body[name]) is not wanted:
            return f"{name}: wanted {'an integer' if wanted is int else 'a string'}"
        if wanted is str and unwritable(body[name]):
            return f"{name}: wanted text that can be written"
    return None


def unwritable(text: str) -> bool:
    """Whether a text holds half a character, which no file and no page can hold."""
    return bool(_SURROGATE.search(text))


def wrong_time(text: str) -> str | None:
    """Check the form <Mon> <D>, <YYYY> <h:mm> <am|pm> and that the day exists (interface 2)."""
    match = _TIME.fullmatch(text)
    if not match:
        return "wanted a time like Dec 1, 2026 9:00 am"
    month, day, year = match.group(1), int(match.group(2)), int(match.group(3))
    try:
        datetime(year, MONTHS.index(month) + 1, day)  # noqa: DTZ001 - only asks whether it exists
    except ValueError:
        return "no such day"
    return None


def wrong_project(body: Any) -> str | None:
    """Check the body of create-a-project (interface 4.3)."""
    if wrong := wrong_fields(body, PROJECT):
        return wrong
    if not body["name"]:
        return "name: wanted some text"
    for name in ("starttime", "endtime"):
        # Which fields are required is not shown (interface 2): a time may be left empty.
        if body[name] and (wrong := wrong_time(body[name])):
            return f"{name}: {wrong}"
    return None


def wrong_candidates(body: Any) -> str | None:
    """Check the rows of add-candidates (interface 4.5); says which row, counted from 0."""
    if not body:
        return "wanted at least one candidate"
    for position, row in enumerate(body):
        if wrong := wrong_fields(row, CANDIDATE):
            return f"[{position}] {wrong}"
        if not _EMAIL.fullmatch(row["email1"]):
            return f"[{position}] email1: wanted an email address"
    return None
