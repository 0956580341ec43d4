"""Build a Definition from what was written, or report every mistake at its place.

Rules between fields are here. What one field may hold is in its model (definition.py).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from config.definition import COLUMNS, MODELS, Candidate, Definition, PeopleTable, Schedule, as_list
from config.errors import Mistake, Place, is_blank
from config.timetable import NEVER, may_send, no_one_moment

Location = tuple[int | str, ...]
SOURCES = ((True, False, False, False), (False, True, False, False), (False, False, True, True))
SPANS = (("project", "starttime", "endtime"), ("invites", "not_before", "not_after"))
# What replaces each part that is wrong, so that the other parts can still be checked.
RIGHT: dict[str, Any] = {"campaign": "x", "project": {"name": "x", "timezone": "UTC"}, "problem": 1}
RIGHT |= {"candidates": [], "stage_id": 1, "invites": {}, "guard": {}, "schedule": None}

PARTS: dict[str, type[BaseModel]] = {"": Definition}
PARTS |= {"candidates.list.": Candidate, "candidates.table.": PeopleTable}
PARTS |= {f"{each.__name__.lower()}.": each for each in MODELS}
FIELDS = {f"candidates.table.columns.{each}": f"The header for {each}." for each in COLUMNS}
FIELDS |= {
    part + name: info.description or ""
    for part, model in PARTS.items()
    for name, info in model.model_fields.items()
}
"""What each field of a definition is, by its location in pydantic."""


@dataclass
class Written:
    """A definition as somebody wrote it: its fields, the places of each name and value, and
    mistakes of form, such as a field that is written twice."""

    whole: Place
    fields: dict[str, Any] = field(default_factory=dict)
    places: dict[Location, tuple[Place, Place]] = field(default_factory=dict)
    mistakes: list[Mistake] = field(default_factory=list)

    def place(self, location: Location, *, of_name: bool = False) -> Place:
        """Where a value, or its name, is written. A missing value has the place of its parent."""
        while location and location not in self.places:
            location = location[:-1]
        return self.places[location][not of_name] if location else self.whole


def build(written: Written, now: datetime) -> tuple[Definition, list[Mistake]]:
    """Build the definition from what is right, and list what is wrong. `now` is the time."""
    mistakes = [*written.mistakes]
    try:
        definition = Definition.model_validate(written.fields)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        mistakes += [mistake(each, written.place) for each in errors]
        definition = _without(written.fields, errors)
    wrong = {each.field for each in mistakes}
    for is_broken, name, message in rules(definition, now):
        if is_broken and name not in wrong:
            place = written.place((*name.split("."),))
            mistakes.append(Mistake(place, message, name.removeprefix("candidates.")))
    return definition, mistakes


def rules(definition: Definition, now: datetime) -> Iterator[tuple[bool, str, str]]:
    """Yield for each rule whether it is broken at this time, the field at fault, and a message."""
    project, problem, people = definition.project, definition.problem, definition.candidates
    invites, schedule = definition.invites, definition.schedule or Schedule(every="1 day")
    for name in project.model_fields_set - {"id", "timezone"}:
        why = f"project {project.id} already exists and is used as it is; leave out {name}, or"
        yield bool(project.id), f"project.{name}", f"{why} leave out id to create a new project"
    missing = f"missing, wanted {meaning('project.name')}, or {meaning('project.id')}"
    yield not (project.id or project.name), "project.name", missing
    one = "wanted exactly one of id and title"
    yield bool(problem.id) == bool(problem.title), "problem.title", one
    if isinstance(people, PeopleTable):
        source = (bool(people.file), bool(people.url), bool(people.query), bool(people.database))
        wanted = "wanted one of file and url, or query with database"
        yield source not in SOURCES, "candidates.file", wanted
        for name in {*people.columns} - {*COLUMNS}:
            yield True, f"candidates.columns.{name}", unknown(name, "candidates.table.columns")
    for part, *names in SPANS:
        begin, end = (getattr(getattr(definition, part), each) for each in names)
        late = bool(begin and end and begin >= end)
        yield late, f"{part}.{names[1]}", f"wanted a time after {names[0]}"
    for part, name in ((part, each) for part, *names in SPANS for each in names):
        fields = getattr(definition, part)
        why = no_one_moment(getattr(fields, name), fields.timezone)
        yield bool(why), f"{part}.{name}", why
    # This program, not the service, decides by these times, so it must know their timezone.
    zone = "needs a timezone: the project's, or  timezone: Europe/Paris  beside it"
    for name in ("not_before", "not_after", "hours", "holidays"):
        lacks = bool(getattr(invites, name)) and not invites.timezone
        yield lacks, f"invites.{name}", f"{name} {zone}"
    yield bool(schedule.cron) and not schedule.timezone, "schedule.cron", f"cron {zone}"
    either = 'wanted either  cron: "0 9 * * 1-5"  or  every: 1 hour'
    yield bool(schedule.cron) == bool(schedule.every), "schedule.every", either
    waves = "between goes with waves: write waves as well"
    yield bool(invites.between) and not invites.waves, "invites.between", waves
    if (over := project.ends) is not None:
        ends = f"on {project.endtime:%Y-%m-%d %H:%M}"
        yield over <= now, "project.endtime", f"the project already ended {ends}"
        first = may_send(invites, now) or now
        name = "invites.not_before" if invites.not_before else "invites.hours"
        why = f"the project ends {ends}, before the first invitation may go out"
        yield now < over <= first < NEVER, name, why


def _without(fields: dict[str, Any], errors: Sequence[ErrorDetails]) -> Definition:
    """The definition without what is wrong. A column in a wrong `where` counts as decided, so that
    nobody is asked about it twice."""
    rest = {name: fields.get(name, right) for name, right in RIGHT.items()}
    for each in reversed(errors):  # `ignore`, a later field, is reset before `where` adds to it
        table = rest["candidates"]
        match [*map(str, each["loc"])]:
            case ["candidates", "table", "where", *steps] if table:
                where = table["where"].items() if steps else ()
                where = {name: values for name, values in where if name != steps[0]}
                ignore = [*as_list(table.get("ignore", []))]
                ignore += [it for it in steps[:1] if it.isprintable() and not is_blank(it)]
                rest["candidates"] = table | {"where": where, "ignore": ignore}
            case ["candidates", "table", ("ignore" | "hidden_rows") as choice, *_] if table:
                rest["candidates"] = table | {choice: "read" if choice == "hidden_rows" else []}
            case ["project" | "invites" as part, name, *_]:
                rest[part] = RIGHT[part] | {n: v for n, v in rest[part].items() if n != name}
            case [part, *_] if part in RIGHT:
                rest[part] = RIGHT[part]
    return Definition.model_validate(rest)


def mistake(detail: ErrorDetails, place: Callable[..., Place]) -> Mistake:
    """Turn an error of pydantic into a mistake in the words of the definition."""
    kind, where, context = detail["type"], detail["loc"], detail.get("ctx", {})
    name = ".".join(step for step in where if isinstance(step, str))
    if where[0] == "candidates":  # pydantic's tag follows: list or table
        where = where[:1] + where[2:]
    field = as_written(name).removeprefix("candidates.")
    if kind == "extra_forbidden":
        why = unknown(str(where[-1]), name.rpartition(".")[0])
        return Mistake(place(where, of_name=True), why, field, str(where[-1]))
    choice = str(context.get("expected", "")).replace("'", "")
    ours = context.get("error")  # from our validators; pydantic's own are texts
    wanted = str(ours) if isinstance(ours, ValueError) else choice or meaning(name)
    found = None if kind == "missing" else detail["input"]
    return Mistake(place(where), "", field, found, wanted)


def meaning(name: str) -> str:
    """What a field is: the text below it in its model, up to a `;`, or else its parent's."""
    while name not in FIELDS:
        name = name.rpartition(".")[0]
    text = FIELDS[name].partition(";")[0].rstrip(".")
    return text[:1].lower() + text[1:]


def unknown(name: str, around: str) -> str:
    """Say that a part has no such field; name the nearest (at the top level, of all parts)."""
    own = [last for part, _, last in (each.rpartition(".") for each in FIELDS) if part == around]
    near = {} if around else {each.rpartition(".")[2]: as_written(each) for each in FIELDS}
    near |= {each: each for each in own}
    close = get_close_matches(name.casefold(), near, n=1, cutoff=0.7)
    hint = f"did you mean {near[close[0]]}?" if close else f"the fields are {', '.join(own)}"
    return f"there is no field {name}; {hint}"


def as_written(name: str) -> str:
    """A field's name as a person writes it, without pydantic's tag for a list or a table."""
    return name.replace("candidates.list", "candidates").replace("candidates.table", "candidates")
