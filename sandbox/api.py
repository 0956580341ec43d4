"""The six calls of the service (interface 4.1 to 4.6).

Where the interface leaves something open, the sandbox is strict, to expose careless clients:

- Each call except `token` needs a valid Bearer token: 401 without one, or if it has expired.
- A body must have exactly the fields of the interface, with their types: 400 if it is not JSON of
  the right shape, 422 for a wrong field (400 in a token call). An invitation must have no body.
  Any other call needs Content-Type: application/json, or gets 415.
- 404 for an unknown project, candidate, problem or path (also for a path with one slash too many).
- A project holds one problem; a second one is refused with 409.
- An address added again is another candidate; one who is invited again gets a second email.
"""

import re
import secrets
import time
from calendar import monthrange
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sandbox.outbox import Outbox
from sandbox.state import Project, ServiceState

CLIENT_ID, CLIENT_SECRET = "sandbox-client", "sandbox-secret"
AUDIENCE = "https://sandbox.invalid/api"

NOT_JSON = object()
"""Stands for a body that is no JSON."""


@dataclass(frozen=True, slots=True)
class ApiCall:
    """One request as the API sees it.

    `op` is "other" for calls that the interface lacks. `allow` is the method to use instead.
    """

    method: str
    path: str
    op: str
    project_id: int | None = None
    candidate_id: int | None = None
    allow: str = ""
    authorization: str = ""
    content_type: str = ""
    body: Any = None  # None without one


@dataclass(slots=True)
class Answer:
    """The answer, and what was done: `ids` for the record, and the `email` of an invite."""

    status: int
    body: Any = None  # bytes as they are, else JSON; None for nothing
    headers: Mapping[str, str] = field(default_factory=dict)
    worked: bool = False
    ids: Mapping[str, int] = field(default_factory=dict)
    email: str | None = None


class Refused(Exception):
    """The service refuses a call, and has done nothing."""

    def __init__(self, status: int, why: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(why)
        self.answer = Answer(status, {"error": why}, headers or {})


def recognise(method: str, path: str) -> ApiCall:
    """Recognise a call by its path and method."""
    for shape, wanted, op in _SHAPES:
        if match := shape.fullmatch(path):
            if method != wanted:
                return ApiCall(method, path, "other", allow=wanted)
            project_id, candidate_id, *_ = *map(int, match.groups()), None, None
            return ApiCall(method, path, op, project_id, candidate_id)
    return ApiCall(method, path, "other")


class Api:
    """Does what a call asks for. `token_lifetime` is in seconds; with 0, tokens never work."""

    def __init__(self, state: ServiceState, outbox: Outbox, token_lifetime: int) -> None:
        self._state = state
        self._outbox = outbox
        self._lifetime = token_lifetime
        self._tokens: dict[str, float] = {}
        self._do: dict[str, Callable[[ApiCall], Answer]] = {
            "token": self._token,
            "problems": self._problems,
            "create": self._create,
            "attach": self._attach,
            "add": self._add,
            "invite": self._invite,
        }

    def answer(self, call: ApiCall) -> Answer:
        try:
            self._check(call)
            return self._do[call.op](call)
        except Refused as refused:
            return refused.answer

    def emails(self, call: ApiCall) -> list[str]:
        """The addresses that a call is about."""
        if call.op == "invite":
            candidate = self._state.candidate(call.project_id, call.candidate_id)
            return [candidate.email] if candidate else []
        rows = call.body if call.op == "add" and isinstance(call.body, list) else []
        return [str(row.get("email1")) for row in rows if isinstance(row, dict)]

    def _check(self, call: ApiCall) -> None:
        """Raise Refused if a call breaks a rule that does not depend on its fields."""
        if call.allow:
            raise Refused(405, f"wanted {call.allow}", {"allow": call.allow})
        if call.op == "other":
            raise Refused(404, "there is no such path")
        if call.op != "token" and not self._is_open_to(call.authorization):
            raise Refused(401, "a valid token is needed", {"www-authenticate": "Bearer"})
        if call.op == "invite":
            if call.body is not None:
                raise Refused(400, "an invitation has no body")
        elif call.content_type.partition(";")[0].strip().lower() != "application/json":
            raise Refused(415, "wanted Content-Type: application/json")
        elif call.body is NOT_JSON:
            raise Refused(400, "the body is not JSON")

    def _is_open_to(self, authorization: str) -> bool:
        scheme, _, token = authorization.partition(" ")
        return scheme.lower() == "bearer" and time.monotonic() < self._tokens.get(token, 0)

    def _token(self, call: ApiCall) -> Answer:
        body = call.body
        _refuse_wrong_fields(body, _CREDENTIALS, 400)
        if body["grant_type"] != "client_credentials":
            raise Refused(403, "this client may only use the grant client_credentials")
        if (body["client_id"], body["client_secret"]) != (CLIENT_ID, CLIENT_SECRET):
            raise Refused(401, "client_id or client_secret is wrong")
        if body["audience"] != AUDIENCE:
            raise Refused(403, "there is no such audience")
        token = secrets.token_urlsafe(32)
        self._tokens[token] = time.monotonic() + self._lifetime
        fields = {"access_token": token, "token_type": "Bearer", "expires_in": self._lifetime}
        return Answer(200, fields, {"cache-control": "no-store"}, worked=True)

    def _problems(self, call: ApiCall) -> Answer:
        return Answer(200, list(self._state.problems.values()), worked=True)

    def _create(self, call: ApiCall) -> Answer:
        _refuse_wrong_fields(call.body, _PROJECT)
        for name in ("starttime", "endtime"):
            if call.body[name] and not is_time(call.body[name]):
                raise Refused(422, f"{name}: wanted a time like Dec 1, 2026 9:00 am")
        project = self._state.make_project(call.body)
        return Answer(201, {"id": project.id}, worked=True, ids={"project": project.id})

    def _attach(self, call: ApiCall) -> Answer:
        project = self._project(call)
        _refuse_wrong_fields(call.body, {"problemid": int})
        if call.body["problemid"] not in self._state.problems:
            raise Refused(404, "there is no such problem")
        if project.problem_id is not None:
            raise Refused(409, "this project has a problem, and can hold only one")
        project.problem_id = call.body["problemid"]
        ids = {"project": project.id, "problem": project.problem_id}
        return Answer(200, {"message": "added"}, worked=True, ids=ids)

    def _add(self, call: ApiCall) -> Answer:
        project = self._project(call)
        if not isinstance(call.body, list) or not call.body:
            raise Refused(400, "wanted a JSON array of candidates")
        for position, row in enumerate(call.body):
            _refuse_wrong_fields(row, _CANDIDATE, where=f"[{position}] ")
            if not _EMAIL.fullmatch(row["email1"]):
                raise Refused(422, f"[{position}] email1: wanted an email address")
        added = [self._state.add(project.id, row) for row in call.body]
        rows = [{**candidate.row, "candidate_id": candidate.id} for candidate in added]
        ids = {candidate.email: candidate.id for candidate in added}
        return Answer(201, rows, worked=True, ids=ids)

    def _invite(self, call: ApiCall) -> Answer:
        candidate = self._state.candidate(call.project_id, call.candidate_id)
        if candidate is None:
            raise Refused(404, "there is no such candidate in this project")
        self._outbox.send(self._state.invite(candidate, datetime.now(UTC)))
        return Answer(200, {"message": "invited"}, worked=True, email=candidate.email)

    def _project(self, call: ApiCall) -> Project:
        project = self._state.projects.get(call.project_id or 0)
        if project is None:
            raise Refused(404, "there is no such project")
        return project


def is_time(text: str) -> bool:
    """Whether a text has the form <Mon> <D>, <YYYY> <h:mm> <am|pm>, and the day exists."""
    match = _TIME.fullmatch(text)
    if not match:
        return False
    month, day, year = match.groups()
    return 1 <= int(day) <= monthrange(int(year), MONTHS.index(month) + 1)[1]


def _refuse_wrong_fields(
    body: Any, fields: Mapping[str, type], status: int = 422, where: str = ""
) -> None:
    """Refuse a body without exactly these fields and types; a boolean is not an integer."""
    if not isinstance(body, dict):
        raise Refused(400, f"{where}wanted a JSON object")
    if missing := sorted(fields.keys() - body.keys()):
        raise Refused(status, f"{where}missing: {', '.join(missing)}")
    if unknown := sorted(body.keys() - fields.keys()):
        raise Refused(status, f"{where}unknown: {', '.join(unknown)}")
    for name, wanted in fields.items():
        if type(body[name]) is not wanted:
            kind = "an integer" if wanted is int else "a string"
            raise Refused(status, f"{where}{name}: wanted {kind}")


MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_TIME = re.compile(
    rf"({'|'.join(MONTHS)}) ([1-9]\d?), ([1-9]\d{{3}}) (?:[1-9]|1[0-2]):[0-5]\d (?:am|pm)", re.ASCII
)
_EMAIL = re.compile(r"[^\s@<>\ud800-\udfff]+@[^\s@<>\ud800-\udfff]+")
_CREDENTIALS = dict.fromkeys(("grant_type", "client_id", "client_secret", "audience"), str)
_PROJECT = dict.fromkeys(("name", "description", "state", "starttime", "endtime"), str)
_CANDIDATE: dict[str, type] = {"first_name": str, "last_name": str, "email1": str}
_CANDIDATE |= {"source": str, "notes": str, "stage_id": int}
_ID = r"([0-9]{1,18})"
_SHAPES = (
    (re.compile(rf"/api/projects/{_ID}/candidates/{_ID}/invite"), "POST", "invite"),
    (re.compile(rf"/api/projects/{_ID}/candidates"), "POST", "add"),
    (re.compile(rf"/api/projects/{_ID}/problems"), "POST", "attach"),
    (re.compile(r"/api/projects"), "POST", "create"),
    (re.compile(r"/api/problems"), "GET", "problems"),
    (re.compile(r"/oauth/token"), "POST", "token"),
)
