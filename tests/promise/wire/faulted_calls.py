"""Requests by themselves against a service that answers with faults: what each exchange proves.

No ledger: two hundred calls of each seed, of every kind, one or eight at a time, each judged by
what the service did.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import Any

from config.definition.model import Trust
from config.email_key import email_key
from config.errors import CampaignError
from data.store.states import Operation
from sandbox.service.record import Record
from tasks.service.added_ids import match_answer
from tasks.service.client import Service
from tasks.service.evidence import Exchange
from tasks.service.messages import (
    Request,
    add_candidates,
    attach_problem,
    create_project,
    invite,
    read_project_id,
)
from tasks.service.verdict import Proof, Then, verdict
from tests.promise.histories.workshop import Workshop
from tests.promise.promise import BrokenPromise
from tests.promise.wire.faulting_service import FaultingService
from tests.promise.wire.socket_time import in_socket_time
from tests.promise.wire.tally import Tally
from tests.support.wire_server import settings_for

EACH = 50  # calls of each operation
DEADLINE = 45.0
PROJECT, CANDIDATE = 101, 5001  # the first ids that the service gives


def person(number: int, notes: str = "") -> dict[str, str | int]:
    return {
        "first_name": f"F{number}",
        "last_name": f"L{number}",
        "email1": f"p{number}@example.com",
        "source": "",
        "notes": notes,
        "stage_id": 1,
    }


class Calls:
    """The calls of one seed, each about something of its own."""

    def __init__(self, seed: int) -> None:
        self.dice = Random(f"{seed}, the calls")
        self.trust = self.dice.choice((Trust.STATUS, Trust.WIRE))
        lies = self.trust is Trust.WIRE and self.dice.random() < 0.5
        self.service = FaultingService(Random(f"{seed}, their service"), lies)
        self.tally = Tally()
        self.longest = self.dice.choice((1, 3))
        self.notes = "x" * self.dice.choice((0, 0, 0, 0, 2_000_000))

    def request(self, operation: Operation, number: int) -> Request:
        """A request that the record can tell from all others."""
        match operation:
            case Operation.CREATE:
                return create_project(f"{number}", "", "open", "", "")
            case Operation.ATTACH:
                return attach_problem(PROJECT + number, 42)
            case Operation.ADD:
                return add_candidates(PROJECT, self.people(number))
            case Operation.INVITE:
                return invite(PROJECT, CANDIDATE + number)

    def people(self, number: int) -> list[dict[str, str | int]]:
        notes = self.notes if number % 5 == 0 else ""
        return [person(1000 + 10 * number + n, notes) for n in range(self.longest)]

    async def history(self) -> None:
        """Have what the calls are about, then make them all."""
        async with self.service.open():
            settings = settings_for(self.service.url, self.service.url)
            async with Service(settings, deadline=DEADLINE) as service:
                for _ in range(EACH):
                    await service.call(create_project("there", "", "open", "", ""))
                await service.call(add_candidates(PROJECT, [person(n) for n in range(EACH)]))
                self.service.trouble = self.dice.choice((0.5, 0.9, 1.0))
                calls = [(each, n) for each in Operation for n in range(EACH)]
                self.dice.shuffle(calls)
                left, seen = iter(calls), dict[tuple[Operation, int], Exchange]()
                await asyncio.gather(
                    *(self.work(service, left, seen) for _ in range(self.dice.choice((1, 8))))
                )
            await asyncio.sleep(2000)  # whatever is late has come
        effects = effects_of(self.service.record)
        for (operation, number), exchange in seen.items():
            self.judge(operation, number, exchange, effects)

    async def work(
        self,
        service: Service,
        left: Iterator[tuple[Operation, int]],
        seen: dict[tuple[Operation, int], Exchange],
    ) -> None:
        """Make one call after the other; a new token where the old one was not accepted."""
        loop = asyncio.get_running_loop()
        for operation, number in left:
            with suppress(CampaignError):
                await service.ready()
            began = loop.time()
            exchange = await service.call(self.request(operation, number))
            if loop.time() > began + DEADLINE + 0.1:
                raise BrokenPromise(f"{operation} {number} took {loop.time() - began:.0f} s")
            seen[operation, number] = exchange
            if verdict(operation, exchange, trust=self.trust).then is Then.RENEW:
                with suppress(CampaignError):
                    await service.renew(exchange.token)

    def judge(
        self, operation: Operation, number: int, seen: Exchange, effects: Counter[str]
    ) -> None:
        """Believe no verdict that the service's record contradicts."""
        rows = self.longest if operation is Operation.ADD else 1
        judged = verdict(operation, seen, rows=rows, trust=self.trust)
        request = self.request(operation, number)
        body = json.loads(request.body) if request.body else None
        times = effects[key_of(request.path, body)]
        self.tally.unsure += judged.proof is Proof.UNSURE
        if times > 1:
            raise BrokenPromise(f"{operation} {number} was done {times} times")
        if judged.proof is Proof.DONE and not times:
            raise BrokenPromise(f"{operation} {number} is done, and never was: {seen}")
        if judged.proof in (Proof.NOT_SENT, Proof.REFUSED) and times:
            raise BrokenPromise(f"{operation} {number} is {judged.proof}, and was done: {seen}")
        if judged.proof is Proof.DONE and operation is Operation.CREATE:
            project = self.service.record.project(read_project_id(seen.body))
            if project is None or project.name != str(number):
                raise BrokenPromise(f"{operation} {number} got another project's id")
        if judged.proof is Proof.DONE and operation is Operation.ADD:
            self.judge_ids(number, seen)

    def judge_ids(self, number: int, seen: Exchange) -> None:
        """Each id that is taken from an answer is that person's own."""
        sent = {
            email_key(each["email1"]): (each["first_name"], each["last_name"])
            for each in self.people(number)
        }
        for key, candidate_id in match_answer(seen.body, sent).ids.items():
            there = self.service.record.candidate(PROJECT, candidate_id)
            if there is None or email_key(there.email1) != key:
                raise BrokenPromise(f"{key} got the id {candidate_id}, which is somebody else's")


def key_of(path: str, body: Any) -> str:
    """Name what a request is about: the record has it with the same path and the same body."""
    return f"{path} {json.dumps(body)}"


def effects_of(record: Record) -> Counter[str]:
    """How often each thing was done."""
    return Counter(key_of(each.path, each.body) for each in record.requests if each.effect)


def play(_: Workshop, seed: int) -> Tally:
    """Let the calls of one seed happen. Raises BrokenPromise, or whatever the product raised."""
    calls = Calls(seed)
    in_socket_time(calls.history())
    calls.tally.hears(calls.service)
    calls.tally.alone = calls.tally.faults
    return calls.tally
