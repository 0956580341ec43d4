"""What the body of an answer says, whatever its label. Pure.

Services send JSON as text/html and log-in pages as JSON, or leave the type out, so the Content-Type
is ignored here.
"""

import codecs
import json
from typing import Any

_LARGEST_ID = 2**63 - 1  # the largest that a database keeps; a larger id could not be used again
_FALSE = frozenset({"false", "no", "0"})
_FAILED = frozenset({"error", "fail", "failed", "failure", *map(str, range(400, 600))})
_ERRORS = ("error", "errors", "errorMessage")
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def parsed(body: bytes | None) -> Any:
    """Parse JSON; None for anything else."""
    try:
        return json.loads(body) if body else None
    except (ValueError, RecursionError):  # not JSON, not text, absurd numbers, absurd nesting
        return None


def is_page(body: bytes | None) -> bool:
    """Whether this is markup: after blanks and a byte-order mark it begins with <."""
    start = body or b""
    for mark in _MARKS:
        start = start.removeprefix(mark)
    return start.lstrip(b" \t\r\n\f\v\0").startswith(b"<")  # a NUL: UTF-16 and UTF-32


def kind_of(body: bytes | None) -> str:
    """Say what a body is, in our own words: a gateway may repeat our token in its answer."""
    if not body:
        return "no body"
    if is_page(body):
        return "a web page"
    answer = parsed(body)
    return (
        "no JSON" if answer is None else f"JSON, {'a' if isinstance(answer, list) else 'no'} list"
    )


def no_within(body: bytes | None) -> str | None:
    """Name what says no in the body of a 2xx, such as `success: false`; None if nothing does.

    It knows the ways in which common frameworks say no; the name contains nothing from the body.
    """
    answer = parsed(body)
    if answer is False:
        return "false"
    if not isinstance(answer, dict):
        return None
    for name in ("success", "ok"):
        if _word(answer.get(name)) in _FALSE:
            return f"{name}: false"
    for name in ("status", "statusCode"):
        if (word := _word(answer.get(name))) in _FAILED:
            return f"{name}: {word}"
    return next((f"it has {name}" for name in _ERRORS if answer.get(name)), None)


def _word(value: object) -> str:
    return str(value).casefold() if isinstance(value, bool | int | str) else ""


def read_id(value: object) -> int | None:
    """Read an id: a whole number above 0, or its decimal text as "701"; None: it is neither."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        number = int(value)
        value = number if str(number) == value else None
    # A boolean is an int in Python only.
    return value if type(value) is int and 0 < value <= _LARGEST_ID else None
