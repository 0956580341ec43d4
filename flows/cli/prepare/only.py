"""Some of the campaigns of a batch: those that `--only` names."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from config.definition.model import Definition


def picked(definitions: "Iterable[Definition]", only: Sequence[str]) -> "list[Definition]":
    """Pick the campaigns with these keys; all of them where none is named."""
    return [one for one in definitions if not only or one.campaign in only]


def check_only(only: Sequence[str], found: Mapping[str, Path], files: Sequence[Path]) -> None:
    """Refuse a key that is in none of the files. Raises BadInput, which names the nearest one.

    `found` are the campaigns of the files, each with the file it is in.
    """
    from config.errors import BadInput
    from config.places import Mistake, Place, shown

    problems = []
    place = Place(" and ".join(map(str, files)))
    for key in only:
        if key not in found:
            near = get_close_matches(key.casefold(), found, n=1)
            hint = f"did you mean {near[0]}?" if near else f"found {', '.join(found)}"
            message = f"there is no campaign {key} here; {hint}"
            problems.append(Mistake(place, "--only", shown(key), message=message))
    if problems:
        raise BadInput(problems)
