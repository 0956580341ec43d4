"""Is everything that a campaign needs in order? Checks each thing, and says how to fix it.

The decisions are plain functions of what was found; only `ask` contacts the service.
"""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum
from pathlib import Path

from config.errors import CampaignError
from config.settings import LocalSettings, ServiceSettings
from tasks.service.client import Service
from tasks.service.errors import CredentialsRefused

CLOCKS_APART = timedelta(minutes=1)  # beyond this, the times of windows and waves are wrong
ROOM_WANTED = 1_000_000_000  # bytes; a campaign of a million people needs less
ROOM_NEEDED = 50_000_000


class How(StrEnum):
    """How well a thing is."""

    WELL = "ok"
    LOOK = "warning"
    MEND = "fix"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was checked; `mend` says what to do if it is not well.

    `wrote` are the service's own words.
    """

    what: str
    how: How
    said: str
    mend: str = ""
    wrote: str | None = None

    def as_json(self) -> dict[str, str | None]:
        return {
            "what": self.what,
            "how": self.how.name.lower(),
            "said": self.said,
            "mend": self.mend or None,
            "service_wrote": self.wrote,
        }


def well(what: str, sentence: str) -> Finding:
    return Finding(what, How.WELL, sentence)


def set_up_anew(environment: Path, checkout: Path | None) -> str:
    """Say how to repair the packages of this installation, by how it was installed.

    `environment` is the folder of its Python and packages, `checkout` that of the program itself;
    None: not in a checkout.
    """
    if (environment / "uv-receipt.toml").is_file():
        again = "uv tool install --reinstall --constraints requirements.lock ."
        return f"In a checkout of the version you want, type: {again}"
    if (environment / "pipx_metadata.json").is_file():
        return "Install it again: pipx reinstall hiring-campaigns"
    if checkout is not None and environment.parent == checkout:
        return "Set the environment up again: make clean setup"
    return (
        f"Install it again into {environment}, with requirements.lock, as docs/operations.md says"
        ' under "Install it without make"'
    )


async def ask(settings: ServiceSettings, local: LocalSettings, at: datetime) -> list[Finding]:
    """One token and one list of problems; `at` is this machine's time (aware)."""
    service = Service(settings, deadline=local.request_deadline, ca_file=local.ca_file)
    try:
        async with service:
            await service.ready()
            issued = well("credentials", "the service issued a token")
            try:
                listed = await service.problems()
            except CredentialsRefused:
                raise
            except CampaignError as error:
                return [issued, Finding("service", How.MEND, str(error), _NETWORK, service.wrote)]
    except CredentialsRefused as error:
        return [Finding("credentials", How.MEND, str(error), _OPERATOR, service.wrote)]
    except CampaignError as error:
        return [Finding("credentials", How.MEND, str(error), _NETWORK, service.wrote)]
    return [
        issued,
        well("service", f"it answers and lists {len(listed):,} problems"),
        clock(service.date, at),
    ]


_OPERATOR = "Compare the six ASSESSMENT_ settings with what the operator of the service gave you."
_NETWORK = "Compare the address with what the operator gave you, and check proxy and network."


def clock(date: str | None, at: datetime) -> Finding:
    """Compare this machine's time with the date of the service's answer."""
    try:
        theirs = parsedate_to_datetime(date or "")
    except ValueError:
        return well("clock", "the service sends no time to compare with")
    apart = at - theirs
    if abs(apart) <= CLOCKS_APART:
        return well("clock", "within a minute of the service's")
    way = "ahead of" if apart > timedelta(0) else "behind"
    minutes = abs(apart).total_seconds() / 60
    return Finding(
        "clock",
        How.LOOK,
        f"{minutes:,.0f} minutes {way} the service's",
        "Let the network set it (NTP): windows, waves and schedules depend on it.",
    )


def room(places: dict[str, Path]) -> Iterator[Finding]:
    """Check how much space the disks have, by what is on each."""
    for what, place in places.items():
        there = next(folder for folder in (place, *place.parents) if folder.exists())
        if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
            yield Finding(
                "disk",
                How.MEND,
                f"{there} is no folder that you may write to, for the {what}",
                "Fix it, or name another place (CAMPAIGN_OUTPUT_DIR, CAMPAIGN_DATABASE_URL).",
            )
            continue
        free = shutil.disk_usage(there).free
        sentence = f"{free / 1e9:,.1f} GB free for the {what} in {there}"
        if free >= ROOM_WANTED:
            yield well("disk", sentence)
        else:
            how = How.MEND if free < ROOM_NEEDED else How.LOOK
            yield Finding(
                "disk", how, sentence, "Free some space: a run that cannot write sends nothing."
            )
