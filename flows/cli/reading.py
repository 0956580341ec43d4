"""Reading the campaign file that was typed: a long one shows how far it has come."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from config.command_line import as_typed, command
from config.progress import follower
from flows.words.speech import printable

if TYPE_CHECKING:
    from config.definition.model import Definition
    from config.reading.reading import Reading


@dataclass(frozen=True, slots=True)
class TypedFile:
    """A file as it was typed, with its definition, its sheet, and the campaigns of it to take.

    `accept_removed` and `keep_project` are what a person allows a run. `goes_on`: whoever typed it
    is told what to type next.
    """

    file: Path
    campaign: Path | None = None
    sheet: str | None = None
    only: Sequence[str] = ()
    accept_removed: bool = False
    keep_project: bool = False
    goes_on: bool = True

    @property
    def words(self) -> list[str]:
        """What was typed, for the next command to type."""
        return as_typed(self.file, self.campaign, self.only, sheet=self.sheet)

    def read(self) -> "Reading":
        """Read it, with progress where people look. Raises BadInput."""
        from config.reading.bare_table import BareTable
        from config.reading.reading import read_campaigns

        with _shown(self.file):
            try:
                return read_campaigns(self.file, self.campaign, self.sheet)
            except BareTable as error:
                raise BareTable(self.file, error.problems[0], self.sheet) from None

    def read_picked(self) -> "tuple[Reading, list[Definition]]":
        """Read it; also returns the campaigns to take. Raises BadInput, for an unknown key too."""
        reading = self.read()
        check_only(
            self.only, {each.campaign: self.file for each in reading.definitions}, [self.file]
        )
        return reading, self.picked(reading.definitions)

    def picked(self, definitions: "Iterable[Definition]") -> "list[Definition]":
        """Pick the campaigns that `only` names; all of them where it names none."""
        return [each for each in definitions if not self.only or each.campaign in self.only]


def check_only(
    only: Sequence[str], files_by_key: Mapping[str, Path], files: Sequence[Path]
) -> None:
    """Refuse a key that is in none of the files. Raises BadInput, which names the nearest one.

    `files_by_key` are the campaigns of the files, each with the file it is in.
    """
    from config.errors import BadInput
    from config.mistakes import Mistake, Place, shown

    problems, meant = [], {}
    place = Place(" and ".join(map(str, files)))
    for key in only:
        if key not in files_by_key:
            near = get_close_matches(key.casefold(), files_by_key, n=1)
            hint = f"did you mean {near[0]}?" if near else f"found {', '.join(files_by_key)}"
            meant[key] = near[0] if near else "KEY"
            message = f"there is no campaign {key} here; {hint}"
            problems.append(Mistake(place, "--only", shown(key), message=message))
    if problems:
        raise BadInput(problems, then=f"Then type: {command(*_with_keys(sys.argv[1:], meant))}")


def _with_keys(words: Sequence[str], meant: Mapping[str, str]) -> Iterator[str]:
    """What was typed, with the keys that are meant after each --only."""
    for before, word in pairwise(["", *words]):
        option, _, key = word.partition("=")
        if before == "--only":
            yield meant.get(word, word)
        elif option == "--only" and key in meant:
            yield f"{option}={meant[key]}"
        else:
            yield word


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
