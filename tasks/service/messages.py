"""The requests as the interface spells them, and the readers of their answers. Pure.

Answers are read strictly where an id depends on it and leniently everywhere else: the interface
leaves status codes and most bodies open, and an unknown extra field is never an error.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from config.definition.sent_fields import FIELDS
from data.store.states import Operation
from tasks.service.answer import parsed, read_id

# The service names months in English whatever the locale of this machine.
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

# Fields in which other services have an id. An id from there is shown to a person, never believed.
_PROJECT_ID_ELSEWHERE = ("id", "projectId", "project_id")


@dataclass(frozen=True, slots=True)
class Request:
    """One changing request: a path below the base URL, and its body (None: no body at all)."""

    operation: Operation
    path: str
    body: bytes | None = field(repr=False)


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
    return Request(Operation.CREATE, "/api/projects", _json(body))


def attach_problem(project_id: int, problem_id: int) -> Request:
    """Add a problem to a project (interface 4.4)."""
    path = f"/api/projects/{project_id}/problems"
    return Request(Operation.ATTACH, path, _json({"problemid": problem_id}))


def add_candidates(project_id: int, rows: Sequence[Mapping[str, object]]) -> Request:
    """Add candidates to a project in one request (interface 4.5)."""
    path = f"/api/projects/{project_id}/candidates"
    # Nothing else in a row is ever sent.
    body = [{name: row[name] for name in FIELDS} for row in rows]
    return Request(Operation.ADD, path, _json(body))


def invite(project_id: int, candidate_id: int) -> Request:
    """Ask the service to send one invitation email (interface 4.6)."""
    path = f"/api/projects/{project_id}/candidates/{candidate_id}/invite"
    return Request(Operation.INVITE, path, None)


def service_date(when: datetime | None) -> str:
    """Write a time as the service does, in any locale: "Dec 1, 2026 9:00 am". None is ""."""
    if when is None:
        return ""
    hour = when.hour % 12 or 12
    half = "am" if when.hour < 12 else "pm"
    day = f"{_MONTHS[when.month - 1]} {when.day}, {when.year:04}"
    return f"{day} {hour}:{when.minute:02} {half}"


def read_project_id(body: bytes | None) -> int | None:
    """Read the id from the answer to create-a-project (interface 4.3); None if it is not usable."""
    answer = parsed(body)
    return read_id(answer.get("id")) if isinstance(answer, dict) else None


def id_elsewhere(body: bytes | None) -> int | None:
    """Read a project's id from a field that the interface does not name, for a person to look at.

    None if there is none, or more than one.
    """
    answer = parsed(body)
    below = answer.values() if isinstance(answer, dict) else answer
    places = [answer, *below] if isinstance(answer, dict | list) else []
    objects = [each for each in places if isinstance(each, dict)]
    ids = {read_id(each.get(name)) for each in objects for name in _PROJECT_ID_ELSEWHERE} - {None}
    return ids.pop() if len(ids) == 1 else None


def _json(body: object) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
