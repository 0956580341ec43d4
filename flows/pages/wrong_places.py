"""Where a bad file is wrong, as Prefect may know it: not what was found there, a name perhaps."""

from collections.abc import Sequence
from pathlib import Path

from config.command_line import command
from config.mistakes import Mistake

SHOWN = 5


def where_wrong(problems: Sequence[Mistake], *typed: object) -> str:
    """Name the places, and what to type to read what is wrong there: `typed` after `check`."""
    places = [_place(problem) for problem in problems]
    more = [f"{len(places) - SHOWN:,} more places"] if len(places) > SHOWN else []
    where = "; ".join([*dict.fromkeys(places[:SHOWN]), *more])
    return f"{where}. What is wrong there: {command('check', *typed)}"


def _place(problem: Mistake) -> str:
    file = problem.place.file
    where = str(problem.place).replace(file, Path(file).name, 1)
    return f"{where}, {problem.field}" if problem.field else where
