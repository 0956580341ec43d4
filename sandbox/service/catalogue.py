"""Every problem the service offers: those it began with, and those made in its web application."""

from collections.abc import Sequence

from sandbox.service.problems import Problem, problem
from sandbox.service.record import Record


class Catalogue:
    """The list of problems as it is answered (interface 4.2), submissions included."""

    def __init__(self, begun_with: Sequence[Problem], record: Record) -> None:
        self._begun_with = {each["id"]: each for each in begun_with}
        self._record = record

    def all(self) -> list[Problem]:
        """Every problem, in the order in which they came."""
        handed_in: dict[int, list[object]] = {}
        for submission in self._record.submissions:
            handed_in.setdefault(submission.problem_id, []).append(submission.as_submission())
        return [
            {**each, "submissions": [*each["submissions"], *handed_in.get(each["id"], ())]}
            for each in self._problems().values()
        ]

    def get(self, problem_id: int) -> Problem | None:
        """One problem, without what was handed in for it."""
        return self._problems().get(problem_id)

    def create(
        self, title: str, description: str, *, difficulty: str, skills: str, time_limit: int
    ) -> Problem:
        """Make a problem as a person does in the web application (interface 1)."""
        made = problem(
            max(self._problems(), default=0) + 1,
            title,
            description=description,
            difficulty=difficulty,
            skills=skills,
            time_limit=time_limit,
        )
        self._record.create_problem(made)
        return made

    def _problems(self) -> dict[int, Problem]:
        return self._begun_with | {each["id"]: each for each in self._record.problems}
