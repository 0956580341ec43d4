"""The oracle: whether what the service received and what the ledger says can both be true.

It reads the sandbox's record and `status --json`, and knows nothing of how either came about.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

Entry = Mapping[str, Any]
NOTHING: Mapping[str, int] = MappingProxyType({})
CHANGING = ("create", "attach", "add", "invite")


def faults(
    record: Sequence[Entry], status: Mapping[str, Any], allowed: Mapping[str, int] = NOTHING
) -> list[str]:
    """Every way in which the promise was broken; none: it was kept.

    `allowed` says how many more emails decisions of people allow to an address.
    """
    found = [*_twice(record, allowed), *_never_known(record, status)]
    for person in status["candidates"]:
        found += _of_person(record, status, person, allowed)
    found += _of_project(record, status)
    return found


def in_flight(status: Mapping[str, Any], invites: int, batch: int) -> list[str]:
    """After one crash, unsure is at most what was in flight."""
    unsure = Counter(
        op for person in status["candidates"] for op in ("add", "invite") if person[op] == "unsure"
    )
    own = [op for op in ("project", "problem") if status[op] == "unsure"]
    kinds = len(own) + bool(unsure["add"]) + bool(unsure["invite"])
    if kinds > 1 or unsure["invite"] > invites or unsure["add"] > batch:
        return [f"more is unsure than was in flight: {dict(unsure)} {own}"]
    return []


def complete(record: Sequence[Entry], status: Mapping[str, Any]) -> list[str]:
    """Once everything was settled and sent: everybody has an email."""
    emails = {each["email"] for each in record if _worked(each, "invite")}
    them = (person["email1"] for person in status["candidates"])
    return [f"{email} was forgotten" for email in them if email not in emails]


def _twice(record: Sequence[Entry], allowed: Mapping[str, int]) -> Iterator[str]:
    emails = Counter(each["email"] for each in record if _worked(each, "invite"))
    for email, number in emails.items():
        if number > 1 + allowed.get(email, 0):
            yield f"{email} got {number} emails"


def _never_known(record: Sequence[Entry], status: Mapping[str, Any]) -> Iterator[str]:
    """Nobody gets an email, or is added, whom the ledger does not have."""
    ours = {person["email1"] for person in status["candidates"]}
    for each in record:
        for email in [each["email"], *_rows(each)]:
            if each["op"] in CHANGING and email and email not in ours:
                yield f"{each['op']} reached {email}, whom the ledger does not have"


def _of_person(
    record: Sequence[Entry],
    status: Mapping[str, Any],
    person: Mapping[str, Any],
    allowed: Mapping[str, int],
) -> Iterator[str]:
    email, number = person["email1"], person["candidate_id"]
    ids = [
        each["ids"].get(email) for each in record if _worked(each, "add") and email in _rows(each)
    ]
    emails = [each for each in record if _worked(each, "invite") and each["email"] == email]
    match person["add"]:
        case "done" if not ids:
            yield f"{email} counts as added, and the service never had them"
        case "done" if number not in ids:
            yield f"{email} has the id {number}, and the service gave {ids}"
        case "waiting" | "refused" if ids:
            yield f"{email} was added, and counts as {person['add']}"
    match person["invite"]:
        case "done" if not emails:
            yield f"{email} counts as invited, and got no email"
        case "waiting" | "refused" if len(emails) > allowed.get(email, 0):
            yield f"{email} got an email, and counts as {person['invite']}"
    if any(each["candidate_id"] not in ids for each in emails):
        yield f"{email} was invited under an id that was never theirs"
    if any(each["project_id"] != status["project_id"] for each in emails):
        yield f"{email} was invited to another project"


def _of_project(record: Sequence[Entry], status: Mapping[str, Any]) -> Iterator[str]:
    made = [each["ids"]["project"] for each in record if _worked(each, "create")]
    attached = [each["project_id"] for each in record if _worked(each, "attach")]
    match status["project"]:
        case "done" if status["project_id"] not in made:
            yield f"the project is {status['project_id']}, and the service made {made}"
        case "waiting" | "refused" if made:
            yield f"the service made {made}, and the project counts as {status['project']}"
    match status["problem"]:
        case "done" if status["project_id"] not in attached:
            yield "the problem counts as attached, and is not"
        case "waiting" | "refused" if status["project_id"] in attached:
            yield f"the problem was attached, and counts as {status['problem']}"
    if len(made) > 1:
        yield f"the service made {len(made)} projects"


def unrecorded(record: Sequence[Entry], requests: Mapping[str, int]) -> list[str]:
    """Every changing request that arrived had been written down before: `requests` by operation."""
    arrived = Counter(each["op"] for each in record)
    return [
        f"{arrived[op]} of {op} arrived, and {requests.get(op, 0)} are in the ledger"
        for op in CHANGING
        if arrived[op] > requests.get(op, 0)
    ]


def _worked(entry: Entry, op: str) -> bool:
    return bool(entry["op"] == op and entry["worked"])


def _rows(entry: Entry) -> list[str]:
    if entry["op"] != "add" or not isinstance(entry["body"], list):
        return []
    return [row["email1"] for row in entry["body"] if isinstance(row, dict)]
