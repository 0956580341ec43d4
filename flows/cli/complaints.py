"""What a person is told when a command stops: what is wrong, where, and what to type next."""

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from config.errors import BadInput, BadSettings, CampaignError
from config.places import Problem
from flows.cli.speech import command, complain, counted

# One wrong column repeats its complaint on every row; this many show what it is about.
SHOWN_OF_ONE_CAUSE = 20


class UnknownCampaign(CampaignError):
    """The ledger knows no campaign with this key."""

    exit_code = 2

    def __init__(self, key: str, known: Sequence[str]) -> None:
        self.key = key
        if not known:
            hint = f"No campaign was run yet. Start with: {command('run', 'FILE')}"
        elif near := get_close_matches(key.casefold(), known, n=1):
            hint = f"Did you mean {near[0]}?"
        else:
            hint = f"See which there are with: {command('status')}"
        super().__init__(f"There is no campaign {key} in the ledger. {hint}")


def explain(error: CampaignError) -> None:
    """Say on standard error what happened and what to type next."""
    again = f"Then type again: {command(*sys.argv[1:])}"
    if isinstance(error, BadInput):
        complain(*lines_of(error.problems), "", f"{error}.", again)
    elif isinstance(error, BadSettings):
        complain(str(error), again)
    else:
        complain(str(error))


def lines_of(problems: Iterable[Problem]) -> list[str]:
    """Write one problem a line; of one cause the first few, and how many more there are."""
    lines: list[str] = []
    met: Counter[tuple[str | None, ...]] = Counter()
    for problem in problems:
        cause = _cause(problem)
        met[cause] += 1
        if met[cause] <= SHOWN_OF_ONE_CAUSE:
            lines.append(str(problem))
    for cause, number in met.items():
        if number > SHOWN_OF_ONE_CAUSE:
            file, _, field, wanted, _ = cause
            about = ", ".join(part for part in (file, field) if part)
            what = f"wanted {wanted}" if wanted else "the same kind"
            more = counted(number - SHOWN_OF_ONE_CAUSE, "more problem")
            lines.append(f"{about}: {more}: {what}")
    return lines


def _cause(problem: Problem) -> tuple[str | None, ...]:
    """Tell causes apart: the same wish for the same field, whatever was found in each row."""
    sentence = problem.message if problem.found is None else None
    place = problem.place
    return (place.file, place.sheet, problem.field, problem.wanted, sentence)
