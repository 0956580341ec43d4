"""The requests as the interface spells them, and the readers of their answers. Pure.

Answers are read strictly where an id depends on it and leniently everywhere else: the interface
leaves status codes and most bodies open, and an unknown extra field is never an error.
"""

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypedDict

from config.email_key import email_key
from tasks.service.answer import parsed, read_id
from tasks.service.evidence import Operation
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
    "id_elsewhere",
    "invite",
    "match_answer",
    "read_added",
    "read_problems",
    "read_project_id",
    "service_date",
]

# The service names months in English whatever the locale of this machine.
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

# Where other services keep an id. What is read there is shown to a person, and never believed.
_PROJECT_ID_ELSEWHERE = ("id", "projectId", "project_id")
_CANDIDATE_ID_ELSEWHERE = ("candidate_id", "candidateId", "id")


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


Names = tuple[str, str]
"""First and last name."""


@dataclass(frozen=True, slots=True)
class Matched:
    """The answer of a bulk add, by who was sent.

    `ids` maps an email key to its candidate_id. `without` says of each key, in the order sent,
    that got no usable id, what a person is to know of it. `strangers` are answered people who were
    not sent, with the ids they were answered with.
    """

    ids: dict[str, int]
    without: dict[str, str]
    strangers: dict[str, frozenset[int]]


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
    answer = parsed(body)
    return read_id(answer.get("id")) if isinstance(answer, dict) else None


def id_elsewhere(body: bytes | None) -> int | None:
    """Read a project's id where the interface does not have it, for a person to look at.

    None: there is none, or more than one.
    """
    answer = parsed(body)
    below = answer.values() if isinstance(answer, dict) else answer
    places = [answer, *below] if isinstance(answer, dict | list) else []
    objects = [each for each in places if isinstance(each, dict)]
    ids = {read_id(each.get(name)) for each in objects for name in _PROJECT_ID_ELSEWHERE} - {None}
    return ids.pop() if len(ids) == 1 else None


def read_added(body: bytes | None) -> list[tuple[str, int | None]] | None:
    """Read the answer to add-candidates as (email key, candidate_id or None), as answered.

    None when it is not an array, or not one of its entries names a person with a usable id.
    """
    added = [(key, read_id(entry.get("candidate_id"))) for key, entry in _people(parsed(body))]
    return added if any(number is not None for _, number in added) else None


def match_answer(body: bytes | None, sent: Mapping[str, Names]) -> Matched:
    """Give each email key that was sent the id it was answered with.

    Matched by email, never by position: the interface promises no order (interface 4.5). Two ids
    for one person, or one id for two people, would send somebody another one's invitation: nobody
    concerned gets an id. Nor does an address that was answered with somebody else's name.
    """
    answer = parsed(body)
    ids: dict[str, set[int]] = {}
    owners: dict[int, set[str]] = {}
    renamed: set[str] = set()
    for key, entry in _people(answer):
        numbers = ids.setdefault(key, set())
        if (number := read_id(entry.get("candidate_id"))) is not None:
            numbers.add(number)
            owners.setdefault(number, set()).add(key)
        if key in sent and _other_name(sent[key], entry):
            renamed.add(key)
    unique = {
        key: min(numbers)
        for key in sent
        if len(numbers := ids.get(key, set())) == 1 and len(owners[min(numbers)]) == 1
    }
    elsewhere = _ids_elsewhere(answer)
    return Matched(
        ids={key: number for key, number in unique.items() if key not in renamed},
        without={
            key: _without(unique.get(key), elsewhere.get(key))
            for key in sent
            if key not in unique or key in renamed
        },
        strangers={key: frozenset(ids[key]) for key in ids.keys() - sent.keys()},
    )


def _people(answer: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each entry of an array that names an address, by its email key."""
    for entry in answer if isinstance(answer, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("email1"), str):
            yield email_key(entry["email1"]), entry


def _other_name(sent: Names, entry: Mapping[str, Any]) -> bool:
    """Whether an entry has a name that is not the one sent, whatever its case and blanks."""
    answered = (entry.get("first_name"), entry.get("last_name"))
    return any(
        isinstance(name, str) and name.strip() and _folded(name) != _folded(own)
        for name, own in zip(answered, sent, strict=True)
    )


def _folded(name: str) -> str:
    whole = unicodedata.normalize("NFC", name).casefold()
    return unicodedata.normalize("NFC", " ".join(whole.split()))


def _ids_elsewhere(answer: Any) -> dict[str, int]:
    """Ids by email key where the interface does not have them: in another field, or further in."""
    lists = [answer, *(answer.values() if isinstance(answer, dict) else ())]
    ids: dict[str, set[int | None]] = {}
    for key, entry in (person for each in lists for person in _people(each)):
        numbers = (read_id(entry.get(name)) for name in _CANDIDATE_ID_ELSEWHERE)
        ids.setdefault(key, set()).add(next(filter(None, numbers), None))
    return {key: number for key, (number, *more) in ids.items() if number and not more}


def _without(renamed: int | None, elsewhere: int | None) -> str:
    if renamed is not None:
        return (
            f"Probably added as candidate {renamed}, but the answer gave this address another name."
        )
    if elsewhere is not None:
        return f"Probably added, perhaps as candidate {elsewhere}, which the answer has elsewhere."
    return "Probably added, but the answer gave no usable candidate id."


def _json(body: object) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
