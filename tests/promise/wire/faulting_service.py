"""A service of bare sockets that answers with faults drawn from dice, and records what it did.

A fault is made of one to three twists: of what is said, in which words, under which label, how it
is framed, what stands around it, how it is delivered. In one thing the service is honest: what
looks like a plain yes is said only of what was done, and a plain no only of what was not, unless
it `lies`: then a no may come after the work, as from a gateway.
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any

from sandbox.protocol.answers import Answer
from sandbox.protocol.operations import Call, Operation, recognise
from sandbox.service.api import NOT_JSON, Api, Limits, Received
from sandbox.service.outbox import Outbox
from sandbox.service.record import Record, Request
from sandbox.service.tokens import Tokens
from tests.promise.wire import wire_faults
from tests.promise.wire.odd_answers import NO, PERHAPS, answer
from tests.promise.wire.wire_faults import Reply
from tests.support.wire_server import SECRET, Line, listening
from tests.support.wire_server import Received as Head

CHANGING = frozenset(
    {
        Operation.CREATE_PROJECT,
        Operation.ATTACH_PROBLEM,
        Operation.ADD_CANDIDATES,
        Operation.INVITE,
    }
)


@dataclass
class FaultingService:
    """`trouble` is how likely a request meets a fault. `kinds` counts the twists of those met."""

    dice: Random
    lies: bool = False
    unwelcome: frozenset[str] = frozenset()
    record: Record = field(default_factory=Record)
    trouble: float = 0.0
    faults: int = 0  # requests that met one
    doubtful: int = 0  # of these, those that change something
    kinds: Counter[str] = field(default_factory=Counter)
    url: str = ""

    def __post_init__(self) -> None:
        tokens = Tokens("client-7", SECRET, "https://api.example/audience", 86400)
        limits = Limits(None, self.unwelcome, frozenset())
        outbox = Outbox(self.record, None, "http://127.0.0.1:1")
        self._api = Api(self.record, outbox, tokens, limits)
        self._tokens = self._revoked = 0
        self._storm = 0  # requests that are still to be answered with 429

    @asynccontextmanager
    async def open(self) -> AsyncIterator["FaultingService"]:
        """Listen until the block ends."""
        async with listening(lambda _, line: self._serve(line)) as server:
            self.url = server.url
            yield self

    async def _serve(self, line: Line) -> None:
        if self._happens(self.trouble / 8):
            await self._rude(line)
        while True:
            head = await line.head()
            call = recognise(head.method, head.path)
            reply = self._drawn(call)
            if reply is not None and reply.unread:
                await self._left_unread(line, reply)
            head.body = await line.reader.readexactly(int(head.headers.get("content-length", "0")))
            await self._reply(line, head, call, reply)

    async def _rude(self, line: Line) -> None:
        """Hang up on whoever calls, or answer before anything was asked, and do nothing."""
        self._count(["rude"], changing=True)
        match self.dice.choice(("speaks", "speaks late", "closes", "resets", "half")):
            case "speaks":
                await line.say(answer(self.dice.choice((*NO, *PERHAPS))))
            case "speaks late":
                await line.reader.read(1)
                await line.say(answer(self.dice.choice((*NO, *PERHAPS))))
            case "resets":
                line.reset()
            case "half":
                _half_closed(line)
                await line.reader.read()
        raise ConnectionResetError

    async def _left_unread(self, line: Line, reply: Reply) -> None:
        """Answer, or hang up, with the body of the request still in the socket."""
        if reply.status is not None:
            await line.say(answer(reply.status))
        if reply.end == "reset":
            line.reset()
        raise ConnectionResetError

    # -- what is drawn ------------------------------------------------------------------------

    def _happens(self, chance: float) -> bool:
        return self.dice.random() < chance

    def _drawn(self, call: Call) -> Reply | None:
        changing = call.operation in CHANGING
        if self._storm:
            self._storm -= 1
            reply = wire_faults.busy(self.dice)
        elif self._happens(self.trouble if changing else self.trouble / 3):
            if self._happens(0.03):
                self._storm = self.dice.randint(1, 12)
            reply = wire_faults.draw(self.dice, call.operation)
        else:
            return None
        self._count([f"to {call.operation}", *reply.kinds], changing)
        return reply

    def _count(self, kinds: list[str], changing: bool) -> None:
        self.faults += 1
        self.doubtful += changing
        self.kinds.update(kinds)

    # -- what is done -------------------------------------------------------------------------

    async def _reply(self, line: Line, head: Head, call: Call, reply: Reply | None) -> None:
        entry = self._received(head, call, reply)
        received = Received(call, head.headers.get("content-type", ""), _parsed(head.body), entry)
        if reply is None:
            await line.say(_written(self._done(received)))
            return
        script = reply.script(self.dice) if reply.status is not None else []
        works = reply.honest(script, self.lies)
        late = 0.0 if reply.yes else reply.late
        if works and late:
            asyncio.get_running_loop().call_later(late, self._done, received)
        done = self._done(received) if works and not late else None
        if done is not None and (reply.status is None or (reply.yes and not done.ok)):
            reply.takes(done.status_code, done.body, done.ok)
            script = reply.script(self.dice)
        await self._deliver(line, script, reply.end)

    def _received(self, head: Head, call: Call, reply: Reply | None) -> Request:
        if self._happens(self.trouble / 40) and call.operation in CHANGING:
            self.kinds["token revoked"] += 1
            self._revoked = self._tokens
        number = head.headers.get("authorization", "").removeprefix("Bearer token-")
        authorized = number.isdigit() and self._revoked < int(number) <= self._tokens
        fault = " + ".join(reply.kinds) if reply else None
        return self.record.received(call, _parsed(head.body), authorized=authorized, fault=fault)

    def _done(self, received: Received) -> Answer:
        done = self._api.answer(received)
        if received.call.operation is Operation.TOKEN and done.ok:
            self._tokens += 1
            token = {"access_token": f"token-{self._tokens}", "token_type": "Bearer"}
            done = Answer(200, {**token, "expires_in": self.dice.choice((86400, 300, 7))})
        elif not done.ok and received.call.operation in CHANGING:
            self._count([f"refused by itself: {done.status_code}"], changing=True)
        self.record.finished(received.request, done.status_code)
        return done

    @staticmethod
    async def _deliver(line: Line, script: list[bytes | float], end: str) -> None:
        for each in script:
            if isinstance(each, bytes):
                await line.say(each)
                await asyncio.sleep(0)
            else:
                await asyncio.sleep(each)
        match end:
            case "close":
                raise ConnectionResetError
            case "reset":
                line.reset()
                raise ConnectionResetError
            case "half":
                _half_closed(line)
            case "silence":
                await asyncio.sleep(1000)


def _parsed(body: bytes) -> Any:
    if not body:
        return None
    with suppress(ValueError):
        return json.loads(body)
    return NOT_JSON


def _half_closed(line: Line) -> None:
    """Say that nothing more comes, while the rest of the connection stays."""
    with suppress(OSError):  # nobody is there any more
        line.writer.write_eof()


def _written(done: Answer) -> bytes:
    return answer(done.status_code, done.body)
