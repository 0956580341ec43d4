"""A machine's clock that a test moves, for the commands of one `campaign` alone.

clock = Clock(tmp_path, campaign)
clock.jump(days=-365)       every process of theirs, also one at work, lives a year earlier
"""

import os
from datetime import timedelta
from pathlib import Path

from tests.promises.support.commands import Campaign

# Python imports this at its start. What asks for the time gets that of the moved clock.
MOVED = """\
import datetime, os, time
import pandas, prefect.flows, sqlmodel  # these keep the right time, and it is ours that jumps

real, seconds, file = datetime.datetime, time.time, os.environ["CLOCK_OF_THE_TEST"]


def ahead():
    with open(file) as moved:
        return float(moved.read() or 0)


class Kind(type):
    def __instancecheck__(cls, one):
        return isinstance(one, real)

    def __subclasscheck__(cls, other):
        return issubclass(other, real)


class Moved(real, metaclass=Kind):
    __slots__ = ()

    @classmethod
    def now(cls, tz=None):
        return real.now(tz) + datetime.timedelta(seconds=ahead())

    @classmethod
    def __get_pydantic_core_schema__(cls, _, of):
        return of(real)


datetime.datetime, time.time = Moved, lambda: seconds() + ahead()
"""


class Clock:
    """How far the clock is ahead stands in a file, and every look at the time reads it."""

    def __init__(self, folder: Path, campaign: Campaign) -> None:
        self._file = folder / "clock" / "ahead"
        self._file.parent.mkdir()
        self._file.touch()
        self._file.with_name("sitecustomize.py").write_text(MOVED)
        paths = (str(self._file.parent), campaign.environment.get("PYTHONPATH"))
        campaign.environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        campaign.environment["CLOCK_OF_THE_TEST"] = str(self._file)

    def jump(self, days: float) -> None:
        """Set the clock this far ahead of the right time."""
        written = self._file.with_name("written")
        written.write_text(str(timedelta(days=days).total_seconds()))
        written.replace(self._file)
