"""From files and folders to deployments: what `campaign serve`, `up` and `deploy` are given."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from prefect.schedules import Schedule

from config.errors import BadInput
from config.places import Place, Problem
from flows.deployments import Planned, of_file


def planned_of(places: Sequence[Path], schedule: Schedule | None) -> list[Planned]:
    """A deployment for each campaign of these files, `schedule` for those without their own.

    Raises BadInput: a missing or unreadable file, or one key in two files.
    """
    planned: list[Planned] = []
    problems: list[Problem] = []
    for place in places:
        try:
            planned += of_file(place)
        except BadInput as error:
            problems += error.problems
    seen: set[str] = set()
    for one in planned:
        if one.name in seen:
            message = f"the campaign {one.name} is in another of these files as well"
            problems.append(Problem(Place(one.parameters["file"]), "campaign", message=message))
        seen.add(one.name)
    if problems:
        raise BadInput(problems)
    return [one if one.schedule else replace(one, schedule=schedule) for one in planned]
