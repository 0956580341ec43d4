"""From a written file to a definition: every mistake at once, each at its place."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from config.definition.campaign_times import (
    outside_the_project,
    project_zone,
    timetable_of,
    without_an_end,
)
from config.definition.fields import (
    ADD_AGAIN,
    ColumnsFields,
    DefinitionFields,
    PeopleFileFields,
    ScheduleFields,
)
from config.definition.invite_fields import ApprovalFields, GuardFields, HoldOnFields, InvitesFields
from config.definition.kinds import complaint, unknown_field
from config.definition.model import (
    PILOT,
    Approval,
    Candidate,
    Definition,
    Invites,
    ProblemById,
    ProblemByTitle,
    Project,
)
from config.definition.people import judge_people
from config.definition.project_fields import ProblemFields, ProjectFields
from config.email_key import email_key
from config.mistakes import Mistake, Place, shown
from config.tables.written import Location, People, Written
from config.timetable.schedule import Schedule

MODELS: dict[Location, type[BaseModel]] = {
    (): DefinitionFields,
    ("project",): ProjectFields,
    ("problem",): ProblemFields,
    ("invites",): InvitesFields,
    ("invites", "approval"): ApprovalFields,
    ("invites", "hold_on"): HoldOnFields,
    ("guard",): GuardFields,
    ("schedule",): ScheduleFields,
    ("candidates",): PeopleFileFields,
    ("candidates", "columns"): ColumnsFields,
}


def build(written: Written, problems: list[Mistake], warnings: list[Mistake]) -> Definition | None:
    """Judge one campaign: returns its definition, or None if anything is wrong with it.

    Adds to `problems` everything that is wrong, and to `warnings` what a person should look at;
    they stop nothing.
    """
    before = len(problems)
    problems += (*written.problems, *_without_problem(written))
    head = _head(written, problems)
    if head is not None:
        problems.extend(without_an_end(head, written.places))
    candidates: tuple[Candidate, ...] = ()
    repeated = 0
    if written.people is not None:
        without_people = len(problems)
        problems.extend(_about_where(written, written.people))
        stage_id = head.stage_id if head else 1
        candidates, repeated = judge_people(written.people, stage_id, problems, warnings)
        if not candidates and len(problems) == without_people:
            place = written.people.whole or written.places.value(("candidates",))
            problems.append(Mistake(place, "candidates", "no candidates", "at least one"))
    if head is None or len(problems) > before:
        return None
    pilot = _pilot(head, candidates, written)
    if isinstance(pilot, Mistake):
        problems.append(pilot)
        return None
    counted = len(candidates) + repeated, len(candidates)
    warnings.extend(outside_the_project(head, written.places))
    return _definition(head, (*pilot, *candidates), counted, written)


def _about_where(written: Written, people: People) -> Iterator[Mistake]:
    """Report columns and values that `where` names but the table does not have."""
    for mistake in people.selection.mistakes if people.selection else ():
        place = written.places.value(("candidates", "where", mistake.name))
        yield Mistake(place, f"candidates.where.{mistake.name}", message=mistake.message)


def _without_problem(written: Written) -> list[Mistake]:
    """A project to create needs its problem; one that exists may have it already."""
    project = written.fields.get("project")
    if "problem" in written.fields or (isinstance(project, Mapping) and "id" in project):
        return []
    what = DefinitionFields.model_fields["problem"].description
    return [Mistake(written.places.value(("problem",)), "problem", "nothing", what)]


def _head(written: Written, problems: list[Mistake]) -> DefinitionFields | None:
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


def _head_problem(detail: ErrorDetails, written: Written) -> Mistake:
    location: Location = detail["loc"]
    short = location == ("problem", "id") and not isinstance(written.fields.get("problem"), dict)
    around, name = location[:-1], str(location[-1])
    field = "problem" if short else ".".join(map(str, location))
    if detail["type"] == "extra_forbidden":
        names = list(MODELS[around].model_fields)
        deeper = [
            ".".join((*map(str, inner), known_there))
            for inner, model in MODELS.items()
            if inner[:-1] == around and inner != around
            for known_there in model.model_fields
        ]
        return unknown_field(written.places.name(location), field, name, names, deeper)
    what = MODELS[around].model_fields[name].description or ""
    if short:
        what = DefinitionFields.model_fields["problem"].description or ""
    return complaint(detail, written.places.value(location), field, what)


def _pilot(
    head: DefinitionFields, candidates: tuple[Candidate, ...], written: Written
) -> tuple[Candidate, ...] | Mistake:
    """Return the pilot, unless there is none or the pilot is one of the candidates already.

    A pilot whom `where` leaves out is a mistake: such a person is never invited, not even first.
    """
    email1 = head.invites.pilot
    if email1 is None or (key := email_key(email1)) in {person.key for person in candidates}:
        return ()
    place = written.places.value(("invites", "pilot"))
    if written.people and key in written.people.left_out:
        message = f"{shown(email1)} is in a row that candidates.where leaves out"
        return Mistake(place, "invites.pilot", shown(email1), message=message)
    first, last, source = PILOT
    return (Candidate(first, last, email1, source, "", head.stage_id, key, place),)


def _definition(
    head: DefinitionFields,
    candidates: tuple[Candidate, ...],
    counted: tuple[int, int],
    written: Written,
) -> Definition:
    project, problem, invites, runs = head.project, head.problem, head.invites, head.schedule
    where = written.places.value
    return Definition(
        campaign=head.campaign,
        project=Project(**dict(project) | {"name": project.name or ""}),
        problem=_named_problem(problem, where(("problem",))) if problem else None,
        candidates=candidates,
        invites=Invites(
            send=invites.send,
            approval=Approval(invites.approval.within) if invites.approval else None,
            timetable=timetable_of(head),
            cooldown=invites.cooldown,
            trust=invites.trust,
        ),
        place=where(()),
        schedule=Schedule(runs.cron, runs.every, runs.timezone or project.timezone)
        if runs
        else None,
        guard=head.guard.removed if head.guard else None,
        columns=written.people.columns if written.people else {},
        rows=counted[0],
        people=counted[1],
        selection=written.people.selection if written.people else None,
        add_again=head.candidates is not None and head.candidates.when_unsure == ADD_AGAIN,
    )


def _named_problem(problem: ProblemFields, place: Place) -> ProblemById | ProblemByTitle:
    if problem.id is not None:
        return ProblemById(problem.id, place, problem.unlisted)
    return ProblemByTitle(problem.title or "", place)
