"""From what was written to a Definition, and every mistake in it at its place."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from config.between_fields import broken_rules
from config.definition import Definition
from config.errors import Mistake, Place
from config.field_names import as_written, meaning, unknown

Location = tuple[int | str, ...]
# Stands for a part that is wrong, so that the others can be compared.
RIGHT: dict[str, Any] = {"campaign": "x", "project": {"name": "x", "timezone": "UTC"}, "problem": 1}
RIGHT |= {"candidates": [], "stage_id": 1, "invites": {}, "guard": {}, "schedule": None}
DECIDE = frozenset({"where", "ignore", "hidden_rows"})  # of a table, which can be read without them


@dataclass
class Written:
    """A definition as somebody wrote it, in YAML or in a sheet: its plain fields, where the name
    and the value of each stands, and what is wrong with its form.
    """

    whole: Place
    fields: dict[str, Any] = field(default_factory=dict)
    places: dict[Location, tuple[Place, Place]] = field(default_factory=dict)
    mistakes: list[Mistake] = field(default_factory=list)

    def place(self, location: Location, *, of_name: bool = False) -> Place:
        """Where a value is written, or its name; for what is missing, the innermost around it."""
        while location and location not in self.places:
            location = location[:-1]
        return self.places[location][not of_name] if location else self.whole


def build(written: Written, now: datetime) -> tuple[Definition, list[Mistake]]:
    """Build the definition of all that is right, and say what is wrong.

    A project that ended before `now`, or ends before anybody can be invited, is a mistake.
    """
    mistakes = [*written.mistakes]
    try:
        definition = Definition.model_validate(written.fields)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        mistakes += [mistake(each, written.place) for each in errors]
        definition = _without(written.fields, errors)
    wrong = {each.field for each in mistakes}
    for name, message in broken_rules(definition, now):
        if name not in wrong:
            place = written.place((*name.split("."),))
            mistakes.append(Mistake(place, message, name.removeprefix("candidates.")))
    return definition, mistakes


def _without(fields: dict[str, Any], errors: Sequence[ErrorDetails]) -> Definition:
    """What is written, without what is wrong."""
    rest = {name: fields.get(name, right) for name, right in RIGHT.items()}
    for each in errors:
        part, *names = map(str, each["loc"])
        if names and part in {"project", "invites"}:
            rest[part] = RIGHT[part] | _less(rest[part], names[:1])
        elif names[:1] == ["table"] and names[1] in DECIDE and isinstance(rest[part], dict):
            rest[part] = _less(rest[part], names[1:])
        elif part in RIGHT:
            rest[part] = RIGHT[part]
    return Definition.model_validate(rest)


def _less(fields: dict[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """These fields without one, or without one of a mapping in them."""
    rest = {name: value for name, value in fields.items() if name != path[0]}
    if len(path) > 1 and isinstance(inner := fields.get(path[0]), dict):
        rest[path[0]] = _less(inner, path[1:])
    return rest


def mistake(detail: ErrorDetails, place: Callable[..., Place]) -> Mistake:
    """Put one error of pydantic into the words of the definition."""
    kind, where, context = detail["type"], detail["loc"], detail.get("ctx", {})
    name = ".".join(step for step in where if isinstance(step, str))
    if where[0] == "candidates":  # what comes next is whether they are a list or a table
        where = where[:1] + where[2:]
    field = as_written(name).removeprefix("candidates.")
    if kind == "extra_forbidden":
        why = unknown(str(where[-1]), name.rpartition(".")[0])
        return Mistake(place(where, of_name=True), why, field, str(where[-1]))
    choice = str(context.get("expected", "")).replace("'", "")
    ours = context.get("error")  # of a validator; pydantic's own words are a text
    wanted = str(ours) if isinstance(ours, ValueError) else choice or meaning(name)
    found = None if kind == "missing" else detail["input"]
    return Mistake(place(where), "", field, found, wanted)
