"""Some of the campaigns of a batch: those that `--only` names."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from config.definition.model import Definition


def picked(definitions: "Iterable[Definition]", only: Sequence[str]) -> "list[Definition]":
    """Pick the campaigns with these keys; all of them where none is named."""
    return [definition for definition in definitions if not only or definition.campaign in only]


def check_only(
    only: Sequence[str], files_by_key: Mapping[str, Path], files: Sequence[Path]
) -> None:
    """Refuse a key that is in none of the files. Raises BadInput, which names the nearest one.

    `files_by_key` are the campaigns of the files, each with the file it is in.
    """
    from config.errors import BadInput
    from config.mistakes import Mistake, Place, shown

    problems = []
    place = Place(" and ".join(map(str, files)))
    for key in only:
        if key not in files_by_key:
            near = get_close_matches(key.casefold(), files_by_key, n=1)
            hint = f"did you mean {near[0]}?" if near else f"found {', '.join(files_by_key)}"
            message = f"there is no campaign {key} here; {hint}"
            problems.append(Mistake(place, "--only", shown(key), message=message))
    if problems:
        raise BadInput(problems)
