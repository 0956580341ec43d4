"""The figures to reach: each a ratio or a size within one round, and at most so much of it."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.bench.contenders import DBOS, FLOOR, OURS, PREFECT, SECOND_FLOOR
from tests.bench.measured import growth, starting
from tests.bench.measured.sending import ALL_AT_ONCE, AT_ONCE, MANY, USUAL, Case
from tests.bench.place import EMPTY_FLOW, Round, Sample, Size, in_processor_time

MEGABYTE = 1e6


@dataclass(frozen=True, slots=True)
class Target:
    """What is measured, the most that it may be, and how it is found in one round.

    `at_most` is None for what is only told beside. `found` raises LookupError where the round left
    out what it needs. `timed`: it is a ratio of times, which processor time may say more about on
    a busy machine.
    """

    what: str
    at_most: float | None
    found: Callable[[Round], float]
    timed: bool = True


def targets(size: Size) -> list[Target]:
    """Every figure, for campaigns of this size."""
    return [
        *_sending(size),
        *_small(),
        *_growth(size),
        *_once_all_are_invited(size.growth[-1]),
        *_commands(),
        _requests(),
    ]


def _sending(size: Size) -> list[Target]:
    people = f"{size.people:,} candidates"

    def beyond(case: Case, rival: str, start: str) -> Callable[[Round], float]:
        """Ours without a start, in parts of a rival without Prefect."""
        return lambda r: (
            (r[case.of(OURS)].seconds - r[start].seconds) / r[f"{rival}, {case}"].seconds
        )

    def whole(case: Case) -> Callable[[Round], float]:
        return lambda r: r[case.of(OURS)].seconds / r[case.of(PREFECT)].seconds

    floors = ((USUAL, 1.10), (MANY, 1.15), (AT_ONCE, 1.6))
    return [
        *(
            Target(
                f"{people}, {case}: (wall time − an empty flow's) / the floor",
                most,
                beyond(case, FLOOR.name, EMPTY_FLOW),
            )
            for case, most in floors
        ),
        *(
            Target(f"{people}, {case} / Prefect with a task per candidate", most, whole(case))
            for case, most in ((USUAL, 0.7), (AT_ONCE, 0.5))
        ),
        *(
            Target(
                f"{people}, {case}: (wall time − an empty flow's) / DBOS with a step per candidate",
                most,
                beyond(case, DBOS.name, EMPTY_FLOW),
            )
            for case, most in ((USUAL, 0.9), (AT_ONCE, 0.35))
        ),
        Target(
            f"{people}, {USUAL}: (CPU − an empty flow's) / the floor's",
            1.35,
            lambda r: beyond(USUAL, FLOOR.name, EMPTY_FLOW)(in_processor_time(r)),
            timed=False,
        ),
        # Ours starts sooner than an empty flow, which flatters the floors: hence these.
        *(
            Target(
                f"{people}, {case}: (wall time − that of 10) / {floor.name}",
                most,
                beyond(case, floor.name, starting.RUN),
            )
            for case, floor, most in (
                (USUAL, FLOOR, None),
                (MANY, FLOOR, None),
                (AT_ONCE, FLOOR, 1.5),
                (ALL_AT_ONCE, SECOND_FLOOR, 2.0),
            )
        ),
    ]


def _small() -> list[Target]:
    return [
        _ratio("campaign run of 10 candidates / an empty flow", 0.5, starting.RUN, EMPTY_FLOW),
        _ratio(
            "the same with a server already standing",
            1.0,
            starting.RUN_STANDING,
            starting.EMPTY_STANDING,
        ),
    ]


def _growth(size: Size) -> list[Target]:
    least, most = size.growth[0], size.growth[-1]
    all_start = growth.name(growth.HARDLY_ANYBODY, growth.RUN)

    def whole(people: int) -> Callable[[Round], float]:
        return lambda r: r[growth.name(people, growth.RUN)].seconds / people

    def each(people: int) -> Callable[[Round], float]:
        """Without what a start costs, as a run of ours that sends to hardly anybody shows it."""
        return lambda r: (
            (r[growth.name(people, growth.RUN)].seconds - r[all_start].seconds)
            / (people - growth.HARDLY_ANYBODY)
        )

    def run(r: Round) -> Sample:
        return r[growth.name(most, growth.RUN)]

    return [
        Target(
            f"time per candidate at {most:,} / at {least:,}",
            1.05,
            lambda r: whole(most)(r) / whole(least)(r),
        ),
        # A start weighs much among few people, which flatters that: hence what grows besides.
        Target(
            f"the same for the time beyond that of {growth.HARDLY_ANYBODY}",
            1.03,
            lambda r: each(most)(r) / each(least)(r),
        ),
        Target(
            f"peak memory at {most:,} candidates over an empty flow, MB",
            250,
            lambda r: (run(r).memory - r[EMPTY_FLOW].memory) / MEGABYTE,
            timed=False,
        ),
        Target(
            f"ledger bytes per invited candidate, at {most:,}",
            1_000,
            lambda r: run(r).kept / most,
            timed=False,
        ),
    ]


def _once_all_are_invited(people: int) -> list[Target]:
    again = growth.name(people, growth.AGAIN)
    return [
        _ratio(
            f"plan of {people:,} with nothing changed / reading that file",
            1.3,
            growth.name(people, growth.PLAN),
            growth.name(people, growth.READING),
        ),
        *(
            target
            for command in (growth.HISTORY, growth.REPORT, growth.STATUS)
            for target in _costs(command, growth.name(people, command), people)
        ),
        _ratio(
            f"rerun with nothing to do at {people:,} / an empty flow",
            1.3,
            again,
            EMPTY_FLOW,
        ),
        Target(
            "requests of that",
            0,
            lambda r: r[again].requests,
            timed=False,
        ),
        _ratio(
            f"rerun with ten rows added at {people:,} / an empty flow",
            None,
            growth.name(people, growth.ADDED),
            EMPTY_FLOW,
        ),
    ]


def _costs(command: str, name: str, people: int) -> list[Target]:
    what = f"{command} of {people:,}"
    return [
        Target(f"{what}, CPU s", 3, lambda r: r[name].cpu, timed=False),
        Target(f"{what}, MB", 200, lambda r: r[name].memory / MEGABYTE, timed=False),
    ]


def _commands() -> list[Target]:
    hundred = f"of {starting.PEOPLE} candidates / its imports"
    return [
        _ratio(
            "campaign --help / a bare two-command program",
            1.4,
            starting.HELP,
            starting.TWO_COMMANDS,
        ),
        _ratio(f"campaign check {hundred}", 1.6, starting.CHECK, starting.READING),
        _ratio(f"campaign status {hundred}", 1.6, starting.STATUS, starting.LEDGER),
        _ratio(f"campaign links {hundred}", 1.6, starting.LINKS, starting.LEDGER),
    ]


def _requests() -> Target:
    def most(r: Round) -> float:
        ours = [one for name, one in r.items() if name.startswith(OURS.name) and one.least]
        if not ours:
            raise LookupError(OURS.name)
        return max(one.requests / one.least for one in ours)

    return Target("requests / the least possible (3 + chunks + invites)", 1.00, most, timed=False)


def _ratio(what: str, at_most: float | None, ours: str, theirs: str) -> Target:
    return Target(what, at_most, lambda r: r[ours].seconds / r[theirs].seconds)
