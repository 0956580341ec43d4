"""The assessment service behind a simulated network: the sandbox's own API, no socket, no clock.

`Assessment` is the service with its record, `Client` what a run uses in place of the real client.
Every misbehaviour of outcomes that can be told apart by an Exchange is drawn from the dice.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any, Self

from config.settings import ServiceSettings
from data.store.states import Operation
from sandbox.faults.faults import Fault, Kind
from sandbox.faults.wrong_answers import altered
from sandbox.protocol.operations import recognise
from sandbox.service.api import Api, Limits, Received
from sandbox.service.outbox import Outbox
from sandbox.service.problems import SAMPLE_PROBLEMS
from sandbox.service.record import Record
from sandbox.service.record import Request as Entry
from sandbox.service.tokens import Tokens
from tasks.service.errors import CredentialsRefused, NotTheService, Unreachable
from tasks.service.evidence import Exchange, HeldBack, Last, Phase
from tasks.service.excerpt import excerpt
from tasks.service.messages import Request
from tasks.service.problem import Problem, read_problems
from tests.promise.histories.virtual_time import HERE

NO_WORK = (400, 401, 403, 404, 405, 413, 421, 422, 425, 429, 501, 505)
"""Statuses by which a service says that nothing happened; it speaks the truth, unless it `lies`."""

PERHAPS = (302, 408, 409, 500, 502, 503, 504, 520)
"""Statuses that prove nothing: the work may have been done."""

SHAPES = (Kind.REORDERED, Kind.LOWERED, Kind.PARTIAL, Kind.DOUBLED, Kind.SHUFFLED, Kind.STRANGER)
IDS = (Kind.NO_IDS, Kind.STRING_IDS, Kind.BOOL_IDS, Kind.EXTRA_KEYS)

PROBLEMS = read_problems(json.dumps(SAMPLE_PROBLEMS).encode()) or []
FAR_TOO_LATE = 100.0  # seconds: beyond every deadline here


@dataclass(slots=True)
class Trip:
    """What will become of one request: how far it gets, what is answered, how long it takes."""

    there: float
    back: float
    fault: Fault | None = None
    reaches: bool = True  # the service gets it
    answered: bool = True
    whole: bool = True  # the answer's body arrives
    failure: str = "ReadError"


@dataclass
class Assessment:
    """The service: its record, whom it refuses, and how bad its day is (`trouble`, 0 to 1)."""

    dice: Random
    trouble: float = 0.0
    unwelcome: set[str] = field(default_factory=set)
    uninvitable: frozenset[str] = frozenset()
    most: int | None = None
    lies: bool = False  # a no may come after the work
    record: Record = field(default_factory=Record)
    faults: int = 0  # misbehaviours that may leave one request in doubt each
    listings: int = 0  # of the problems: with tokens, the only calls that change nothing
    tokens: int = 0
    received: dict[int, Entry] = field(default_factory=dict)  # by the attempt it came from
    situations: Counter[str] = field(default_factory=Counter)
    is_overruled: Callable[[int], bool] = lambda _: False  # that attempt, by a person

    def __post_init__(self) -> None:
        limits = Limits(self.most, self.unwelcome, self.uninvitable)
        outbox = Outbox(self.record, None, "https://app.example.com")
        tokens = Tokens("id", "secret", "audience", 86400)
        self._api = Api(self.record, outbox, tokens, limits)

    def trip(self, operation: Operation) -> Trip:
        """Draw what becomes of the next request."""
        dice = self.dice
        trip = Trip(dice.choice((0.0, 0.01, 0.3)), dice.choice((0.0, 0.01, 0.3)))
        if dice.random() >= self.trouble:
            return trip
        self.faults += 1
        # An add's answer can be wrong in more ways than all others together.
        kind = dice.randrange(16 if operation == Operation.ADD else 8)
        if kind == 0:  # lost on the way there
            trip.reaches = trip.answered = False
        elif kind == 1:  # lost on the way back
            trip.answered = False
        elif kind == 2:  # very late, there or back
            trip.there, trip.back = dice.choice(((FAR_TOO_LATE, 0.0), (0.0, FAR_TOO_LATE)))
        elif kind == 3:
            status, wait = dice.choice(NO_WORK), dice.choice((None, 1, 30))
            lie = self.lies and dice.random() < 0.5
            trip.fault = Fault(Kind.STATUS, status=status, retry_after=wait, after_work=lie)
        elif kind == 4:
            trip.fault = Fault(
                Kind.STATUS, status=dice.choice(PERHAPS), after_work=dice.random() < 0.5
            )
        elif kind == 5:
            # A page may come from anybody; a 202 comes from the service, which means it.
            html = Fault(Kind.HTML, after_work=dice.random() < 0.7)
            trip.fault = dice.choice((Fault(Kind.ACCEPTED), html))
        elif kind == 6:
            trip.whole = False
        else:
            trip.fault = Fault(dice.choice(SHAPES + IDS if operation == Operation.ADD else IDS))
        self.situations[_named(trip)] += 1
        return trip

    def receive(
        self, attempt: int, request: Request, trip: Trip, answer: Callable[[Exchange], None]
    ) -> None:
        """Take in one request, do the work (or not) and send an answer off (or not)."""
        call = recognise("POST", request.path)
        body = json.loads(request.body) if request.body else None
        kind = str(trip.fault.kind) if trip.fault else None
        entry = self.record.received(call, body, authorized=True, fault=kind)
        self.received[attempt] = entry
        if self.is_overruled(attempt):
            self.situations["a request that arrives after it was sent once more"] += 1
        right = None
        if trip.fault is None or trip.fault.works:
            right = self._api.answer(Received(call, "application/json", body, entry))
        # The service never says yes to what it refused.
        honest = trip.fault is None or (trip.fault.kind == Kind.ACCEPTED and right and not right.ok)
        said = right if honest or trip.fault is None else altered(trip.fault, right)
        if said is None or not trip.answered:
            self.record.finished(entry, None)
            seen = Exchange(Phase.SENT, failure=trip.failure)
        else:
            self.record.finished(entry, said.status_code)
            headers = {name.decode(): value.decode() for name, value in said.raw_headers}
            seen = Exchange(
                Phase.ANSWERED,
                said.status_code,
                headers.get("content-type", ""),
                said.body if trip.whole else None,
                retry_after=headers.get("retry-after"),
                failure=None if trip.whole else "ReadError",
                excerpt=partial(excerpt, said.body if trip.whole else None),
            )
        asyncio.get_running_loop().call_later(trip.back, answer, seen, context=Context())


def _named(trip: Trip) -> str:
    """What goes wrong on a trip, in words."""
    if not trip.reaches:
        return "a request that is lost on its way"
    if trip.there == FAR_TOO_LATE:
        return "a request that arrives far too late"
    if trip.back == FAR_TOO_LATE:
        return "an answer that arrives far too late"
    if not trip.answered:
        return "an answer that is lost on its way"
    if trip.fault is None:
        return "an answer that is cut off"
    if trip.fault.kind is not Kind.STATUS:
        return f"an answer that is {trip.fault.kind}"
    sure = "proves nothing" if trip.fault.status in PERHAPS else "says no"
    return f"a status that {sure}, {'after' if trip.fault.after_work else 'without'} the work"


class Client:
    """What a run has of the service; every wait of it is a point at which its program may die."""

    wrote = None

    def __init__(
        self,
        assessment: Assessment,
        leaving: Callable[[Request], int],
        settings: ServiceSettings,
        *,
        deadline: float,
        **_: Any,
    ) -> None:
        """`leaving` hears of each changing request before it leaves; says which attempt it is."""
        self._assessment = assessment
        self._leaving = leaving
        self._deadline = deadline
        self._token = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def ready(self) -> None:
        if not self._token:
            await self.renew(0)

    async def renew(self, used: int) -> None:
        await self._answers_at_all("ASSESSMENT_AUTH_URL")
        self._assessment.tokens += 1
        self._token = max(self._token, used + 1)

    async def problems(self) -> list[Problem]:
        await self.ready()
        await self._answers_at_all("ASSESSMENT_BASE_URL")
        self._assessment.listings += 1
        return PROBLEMS

    async def call(self, request: Request, last: Last) -> Exchange:
        program, assessment = HERE.get(), self._assessment
        await program.claimed()
        if assessment.dice.random() < assessment.trouble / 8:
            assessment.situations["a connection that is refused"] += 1
            return Exchange(Phase.NOTHING, failure="ConnectError")
        try:
            await last()
        except HeldBack as held:
            assessment.situations[f"a request that is held back: {type(held).__name__}"] += 1
            return Exchange(Phase.NOTHING, failure=type(held).__name__)
        attempt = self._leaving(request)
        trip = assessment.trip(request.operation)
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[Exchange] = loop.create_future()

        def answer(seen: Exchange) -> None:
            if not answered.done():
                answered.set_result(seen)

        if trip.reaches:
            # From here on it travels, whatever becomes of the program that sent it.
            travel = (trip.there, assessment.receive, attempt, request, trip, answer)
            loop.call_later(*travel, context=Context())
        else:
            lost = Exchange(Phase.SENDING, failure="WriteError")
            loop.call_later(trip.there, answer, lost, context=Context())
        await program.point("between its request and the answer")
        try:
            async with asyncio.timeout(self._deadline):
                seen = await answered
        except TimeoutError:
            seen = Exchange(Phase.SENT, failure="TimeoutError")
        await program.point("between an answer and its record")
        return seen

    async def _answers_at_all(self, variable: str) -> None:
        assessment = self._assessment
        await HERE.get().point()
        await asyncio.sleep(assessment.dice.choice((0.0, 0.05)))
        if assessment.dice.random() < assessment.trouble / 4:
            errors = (
                Unreachable(variable, "ConnectError"),
                CredentialsRefused("status 403"),
                NotTheService("status 404, text/html"),
            )
            raise assessment.dice.choice(errors)
