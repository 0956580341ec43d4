"""An answer belongs to its request: repeated, early, late or glued, it is nobody else's.

Judged by the test service's own record of what it did: nobody done for whom nothing was done,
nobody to be sent again or refused for whom it was done, nothing done twice.
"""

import asyncio
import gzip
import json
import tracemalloc
from base64 import b64decode
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from config.errors import CampaignError
from data.store.states import Operation
from tasks.service import connection
from tasks.service.client import Service
from tasks.service.evidence import ENCODED, GLUED, TOO_LONG, Exchange
from tasks.service.harmless_retries import Patience
from tasks.service.messages import Request, add_candidates, invite
from tasks.service.verdict import Proof, Then, verdict
from tests.promise.wire.raw_answers import (
    DEADLINE,
    STATUSES,
    answering,
    body_of,
    person,
    raw,
    request_of,
    seen_of,
)
from tests.promise.wire.socket_time import in_socket_time
from tests.support.wire_server import (
    Act,
    Line,
    Received,
    WireServer,
    always,
    give_token,
    listening,
    settings_for,
)

CREATE, ATTACH, ADD, INVITE = Operation
PEOPLE = 12


@dataclass
class Repeating:
    """A service that says its first answer again, in its own moment, and keeps a record.

    It does what it answers with 2xx and nothing else. `loses`: where a repeated answer stands
    ready, the next request on that connection is read and dropped.
    """

    operation: Operation
    status: int
    again: Callable[[Line, bytes, asyncio.Event], Awaitable[None]]
    loses: bool
    done: Counter[int] = field(default_factory=Counter)
    spoilt: bool = False
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    async def _say_again(self, line: Line, answer: bytes, came: asyncio.Event) -> None:
        with suppress(ConnectionError):  # nobody listens any more
            await self.again(line, answer, came)

    async def __call__(self, _: WireServer, line: Line) -> None:
        stands_ready = False
        came = asyncio.Event()
        while True:
            number = self._number(await line.request())
            came.set()
            if stands_ready and self.loses:
                continue
            first, self.spoilt = not self.spoilt, True
            status = self.status if first else 200
            if status < 300:
                self.done[number] += 1
            answer = raw(status, body_of(self.operation, number))
            if first:
                came = asyncio.Event()
                stands_ready = True
                self.tasks.append(asyncio.ensure_future(self._say_again(line, answer, came)))
            else:
                await line.say(answer)

    def _number(self, received: Received) -> int:
        sent = json.loads(received.body) if received.body else None
        match self.operation:
            case Operation.CREATE:
                return int(sent["name"].split()[1])
            case Operation.ATTACH:
                return int(sent["problemid"]) - 1
            case Operation.ADD:
                return int(sent[0]["email1"].removeprefix("ada").partition("@")[0])
            case Operation.INVITE:
                return int(received.path.split("/")[-2]) - 5001


async def glued(line: Line, answer: bytes, came: asyncio.Event) -> None:
    await line.say(answer + answer)


async def many(line: Line, answer: bytes, came: asyncio.Event) -> None:
    await line.say(answer * 12)


async def apart(line: Line, answer: bytes, came: asyncio.Event) -> None:
    await line.say(answer)
    await line.say(answer)


async def late(line: Line, answer: bytes, came: asyncio.Event) -> None:
    """Once more when the next request has come over the same connection, if any does."""
    await line.say(answer)
    await came.wait()
    await line.say(answer)


def after(seconds: float) -> Callable[[Line, bytes, asyncio.Event], Awaitable[None]]:
    async def again(line: Line, answer: bytes, came: asyncio.Event) -> None:
        await line.say(answer)
        await asyncio.sleep(seconds)
        await line.say(answer)

    return again


AGAIN = {
    "glued": glued,
    "twelve times": many,
    "apart": apart,
    "late": late,
    "1 ms later": after(0.001),
    "5 ms later": after(0.005),
    "50 ms later": after(0.05),
}


async def all_seen(act: Act, operation: Operation, in_flight: int) -> list[Exchange]:
    """Make all calls, so many at a time, and see what came of each."""
    async with (
        listening(always(give_token)) as auth,
        listening(act) as api,
        Service(settings_for(auth.url, api.url), deadline=DEADLINE) as service,
    ):
        await service.ready()
        seen: dict[int, Exchange] = {}
        numbers = iter(range(PEOPLE))

        async def work() -> None:
            for number in numbers:
                seen[number] = await service.call(request_of(operation, number))

        await asyncio.gather(*(work() for _ in range(in_flight)))
    return [seen[number] for number in range(PEOPLE)]


def hold_to_the_record(
    operation: Operation, seen: list[Exchange], done: Counter[int]
) -> list[Proof]:
    """Believe no verdict that the service's record contradicts."""
    proofs = [verdict(operation, each).proof for each in seen]
    for number, proof in enumerate(proofs):
        assert done[number] <= 1
        if proof is Proof.DONE:
            assert done[number] == 1, f"{number} done, and never was"
        elif proof is not Proof.UNSURE:
            assert done[number] == 0, f"{number} {proof}, and was done"
    return proofs


@pytest.mark.parametrize(
    ("operation", "again", "in_flight"),
    [
        pytest.param(operation, again, (1, 8)[(row + column) % 2], id=f"{operation}, {name}")
        for row, operation in enumerate(Operation)
        for column, (name, again) in enumerate(AGAIN.items())
    ],
)
def test_a_repeated_answer_is_nobody_elses(
    operation: Operation,
    again: Callable[[Line, bytes, asyncio.Event], Awaitable[None]],
    in_flight: int,
) -> None:
    """Of every status; the request after it is lost, or done, with each status for two operations:
    only one call is ever in doubt."""

    async def run(status: int, loses: bool) -> None:
        service = Repeating(operation, status, again, loses)
        seen = await all_seen(service, operation, in_flight)
        proofs = hold_to_the_record(operation, seen, service.done)
        assert proofs.count(Proof.DONE) >= PEOPLE - 1
        if again in (glued, many):
            [doubt] = [each for each in seen if each.failure == GLUED]
            assert (doubt.status, doubt.body) == (status, None)
            assert verdict(operation, doubt).proof is Proof.UNSURE

    async def all_runs() -> None:
        async with asyncio.TaskGroup() as group:
            for number, status in enumerate(STATUSES, list(Operation).index(operation)):
                group.create_task(run(status, loses=number % 2 == 0))

    asyncio.run(all_runs())


def cutting(piece: bytes, waits: bool = False) -> Act:
    """Answer with these bytes, then hang up, or say nothing more."""

    async def act(_: WireServer, line: Line) -> None:
        await line.request()
        await line.say(piece)
        if waits:
            await line.reader.read()

    return act


PAGE = b"\xef\xbb\xbf \r\n<!doctype html><title>Sign in</title>"
LABELS = ({}, {"Content_Type": "application/json"}, {"Content_Type": "text/plain"})


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("operation", list(Operation))
def test_a_page_that_is_cut_off_is_still_a_page(
    operation: Operation, label: dict[str, str], waits: bool
) -> None:
    """With a length that is too large, or lost on its way: what came of it begins with <."""
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n100\r\n" + PAGE
    for piece in (raw(200, PAGE + b"x" * 100, **label)[:-100], chunked):
        seen = in_socket_time(seen_of(cutting(piece, waits), request_of(operation, 1)))
        assert (seen.status, seen.body) == (200, None)
        judged = verdict(operation, seen)
        assert (judged.proof, judged.then) == (Proof.UNSURE, Then.STOP)


@pytest.mark.parametrize("operation", list(Operation))
def test_a_page_whose_end_is_the_connections_may_be_lost_before_it_begins(
    operation: Operation,
) -> None:
    """Announced as a page, without a length, and nothing came: that is no page of no bytes."""
    piece = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    seen = asyncio.run(seen_of(cutting(piece), request_of(operation, 1)))
    assert (seen.status, seen.body) == (200, None)
    assert verdict(operation, seen).proof is Proof.UNSURE


@pytest.mark.parametrize("rest", [b"\r\n", b"\n", b" "])
def test_blanks_behind_an_answer_are_no_second_one(rest: bytes) -> None:
    """A line feed too many is a slip of the service, not an answer."""
    seen = asyncio.run(seen_of(answering(raw(200) + rest), invite(1, 2)))
    assert verdict(INVITE, seen).proof is Proof.DONE


def test_a_question_that_was_answered_twice_is_asked_again() -> None:
    """Neither of two tokens, nor of two lists, is believed; asking again costs nothing."""
    listed = raw(200, b'[{"id": 42, "title": "Two sum"}]')
    token = raw(200, b'{"access_token": "token-1", "expires_in": 86400}')

    def twice_at_first(answer: bytes) -> Act:
        async def act(here: WireServer, line: Line) -> None:
            here.received.append(await line.request())
            await line.say(answer * (2 if len(here.received) == 1 else 1))

        return act

    async def run() -> tuple[int, int, int]:
        quick = Patience(attempts=3, first=0.001, most=0.01)
        async with (
            listening(twice_at_first(token)) as auth,
            listening(twice_at_first(listed)) as api,
            Service(settings_for(auth.url, api.url), patience=quick) as service,
        ):
            problems = await service.problems()
        return len(problems), len(auth.received), len(api.received)

    assert asyncio.run(run()) == (1, 2, 2)


@pytest.mark.parametrize("operation", list(Operation))
def test_provisional_answers_are_no_second_ones(operation: Operation) -> None:
    """100 and 103 may come before the answer, together with it or apart."""
    hints = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
    good = raw(200, body_of(operation, 1))
    for pieces in ((hints + good,), (hints, good), (hints * 100, good)):
        seen = asyncio.run(seen_of(answering(*pieces), request_of(operation, 1)))
        assert verdict(operation, seen).proof is Proof.DONE


# --- encodings, and how much is read --------------------------------------------------------------

# Two gigabytes of zeros, three times in gzip: 272 bytes.
BOMB = b64decode(
    "H4sIAAAAAAACA5Pv5mAAASbmt3cW5k1OlGh7WF+iyJuUzMR60qJnpurcgxMVZqjJMDwUiNi0wMDUuu+sgmDx5B1569gd"
    "BERDT3O9TfzzvXSl//5PJ6f//nG85EaV2c/i3du//y80rN/1z7rWEGS2cvnHAsubfYyHb599dLe9GCiS8MZOXu7Ne7fG"
    "4/7rz89hBoq4vf/98uTpu/yNV7fr/z7HCBRZ/D1r75y32xp2nz2/uP8dWKRcXwJknmYTiHdBCczRBXMElJE4ozKjMqMy"
    "ozKjMqMyozKjMqMyozKjMqMyg0Um/PXTGmvWM3X5Yuf38+WaH559df332/FC/xneh7n5FtyUZwAAsloknZUNAAA="
)
ENCODINGS = ("gzip", "GZIP", "deflate", "br", "zstd", "identity, gzip", "gzip, gzip, gzip", "x")


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("operation", list(Operation))
def test_an_encoded_yes_is_a_doubt(operation: Operation, encoding: str) -> None:
    """Behind it may be a page or a no; a no under any encoding is still what its status says."""

    async def run(status: int) -> Exchange:
        body = gzip.compress(body_of(operation, 1))
        act = answering(raw(status, body, Content_Encoding=encoding))
        return await seen_of(act, request_of(operation, 1))

    yes, no = asyncio.run(run(200)), asyncio.run(run(403))
    assert (yes.status, yes.body, yes.failure) == (200, None, ENCODED)
    assert verdict(operation, yes).proof is Proof.UNSURE
    assert verdict(operation, no).proof is Proof.REFUSED


@pytest.mark.parametrize("sent", [0, 1, 20])
@pytest.mark.parametrize("operation", list(Operation))
def test_an_encoded_yes_that_is_cut_off_is_a_doubt(operation: Operation, sent: int) -> None:
    """A proxy that unpacks or packs and leaves the old length: a page may lie behind it as well."""
    whole = raw(200, gzip.compress(body_of(operation, 1)), Content_Encoding="gzip")
    head = whole[: whole.index(b"\r\n\r\n") + 4]
    seen = asyncio.run(seen_of(cutting(whole[: len(head) + sent]), request_of(operation, 1)))
    assert (seen.status, seen.body, seen.failure) == (200, None, ENCODED)
    assert verdict(operation, seen).proof is Proof.UNSURE


@pytest.mark.parametrize("named", [{"Content_Encoding": "identity"}, {"Content_Encoding": ""}, {}])
def test_no_encoding_is_none(named: dict[str, str]) -> None:
    """Identity is what was asked for; an empty name, or an encoding of nothing, is none either."""
    seen = asyncio.run(seen_of(answering(raw(200, b"{}", **named)), invite(1, 2)))
    assert (seen.body, verdict(INVITE, seen).proof) == (b"{}", Proof.DONE)
    empty = raw(200, b"", Content_Encoding="gzip")
    seen = asyncio.run(seen_of(answering(empty), invite(1, 2)))
    assert (seen.body, verdict(INVITE, seen).proof) == (b"", Proof.DONE)


@pytest.mark.parametrize("status", [200, 422, 500])
def test_nothing_is_ever_unpacked(status: int) -> None:
    """272 bytes that stand for two gigabytes stay 272 bytes: of a token, a list and each call."""
    packed = raw(status, BOMB, Content_Encoding="gzip, gzip, gzip")

    async def run() -> None:
        quick = Patience(attempts=2, first=0.001, most=0.01)
        for operation in Operation:
            seen = await seen_of(answering(packed), request_of(operation, 1))
            assert (seen.status, seen.body, seen.failure) == (status, None, ENCODED)
        for auth_says, api_says in (
            (always(give_token), answering(packed)),
            (answering(packed),) * 2,
        ):
            async with (
                listening(auth_says) as auth,
                listening(api_says) as api,
                Service(settings_for(auth.url, api.url), patience=quick) as service,
            ):
                with pytest.raises(CampaignError) as stopped:
                    await service.problems()
            assert status != 200 or "Content-Encoding" in str(stopped.value)

    tracemalloc.start()
    try:
        asyncio.run(run())
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_an_answer_without_an_end_is_left_while_it_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Read until it is longer than any answer can be, and no further; the status stands."""
    monkeypatch.setattr(connection, "LARGEST_BODY", 1_000_000)
    written = 0

    async def endless(_: WireServer, line: Line) -> None:
        nonlocal written
        await line.request()
        await line.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            await line.say(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
            written += 0x10000

    tracemalloc.start()
    try:
        seen = asyncio.run(seen_of(endless, invite(1, 2)))
        assert (seen.status, seen.body, seen.failure) == (200, None, TOO_LONG)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()
    assert written < 20_000_000  # what lay in the buffers of two sockets comes on top


def test_an_answer_is_read_as_far_as_its_request_explains_it() -> None:
    """Sixty megabytes of JSON take two gigabytes in memory: no call has that much to be told."""
    long = b"[" + b"{}," * 1_000_000 + b"{}]"
    notes = "x" * 1_000_000
    echo = json.dumps([{**person(1), "notes": notes, "candidate_id": 5001}]).encode()

    async def run(body: bytes, request: Request) -> Exchange:
        return await seen_of(answering(raw(200, body)), request)

    for operation in Operation:
        seen = asyncio.run(run(long, request_of(operation, 1)))
        assert (seen.status, seen.body, seen.failure) == (200, None, TOO_LONG)
    seen = asyncio.run(run(echo, add_candidates(101, [{**person(1), "notes": notes}])))
    assert verdict(ADD, seen).proof is Proof.DONE
    page = asyncio.run(run(b"<html>" + long, request_of(Operation.INVITE, 1)))
    assert (verdict(INVITE, page).proof, verdict(INVITE, page).then) == (Proof.UNSURE, Then.STOP)
