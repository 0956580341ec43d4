"""The service's web application: problems and interviews made by hand (interface 1).

An interview made here is a project, and a campaign can use it by its id; a problem made here is
in the list of problems, and a campaign can use it by its title.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from sandbox.pages.parts import Part, part
from sandbox.pages.refusals import Refused, filled_in
from sandbox.pages.templates import FORMS, page
from sandbox.protocol.bodies import MONTHS, unwritable
from sandbox.service.record import Candidate, Project, Record

PROBLEM_FIELDS = ("title", "description", "difficulty", "skills", "time_limit")
INTERVIEW_FIELDS = ("name", "description", "problem", "starttime", "endtime")
DIFFICULTIES = ("easy", "medium", "hard")


class WebApplication:
    """Makes problems and interviews, and shows who is invited to what."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def routes(self) -> list[Route]:
        return [
            Route("/problems", self.problems, methods=["GET", "POST"]),
            Route("/interviews", self.interviews, methods=["GET", "POST"]),
            Route("/interviews/{number:int}", self.interview),
        ]

    async def problems(self, request: Request) -> Response:
        """The problems, and a form that makes another one."""
        given: Mapping[str, str] = {}
        wrong = None
        if request.method == "POST":
            given = await filled_in(request)
            wrong = wrong_problem(given)
            if wrong is None:
                self._record.create_problem(
                    given["title"].strip(),
                    description=given["description"].strip(),
                    difficulty=given["difficulty"],
                    skills=given["skills"].strip(),
                    time_limit=int(given["time_limit"]),
                )
                return RedirectResponse("/problems", 303)
        every = self._record.every_problem()
        return page(
            "problems.html",
            422 if wrong else 200,
            allow=FORMS,
            problems=part(every, request.query_params, lambda problem: str(problem["title"])),
            difficulties=DIFFICULTIES,
            given={name: given.get(name, "") for name in PROBLEM_FIELDS},
            wrong=wrong,
        )

    async def interviews(self, request: Request) -> Response:
        """The interviews, and a form that makes another one."""
        given: Mapping[str, str] = {}
        wrong = None
        every = self._record.every_problem()
        if request.method == "POST":
            given = await filled_in(request)
            wrong = wrong_interview(given, {str(problem["id"]) for problem in every})
            if wrong is None:
                return RedirectResponse(f"/interviews/{self._create_interview(given).id}", 303)
        interviews: Part[Project] = part(
            self._record.projects, request.query_params, lambda project: project.name
        )
        return page(
            "interviews.html",
            422 if wrong else 200,
            allow=FORMS,
            interviews=interviews,
            projects=interviews.rows,
            problems=every,
            given={name: given.get(name, "") for name in INTERVIEW_FIELDS},
            wrong=wrong,
        )

    def _create_interview(self, given: Mapping[str, str]) -> Project:
        project = self._record.create_project(
            {
                "name": given["name"].strip(),
                "description": given["description"].strip(),
                "state": "open",
                "starttime": service_time(given["starttime"]),
                "endtime": service_time(given["endtime"]),
            },
            None,
        )
        if given["problem"]:
            self._record.attach_problem(project, int(given["problem"]), None)
        return project

    async def interview(self, request: Request) -> Response:
        number: int = request.path_params["number"]
        project = self._record.project(number)
        if project is None:
            raise Refused(404, "There is no such interview.")
        everybody = [
            candidate for candidate in self._record.candidates if candidate.project_id == project.id
        ]
        people = part(everybody, request.query_params, Candidate.words)
        return page(
            "interview.html",
            allow=FORMS,
            project=project,
            problems=[self._record.problem(problem) for problem in project.problem_ids],
            people=people,
            rows=self._rows(people.rows),
        )

    def _rows(self, people: Sequence[Candidate]) -> list[dict[str, Any]]:
        """Each candidate with the numbers of their messages, and how much they handed in."""
        messages: dict[int, list[int]] = {person.candidate_id: [] for person in people}
        for invitation in self._record.invitations:
            if invitation.candidate_id in messages:
                messages[invitation.candidate_id].append(invitation.number)
        handed_in = Counter(submission.candidate_id for submission in self._record.submissions)
        return [
            {
                "candidate": person,
                "invitations": messages[person.candidate_id],
                "handed_in": handed_in[person.candidate_id],
            }
            for person in people
        ]


def wrong_problem(given: Mapping[str, str]) -> str | None:
    """Say what is wrong with a problem as it was typed, or nothing."""
    if not given.keys() >= set(PROBLEM_FIELDS) or any(unwritable(text) for text in given.values()):
        return "The form did not arrive completely. Please send it again."
    if not given["title"].strip():
        return "A problem needs a title."
    if not given["description"].strip():
        return "A problem needs a description: it is what candidates read."
    if given["difficulty"] not in DIFFICULTIES:
        return "Choose a difficulty from the list."
    if not (given["time_limit"].isascii() and given["time_limit"].isdigit()):
        return "The time limit is a whole number."
    if not 1 <= len(given["time_limit"]) <= 4:
        return "The time limit is a whole number of at most four digits."
    return None


def wrong_interview(given: Mapping[str, str], problems: set[str]) -> str | None:
    """Say what is wrong with an interview as it was typed, or nothing."""
    if not given.keys() >= set(INTERVIEW_FIELDS) or any(
        unwritable(text) for text in given.values()
    ):
        return "The form did not arrive completely. Please send it again."
    if not given["name"].strip():
        return "An interview needs a name."
    if given["problem"] and given["problem"] not in problems:
        return "Choose a problem from the list."
    try:
        start, end = moment(given["starttime"]), moment(given["endtime"])
    except ValueError:
        return "Give each time as a date and a time of day."
    if start and end and end <= start:
        return "The end must come after the start."
    return None


def moment(typed: str) -> datetime | None:
    """Read what a browser's field for date and time holds; None when it was left empty.

    Raises ValueError for anything else.
    """
    return datetime.strptime(typed, "%Y-%m-%dT%H:%M") if typed else None  # noqa: DTZ007 - wall time


def service_time(typed: str) -> str:
    """Write a time as the service does, `Dec 1, 2026 9:00 am` (interface 2), in any locale."""
    at = moment(typed)
    if at is None:
        return ""
    hour, half = at.hour % 12 or 12, "am" if at.hour < 12 else "pm"
    return f"{MONTHS[at.month - 1]} {at.day}, {at.year} {hour}:{at.minute:02} {half}"
