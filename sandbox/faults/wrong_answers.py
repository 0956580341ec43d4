"""Wrong answers: what the sandbox sends instead of the right answer, or of parts of it."""

from typing import Any

from sandbox.faults.faults import Fault, Kind
from sandbox.protocol.answers import Answer, refusal

_PAGE = "<!doctype html><title>Sign in</title><h1>Sign in to continue</h1>"


def altered(fault: Fault, answer: Answer | None) -> Answer:
    """Return the wrong answer; `answer` is the right one, None if no work was done."""
    match fault.kind:
        case Kind.STATUS:
            return _status(fault)
        case Kind.ACCEPTED:
            return Answer(202)
        case Kind.HTML:
            return Answer(200, _PAGE, {"content-type": "text/html; charset=utf-8"})
        case Kind.BODY:
            status = answer.status_code if answer else 200
            return Answer(status, fault.body, {"content-type": "application/json", **fault.headers})
    if answer is None:
        raise ValueError(f"{fault.kind} always does the work first: leave after_work out")
    if not answer.ok or not isinstance(answer.content, dict | list):
        return answer
    return Answer(answer.status_code, misshapen(fault.kind, answer.content))


def _status(fault: Fault) -> Answer:
    headers = dict(fault.headers)
    if fault.retry_after is not None:
        headers["retry-after"] = str(fault.retry_after)
    if fault.location is not None:
        headers["location"] = fault.location
    if fault.body is not None:
        return Answer(fault.status, fault.body, headers)
    if fault.status < 300 or fault.status == 304:
        return Answer(fault.status, None, headers)
    return Answer(fault.status, refusal(fault.status, "as asked for").content, headers)


def misshapen(kind: str, content: Any) -> Any:
    """Change the contents of a right answer to create (an object) or add (a list of rows)."""
    if isinstance(content, dict):
        return _row(kind, content)
    rows = [_row(kind, row) for row in content]
    if not rows or "candidate_id" not in content[0]:
        return rows
    match kind:
        case Kind.REORDERED:
            return rows[::-1]
        case Kind.PARTIAL:
            return rows[:-1]
        case Kind.DOUBLED:
            again = {**rows[0], "candidate_id": rows[0]["candidate_id"] + 1_000_000}
            return [*rows, again]
        case Kind.SHUFFLED:
            after = [*rows[1:], rows[0]]
            return [
                {**next_row, "email1": row["email1"]}
                for row, next_row in zip(rows, after, strict=True)
            ]
        case Kind.STRANGER:
            stranger = {**rows[0], "email1": "stranger@sandbox.invalid", "candidate_id": 9_000_001}
            return [*rows, stranger]
    return rows


def _row(kind: str, row: dict[str, Any]) -> dict[str, Any]:
    ids = {name: value for name, value in row.items() if name in ("id", "candidate_id")}
    match kind:
        case Kind.LOWERED if "email1" in row:
            return {**row, "email1": row["email1"].lower()}
        case Kind.EXTRA_KEYS:
            return {**row, "created_by": "sandbox", "tags": [], "links": {"self": None}}
        case Kind.NO_IDS:
            return {name: value for name, value in row.items() if name not in ids}
        case Kind.STRING_IDS:
            return {**row, **{name: str(value) for name, value in ids.items()}}
        case Kind.BOOL_IDS:
            return {**row, **dict.fromkeys(ids, True)}
    return row
