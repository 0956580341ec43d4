"""What candidates write in the arena: their drafts, and what they have handed in."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sandbox.protocol import bodies

ENVIRONMENTS = ("full", "lightweight")
"""The two coding environments of the arena (interface 1)."""

LANGUAGES = {
    "python": "Python",
    "javascript": "JavaScript",
    "typescript": "TypeScript",
    "java": "Java",
    "c_cpp": "C or C++",
    "csharp": "C#",
    "golang": "Go",
    "rust": "Rust",
    "ruby": "Ruby",
    "sql": "SQL",
    "text": "Another language",
}
"""The languages a candidate may write in, by the editor's own names for them."""

LONGEST = 200_000
"""Characters of one solution; a longer text is no solution to these problems."""


@dataclass(frozen=True, slots=True)
class Solution:
    """One text a candidate wrote: a draft, kept as it is typed, or a submission.

    `number` is a submission's, from 1 in order of arrival; a draft has none.
    """

    at: datetime
    project_id: int
    candidate_id: int
    problem_id: int
    environment: str
    language: str
    code: str
    number: int | None = None

    def as_submission(self) -> dict[str, Any]:
        """Describe it as an element of the problem's `submissions`, whose shape is not shown."""
        return {
            "id": self.number,
            "project_id": self.project_id,
            "candidate_id": self.candidate_id,
            "environment": self.environment,
            "language": self.language,
            "code": self.code,
            "date_created": self.at.strftime("%Y-%m-%d %H:%M:%S"),
        }


def wrong_solution(body: Any) -> str | None:
    """Say what is wrong with the fields a candidate's editor sent, or nothing."""
    if not isinstance(body, dict) or body.keys() != {"environment", "language", "code"}:
        return "wanted environment, language and code"
    if body["environment"] not in ENVIRONMENTS:
        return "environment: wanted full or lightweight"
    if body["language"] not in LANGUAGES:
        return "language: not one of the arena's"
    code = body["code"]
    if not isinstance(code, str) or len(code) > LONGEST or bodies.unwritable(code):
        return f"code: wanted text of at most {LONGEST:,} characters"
    return None
