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
    """What is written, without what is wrong. Of a table, such a choice is one that nobody is asked
    for a second time.
    """
    rest = {name: fields.get(name, right) for name, right in RIGHT.items()}
    chosen: dict[str, list[str]] = {}
    for each in errors:
        match [*map(str, each["loc"])]:
            case ["candidates", "table", ("where" | "ignore" | "hidden_rows") as choice, *steps]:
                chosen.setdefault(choice, []).extend(steps[:1])
            case ["project" | "invites" as part, name, *_]:
                rest[part] = RIGHT[part] | {n: v for n, v in rest[part].items() if n != name}
            case [part, *_] if part in RIGHT:
                rest[part] = RIGHT[part]
    if chosen and isinstance(table := rest["candidates"], dict):
        blank = chosen.get("where", [])
        where = table["where"] if isinstance(table.get("where"), dict) else {}
        where = {name: to for name, to in where.items() if name not in blank}
        ignore = [] if "ignore" in chosen else table.get("ignore", [])
        ignore = [*([ignore] if isinstance(ignore, str) else ignore), *blank]
        rows = "read" if "hidden_rows" in chosen else table.get("hidden_rows")
        rest["candidates"] = table | {"where": where, "ignore": ignore, "hidden_rows": rows}
    return Definition.model_validate(rest)


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
