"""Verdicts as options: what `campaign settle` takes, and which unsure steps they mean."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from config.command_line import command
from config.email_key import email_key
from data.decisions.verdicts import Decided, Doubt, about, listed, listed_as
from data.store.states import Operation, Step, Word
from flows.cli.named_people import unknown
from flows.cli.outputs import output_option
from flows.words.doubts import STEPS, Standing, by_place
from flows.words.speech import counted

ForProject = Annotated[
    str | None,
    typer.Option(
        metavar="ID|again", help="ID: the project exists and has this id; again: there is none."
    ),
]
ForProblem = Annotated[
    Literal["attached", "again"] | None,
    typer.Option(help="attached: the project has its problem; again: it has none."),
]
ForCandidate = Annotated[
    list[str] | None,
    typer.Option(metavar="EMAIL=ID", help="This person is there with this id; can be repeated."),
]
ForCandidates = Annotated[
    Literal["again", "withdraw"] | None,
    typer.Option(
        help="All other people whose add is unsure: not there (again), or not wanted (withdraw)."
    ),
]
ForInvites = Annotated[
    Literal["sent", "again", "withdraw"] | None,
    typer.Option(
        help="All unsure invitations: arrived (sent), not arrived (again), not wanted (withdraw)."
    ),
]
Listed = Annotated[
    str | None,
    typer.Option(
        metavar="CODE",
        help="Decide only if what is unsure is still what was listed; the listing shows its code.",
    ),
]
Filled = Annotated[
    Path | None,
    typer.Option(
        "--from",
        metavar="FILE",
        help="Read verdicts from a filled-in file, or ids from a list of candidates.",
    ),
]
Export = Annotated[
    bool, typer.Option("--export", help="Write a file with a row for each doubt, for --from.")
]
Output = Annotated[Path | None, output_option("The file to export to.")]
Why = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="The reason, recorded with the decision; needed for again and withdraw.",
    ),
]
Now = Annotated[
    bool,
    typer.Option(
        "--no-wait",
        help="With again: do not wait until the service has certainly finished.",
    ),
]
AcceptLedger = Annotated[
    bool,
    typer.Option(
        "--accept-ledger", help="This ledger is the right one, whatever the receipt says."
    ),
]


@dataclass(frozen=True, slots=True)
class Typed:
    """The verdict options of `campaign settle`, as they were typed."""

    project: str | None = None
    problem: str | None = None
    candidate: Sequence[str] = ()
    candidates: str | None = None
    invites: str | None = None
    listed: str | None = None

    def __bool__(self) -> bool:
        return bool(self.candidate) or any(True for _ in self.whole())

    def whole(self) -> Iterator[tuple[str, Operation, Word, int | None]]:
        """Go through the options that speak of every unsure step of a kind."""
        if self.project is not None and self.project != Word.AGAIN:
            yield "--project", Operation.CREATE, Word.ID, _id(self.project)
        words = (
            ("--project", Operation.CREATE, self.project),
            ("--problem", Operation.ATTACH, self.problem),
            ("--candidates", Operation.ADD, self.candidates),
            ("--invites", Operation.INVITE, self.invites),
        )
        for option, operation, word in words:
            if word in tuple(Word):
                yield option, operation, Word(word), None


Meant = tuple[str, Decided]
"""A verdict and the option that said it."""


def meant(typed: Typed, standing: Standing) -> tuple[list[Meant], list[str]]:
    """Find the steps that the options are about, and say where the others stand.

    `--candidates` is about everyone whom no `--candidate` names.
    """
    wrong: list[str] = []
    verdicts = list(_named(typed.candidate, standing, wrong))
    named = {decided.row for _, decided in verdicts}
    for option, operation, word, value in typed.whole():
        doubts = about(standing.doubts, operation, word)
        if not doubts:
            wrong.append(f"{option}: {_where(STEPS[operation], standing)}")
        elif typed.listed is not None:
            doubts = listed_as(standing.doubts, operation, word, typed.listed)
            if not doubts:
                again = command("settle", standing.campaign.key)
                wrong.append(f"{option}: not what was listed any more. Look again: {again}")
        doubts = [doubt for doubt in doubts if doubt.row is None or doubt.row not in named]
        wrong += [f"{option}: {either}" for either in _either(doubts, standing)]
        verdicts += [
            (option, Decided(doubt.attempt, doubt.row, word, value, doubt.typed))
            for doubt in doubts
        ]
    return verdicts, wrong


def _either(doubts: Sequence[Doubt], standing: Standing) -> Iterator[str]:
    """Say what to type instead if a word is about refused adds and about unsure ones.

    Whoever has read why the refused ones were refused has not looked for the others.
    """
    places = {(doubt.attempt, doubt.row) for doubt in standing.doubts.refused}
    refused = [doubt for doubt in doubts if (doubt.attempt, doubt.row) in places]
    if refused and len(refused) < len(doubts):
        key, code = standing.campaign.key, listed(refused, Operation.ADD)
        again = command("settle", key, "--candidates", "again", "--listed", code, "--why", "TEXT")
        yield (
            f"{counted(len(doubts) - len(refused), 'add')} unsure and {len(refused):,} refused; "
            f"it is not clear which you mean\n  the unsure: {command('settle', key)}\n"
            f"  the refused: {again}"
        )


def _id(typed: str) -> int:
    if not (typed.isascii() and typed.isdigit()):
        raise typer.BadParameter(f"{typed}: wanted an id, a whole number, or again")
    return int(typed)


def _where(step: str, standing: Standing) -> str:
    """Say where the steps of a name stand, as none of them is unsure."""
    states = Counter(state for (name, _), state in standing.steps.items() if name == step)
    if step in ("project", "problem"):
        state = next(iter(states))
        stands = f"the {step} is {state}"
        if (step, state) == ("project", Step.DONE):
            return f"{stands}; for another one, give the campaign another key"
    else:
        counts = ", ".join(f"{number:,} {state}" for state, number in states.items())
        stands = f"no {step} is unsure ({counts or 'there are none'})"
    return f"{stands}; only what is unsure can be settled"


def _named(pairs: Sequence[str], standing: Standing, wrong: list[str]) -> Iterator[Meant]:
    """Find the people of EMAIL=ID; whoever is unknown or not unsure goes to `wrong`."""
    doubts = by_place((*standing.doubts.typed, *standing.doubts.steps))
    for pair in pairs:
        typed, _, number = pair.rpartition("=")
        if not (typed and number.isascii() and number.isdigit()):
            raise typer.BadParameter(f"{pair}: wanted EMAIL=ID, as in ada@example.com=5001")
        place = (STEPS[Operation.ADD], email_key(typed))
        option = f"--candidate {pair}"
        if (doubt := doubts.get(place)) is not None:
            yield option, Decided(doubt.attempt, doubt.row, Word.ID, int(number), doubt.typed)
        elif place in standing.steps:
            stands = standing.steps[place]
            wrong.append(f"{option}: the add is {stands}; only what is unsure can be settled")
        else:
            wrong.append(f"{option}: {unknown(typed, standing.emails)}")
