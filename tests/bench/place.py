"""Where the measuring happens: a folder, how much is measured, and one run of one contender."""

import itertools
import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path

from tests.bench.contenders import CAMPAIGN, EMPTY, KEY, OURS, Contender, Office
from tests.bench.recorded import lost
from tests.bench.service import Received, Service, service
from tests.bench.weighing import Weighed, weigh

CHUNK = 100  # people in one request, for every contender


class Wrong(Exception):
    """The campaign was not sent as it must be, so that no figure of it means anything."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured, in people, and how often."""

    rounds: int = 5
    people: int = 5_000
    one_by_one: int = 200  # people for whoever sends them one by one
    killed: int = 1_000
    growth: tuple[int, ...] = (1_000, 10_000, 100_000)
    recorded: int = 10_000
    starts: int = 3  # times that each short command is typed in a round
    small: int = 5  # and the least campaign that grows


QUICK = Size(
    rounds=1,
    people=200,
    one_by_one=50,
    killed=200,
    growth=(100, 200, 400),
    recorded=300,
    starts=1,
    small=1,
)


@dataclass(frozen=True, slots=True)
class Sample:
    """One measured run. `kept`: bytes of the ledger afterwards; `least`: requests it takes."""

    seconds: float
    cpu: float
    memory: int
    written: int
    people: int = 0
    requests: int = 0
    least: int = 0
    kept: int = 0


Round = dict[str, Sample]
EMPTY_FLOW = "an empty flow"  # every round has one


def in_processor_time(taken: Round) -> Round:
    """The same round as if each run had taken as long as processors worked for it."""
    return {name: replace(one, seconds=one.cpu) for name, one in taken.items()}


@dataclass(slots=True)
class Place:
    """A folder for everything, and a Prefect home in it that has been started once.

    `failed` says what could not be measured, and why.
    """

    folder: Path
    size: Size
    failed: list[str] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    @property
    def home(self) -> Path:
        return self.folder / "prefect"

    def prepare(self) -> None:
        """Start Prefect once, so that no measured run makes the tables of its database."""
        with self.office(0) as office:
            weigh(office.command(EMPTY), office.folder, office.environment({}))
            shutil.move(office.folder / ".prefect", self.home)

    @contextmanager
    def measuring(self, what: object) -> Iterator[None]:
        """Go on behind a measurement that fails: what the others found stands."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - it is told, and the bench ends with 1
            self.failed.append(f"{what}: {error}")

    @contextmanager
    def office(self, people: int, in_flight: int = 8, /, **more: str) -> Iterator[Office]:
        """A fresh folder for one contender, taken away afterwards."""
        office = Office(self.folder / f"office-{next(self._numbers)}", people, in_flight, more)
        office.fill(self.home if self.home.exists() else None)
        try:
            yield office
        finally:
            shutil.rmtree(office.folder)


def empty(place: Place, **more: str) -> Sample:
    """Run an empty flow."""
    with place.office(0, 8, **more) as office:
        return sample(weigh(office.command(EMPTY), office.folder, office.environment({})))


def send(
    place: Place, contender: Contender, people: int, latency: float, in_flight: int, **more: str
) -> Sample:
    """Send to so many people, in a fresh folder and to a fresh service.

    Raises Wrong unless everybody was invited once.
    """
    with place.office(people, in_flight, **more) as office, service(latency) as there:
        return sent(office, contender, there)


def sent(office: Office, contender: Contender, there: Service) -> Sample:
    """Send to everybody in this office, and judge it by the service's record. Raises Wrong."""
    ran = weigh(office.command(contender), office.folder, office.environment(there.environment))
    found = there.received(office.emails)
    if found.twice or found.never:
        raise Wrong(f"{contender.name}: {found}\n{ran.said}")
    least = 3 + -(-office.people // CHUNK) + office.people
    kept = 0
    if contender is OURS:
        kept = ledger_bytes(office)
        if gone := _unrecorded(office):
            raise Wrong(f"Prefect lacks of {office.people:,} people: {'; '.join(gone)}")
    return sample(ran, office.people, found, least, kept)


def sample(
    ran: Weighed, people: int = 0, found: Received | None = None, least: int = 0, kept: int = 0
) -> Sample:
    requests = found.requests if found else 0
    return Sample(ran.seconds, ran.cpu, ran.memory, ran.written, people, requests, least, kept)


def in_the_middle(samples: Sequence[Sample]) -> Sample:
    """The one of several runs that took neither long nor short."""
    return sorted(samples, key=attrgetter("seconds"))[(len(samples) - 1) // 2]


def unsure(office: Office, there: Service) -> int:
    """How many people the command line shows as unsure."""
    command: list[str | Path] = [CAMPAIGN, "status", KEY, "--json"]
    said = weigh(command, office.folder, office.environment(there.environment)).said
    counted: int = json.loads(said)["counts"]["unsure"]
    return counted


def ledger_bytes(office: Office) -> int:
    """The ledger's size, with what has not been moved into its main file yet."""
    return sum(file.stat().st_size for file in office.folder.glob("ledger.db*"))


def _unrecorded(office: Office) -> list[str]:
    # With a standing server, its database holds the runs of others too.
    standing = "PREFECT_API_URL" in office.more
    return [] if standing else lost(office.folder / ".prefect", office.people)
