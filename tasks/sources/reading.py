"""People from where they are: brought into a private file, and then read like any file."""

from pathlib import Path

from config import reading
from config.definition import PeopleTable
from config.reading import CampaignFile


def fetch_campaign(file: Path, campaign: str | None = None, *, kept: bool = False) -> CampaignFile:
    """Read a definition and its people, wherever they are. Raises BadInput: every mistake.

    `kept`: the people as they were brought for whoever was shown them, for a run of just that.
    """
    read = reading.read_campaign(file, campaign)
    spec = read.definition.candidates
    if not isinstance(spec, PeopleTable) or spec.file is not None:
        return read
    from tasks.sources.local_copy import local_copy  # noqa: PLC0415 - most are in a file

    place = local_copy(read.definition.campaign, spec, file, kept=kept)
    return reading.read_campaign(file, campaign, place)
