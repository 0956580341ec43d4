"""The fields of a definition, each with what it is, and the nearest one to a wrong name."""

from difflib import get_close_matches

from pydantic import BaseModel

from config import definition as models
from config.definition import COLUMNS, Definition, Table

PARTS: tuple[tuple[str, type[BaseModel]], ...] = (
    ("", Definition),
    ("project.", models.Project),
    ("problem.", models.Problem),
    ("candidates.list.", models.Candidate),
    ("candidates.table.", Table),
    ("invites.", models.Invites),
    ("guard.", models.Guard),
    ("schedule.", models.Schedule),
)
HEADERS = {name: f"The header of the column for {name}." for name in COLUMNS}
FIELDS = {f"candidates.table.columns.{name}": text for name, text in HEADERS.items()} | {
    part + name: info.description or ""
    for part, model in PARTS
    for name, info in model.model_fields.items()
}
"""Every field of a definition, as pydantic locates it, with what it is."""


def meaning(name: str) -> str:
    """What a field is, from the line below it in its model, or what the field around it is."""
    while name not in FIELDS:
        name = name.rpartition(".")[0]
    text = FIELDS[name].partition(";")[0].rstrip(".")
    return text[:1].lower() + text[1:]


def unknown(name: str, around: str) -> str:
    """Say that there is no such field, and name the nearest; at the top, of those in all parts."""
    own = [last for part, _, last in (each.rpartition(".") for each in FIELDS) if part == around]
    near = {} if around else {each.rpartition(".")[2]: as_written(each) for each in FIELDS}
    near |= {each: each for each in own}
    close = get_close_matches(name.casefold(), near, n=1, cutoff=0.7)
    hint = f"did you mean {near[close[0]]}?" if close else f"the fields are {', '.join(own)}"
    return f"there is no field {name}; {hint}"


def as_written(name: str) -> str:
    """A field as a person writes it: pydantic tells a list of people from a table of them."""
    return name.replace("candidates.list", "candidates").replace("candidates.table", "candidates")
