"""Services that let only so much through: nobody is in doubt, nobody twice, everybody invited.

The product's own code and ledger in virtual time; the service's record is what counts.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from config.definition.model import Candidate, Definition, Invites, ProblemById, Project, Trust
from config.email_key import email_key
from config.mistakes import Place
from data.store.states import Ending, Operation
from flows.run.ending import Finish
from tasks.sending.gate import PAUSES
from tasks.service.evidence import Exchange, HeldBack, Last, Phase
from tasks.service.messages import Request
from tests.promise.histories.simulated_service import Assessment, Client
from tests.promise.histories.simulation import KEY, World
from tests.promise.histories.virtual_time import HERE, VirtualLoop
from tests.promise.histories.workshop import workshop


class Bucket:
    """Lets `rate` requests a second through, `size` at once after a silence."""

    def __init__(self, rate: float, size: int = 1) -> None:
        self.rate, self.size = rate, size
        self.full_at = 0.0  # when it holds `size` again

    def lets_through(self, at: float) -> bool:
        start = max(self.full_at, at - 1e-9)
        if start - at > (self.size - 1) / self.rate:
            return False
        self.full_at = start + 1 / self.rate
        return True

    def again(self, at: float) -> float:
        return max(self.full_at - (self.size - 1) / self.rate - at, 0.0)


class Window:
    """Lets `number` requests through in each period of so many seconds."""

    def __init__(self, number: int, seconds: float) -> None:
        self.number, self.seconds = number, seconds
        self.used: Counter[int] = Counter()

    def lets_through(self, at: float) -> bool:
        self.used[int(at // self.seconds)] += 1
        return self.used[int(at // self.seconds)] <= self.number

    def again(self, at: float) -> float:
        return self.seconds - at % self.seconds


class Never:
    """Lets nothing through after the first so many."""

    def __init__(self, first: int = 0) -> None:
        self.first = first

    def lets_through(self, at: float) -> bool:
        self.first -= 1
        return self.first >= 0

    def again(self, at: float) -> float:
        return 5.0


Limit = Bucket | Window | Never
Header = Callable[[float], str | None]


def in_seconds(seconds: float) -> str:
    return str(int(seconds) + 1)


def as_date(seconds: float) -> str:
    return format_datetime(
        asyncio.get_running_loop().wall() + timedelta(seconds=int(seconds) + 1),  # type: ignore[attr-defined]
        usegmt=True,
    )


class Throttled(Client):
    """Answers 429 (or another status) where the limit says so, before or after the work."""

    limit: Limit
    header: Header
    status = 429
    after_work = False

    async def call(self, request: Request, last: Last) -> Exchange:
        at = asyncio.get_running_loop().time()
        if request.operation is not Operation.INVITE or self.limit.lets_through(at):
            return await super().call(request, last)
        if self.after_work:
            seen = await super().call(request, last)
            if seen.reached is Phase.NOTHING:
                return seen
        else:
            try:
                await last()
            except HeldBack as held:
                return Exchange(Phase.NOTHING, failure=type(held).__name__)
            self._leaving(request)
            await asyncio.sleep(0.01)
        retry_after = self.header(self.limit.again(at))
        return Exchange(Phase.ANSWERED, self.status, body=b"", retry_after=retry_after)


class Throttling(World):
    """A world in which nothing goes wrong but that."""

    def __init__(self, place: Any, people: int, in_flight: int, **how: Any) -> None:
        super().__init__(place, 1)
        self.kind = type("ThisOne", (Throttled,), how)
        self.assessment = Assessment(self.dice)
        self.local = self.local.model_copy(
            update={
                "candidates_per_request": 100,
                "invites_in_flight": in_flight,
                "invites_per_second": None,
            }
        )
        self.people = people
        self.saved_beside = 0.0  # nobody else writes the definition

    def client(self, *args: Any, **more: Any) -> Client:
        program = HERE.get()
        return self.kind(
            self.assessment, lambda request: self.leaving(program, request), *args, **more
        )

    def define(self, trust: Trust) -> None:
        self.digest = "all"
        emails = [f"p{number}@example.com" for number in range(self.people)]
        self.definitions[self.digest] = Definition(
            campaign=KEY,
            project=Project(None, "Backend", "", "open", None, None, None),
            problem=ProblemById(42),
            candidates=tuple(
                Candidate("Ada", "X", email, "", "", 1, email_key(email), Place("sim.yaml"))
                for email in emails
            ),
            invites=Invites(send=True, trust=trust),
            place=Place("sim.yaml"),
        )

    def look(self) -> None:
        """Take down the emails by address, and how many people are in doubt."""
        self.times = Counter(one.email for one in self.assessment.record.invitations)
        unsure = "SELECT count(*) FROM candidate WHERE invite_state = 'unsure'"
        [(self.unsure,)] = self.workshop.ask(unsure)


def lived(
    people: int, in_flight: int, runs: int = 1, **how: Any
) -> tuple[Throttling, list[Finish]]:
    """Run a campaign, so many times, at a service with `limit` and `header`."""
    trust = how.pop("trust", Trust.STATUS)
    with workshop() as place:
        place.empty()
        world = Throttling(place, people, in_flight, **how)
        world.define(trust)
        loop = VirtualLoop()
        asyncio.set_event_loop(loop)
        try:
            ends = [
                loop.run_until_complete(world.run(world.program(mishaps=False)))
                for _ in range(runs)
            ]
        finally:
            loop.run_until_complete(world.end())
            asyncio.set_event_loop(None)
            loop.close()
        world.look()
        return world, ends


HEADERS: dict[str, Header] = {
    "no header": lambda _: None,
    "seconds": in_seconds,
    "a date": as_date,
    "too few seconds": lambda _: "1",
}
LIMITS: dict[str, Callable[[], Limit]] = {
    "1 a second": lambda: Bucket(1),
    "5 a second": lambda: Bucket(5),
    "5 a second, 20 at once": lambda: Bucket(5, 20),
    "60 a minute": lambda: Window(60, 60),
    "1 in ten seconds": lambda: Bucket(0.1),
}


# Each limit and each header with one in flight and with eight, not each pair.
THROTTLED = [
    ((1, 8)[(row + column) % 2], limit, header)
    for row, limit in enumerate(LIMITS)
    for column, header in enumerate(HEADERS)
]


@pytest.mark.parametrize(("in_flight", "limit", "header"), THROTTLED)
def test_who_is_merely_throttled_is_never_in_doubt(in_flight: int, limit: str, header: str) -> None:
    """Everybody gets one email, and nobody is refused often enough to be in doubt."""
    status = 425 if (limit, header) == ("5 a second", "seconds") else 429
    people = 200 if (in_flight, header) == (8, "no header") else 40
    how = {"limit": LIMITS[limit](), "header": staticmethod(HEADERS[header]), "status": status}
    world, [end] = lived(people, in_flight, **how)
    assert world.unsure == 0
    assert end.ending is Ending.COMPLETED, end
    assert (len(world.times), set(world.times.values())) == (people, {1})


@pytest.mark.parametrize("in_flight", [1, 8])
def test_a_service_that_never_stops_throttling_ends_the_run(in_flight: int) -> None:
    """The rest waits, and at most one person is in doubt."""
    how = {"limit": Never(20), "header": staticmethod(HEADERS["no header"])}
    world, [end] = lived(60, in_flight, **how)
    assert end.ending is Ending.STOPPED
    assert end.reason and f" {PAUSES} times" in end.reason
    assert (world.times.total(), len(world.times)) == (20, 20)
    assert world.unsure <= 1
    assert end.counts["waiting"] == 40 - world.unsure


REPEATED = {401: 1, 403: 2, 421: 2, 425: 2, 429: 2, 402: 2, 501: 2, 505: 2}


@pytest.mark.parametrize("trust", Trust)
@pytest.mark.parametrize(
    ("in_flight", "status"), [((1, 8)[n % 2], status) for n, status in enumerate(REPEATED)]
)
def test_a_no_after_the_work_is_repeated_no_more_than_is_said(
    in_flight: int, status: int, trust: Trust
) -> None:
    """A service that sends the email and then says no: over any number of runs somebody gets two
    more by `status`, one after a 401, and nobody any more by `wire`; then it is shown."""
    how = {"limit": Never(), "header": staticmethod(HEADERS["no header"]), "status": status}
    people, runs = 5, 20
    world, ends = lived(people, in_flight, runs, after_work=True, trust=trust, **how)
    most = 1 if trust is Trust.WIRE else 1 + REPEATED[status]
    assert set(world.times.values()) == {most}
    assert len(world.times) == world.unsure == people
    assert ends[-1].ending is Ending.NEEDS_ATTENTION
