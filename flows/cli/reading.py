"""Reading a campaign file at the command line: a long one shows how far it has come."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from config.progress import follower
from flows.words.speech import printable

if TYPE_CHECKING:
    from config.reading.reading import Reading


def read_shown(file: Path, campaign: Path | None, sheet: str | None = None) -> "Reading":
    """Read the campaigns of a file, with progress where people look. Raises BadInput."""
    from config.reading.bare_table import BareTable
    from config.reading.reading import read_campaigns

    with _shown(file):
        try:
            return read_campaigns(file, campaign, sheet)
        except BareTable as error:
            raise BareTable(file, error.problems[0], sheet) from None


def read_folder(folder: Path) -> "Reading":
    """Read every campaign of a folder. Raises BadInput with the problems of them all."""
    from config.errors import BadInput
    from config.reading.folder import campaigns_at
    from config.reading.reading import Reading

    entries = campaigns_at(folder)
    readings = list({each.file: each.reading for each in entries if each.reading}.values())
    warnings = tuple(warning for reading in readings for warning in reading.warnings)
    if problems := [problem for each in entries for problem in each.problems]:
        raise BadInput(problems, warnings)
    return Reading(
        tuple(each for reading in readings for each in reading.definitions),
        tuple(note for reading in readings for note in reading.notes),
        warnings,
        "",
    )


@contextmanager
def _shown(file: Path) -> Iterator[None]:
    """Show the rows done so far on a terminal, once there are so many that it takes a while."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.text import Text

    name = printable(file.name)
    with Console(stderr=True).status("") as status:
        status.stop()

        def show(doing: str, rows: int) -> None:
            status.update(Text(f"{name}: {doing}, {rows:,} rows"))
            status.start()

        token = follower.set(show)
        try:
            yield
        finally:
            follower.reset(token)
