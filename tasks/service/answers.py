"""What the body of an answer says, whatever its label. Pure.

Services send JSON as text/html and log-in pages as JSON, so the Content-Type is ignored here.
"""

import codecs
import json
import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from config.definition import Candidate
from config.emails import email_key

Row = Mapping[str, Any]
"""One candidate as sent or answered, by the field names of interface 2."""


def parsed(body: bytes | None) -> Any:
    """Parse JSON; None for anything else."""
    try:
        return json.loads(body, parse_constant=_finite, parse_float=_finite) if body else None
    except (ValueError, RecursionError):  # not JSON, not text, absurd numbers, absurd nesting
        return None


def _finite(number: str) -> float:
    """Read a number; NaN and Infinity are no JSON."""
    if not math.isfinite(value := float(number)):
        raise ValueError
    return value


def is_page(body: bytes) -> bool:
    """Whether this is markup: after blanks and a byte-order mark it begins with <."""
    for mark in (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        body = body.removeprefix(mark)
    return body.lstrip(b" \t\r\n\f\v\0").startswith(b"<")  # a NUL: UTF-16


def read_id(value: object) -> int | None:
    """Read an id: a whole number above 0, or text that is exactly one; None for anything else."""
    if isinstance(value, str) and re.fullmatch(r"[1-9]\d{0,18}", value, re.ASCII):
        value = int(value)
    # A boolean is an int in Python only. A larger id could not be kept.
    return value if type(value) is int and 0 < value < 2**63 else None


def match_people(answer: Any, sent: Sequence[Row]) -> tuple[dict[str, int], bool]:
    """Give each person who was sent the id they were answered with, by email key (interface 4.5).

    By address, never by position. If one person has two ids, or two people one id, nobody concerned
    gets an id: somebody would get another's invitation. Nor does an address that comes back with
    another name, or with a no. Says also whether the answer names people who were not sent.
    """
    own = {email_key(str(row["email1"])): row for row in sent}
    ids: dict[str, set[int]] = {}
    owners: dict[int, set[str]] = {}
    for entry in answer if isinstance(answer, list) else ():
        if not isinstance(entry, dict) or not isinstance(entry.get("email1"), str):
            continue
        key = email_key(entry["email1"])
        found = ids.setdefault(key, set())
        if (number := read_id(entry.get("candidate_id"))) is not None:
            found.add(number)
            owners.setdefault(number, set()).add(key)
        if says_no(entry) or (key in own and _names_differ(own[key], entry)):
            found.add(0)  # no id of the service's: with it, nothing of this person is certain
    certain = {
        key: number
        for key in own
        if len(ids.get(key, ())) == 1
        for number in ids[key]
        if number and len(owners[number]) == 1
    }
    return certain, bool(ids.keys() - own.keys())


def _names_differ(sent: Row, answered: Row) -> bool:
    """Whether an answer calls somebody otherwise, apart from case and blanks."""
    pairs = [(sent.get(name), answered.get(name)) for name in ("first_name", "last_name")]
    return any(
        isinstance(theirs, str) and theirs.strip() and _folded(theirs) != _folded(str(ours or ""))
        for ours, theirs in pairs
    )


def _folded(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def says_no(answer: Any) -> bool:
    """Whether parsed JSON says no in one of the ways of common frameworks: `success: false` …"""
    if not isinstance(answer, Mapping):
        return answer is False
    told = {name: str(value).strip().casefold() for name, value in answer.items()}
    return (
        any(told.get(name) in _FALSE for name in _YES_OR_NO)
        or any(told.get(name) in _FAILED for name in ("status", "statusCode"))
        or any(answer.get(name) for name in ("error", "errors", "errorMessage"))
    )


def refuses(body: bytes | None) -> bool:
    """Whether the answer to a call whose body nobody needs says no, or has a word of refusal."""
    answer = parsed(body)
    plain = [("", (body or b"").decode(errors="replace"))] if answer is None else texts(answer)
    words = (_HUMP.sub(" ", f"{name} {text}") for name, text in plain)
    return says_no(answer) or any(_REFUSAL.search(each) for each in words)


def texts(answer: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """What parsed JSON says, as pairs of field and text, without what is empty or false.

    What a person is called is left out: it is an echo of what was sent.
    """
    if isinstance(answer, list) and depth < DEEPEST:
        for each in answer:
            yield from texts(each, name, depth + 1)
    elif isinstance(answer, dict) and depth < DEEPEST:
        for field, value in answer.items():
            if value and not (field in OF_A_PERSON and isinstance(value, str)):
                yield from texts(value, field, depth + 1)
    elif isinstance(answer, str | int | float):
        yield name, str(answer)


DEEPEST = 6
OF_A_PERSON = frozenset(Candidate.model_fields)
_YES_OR_NO = ("success", "ok", "sent", "invited", "accepted", "delivered", "queued", "valid")
_FALSE = frozenset({"false", "no", "0"})
_FAILED = frozenset({"error", "fail", "failed", "failure", *map(str, range(400, 600))})
_HUMP = re.compile(r"_|-|(?<=[a-z])(?=[A-Z])")  # notFound, not_found: words of their own
_REFUSAL = re.compile(
    r"\b(?:error|fail|invalid|denied|reject|unable|cannot|can't|exceed|expired|blocked|suppress"
    r"|bounce|already|not\b)",
    re.IGNORECASE,
)
