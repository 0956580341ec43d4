"""From what is written to a definition: every problem at once, each at its place."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from sys import intern
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from config.campaign_times import outside_the_project, project_zone
from config.definition import (
    Approval,
    Candidate,
    Definition,
    Invites,
    ProblemById,
    ProblemByTitle,
    Project,
    Schedule,
)
from config.email_doubts import doubts, mailbox
from config.email_key import email_key
from config.fields import (
    ApprovalFields,
    CandidateFields,
    ColumnsFields,
    DefinitionFields,
    InvitesFields,
    PeopleFileFields,
    ProblemFields,
    ProjectFields,
    ScheduleFields,
)
from config.places import Place, Problem, shown
from config.window import Window
from config.written import Location, People, Row, Written

MODELS: dict[Location, type[BaseModel]] = {
    (): DefinitionFields,
    ("project",): ProjectFields,
    ("problem",): ProblemFields,
    ("invites",): InvitesFields,
    ("invites", "approval"): ApprovalFields,
    ("schedule",): ScheduleFields,
    ("candidates",): PeopleFileFields,
    ("candidates", "columns"): ColumnsFields,
}


@dataclass(frozen=True, slots=True)
class Built:
    """A campaign as judged: its definition, or None with all that is wrong with it.

    `warnings` are what a person should look at, and nothing stops at.
    """

    definition: Definition | None
    problems: list[Problem]
    warnings: list[Problem]


def build(written: Written) -> Built:
    """Judge one campaign."""
    warnings: list[Problem] = []
    problems = [*written.problems, *_without_problem(written)]
    head = _head(written, problems)
    stage_id = head.stage_id if head else 1
    candidates: tuple[Candidate, ...] = ()
    if written.people is not None:
        before = len(problems)
        candidates = _candidates(written.people, stage_id, problems, warnings)
        if not candidates and len(problems) == before:
            place = written.people.whole or written.places.value(("candidates",))
            problems.append(Problem(place, "candidates", "no candidates", "at least one"))
    if head is None or problems:
        return Built(None, problems, warnings)
    warnings.extend(outside_the_project(head, written.places))
    return Built(_definition(head, candidates, written), [], warnings)


def _without_problem(written: Written) -> list[Problem]:
    """A project to create needs its problem; one that exists may have it already."""
    project = written.fields.get("project")
    if "problem" in written.fields or (isinstance(project, Mapping) and "id" in project):
        return []
    what = DefinitionFields.model_fields["problem"].description
    return [Problem(written.places.value(("problem",)), "problem", "nothing", what)]


def _head(written: Written, problems: list[Problem]) -> DefinitionFields | None:
    try:
        return DefinitionFields.model_validate(
            _problem_as_mapping(written.fields), context={"timezone": project_zone(written.fields)}
        )
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            problems.append(_head_problem(detail, written))
        return None


def _problem_as_mapping(fields: Mapping[str, Any]) -> dict[str, Any]:
    """`problem: 42` is short for `problem: {id: 42}`."""
    problem = fields.get("problem")
    short = problem is not None and not isinstance(problem, Mapping)
    return {**fields, "problem": {"id": problem}} if short else dict(fields)


def _head_problem(detail: ErrorDetails, written: Written) -> Problem:
    location: Location = detail["loc"]
    short = location == ("problem", "id") and not isinstance(written.fields.get("problem"), dict)
    around, name = location[:-1], str(location[-1])
    field = "problem" if short else ".".join(map(str, location))
    if detail["type"] == "extra_forbidden":
        known = list(MODELS[around].model_fields)
        deeper = [
            ".".join((*map(str, inner), known_there))
            for inner, model in MODELS.items()
            if inner[:-1] == around and inner != around
            for known_there in model.model_fields
        ]
        return unknown_field(written.places.name(location), field, name, known, deeper)
    what = MODELS[around].model_fields[name].description or ""
    if short:
        what = DefinitionFields.model_fields["problem"].description or ""
    return _problem(detail, written.places.value(location), field, what)


def unknown_field(
    place: Place, field: str, name: str, known: Iterable[str], deeper: Iterable[str] = ()
) -> Problem:
    """Complain about a field that does not exist, with the nearest one that does.

    `deeper` are dotted names of fields that belong one mapping further in.
    """
    spellings = {full.rpartition(".")[2]: full for full in (*deeper, *known)}
    spellings |= {full: full for full in known}
    near = get_close_matches(name.casefold(), spellings, n=1, cutoff=0.7)
    hint = f"did you mean {spellings[near[0]]}?" if near else f"known are {', '.join(known)}"
    return Problem(place, field, shown(name), message=f"there is no field {name}; {hint}")


def _problem(detail: ErrorDetails, place: Place, field: str, what: str) -> Problem:
    """Say one complaint of pydantic in the words of the definition."""
    kind, found = detail["type"], detail["input"]
    context = detail.get("ctx", {})
    if kind == "missing":
        return Problem(place, field, found="nothing", wanted=what)
    if kind == "sentence":
        return Problem(place, field, found=shown(found), message=context["message"])
    if kind == "wanted":
        return Problem(place, field, found=shown(found), wanted=context["wanted"])
    if kind == "string_type" and isinstance(found, int | float):
        # YAML took it for a number or a truth value; only quotes say that it is meant as text.
        return Problem(place, field, found=shown(found), wanted=f"{what}; text needs quotes here")
    return Problem(place, field, found=shown(found), wanted=what)


def _candidates(
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
            yield _problem(detail, place, name, known[name].description or "")


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
    )


def _definition(
    head: DefinitionFields, candidates: tuple[Candidate, ...], written: Written
) -> Definition:
    project, problem, invites = head.project, head.problem, head.invites
    zone = invites.timezone or project.timezone or ""
    where = written.places.value
    return Definition(
        campaign=head.campaign,
        project=Project(
            id=project.id,
            name=project.name or "",
            description=project.description,
            state=project.state,
            starttime=project.starttime,
            endtime=project.endtime,
            timezone=project.timezone,
        ),
        problem=_named_problem(problem, where(("problem",))) if problem else None,
        candidates=candidates,
        invites=Invites(
            send=invites.send,
            approval=_approval(invites.approval),
            window=Window.of(invites.not_before, invites.not_after, zone),
        ),
        place=where(()),
        schedule=_schedule(head.schedule, project.timezone),
    )


def _approval(fields: ApprovalFields | None) -> Approval | None:
    return Approval(within=fields.within) if fields else None


def _schedule(fields: ScheduleFields | None, zone: str | None) -> Schedule | None:
    return Schedule(fields.cron, fields.every, fields.timezone or zone) if fields else None


def _named_problem(problem: ProblemFields, place: Place) -> ProblemById | ProblemByTitle:
    if problem.id is not None:
        return ProblemById(problem.id, place)
    return ProblemByTitle(problem.title or "", place)
