"""What is wrong with a file, as Prefect may know it: never what a person's row holds."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from config.command_line import command
from config.mistakes import Mistake, shown
from config.reading.folder import Entry
from config.reading.sources import TEXT_TABLES, suffix_of

SHOWN = 5
# Fields of a definition; not candidates, and no unknown field, which may hold anything.
FIELDS = {"campaign", "project", "problem", "invites", "schedule", "guard"}
OF_A_FILE = {None, "sheet", "sheets"}  # fields of a mistake that is about a file as a whole


def where_wrong(mistakes: Sequence[Mistake], *typed: object) -> str:
    """Say what is wrong, and what to type to read the rest: `typed` after `check`."""
    lines = [*dict.fromkeys(map(_line, mistakes))]
    more = [f"{len(mistakes) - SHOWN:,} more places"] if len(mistakes) > SHOWN else []
    where = "; ".join([*lines[:SHOWN], *more])
    if all(not Path(mistake.place.file).exists() for mistake in mistakes):
        return f"{where}. Put it back, then: {command('run', *typed)}"
    if not more and all(map(is_nobodys, mistakes)):
        return f"{where.rstrip('.?')}. Fix it; the next run reads it again."
    return f"{where}. What is wrong there: {command('check', *typed)}"


def to_look_at(places: int, *typed: object) -> str:
    """Count what is no mistake and may be a slip, and say what to type to see it."""
    in_words = "1 place" if places == 1 else f"{places:,} places"
    return f"{in_words} in the file to look at; to see which: {command('check', *typed)}"


def bad_files(bad: Iterable[Entry]) -> dict[Path, str]:
    """Say of each campaign file that is bad, or whose table is, where that is. Names nobody."""
    wrong: dict[Path, list[Mistake]] = {}
    for entry in bad:
        wrong.setdefault(entry.file, []).extend(entry.problems)
    return {file: where_wrong(mistakes, file) for file, mistakes in wrong.items()}


def left_out_files(bad: Iterable[Entry]) -> list[str]:
    """The same for a log, a line for each file."""
    return [f"Left out until you fix it: {where}" for where in bad_files(bad).values()]


def is_nobodys(mistake: Mistake) -> bool:
    """Whether a mistake concerns no person, so that all of it may be said.

    It is about a file as a whole, or in a field of the definition itself, and quotes no address.
    """
    place = mistake.place
    if place.sheet is not None or "@" in mistake.clause:
        return False
    if place.line is None and mistake.field in OF_A_FILE:
        return True
    in_definition = suffix_of(Path(place.file)) not in TEXT_TABLES
    return in_definition and (mistake.field or "").partition(".")[0] in FIELDS


def _line(mistake: Mistake) -> str:
    file = mistake.place.file
    where = str(mistake.place).replace(file, Path(file).name or file, 1)
    # Where there is no such field, its name may be anything: what should have been its content.
    if mistake.field and mistake.found != shown(mistake.field):
        where = f"{where}, {mistake.field}"
    return f"{where}: {mistake.clause}" if is_nobodys(mistake) else where
