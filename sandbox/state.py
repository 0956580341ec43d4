"""What the service knows: problems, projects, candidates, invitations and solutions.

Everything is found by its id, without a search. A sandbox that starts with a record does again
what the record says was done.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sandbox.sample_problems import SAMPLE_PROBLEMS, Problem, problem

JsonObject = dict[str, Any]


@dataclass(slots=True)
class Project:
    """A project, made through the API or as an interview in the web application."""

    id: int
    fields: dict[str, str]  # name, description, state, starttime, endtime
    problem_id: int | None = None

    @property
    def name(self) -> str:
        return self.fields["name"]


@dataclass(slots=True)
class Candidate:
    """One row as it was sent (interface 4.5). The same address sent twice is two candidates."""

    id: int
    project_id: int
    row: JsonObject
    solution: JsonObject | None = None  # environment, language, code, submit
    submissions: int = 0
    invited: int = 0

    @property
    def email(self) -> str:
        return str(self.row["email1"])

    @property
    def name(self) -> str:
        return f"{self.row['first_name']} {self.row['last_name']}".strip()


@dataclass(frozen=True, slots=True)
class Invitation:
    """One email that was sent, by its number from 1."""

    number: int
    at: datetime
    candidate: Candidate


class ServiceState:
    """All that the service knows. One thread changes it; ids grow, and none is given out twice."""

    def __init__(self) -> None:
        self.problems: dict[int, Problem] = {each["id"]: dict(each) for each in SAMPLE_PROBLEMS}
        self.projects: dict[int, Project] = {}
        self.candidates: dict[int, Candidate] = {}
        self.invitations: list[Invitation] = []
        self.last_id = {"project": 100, "candidate": 5000}

    def new_id(self, kind: str) -> int:
        self.last_id[kind] += 1
        return self.last_id[kind]

    def make_project(self, fields: dict[str, str], project_id: int | None = None) -> Project:
        project = Project(project_id or self.new_id("project"), fields)
        self.projects[project.id] = project
        self.last_id["project"] = max(self.last_id["project"], project.id)
        return project

    def add(self, project_id: int, row: JsonObject, candidate_id: int | None = None) -> Candidate:
        candidate = Candidate(candidate_id or self.new_id("candidate"), project_id, row)
        self.candidates[candidate.id] = candidate
        self.last_id["candidate"] = max(self.last_id["candidate"], candidate.id)
        return candidate

    def project_of(self, candidate: Candidate) -> Project:
        return self.projects[candidate.project_id]

    def candidate(self, project_id: int | None, candidate_id: int | None) -> Candidate | None:
        """The candidate, if it belongs to this project."""
        candidate = self.candidates.get(candidate_id or 0)
        return candidate if candidate and candidate.project_id == project_id else None

    def invite(self, candidate: Candidate, at: datetime) -> Invitation:
        invitation = Invitation(len(self.invitations) + 1, at, candidate)
        self.invitations.append(invitation)
        candidate.invited += 1
        return invitation

    def keep_solution(self, candidate: Candidate, solution: JsonObject) -> None:
        candidate.solution = solution
        candidate.submissions += solution["submit"]

    def make_problem(self, title: str, **fields: Any) -> Problem:
        made = problem(max(self.problems) + 1, title, **fields)
        self.problems[made["id"]] = made
        return made

    def ids_from(self, first: int) -> None:
        """Give out ids from this one on."""
        for kind, last in self.last_id.items():
            self.last_id[kind] = max(last, first - 1)

    def do_again(self, entry: JsonObject) -> None:
        """Do again what an entry of the record says was done."""
        body, ids = entry["body"], entry["ids"]
        what = entry["path"] if entry["op"] == "other" else entry["op"]
        match what if entry["worked"] else None:
            case "create":
                self.make_project(body, ids["project"])
            case "/interviews":
                self.make_project(body, ids["project"]).problem_id = ids.get("problem")
            case "/problems":
                self.make_problem(**body)
            case "/embedded/solution":
                self.keep_solution(self.candidates[ids["candidate"]], body)
            case "attach":
                self.projects[entry["project_id"]].problem_id = body["problemid"]
            case "add":
                # The rows of a request have consecutive ids; an address may be in it twice.
                first = max(ids.values()) - len(body) + 1
                for position, row in enumerate(body):
                    self.add(entry["project_id"], row, first + position)
            case "invite":
                at = datetime.fromisoformat(entry["at"])
                self.invite(self.candidates[entry["candidate_id"]], at)
