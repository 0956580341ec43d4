"""From files and folders to deployments: what `campaign serve`, `up` and `deploy` are given."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from prefect.schedules import Schedule

from config.errors import BadInput
from config.places import Place, Problem
from flows.deployments import Planned, of_file

DEFINITIONS = frozenset({".yaml", ".yml", ".xlsx", ".xlsm", ".xls", ".ods"})


def planned_of(places: Sequence[Path], schedule: Schedule | None) -> list[Planned]:
    """A deployment for each campaign of these files, `schedule` for those without their own.

    Raises BadInput: a missing or unreadable file, or one key in two files.
    """
    planned: list[Planned] = []
    problems: list[Problem] = []
    for file in _files(places):
        try:
            planned += of_file(file)
        except BadInput as error:
            problems += error.problems
    problems += _twice(planned)
    if problems:
        raise BadInput(problems)
    return [one if one.schedule else replace(one, schedule=schedule) for one in planned]


def planned_in(folder: Path) -> tuple[list[Planned], list[Problem]]:
    """A deployment for each campaign in a folder, and what is wrong with the other files."""
    planned: list[Planned] = []
    problems: list[Problem] = []
    for file in _files([folder]):
        try:
            planned += of_file(file)
        except BadInput as error:
            problems += error.problems
    twice = list(_twice(planned))
    names = {one.name: one for one in reversed(planned)}
    return list(reversed(names.values())), [*problems, *twice]


def _files(places: Sequence[Path]) -> Iterator[Path]:
    for place in places:
        if place.is_dir():
            found = (file for file in place.iterdir() if file.suffix.lower() in DEFINITIONS)
            yield from sorted(file for file in found if not file.name.startswith(("~", ".")))
        else:
            yield place


def _twice(planned: Sequence[Planned]) -> Iterator[Problem]:
    seen: set[str] = set()
    for one in planned:
        if one.name in seen:
            message = f"the campaign {one.name} is in another of these files as well"
            yield Problem(Place(one.parameters["file"]), "campaign", message=message)
        seen.add(one.name)
