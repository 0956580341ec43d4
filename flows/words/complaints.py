"""What a person reads when a command stops: what is wrong, where, and what to type next."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

from config.command_line import TYPED, command
from config.errors import BadInput, BadSettings, CampaignError
from config.mistakes import Mistake, Place
from flows.words.speech import complain, quoted

# A wrong column repeats its mistake on every row. Up to the first number, each mistake is shown;
# if there are more, the second number of them are, and one line says where all of them are.
SHOWN_OF_ONE_CAUSE = 20
FIRST_OF_MANY = 3
RANGES_SHOWN = 12
NAMES_A_TABLE = {"--campaign", "--from", "--into"}
OF_CAMPAIGNS = {"check", "plan", "run", "rehearse", "new"}  # `campaign new` writes what they read


class Mistyped(CampaignError):
    """What was typed cannot be done, so nothing was; the text says what to type instead."""

    exit_code = 2


class UnknownCampaign(Mistyped):
    """The ledger at `place` knows no campaign with this key, or there is no ledger there."""

    def __init__(self, key: str, keys: Sequence[str], place: str) -> None:
        if not keys:
            hint = (
                f"This ledger has no campaigns yet. Start with: {command('run', 'FILE')}; if you "
                "ran one before, set CAMPAIGN_DATABASE_URL to its ledger."
            )
        elif near := get_close_matches(key.casefold(), keys, n=1):
            hint = f"Did you mean {near[0]}?"
        else:
            hint = (
                f"To add it, run its file: {command('run', 'FILE')}. To list all campaigns: "
                f"{command('status')}"
            )
        super().__init__(f"There is no campaign {key} in the ledger {place}. {hint}")


def stand_somewhere() -> None:
    """Raise Mistyped where relative paths would lead nowhere."""
    try:
        Path.cwd()
    except OSError:
        raise Mistyped(
            "The folder that you are in was deleted or moved. Nothing was done. Go to another one "
            "(cd ~), and type the command again there."
        ) from None


def explain(error: CampaignError) -> None:
    """Say on standard error what happened and what to type next."""
    lines = complaint_of(error) if isinstance(error, BadInput) else [str(error)]
    then = [error.then.replace(TYPED, " ".join(sys.argv[1:2]))] if error.then else []
    if not then and isinstance(error, BadInput | BadSettings):
        then = [_again(error)]
    complain(*lines, *([f"  {quoted(error.wrote)}"] if error.wrote else []), *then)


def _again(error: BadInput | BadSettings) -> str:
    """Say what to type once it is fixed; if a file does not exist, what to type instead."""
    from config.reading.folder import nearest
    from config.reading.sources import TABLES, WORKBOOKS, YAML
    from config.reading.starter import free
    from config.tables.file_bytes import NO_SUCH_FILE

    words = sys.argv[1:]
    problems, more = (error.problems, error.more) if isinstance(error, BadInput) else ((), ())
    if more:
        at = words.index(more[0]) if more[0] in words else len(words)
        return f"Then type: {command(*words[:at], *words[at + 2 :], *more)}"
    gone = {Path(problem.place.file) for problem in problems if problem.message == NO_SUCH_FILE}
    typed = set(map(Path, words))
    missing = gone & typed
    if not missing:
        return f"Then run again: {command(*words)}"
    kinds = TABLES if NAMES_A_TABLE.intersection(words) else ()
    near = {
        path: nearest(path, kinds if path.suffix.lower() in kinds else (*YAML, *WORKBOOKS), typed)
        for path in missing
    }
    if all(near.values()):
        meant = " and ".join(sorted(map(str, near.values())))
        instead = command(*(near.get(Path(word)) or word for word in words))
        return f"Did you mean {meant}? Then type: {instead}"
    if words[0] not in OF_CAMPAIGNS:
        return f"To see which files it takes: {command(words[0], '--help')}"
    new = min(path for path, other in near.items() if other is None).with_suffix(".yaml")
    here = new if new.parent.is_dir() else Path(new.name)
    return f"To write a new one: {command('new', free(here))}"


def complaint_of(error: BadInput) -> list[str]:
    """Write the mistakes to fix, the warnings, and how many mistakes there are."""
    return [*lines_of(error.problems), *doubtful(error.warnings), "", f"{error}."]


def doubtful(warnings: Iterable[Mistake]) -> list[str]:
    """Write the warnings: a person should look at them, but they stop nothing."""
    return [f"Warning: {line}" for line in lines_of(warnings)]


def lines_of(problems: Iterable[Mistake]) -> list[str]:
    """Write one mistake a line; if a cause repeats, a few of them and one line with all places."""
    causes: dict[tuple[str | None, ...], list[Mistake]] = {}
    for problem in problems:
        causes.setdefault(_cause(problem), []).append(problem)
    lines: list[str] = []
    summed: list[str] = []
    for cause, alike in causes.items():
        # A cause that repeats just a little more is not worth a summary.
        if len(alike) > SHOWN_OF_ONE_CAUSE:
            lines += map(str, alike[:FIRST_OF_MANY])
            summed.append(_summary(cause, alike))
        else:
            lines += map(str, alike)
    return [*lines, *summed]


def _summary(cause: tuple[str | None, ...], alike: Sequence[Mistake]) -> str:
    """Tell at how many places one thing is wrong, and where: `Candidates!C2:C5001`."""
    file, sheet, field, wanted, sentence = cause
    places = ranges([problem.place for problem in alike])
    where = ", ".join(part for part in (file, sheet, field) if part)
    what = f"wanted {wanted}" if wanted else sentence or "the same kind"
    return f"{where}: {len(alike):,} times in all: {what}; at {places}"


def ranges(places: Sequence[Place]) -> str:
    """Write neighbouring cells of a column, or lines, as one: `C2:C9, C12`, `lines 2-9, 12`."""
    columns: dict[str, list[int]] = {}
    for place in places:
        number, _, letters = place.order
        columns.setdefault(letters, []).append(number)
    runs: list[str] = []
    for letters, numbers in columns.items():
        join = ":" if letters else "-"
        for first, last in _runs(sorted(numbers)):
            start = f"{letters}{first}"
            runs.append(start if first == last else f"{start}{join}{letters}{last}")
    more = [f"{len(runs) - RANGES_SHOWN:,} more ranges"] if len(runs) > RANGES_SHOWN else []
    words = "" if any(columns) else "lines "
    return words + ", ".join([*runs[:RANGES_SHOWN], *more])


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    first = last = numbers[0]
    for number in numbers[1:]:
        if number > last + 1:
            yield first, last
            first = number
        last = number
    yield first, last


def _cause(problem: Mistake) -> tuple[str | None, ...]:
    """What makes two mistakes alike: the same field wanted the same thing, in any row."""
    sentence = problem.cause or (problem.message if problem.found is None else None)
    place = problem.place
    return (place.file, place.sheet, problem.field, problem.wanted, sentence)
