"""What `campaign status KEY --json` prints."""

from typing import Any

COUNTS = ("added", "invited", "waiting", "sending", "unsure", "refused", "withdrawn", "held")


def stands(email: str, invite: str, why: str | None = None, add: str = "done") -> dict[str, Any]:
    """Where one person stands."""
    word = {"done": "invited", "waiting": "held" if why else "waiting"}.get(invite, invite)
    them = {"email1": email, "candidate_id": 1, "add": add, "invite": invite, "why": why}
    return them | {"stands": word}


def standing(
    *people: dict[str, Any], service: str = "https://api.test", **counts: int
) -> dict[str, Any]:
    """How a campaign stands, with these people in its list and these counts; others are 0."""
    return {
        "campaign": "backend-2026",
        "service": service,
        "project_id": 101,
        "problem_id": 42,
        "project": "done",
        "problem": "done",
        "counts": {"candidates": 10_000} | dict.fromkeys(COUNTS, 0) | counts,
        "candidates": list(people),
    }
