"""Some thousand people, sent by each contender: what it costs, at two latencies."""

from dataclasses import dataclass

from tests.bench.contenders import (
    DBOS,
    FLOOR,
    OURS,
    PREFECT,
    SCRIPT,
    SECOND_FLOOR,
    Contender,
)
from tests.bench.place import Place, Round, send


@dataclass(frozen=True, slots=True)
class Case:
    """How fast the service answers, in seconds, and how many requests are under way at once."""

    latency: float
    in_flight: int

    def __str__(self) -> str:
        return f"{self.latency * 1000:.0f} ms, {self.in_flight} in flight"

    def of(self, contender: Contender) -> str:
        """The name of a contender's sample in this case."""
        return f"{contender.name}, {self}"


USUAL, MANY, AT_ONCE, ALONE = Case(0.02, 8), Case(0.02, 32), Case(0.0, 8), Case(0.02, 1)
ALL_AT_ONCE = Case(0.0, 32)
CONTENDERS = {
    USUAL: (FLOOR, OURS, PREFECT, DBOS),
    ALONE: (SCRIPT,),
    MANY: (FLOOR, OURS),
    AT_ONCE: (FLOOR, OURS, PREFECT, DBOS),
    ALL_AT_ONCE: (SECOND_FLOOR, OURS),
}


def measure(place: Place, taken: Round) -> None:
    """Take one round."""
    for case, contenders in CONTENDERS.items():
        for one in contenders:
            people = place.size.one_by_one if one is SCRIPT else place.size.people
            with place.measuring(case.of(one)):
                taken[case.of(one)] = send(place, one, people, case.latency, case.in_flight)
