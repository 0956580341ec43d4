"""Read people from wherever they are: fetched into a private file, then read as a file."""

from pathlib import Path

from config import reading
from config.definition import PeopleTable
from config.reading import CampaignFile


def fetch_campaign(file: Path, campaign: str | None = None, *, kept: bool = False) -> CampaignFile:
    """Read a definition and its people, wherever they are. Raises BadInput: every mistake.

    With `kept` the people are not fetched again, so a run sends exactly what a person was shown.
    """
    read = reading.read_campaign(file, campaign)
    spec = read.definition.candidates
    if not isinstance(spec, PeopleTable) or spec.file is not None:
        return read
    from tasks.sources.local_copy import local_copy  # noqa: PLC0415 - few definitions need it

    place = local_copy(read.definition.campaign, spec, file, kept=kept)
    return reading.read_campaign(file, campaign, place)
