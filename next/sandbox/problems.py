"""The problems a fresh sandbox offers, with every field the interface names."""

from typing import Any

Problem = dict[str, Any]
"""A problem as it is answered: the 21 fields of interface 2, exactly as spelt there."""


def problem(problem_id: int, title: str, **fields: Any) -> Problem:
    """Describe one problem; `fields` replace any of the other 19 (interface 2)."""
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


SAMPLE_PROBLEMS: tuple[Problem, ...] = (
    problem(
        42,
        "Two sum",
        description="Given a list of integers and a target, return the positions of the two "
        "numbers that add up to the target.",
        like_count=128,
        view_count=2310,
        open_count=940,
    ),
    problem(
        43,
        "Balanced brackets",
        description="Decide whether every bracket in a text is closed by its own kind, in order.",
        skills="Data structures",
        date_created="2026-02-03 14:05:10",
        like_count=57,
    ),
    problem(
        57,
        "Rate limiter",
        description="Write a limiter that lets n calls through in any window of one minute.",
        skills="Backend",
        difficulty="medium",
        time_limit=90,
        date_created="2026-03-21 08:00:00",
    ),
    problem(
        61,
        "Ledger of accounts",
        description="Read transfers, refuse those that overdraw, and print the balances.",
        skills="SQL",
        difficulty="medium",
        time_limit=90,
        public=0,
        _public=False,
        date_created="2026-04-11 16:45:30",
    ),
    problem(
        78,
        "Shortest route with tolls",
        description="Find the cheapest route through a network whose tolls change by the hour.",
        difficulty="hard",
        time_limit=120,
        date_created="2026-06-30 11:11:11",
    ),
)
