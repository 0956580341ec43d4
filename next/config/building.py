"""From what was written to a Definition, or to every mistake at its place."""

from datetime import datetime
from difflib import get_close_matches
from typing import Any, Protocol, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from config.definition import (
    COLUMNS,
    Candidate,
    Definition,
    Guard,
    Invites,
    Problem,
    Project,
    Schedule,
)
from config.definition import Table as TableFields
from config.errors import BadInput, Mistake, Place
from config.kinds import is_placeholder

Location = tuple[int | str, ...]
PARTS: dict[str, type[BaseModel]] = {
    "project": Project,
    "problem": Problem,
    "list": Candidate,
    "table": TableFields,
    "invites": Invites,
    "guard": Guard,
    "schedule": Schedule,
}


class Written(Protocol):
    """A definition as somebody wrote it, in YAML or in a sheet: what, where, and what is amiss."""

    fields: dict[str, Any]
    mistakes: list[Mistake]

    def place(self, location: Location, *, of_name: bool = False) -> Place: ...


def build(written: Written, now: datetime) -> Definition:
    """Build the definition. Raises BadInput with every mistake in it.

    A project that ended before `now`, or ends before anybody can be invited, is a mistake.
    """
    try:
        definition = Definition.model_validate(written.fields, context={"now": now})
    except ValidationError as error:
        details = error.errors(include_url=False)
        mistakes = [_mistake(detail, written) for detail in details]
        raise BadInput([*written.mistakes, *mistakes]) from None
    if written.mistakes:
        raise BadInput(written.mistakes)
    return definition


def _mistake(detail: ErrorDetails, written: Written) -> Mistake:
    """Put one error of pydantic into the words of the definition."""
    kind, found, context = detail["type"], detail["input"], detail.get("ctx", {})
    model, where = _walk(detail["loc"])
    if context.get("at"):
        where = (*where, *str(context["at"]).split("."))
    field = ".".join(str(step) for step in where if isinstance(step, str))
    field = field.removeprefix("candidates.") if isinstance(where[-1], str) else field
    name = str(where[-1])
    if kind == "extra_forbidden":
        place = written.place(where, of_name=True)
        why = _unknown(name, list(model.model_fields), anywhere=model is Definition)
        return Mistake(place, why, field, name)
    if "[key]" in detail["loc"]:  # of columns: fields that are sent
        place, names = written.place(where, of_name=True), list(COLUMNS)
        return Mistake(place, _unknown(name, names), field, name)
    place = written.place(where)
    if is_placeholder(found):
        message = f"{found.strip()} is still the placeholder; write your own value in its place"
        return Mistake(place, message, field, found)
    if kind == "sentence":
        return Mistake(place, str(context["message"]), field, found)
    wanted = str(context.get("wanted") or _meaning(model, where))
    if kind == "string_type" and isinstance(found, int | float):
        # YAML took it for a number or a truth value; only quotes say that it is meant as text.
        wanted += "; put quotes around it"
    return Mistake(place, "", field, None if kind == "missing" else found, wanted)


def _walk(loc: Location) -> tuple[type[BaseModel], Location]:
    """The innermost model around an error, and its location as it is written in the file."""
    model: type[BaseModel] = Definition
    where: list[int | str] = []
    for at, step in enumerate(loc):
        if step == "[key]":
            continue
        tag = at == 1 and loc[0] == "candidates" and step in {"list", "table"}
        if not tag:
            where.append(step)
        inside = at < len(loc) - 1
        if inside and isinstance(step, str) and step in PARTS and (at == 0 or tag):
            model = PARTS[step]
    return model, tuple(where)


def _meaning(model: type[BaseModel], where: Location) -> str:
    """What a field is, from the line below it in the model; a choice names its words."""
    field = next(
        (model.model_fields[str(s)] for s in reversed(where) if s in model.model_fields), None
    )
    if field is None:
        return "a mapping with first_name, last_name and email1" if model is Candidate else ""
    choices = [word for part in get_args(field.annotation) for word in get_args(part)]
    if choices and all(isinstance(word, str) for word in choices):
        return " or ".join(choices)
    text = (field.description or "").partition(";")[0].rstrip(".")
    return text[:1].lower() + text[1:]


def _unknown(name: str, names: list[str], *, anywhere: bool = False) -> str:
    """Name the nearest field; for one at the top also among those of its parts."""
    near = {field: field for field in names}
    for part, model in reversed(list(PARTS.items()) if anywhere else []):
        around = {"table": "candidates", "list": "candidates"}.get(part, part)
        near = {field: f"{around}.{field}" for field in model.model_fields} | near
    close = get_close_matches(name.casefold(), near, n=1, cutoff=0.7)
    hint = f"did you mean {near[close[0]]}?" if close else f"the fields are {', '.join(names)}"
    return f"there is no field {name}; {hint}"
