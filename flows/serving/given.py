"""From files and folders to deployments: what `campaign serve`, `up` and `deploy` are given."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from prefect.schedules import Schedule

from config.mistakes import Mistake
from config.reading.folder import Entry, campaigns_among
from flows.serving.deployments import Planned, of_campaign, of_folder


def planned_of(
    places: Sequence[Path], schedule: Schedule | None
) -> tuple[list[Planned], list[Mistake]]:
    """The deployments of files and folders, and what is wrong with some of the files.

    `schedule` is for the folders, and for campaigns of files without a schedule of their own.
    Raises BadInput: a folder that cannot be read.
    """
    entries = campaigns_among(places)
    folders = [place for place in places if place.is_dir()]
    files = {place.resolve() for place in places} - {folder.resolve() for folder in folders}
    planned = [replace(of_folder(folder), schedule=schedule) for folder in folders]
    for campaign in _campaigns(entries):
        named = Path(campaign.parameters["file"]) in files
        planned.append(
            replace(campaign, schedule=campaign.schedule or (schedule if named else None))
        )
    return planned, [problem for entry in entries for problem in entry.problems]


def _campaigns(entries: Sequence[Entry]) -> Iterator[Planned]:
    for entry in entries:
        if entry.definition and not entry.problems:
            yield of_campaign(entry.file, entry.definition)
