"""What a SIGKILL in the middle of the invitations leaves, once the same command ran again."""

from dataclasses import dataclass

from tests.bench.contenders import DBOS, FLOOR, OURS, PREFECT, SCRIPT, Contender
from tests.bench.place import Place, Wrong, unsure
from tests.bench.service import service
from tests.bench.weighing import kill_when, weigh

CONTENDERS = (FLOOR, SCRIPT, PREFECT, DBOS, OURS)
LATENCY = 0.02


@dataclass(frozen=True, slots=True)
class Left:
    """People invited twice or never, and how many of all are shown as unsure."""

    twice: int
    never: int
    shown: int = 0


def measure(place: Place) -> dict[str, Left]:
    """Kill every contender once, when half of the people are invited."""
    left = {}
    for one in CONTENDERS:
        with place.measuring(f"{one.name}, killed"):
            left[one.name] = _killed(place, one)
    return left


def _killed(place: Place, contender: Contender) -> Left:
    people = place.size.killed // 2 if contender is SCRIPT else place.size.killed
    with place.office(people) as office, service(LATENCY) as there:
        command, environment = office.command(contender), office.environment(there.environment)

        def half() -> bool:
            return there.invitations() * 2 >= people

        kill_when(half, command, office.folder, environment)
        # Whoever shows people as unsure ends with 3.
        weigh(command, office.folder, environment, codes=(0, 3))
        found = there.received(office.emails)
        if contender is not OURS:
            return Left(found.twice, found.never)
        left = Left(found.twice, found.never, unsure(office, there))
    if left.twice or left.never > left.shown:
        raise Wrong(f"campaign run, killed and run again: {left}")
    return left
