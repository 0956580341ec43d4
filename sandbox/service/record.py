"""The service's own record: what it received, what it did about it, what it holds now."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from sandbox.protocol.operations import Call
from sandbox.service.journal import Entry, Journal, Line
from sandbox.service.problems import SAMPLE_PROBLEMS, Problem, problem
from sandbox.service.solutions import Solution

FIRST_PROJECT_ID = 101
FIRST_CANDIDATE_ID = 5001

Value = TypeVar("Value")


@dataclass(slots=True)
class Request(Entry):
    """One request as the service saw it."""

    number: int  # from 1, in order of arrival
    at: datetime
    method: str
    path: str
    operation: str
    project_id: int | None
    candidate_id: int | None
    body: Any  # the JSON received; text when it was not JSON; the client's secret is left out
    authorized: bool  # a valid Bearer came with it
    fault: str | None = None  # the fault applied to it
    effect: bool = False  # it changed something: created, attached, added or invited
    status: int | None = None  # what was answered; None: no status line was sent
    finished: bool = False  # False: still being handled, or the sandbox was killed meanwhile


@dataclass(slots=True)
class Project(Entry):
    """A project, and the problems attached to it, in order and never deduplicated."""

    id: int
    name: str
    description: str
    state: str
    starttime: str
    endtime: str
    problem_ids: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Candidate(Entry):
    """A candidate of one project; the same email added twice is two candidates."""

    candidate_id: int
    project_id: int
    first_name: str
    last_name: str
    email1: str
    source: str
    notes: str
    stage_id: int

    def words(self) -> str:
        """What a person looks for somebody by."""
        return f"{self.first_name} {self.last_name} {self.email1}"


@dataclass(frozen=True, slots=True)
class Invitation(Entry):
    """An email the service sent, one for each time it was asked to (interface 4.6)."""

    number: int  # from 1, the number of its message in the outbox
    at: datetime
    email: str
    project_id: int
    candidate_id: int
    link: str  # the embedded page of this candidate (interface 4.7)


class Record:
    """Everything that was received and done, kept in memory and, given a journal, on disk.

    Begins with the problems that the service offers. Written by the sandbox's thread, read by any:
    the lists only ever grow.
    """

    def __init__(
        self, journal: Journal | None = None, offered: Sequence[Problem] = SAMPLE_PROBLEMS
    ) -> None:
        self.requests: list[Request] = []
        self.projects: list[Project] = []
        self.candidates: list[Candidate] = []
        self.invitations: list[Invitation] = []
        self.submissions: list[Solution] = []
        self.drafts: dict[int, Solution] = {}  # the newest of each candidate, by candidate_id
        self._every_problem = {each["id"]: each for each in offered}
        self._projects: dict[int, Project] = {}
        self._candidates: dict[int, Candidate] = {}
        self._changed = threading.Condition()
        self._journal = journal
        if journal:
            for line in journal.lines():
                if "at" in line:
                    line["at"] = datetime.fromisoformat(line["at"])
                self._apply(line.pop("what"), line.pop("by", None), line)

    def of(self, operation: str) -> list[Request]:
        """The requests of one operation, in order of arrival."""
        return [request for request in self.requests if request.operation == operation]

    def every_problem(self) -> list[Problem]:
        """The problems as they are listed, with what was handed in for them (interface 4.2)."""
        handed_in: dict[int, list[object]] = {}
        for submission in self.submissions:
            handed_in.setdefault(submission.problem_id, []).append(submission.as_submission())
        return [
            {**each, "submissions": [*each["submissions"], *handed_in.get(number, ())]}
            for number, each in self._every_problem.items()
        ]

    def problem(self, problem_id: int) -> Problem | None:
        """A problem, without what was handed in for it."""
        return self._every_problem.get(problem_id)

    def project(self, project_id: int | None) -> Project | None:
        return self._projects.get(project_id) if project_id is not None else None

    def candidate(self, project_id: int | None, candidate_id: int | None) -> Candidate | None:
        """The candidate of this id, if it belongs to this project."""
        candidate = self._candidates.get(candidate_id) if candidate_id is not None else None
        return candidate if candidate and candidate.project_id == project_id else None

    def wait_for(self, predicate: Callable[["Record"], Value], timeout: float) -> Value:
        """Wait until the predicate holds of this record and return its value.

        `timeout` in seconds; raises TimeoutError saying how much had arrived by then.
        """
        with self._changed:
            value = self._changed.wait_for(lambda: predicate(self), timeout)
        if not value:
            raise TimeoutError(
                f"not seen within {timeout} s; so far {len(self.requests)} requests, "
                f"{len(self.candidates)} candidates, {len(self.invitations)} invitations"
            )
        return value

    def received(
        self, call: Call, body: Any, *, authorized: bool, fault: str | None = None
    ) -> Request:
        """Note a request the moment it has arrived."""
        with self._changed:
            self._happens(
                "received",
                None,
                number=len(self.requests) + 1,
                at=datetime.now(UTC),
                method=call.method,
                path=call.path,
                operation=str(call.operation),
                project_id=call.project_id,
                candidate_id=call.candidate_id,
                body=body,
                authorized=authorized,
                fault=fault,
            )
            return self.requests[-1]

    def finished(self, request: Request, status: int | None) -> None:
        """Note what is about to be answered; None when no status line will be sent."""
        with self._changed:
            self._happens("finished", None, number=request.number, status=status)

    def create_project(
        self, fields: Mapping[str, Any], request: Request | None, *, project_id: int | None = None
    ) -> Project:
        """Create a project; `request` is None when a person made it in the web application."""
        with self._changed:
            free = max(self._projects, default=FIRST_PROJECT_ID - 1) + 1
            number = free if project_id is None else project_id
            self._happens("project", request, id=number, **fields)
            return self.projects[-1]

    def attach_problem(self, project: Project, problem_id: int, request: Request | None) -> None:
        with self._changed:
            self._happens("attached", request, project_id=project.id, problem_id=problem_id)

    def add_candidates(
        self, project: Project, rows: Iterable[Mapping[str, Any]], request: Request | None
    ) -> list[Candidate]:
        """Add every row as a new candidate, whatever is there already; all or none."""
        with self._changed:
            before = len(self.candidates)
            added = [
                {"candidate_id": number, "project_id": project.id, **row}
                for number, row in enumerate(rows, FIRST_CANDIDATE_ID + before)
            ]
            self._happens("candidates", request, rows=added)
            return self.candidates[before:]

    def invite(self, candidate: Candidate, link: str, request: Request | None) -> Invitation:
        with self._changed:
            self._happens(
                "invitation",
                request,
                number=len(self.invitations) + 1,
                at=datetime.now(UTC),
                email=candidate.email1,
                project_id=candidate.project_id,
                candidate_id=candidate.candidate_id,
                link=link,
            )
            return self.invitations[-1]

    def create_problem(self, title: str, **fields: Any) -> None:
        """Create a problem as a person does in the web application (interface 1)."""
        with self._changed:
            made = problem(max(self._every_problem, default=0) + 1, title, **fields)
            self._happens("problem", None, problem=made)

    def save_draft(self, draft: Solution) -> None:
        """Keep what a candidate has written so far, in place of what was kept before."""
        with self._changed:
            self._happens("draft", None, **asdict(draft))

    def submit(self, solution: Solution) -> Solution:
        """Keep what a candidate hands in; each submission is one more, none replaces another."""
        with self._changed:
            number = len(self.submissions) + 1
            self._happens("submission", None, **asdict(solution) | {"number": number})
            return self.submissions[-1]

    def as_json(self) -> Line:
        """Describe everything the API did, for GET /sandbox/record."""
        return {
            "requests": [request.as_json() for request in self.requests],
            "projects": [project.as_json() for project in self.projects],
            "candidates": [candidate.as_json() for candidate in self.candidates],
            "invitations": [invitation.as_json() for invitation in self.invitations],
        }

    def _happens(self, what: str, by: Request | None, **fields: Any) -> None:
        """Have something happen, which this request did, and write it down."""
        number = by.number if by else None
        self._apply(what, number, fields)
        if self._journal:
            self._journal.write({"what": what, "by": number, **fields})
        self._changed.notify_all()

    def _apply(self, what: str, by: int | None, fields: Line) -> None:
        if by is not None:
            self.requests[by - 1].effect = True
        match what:
            case "received":
                self.requests.append(Request(**fields))
            case "finished":
                request = self.requests[fields["number"] - 1]
                request.status, request.finished = fields["status"], True
            case "project":
                project = Project(**fields)
                self.projects.append(project)
                self._projects[project.id] = project
            case "attached":
                self._projects[fields["project_id"]].problem_ids.append(fields["problem_id"])
            case "candidates":
                added = [Candidate(**row) for row in fields["rows"]]
                self.candidates.extend(added)
                self._candidates.update((each.candidate_id, each) for each in added)
            case "invitation":
                self.invitations.append(Invitation(**fields))
            case "problem":
                self._every_problem[fields["problem"]["id"]] = fields["problem"]
            case "draft":
                self.drafts[fields["candidate_id"]] = Solution(**fields)
            case "submission":
                self.submissions.append(Solution(**fields))
