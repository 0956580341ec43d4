"""The problems of a fresh sandbox, each with all fields of the interface."""

from typing import Any

Problem = dict[str, Any]
"""A problem as it is answered: the 21 fields of interface 2."""


def problem(problem_id: int, title: str, **fields: Any) -> Problem:
    """Describe one problem; `fields` replace any of the other 19."""
    return {
        "id": problem_id,
        "title": title,
        "description": f"Solve “{title}” in a language of your choice.",
        "time_limit": 60,
        "skills": "Algorithms",
        "public": 1,
        "owner_id": "sandbox|author-1",
        "difficulty": "easy",
        "date_created": "2026-01-15 09:30:00",
        "open": 0,
        "like_count": 0,
        "open_count": 0,
        "view_count": 0,
        "opened": False,
        "solved": False,
        "open_events": [],
        "submissions": [],
        "_public": True,
        "is_current_user_admin": False,
        "liked_by_current_user": False,
        "viewed_by_current_user": False,
        **fields,
    }


_SAMPLES = (
    (42, "Two sum", "easy", "Algorithms", "Given a list of integers and a target, return the "
     "positions of the two numbers that add up to the target."),
    (43, "Balanced brackets", "easy", "Data structures", "Decide whether every bracket in a text "
     "is closed by its own kind, in order."),
    (57, "Rate limiter", "medium", "Backend", "Write a limiter that lets n calls through in any "
     "window of one minute."),
    (61, "Ledger of accounts", "medium", "SQL", "Read transfers, refuse those that overdraw, and "
     "print the balances."),
    (78, "Shortest route with tolls", "hard", "Algorithms", "Find the cheapest route through a "
     "network whose tolls change by the hour."),
)  # fmt: skip
SAMPLE_PROBLEMS = tuple(
    problem(number, title, difficulty=difficulty, skills=skills, description=description)
    for number, title, difficulty, skills, description in _SAMPLES
)
