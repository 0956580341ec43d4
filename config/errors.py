"""Errors that a person can cause or fix. Each carries the exit code of the command line."""

from collections.abc import Iterable, Sequence

from config.mistakes import Mistake, Place


class CampaignError(Exception):
    """Something stopped the work that a person can understand and fix.

    `then` is the line that says what to type, if the text does not; TYPED (command_line.py) in it
    stands for the name of the command that was typed. `wrote` are the service's own words about it,
    set only if nobody but the person at the terminal sees them.
    """

    exit_code: int = 1
    then: str | None = None
    wrote: str | None = None


class BadInput(CampaignError):
    """A file or an argument cannot be used as it is. Nothing was sent; the ledger is untouched.

    The text names files and a count only; `problems` holds the places and what was found there,
    and `warnings` what a person should check while fixing them. `then` is set if the same command
    could never succeed, `more` if it could with a few more words; `so` says what is safe.
    """

    exit_code = 2

    def __init__(
        self,
        problems: Iterable[Mistake],
        warnings: Iterable[Mistake] = (),
        then: str | None = None,
        so: str = "nothing was sent",
        more: Sequence[str] = (),
    ) -> None:
        self.then, self.more = then, tuple(more)
        self.problems: tuple[Mistake, ...] = tuple(problems)
        self.warnings: tuple[Mistake, ...] = tuple(warnings)
        first, *others = dict.fromkeys(problem.place.file for problem in self.problems)
        rest = f" and {others[0] if len(others) == 1 else f'{len(others):,} more files'}"
        count = len(self.problems)
        mistakes = f"{count:,} mistake{'' if count == 1 else 's'}"
        super().__init__(f"{first}{rest if others else ''}: {mistakes}; {so}")

    @classmethod
    def at(cls, place: Place, message: str, then: str | None = None) -> "BadInput":
        """One mistake, in a whole sentence."""
        return BadInput([Mistake(place, message=message)], then=then)


class BadSettings(CampaignError):
    """Settings are missing or unusable. The text names the variables, never their values."""

    exit_code = 2

    def __init__(self, message: str, variables: Iterable[str] = ()) -> None:
        self.variables: tuple[str, ...] = tuple(variables)
        super().__init__(message)
