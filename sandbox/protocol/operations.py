"""The six calls of the interface, and how a request is recognised as one of them."""

import re
from dataclasses import dataclass
from enum import StrEnum


class Operation(StrEnum):
    TOKEN = "token"  # noqa: S105 - interface 4.1
    LIST_PROBLEMS = "list_problems"  # interface 4.2
    CREATE_PROJECT = "create_project"  # interface 4.3
    ATTACH_PROBLEM = "attach_problem"  # interface 4.4
    ADD_CANDIDATES = "add_candidates"  # interface 4.5
    INVITE = "invite"  # interface 4.6
    UNKNOWN = "unknown"  # no such path, or not with this method


@dataclass(frozen=True, slots=True)
class Call:
    """One recognised request: what it asks for, and of whom."""

    method: str
    path: str
    operation: Operation
    project_id: int | None = None
    candidate_id: int | None = None
    wrong_method: bool = False


_ID = r"([0-9]{1,18})"
_PATHS = (
    (re.compile(r"/oauth/token"), "POST", Operation.TOKEN),
    (re.compile(rf"/api/projects/{_ID}/candidates/{_ID}/invite"), "POST", Operation.INVITE),
    (re.compile(rf"/api/projects/{_ID}/candidates"), "POST", Operation.ADD_CANDIDATES),
    (re.compile(rf"/api/projects/{_ID}/problems"), "POST", Operation.ATTACH_PROBLEM),
    (re.compile(r"/api/projects"), "POST", Operation.CREATE_PROJECT),
    (re.compile(r"/api/problems"), "GET", Operation.LIST_PROBLEMS),
)


def recognise(method: str, path: str) -> Call:
    """Say which call a request is.

    The shape is strict: a doubled or a trailing slash is another, unknown path (interface 4),
    so that a client that doubles slashes is caught here and not at the real service.
    """
    for shape, wanted, operation in _PATHS:
        if match := shape.fullmatch(path):
            if method != wanted:
                return Call(method, path, Operation.UNKNOWN, wrong_method=True)
            project_id, candidate_id, *_ = *map(int, match.groups()), None, None
            return Call(method, path, operation, project_id, candidate_id)
    return Call(method, path, Operation.UNKNOWN)
