"""From rounds to figures: medians, ratios with their spread, and whether each is reached."""

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from tests.bench.place import Round, Sample, in_processor_time
from tests.bench.targets import Target


@dataclass(frozen=True, slots=True)
class Figure:
    """The median of what each round says of a target, and the least and the most of them.

    `by_cpu` is the median of the same ratio in processor time, None where it is no ratio of times.
    """

    what: str
    at_most: float | None
    median: float
    least: float
    most: float
    by_cpu: float | None

    @property
    def reached(self) -> bool | None:
        """None where nothing was set out to be reached."""
        return None if self.at_most is None else self.median <= self.at_most


def middle(samples: Sequence[Sample]) -> Sample:
    """The median of each field, found by itself."""
    return Sample(
        **{
            one.name: statistics.median(getattr(sample, one.name) for sample in samples)
            for one in fields(Sample)
        }
    )


def middles(rounds: Sequence[Round]) -> Round:
    """The median of each sample over the rounds that took it."""
    names = dict.fromkeys(name for one in rounds for name in one)
    return {name: middle([one[name] for one in rounds if name in one]) for name in names}


def figure(target: Target, rounds: Sequence[Round]) -> Figure | None:
    """Judge a target by the rounds that took what it needs; None where none did.

    A ratio is taken within each round, so that a machine that is busy for a while is so for both.
    """
    found = _found(target, rounds)
    if not found:
        return None
    by_cpu = _found(target, [in_processor_time(one) for one in rounds]) if target.timed else []
    return Figure(
        target.what,
        target.at_most,
        statistics.median(found),
        min(found),
        max(found),
        statistics.median(by_cpu) if by_cpu else None,
    )


def _found(target: Target, rounds: Sequence[Round]) -> list[float]:
    found = []
    for one in rounds:
        try:
            found.append(target.found(one))
        except LookupError:
            continue
    return found


def as_json(rounds: Sequence[Round], figures: Sequence[Figure]) -> dict[str, Any]:
    """Everything that was measured, for programs."""
    return {
        "figures": [{**asdict(one), "reached": one.reached} for one in figures],
        "medians": {name: asdict(one) for name, one in middles(rounds).items()},
        "rounds": [{name: asdict(one) for name, one in each.items()} for each in rounds],
    }
