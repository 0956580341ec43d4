"""The requests as the interface spells them, and the readers of their answers. Pure.

Answers are read strictly where an id depends on it and leniently everywhere else: the interface
leaves status codes and most bodies open, and an unknown extra field is never an error.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypedDict

from config.email_key import email_key
from tasks.service.exchange import Operation
from tasks.service.problem import Problem, read_problems

__all__ = [
    "CandidateBody",
    "Matched",
    "Operation",
    "Problem",
    "Request",
    "add_candidates",
    "attach_problem",
    "create_project",
    "invite",
    "match_answer",
    "read_added",
    "read_problems",
    "read_project_id",
    "service_date",
]

# The service names months in English whatever the locale of this machine.
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

_LARGEST_ID = 2**63 - 1  # what a database keeps; an id beyond it could not be referred to again


@dataclass(frozen=True, slots=True)
class Request:
    """One changing request: a path below the base URL, and its body (None: no body at all).

    `rows` is the number of candidates the request is about (0 for the project's own calls).
    """

    operation: Operation
    path: str
    body: bytes | None = field(repr=False)
    rows: int


class CandidateBody(TypedDict):
    """A candidate as the service wants one (interface 2, 4.5)."""

    first_name: str
    last_name: str
    email1: str
    source: str
    notes: str
    stage_id: int


@dataclass(frozen=True, slots=True)
class Matched:
    """The answer of a bulk add, by who was sent.

    `ids` maps an email key to its candidate_id. `without` holds the keys, in the order sent, that
    got no usable id. `strangers` counts answers for people who were not sent.
    """

    ids: dict[str, int]
    without: tuple[str, ...]
    strangers: int


def create_project(
    name: str, description: str, state: str, starttime: str, endtime: str
) -> Request:
    """Ask for a project (interface 4.3). Times in the form of `service_date`."""
    body = {
        "name": name,
        "description": description,
        "state": state,
        "starttime": starttime,
        "endtime": endtime,
    }
    return Request(Operation.CREATE, "/api/projects", _json(body), 0)


def attach_problem(project_id: int, problem_id: int) -> Request:
    """Add a problem to a project (interface 4.4)."""
    path = f"/api/projects/{project_id}/problems"
    return Request(Operation.ATTACH, path, _json({"problemid": problem_id}), 0)


def add_candidates(project_id: int, rows: Sequence[CandidateBody]) -> Request:
    """Add candidates to a project in one request (interface 4.5)."""
    path = f"/api/projects/{project_id}/candidates"
    # Spelled out, so that nothing else a row may carry ever leaves.
    body = [
        {
            "first_name": row["first_name"],
            "last_name": row["last_name"],
            "email1": row["email1"],
            "source": row["source"],
            "notes": row["notes"],
            "stage_id": row["stage_id"],
        }
        for row in rows
    ]
    return Request(Operation.ADD, path, _json(body), len(body))


def invite(project_id: int, candidate_id: int) -> Request:
    """Have the service send one invitation email (interface 4.6)."""
    path = f"/api/projects/{project_id}/candidates/{candidate_id}/invite"
    return Request(Operation.INVITE, path, None, 1)


def service_date(when: datetime | None) -> str:
    """Write a time as the service does, in any locale: "Dec 1, 2026 9:00 am". None is ""."""
    if when is None:
        return ""
    hour = when.hour % 12 or 12
    half = "am" if when.hour < 12 else "pm"
    day = f"{_MONTHS[when.month - 1]} {when.day}, {when.year:04}"
    return f"{day} {hour}:{when.minute:02} {half}"


def read_project_id(body: bytes | None) -> int | None:
    """Read the id from the answer to create-a-project (interface 4.3); None: not usable."""
    answer = _parsed(body)
    return _id(answer.get("id")) if isinstance(answer, dict) else None


def read_added(body: bytes | None) -> list[tuple[str, int | None]] | None:
    """Read the answer to add-candidates as (email key, candidate_id or None), as answered.

    None when it is not an array, or not one of its entries names a person with a usable id.
    """
    answer = _parsed(body)
    if not isinstance(answer, list):
        return None
    added = [
        (email_key(entry["email1"]), _id(entry.get("candidate_id")))
        for entry in answer
        if isinstance(entry, dict) and isinstance(entry.get("email1"), str)
    ]
    return added if any(found is not None for _, found in added) else None


def match_answer(body: bytes | None, sent: Sequence[str]) -> Matched | None:
    """Give each email key that was sent the id it was answered with; None: nothing is usable.

    Matched by email, never by position: the interface promises no order (interface 4.5). Two ids
    for one person, or one id for two people, would send somebody another one's invitation: nobody
    concerned gets an id.
    """
    added = read_added(body)
    if added is None:
        return None
    found: dict[str, set[int]] = {}
    owners: dict[int, set[str]] = {}
    for key, candidate_id in added:
        ids = found.setdefault(key, set())
        if candidate_id is not None:
            ids.add(candidate_id)
            owners.setdefault(candidate_id, set()).add(key)
    matched: dict[str, int] = {}
    for key in sent:
        ids = found.get(key, set())
        if len(ids) == 1 and len(owners[min(ids)]) == 1:
            matched[key] = min(ids)
    without = tuple(key for key in sent if key not in matched)
    return Matched(matched, without, len(found.keys() - set(sent)))


def _json(body: object) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def _parsed(body: bytes | None) -> Any:
    """Parse JSON; None for anything else."""
    try:
        return json.loads(body) if body else None
    except (ValueError, RecursionError):  # not JSON, not text, absurd numbers, absurd nesting
        return None


def _id(value: object) -> int | None:
    """Accept an integer that can be an id; a boolean is an int only to Python."""
    if type(value) is int and 0 < value <= _LARGEST_ID:
        return value
    return None
