"""Verdicts as options: which unsure steps `--invites sent` or `--candidate EMAIL=ID` mean."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import typer

from config.email_key import email_key
from data.doubts import Decided, Doubt, Word
from data.states import Operation
from flows.cli.doubts import STEPS, Standing


@dataclass(frozen=True, slots=True)
class Typed:
    """The verdict options of `campaign settle`, as they were typed."""

    project: str | None = None
    problem: str | None = None
    candidate: Sequence[str] = ()
    candidates: str | None = None
    invites: str | None = None

    def __bool__(self) -> bool:
        whole = (self.project, self.problem, self.candidates, self.invites)
        return bool(self.candidate) or any(word is not None for word in whole)


Meant = tuple[str, Decided]
"""A verdict and the option that said it."""


def meant(typed: Typed, standing: Standing) -> tuple[list[Meant], list[str]]:
    """Find the steps that the options are about, and say where the others stand."""
    wrong: list[str] = []
    found: list[Meant] = []
    doubts = standing.doubts.steps
    if typed.project is not None:
        word, number = (
            (Word.AGAIN, None) if typed.project == Word.AGAIN else (Word.ID, _id(typed.project))
        )
        some = [one for one in doubts if one.operation is Operation.CREATE]
        found += _all("--project", some, word, number)
        wrong += _none_of("--project", "project", some, standing)
    if typed.problem is not None:
        some = [one for one in doubts if one.operation is Operation.ATTACH]
        found += _all("--problem", some, Word(typed.problem))
        wrong += _none_of("--problem", "problem", some, standing)
    named = list(_named(typed.candidate, standing, wrong))
    found += named
    if typed.candidates is not None:
        rows = {decided.row for _, decided in named}
        adds = [one for one in doubts if one.operation is Operation.ADD]
        found += _all(
            "--candidates", [one for one in adds if one.row not in rows], Word(typed.candidates)
        )
        wrong += _none_of("--candidates", "add", adds, standing)
    if typed.invites is not None:
        some = [one for one in doubts if one.operation is Operation.INVITE]
        found += _all("--invites", some, Word(typed.invites))
        wrong += _none_of("--invites", "invite", some, standing)
    return found, wrong


def _id(typed: str) -> int:
    if not (typed.isascii() and typed.isdigit()):
        raise typer.BadParameter(f"{typed}: wanted an id, a whole number, or again")
    return int(typed)


def _all(
    option: str, doubts: Sequence[Doubt], word: Word, value: int | None = None
) -> Iterator[Meant]:
    for doubt in doubts:
        yield option, Decided(doubt.attempt, doubt.row, word, value)


def _none_of(option: str, step: str, doubts: Sequence[Doubt], standing: Standing) -> Iterator[str]:
    """Say where the steps stand that an option wrongly took for unsure."""
    if doubts:
        return
    states = Counter(state for (name, _), state in standing.steps.items() if name == step)
    if step in ("project", "problem"):
        stands = f"the {step} is {next(iter(states))}"
    else:
        told = ", ".join(f"{number:,} {state}" for state, number in states.items())
        stands = f"nobody's {step} is unsure ({told or 'there is nobody'})"
    yield f"{option}: {stands}; only what is unsure can be settled"


def _named(pairs: Sequence[str], standing: Standing, wrong: list[str]) -> Iterator[Meant]:
    """Find the people of EMAIL=ID; whoever is unknown or not unsure goes to `wrong`."""
    doubts = standing.by_place()
    for pair in pairs:
        typed, _, number = pair.rpartition("=")
        if not (typed and number.isascii() and number.isdigit()):
            raise typer.BadParameter(f"{pair}: wanted EMAIL=ID, as in ada@example.com=5001")
        place = (STEPS[Operation.ADD], email_key(typed))
        option = f"--candidate {pair}"
        if (doubt := doubts.get(place)) is not None:
            yield option, Decided(doubt.attempt, doubt.row, Word.ID, int(number))
        elif place in standing.steps:
            stands = standing.steps[place]
            wrong.append(f"{option}: the add is {stands}; only what is unsure can be settled")
        else:
            wrong.append(f"{option}: {unknown(typed, standing)}")


def unknown(typed: str, standing: Standing) -> str:
    """Say that nobody has this address, and whose is nearest."""
    near = get_close_matches(email_key(typed), list(standing.emails), n=1)
    hint = f"; did you mean {standing.emails[near[0]]}?" if near else ""
    return f"the campaign has no candidate with this address{hint}"
