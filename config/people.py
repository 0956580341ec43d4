"""The people of a campaign, judged one by one and beside each other."""

from collections.abc import Iterable, Iterator, Mapping
from sys import intern

from pydantic import ValidationError

from config.definition import Candidate
from config.email_doubts import doubts, mailbox
from config.email_key import email_key
from config.fields import CandidateFields
from config.places import Place, Problem, shown
from config.wording import complaint, unknown_field
from config.written import People, Row


def judge_people(
    people: People, stage_id: int, problems: list[Problem], warnings: list[Problem]
) -> tuple[Candidate, ...]:
    """Judge the people; `stage_id` is what a person without one gets."""
    candidates: list[Candidate] = []
    seen: dict[str, Place] = {}
    labelled: list[str] = []
    for row in people.rows:
        if isinstance(row, Problem):
            problems.append(row)
            continue
        try:
            fields = CandidateFields.model_validate(row.fields)
        except ValidationError as error:
            problems.extend(_row_problems(error, row, people))
            continue
        key = email_key(fields.email1)
        place = people.places.row(row.number)
        if (first := seen.setdefault(key, place)) is not place:
            problems.append(
                Problem(
                    people.places.value(row.number, "email1"),
                    "email1",
                    found=shown(fields.email1),
                    message=f"found {shown(fields.email1)}, the same person as {first}",
                    cause="each person only once",
                )
            )
            continue
        candidates.append(_candidate(fields, key, place, stage_id))
        if row.remark:
            named = people.places.value(row.number, "first_name")
            cause = "a full name of several words"
            warnings.append(Problem(named, "first_name", message=row.remark, cause=cause))
        for doubt in doubts(key):
            said = f"{shown(fields.email1)}: {doubt.sentence}"
            warnings.append(Problem(place, "email1", message=said, cause=doubt.kind))
        if mailbox(key) != key:
            labelled.append(key)
    warnings.extend(_one_mailbox(labelled, seen))
    return tuple(candidates)


def _one_mailbox(labelled: Iterable[str], seen: Mapping[str, Place]) -> Iterator[Problem]:
    """Point at different addresses that end up in one mailbox; `labelled` are those longer than
    the name of theirs.
    """
    first: dict[str, str] = {}
    for key in labelled:
        box = mailbox(key)
        other = box if box in seen else first.setdefault(box, key)
        if other != key:
            message = (
                f"{shown(key)}: most likely the same mailbox as {shown(other)} at {seen[other]}; "
                "one person would be invited twice"
            )
            yield Problem(seen[key], "email1", message=message, cause="one mailbox")


def _row_problems(error: ValidationError, row: Row, people: People) -> Iterator[Problem]:
    for detail in error.errors(include_url=False):
        if not detail["loc"]:
            what = "a mapping with first_name, last_name and email1"
            yield Problem(people.places.row(row.number), "candidates", shown(row.fields), what)
            continue
        name = str(detail["loc"][0])
        place = people.places.value(row.number, name)
        known = CandidateFields.model_fields
        if detail["type"] == "extra_forbidden":
            yield unknown_field(place, name, name, list(known))
        else:
            yield complaint(detail, place, name, known[name].description or "")


def _candidate(fields: CandidateFields, key: str, place: Place, stage_id: int) -> Candidate:
    return Candidate(
        first_name=fields.first_name,
        last_name=fields.last_name,
        email1=fields.email1,
        source=intern(fields.source),
        notes=intern(fields.notes),
        stage_id=stage_id if fields.stage_id is None else fields.stage_id,
        # Mostly the very text that was typed; kept once then.
        key=fields.email1 if key == fields.email1 else key,
        place=place,
        timezone=fields.timezone,
    )
