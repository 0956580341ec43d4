"""Mistakes in a definition, in the words of the person who wrote it."""

from collections.abc import Iterable
from difflib import get_close_matches

from pydantic_core import ErrorDetails

from config.mistakes import Mistake, Place, shown
from config.tables.cells import is_error


def unknown_field(
    place: Place, field: str, name: str, names: Iterable[str], deeper: Iterable[str] = ()
) -> Mistake:
    """Report a field that does not exist, and name the nearest one that does.

    `deeper` are dotted names of fields that belong one mapping deeper.
    """
    spellings = {full.rpartition(".")[2]: full for full in (*deeper, *names)}
    spellings |= {full: full for full in names}
    near = get_close_matches(name.casefold(), spellings, n=1, cutoff=0.7)
    hint = f"did you mean {spellings[near[0]]}?" if near else f"the fields are {', '.join(names)}"
    return Mistake(place, field, shown(name), message=f"there is no field {name}; {hint}")


def complaint(detail: ErrorDetails, place: Place, field: str, what: str) -> Mistake:
    """Put one error of pydantic into the words of the definition."""
    kind, value = detail["type"], detail["input"]
    context = detail.get("ctx", {})
    if kind == "missing":
        return Mistake(place, field, found="nothing", wanted=what)
    if isinstance(value, str) and is_error(value.strip()):
        return Mistake(place, field, found=f"the error {value.strip()}", wanted=what)
    if kind == "sentence":
        return Mistake(place, field, found=shown(value), message=context["message"])
    if kind == "wanted":
        return Mistake(place, field, found=shown(value), wanted=context["wanted"])
    if kind == "string_type" and isinstance(value, int | float):
        # YAML took it for a number or a truth value; only quotes say that it is meant as text.
        return Mistake(place, field, found=shown(value), wanted=f"{what}; put quotes around it")
    return Mistake(place, field, found=shown(value), wanted=what)
