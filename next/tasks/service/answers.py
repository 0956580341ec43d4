"""What the body of an answer says, whatever its label. Pure.

Services send JSON as text/html and log-in pages as JSON, so the Content-Type is ignored here.
"""

import codecs
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from config.emails import email_key

Row = Mapping[str, Any]
"""One candidate as sent or answered, by the field names of interface 2."""


@dataclass(frozen=True, slots=True)
class Matched:
    """The answer to a bulk add: ids by email key, and whether it names people who were not sent."""

    ids: dict[str, int]
    strangers: bool


def parsed(body: bytes | None) -> Any:
    """Parse JSON; None for anything else."""
    try:
        return json.loads(body) if body else None
    except (ValueError, RecursionError):  # not JSON, not text, absurd numbers, absurd nesting
        return None


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


def project_id(body: bytes | None) -> int | None:
    """Read the id of a created project (interface 4.3)."""
    answer = parsed(body)
    return read_id(answer.get("id")) if isinstance(answer, dict) else None


def match_people(body: bytes | None, sent: Sequence[Row]) -> Matched | None:
    """Give each person who was sent the id they were answered with; None: it is not an array.

    By address, never by position (interface 4.5 promises no order). If one person has two ids, or
    two people one id, nobody concerned gets an id: somebody would get another's invitation. Nor
    does an address that comes back with another name, or with words of refusal.
    """
    answer = parsed(body)
    if not isinstance(answer, list):
        return None
    own = {email_key(str(row["email1"])): row for row in sent}
    ids: dict[str, set[int]] = {}
    owners: dict[int, set[str]] = {}
    doubtful: set[str] = set()
    for entry in answer:
        if not isinstance(entry, dict) or not isinstance(entry.get("email1"), str):
            continue
        key = email_key(entry["email1"])
        found = ids.setdefault(key, set())
        if (number := read_id(entry.get("candidate_id"))) is not None:
            found.add(number)
            owners.setdefault(number, set()).add(key)
        if says_no(entry) or (key in own and _another_name(own[key], entry)):
            doubtful.add(key)
    certain = {
        key: number
        for key in own
        if key not in doubtful and len(ids.get(key, ())) == 1
        for number in ids[key]
        if len(owners[number]) == 1
    }
    return Matched(certain, strangers=bool(ids.keys() - own.keys()))


def _another_name(sent: Row, answered: Row) -> bool:
    return any(
        isinstance(name := answered.get(field), str)
        and name.strip()
        and _folded(name) != _folded(str(sent.get(field) or ""))
        for field in ("first_name", "last_name")
    )


def _folded(name: str) -> str:
    whole = unicodedata.normalize("NFC", name).casefold()
    return unicodedata.normalize("NFC", " ".join(whole.split()))


def says_no(answer: Any) -> bool:
    """Whether parsed JSON says no in one of the ways of common frameworks: `success: false` …"""
    if answer is False:
        return True
    if not isinstance(answer, Mapping):
        return False
    return (
        any(_plain(answer.get(name)) in _FALSE for name in _YES_OR_NO)
        or any(_plain(answer.get(name)) in _FAILED for name in ("status", "statusCode"))
        or any(answer.get(name) for name in ("error", "errors", "errorMessage"))
    )


def refuses(body: bytes | None) -> bool:
    """Whether the answer to a call whose body nobody needs has a word of refusal in it."""
    answer = parsed(body)
    if says_no(answer):
        return True
    texts = [(body or b"").decode(errors="replace")] if answer is None else _texts(answer)
    return any(_REFUSAL.search(_HUMP.sub(" ", text)) for text in texts)


def _texts(answer: Any) -> Iterator[str]:
    """Texts and names of fields, without what a person is called and what is empty or false."""
    if isinstance(answer, str):
        yield answer
    elif isinstance(answer, list):
        for each in answer:
            yield from _texts(each)
    elif isinstance(answer, dict):
        for name, value in answer.items():
            if value and name not in OF_A_PERSON:
                yield name
                yield from _texts(value)


def _plain(value: object) -> str:
    return str(value).strip().casefold() if isinstance(value, bool | int | str) else ""


_YES_OR_NO = ("success", "ok", "sent", "invited", "accepted", "delivered", "queued", "valid")
_FALSE = frozenset({"false", "no", "0"})
_FAILED = frozenset({"error", "fail", "failed", "failure", *map(str, range(400, 600))})
OF_A_PERSON = frozenset({"first_name", "last_name", "email1", "source", "notes"})
_HUMP = re.compile(r"_|-|(?<=[a-z])(?=[A-Z])")  # notFound, not_found: words of their own
_REFUSAL = re.compile(
    r"\b(?:error|fail|invalid|denied|reject|unable|cannot|can't|exceed|expired|blocked|suppress"
    r"|bounce|already|not\b)",
    re.IGNORECASE,
)
