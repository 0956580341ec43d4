"""The six calls of the service, done exactly as asked (interface 4.1 to 4.6).

Nothing is deduplicated: the same email added twice is two candidates, and each invite sends
another email, as the real service may. Status codes that the interface leaves open are chosen
here to differ from call to call, so that no client grows used to one.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from sandbox.protocol import bodies
from sandbox.protocol.answers import Answer, refusal
from sandbox.protocol.operations import Call, Operation
from sandbox.service.outbox import Outbox
from sandbox.service.record import Record, Request
from sandbox.service.tokens import Tokens

NOT_JSON = object()
"""Stands for a body that could not be read as JSON."""


@dataclass(frozen=True, slots=True)
class Received:
    """A request as far as the API looks at it."""

    call: Call
    content_type: str
    body: Any  # parsed; None without a body, NOT_JSON when unreadable
    request: Request


@dataclass(frozen=True, slots=True)
class Limits:
    """What the service may refuse without announcing it; emails are casefolded."""

    candidates_per_request: int | None = None
    unwelcome: Collection[str] = frozenset()  # emails that no project takes
    uninvitable: Collection[str] = frozenset()  # emails that no invitation goes to


class Api:
    """Does what a recognised request asks for and says what to answer."""

    def __init__(self, record: Record, outbox: Outbox, tokens: Tokens, limits: Limits) -> None:
        self.tokens = tokens
        self._record = record
        self._outbox = outbox
        self._limits = limits
        self._calls: dict[Operation, Callable[[Received], Answer]] = {
            Operation.TOKEN: self._token,
            Operation.LIST_PROBLEMS: self._list_problems,
            Operation.CREATE_PROJECT: self._create_project,
            Operation.ATTACH_PROBLEM: self._attach_problem,
            Operation.ADD_CANDIDATES: self._add_candidates,
            Operation.INVITE: self._invite,
        }

    def answer(self, received: Received) -> Answer:
        """Refuse what every call refuses, then do the call."""
        call = received.call
        if call.operation is Operation.UNKNOWN:
            return refusal(405, "not with this method") if call.wrong_method else _nothing_here()
        if call.operation is not Operation.TOKEN and not received.request.authorized:
            return refusal(401, "a valid Bearer token is needed", www_authenticate="Bearer")
        if call.operation is Operation.INVITE:
            if received.body is not None:
                return refusal(400, "an invite has no body")
        elif received.content_type.partition(";")[0].strip().lower() != "application/json":
            return refusal(415, "wanted Content-Type: application/json")
        elif received.body is NOT_JSON:
            return refusal(400, "the body is not JSON")
        return self._calls[call.operation](received)

    def _token(self, received: Received) -> Answer:
        if wrong := bodies.wrong_fields(received.body, bodies.CREDENTIALS):
            return refusal(400, wrong)
        if refused := self.tokens.refusal(received.body):
            return refusal(*refused)
        return Answer(
            200,
            {
                "access_token": self.tokens.issue(),
                "token_type": "Bearer",
                "expires_in": self.tokens.lifetime,
            },
            {"cache-control": "no-store"},
        )

    def _list_problems(self, received: Received) -> Answer:
        return Answer(200, self._record.every_problem())

    def _create_project(self, received: Received) -> Answer:
        if wrong := bodies.wrong_project(received.body):
            return refusal(422, wrong)
        project = self._record.create_project(received.body, received.request)
        return Answer(201, {"id": project.id})

    def _attach_problem(self, received: Received) -> Answer:
        project = self._record.project(received.call.project_id)
        if not project:
            return refusal(404, "no such project")
        if wrong := bodies.wrong_fields(received.body, bodies.LINK):
            return refusal(422, wrong)
        problem_id = received.body["problemid"]
        if self._record.problem(problem_id) is None:
            return refusal(404, "no such problem")
        self._record.attach_problem(project, problem_id, received.request)
        return Answer(200, {"message": "added"})

    def _add_candidates(self, received: Received) -> Answer:
        project = self._record.project(received.call.project_id)
        if not project:
            return refusal(404, "no such project")
        rows = received.body
        if not isinstance(rows, list):
            return refusal(400, "wanted a JSON array of candidates")
        most = self._limits.candidates_per_request
        if most is not None and len(rows) > most:
            return refusal(413, "too many candidates in one request")
        if wrong := bodies.wrong_candidates(rows):
            return refusal(422, wrong)
        if any(row["email1"].casefold() in self._limits.unwelcome for row in rows):
            return refusal(422, "a candidate is not valid")
        added = self._record.add_candidates(project, rows, received.request)
        return Answer(
            201,
            [
                {**row, "candidate_id": candidate.candidate_id}
                for row, candidate in zip(rows, added, strict=True)
            ],
        )

    def _invite(self, received: Received) -> Answer:
        call = received.call
        candidate = self._record.candidate(call.project_id, call.candidate_id)
        if not candidate:
            return refusal(404, "no such candidate in this project")
        if candidate.email1.casefold() in self._limits.uninvitable:
            return refusal(422, "this candidate cannot be invited")
        self._outbox.send(candidate, received.request)
        return Answer(200, {"message": "invited"})


def _nothing_here() -> Answer:
    return refusal(404, "no such path")
