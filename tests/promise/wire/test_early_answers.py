"""An answer that comes too early is nobody's: before its request, or before the whole of it.

In the clear and within TLS, where asyncio holds more than it shows, and where messages come that
are no answer.
"""

import asyncio
import select
import ssl
from datetime import timedelta
from itertools import cycle
from pathlib import Path

import pytest
from cryptography import x509

from data.store.states import Operation
from tasks.service import channel
from tasks.service.client import Service
from tasks.service.connection import Conversation
from tasks.service.evidence import GLUED, SPOKE_FIRST, Exchange, Phase
from tasks.service.messages import add_candidates
from tasks.service.verdict import Proof, Then, verdict
from tests.promise.wire.early_service import EarlyService, End
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
from tests.support.authority import THIS_MACHINE, certify, served_with
from tests.support.session import PATIENCE
from tests.support.wire_server import (
    Line,
    WireServer,
    always,
    give_token,
    leading_to,
    listening,
    settings_for,
)

HOST = "service.example"
DAY = timedelta(days=1)
ADD = Operation.ADD
VERSIONS = {"clear": None, "tls 1.2": ssl.TLSVersion.TLSv1_2, "tls 1.3": ssl.TLSVersion.TLSv1_3}
IN_THE_CLEAR_AND_WITHIN_TLS = pytest.mark.parametrize("version", VERSIONS.values(), ids=VERSIONS)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for this machine, and for a host that only a proxy can find."""
    folder = tmp_path_factory.mktemp("authority")
    return certify(folder, THIS_MACHINE, x509.DNSName(HOST), begins=-DAY, ends=DAY)


@pytest.fixture(params=["clear", "tls"])
def within(request: pytest.FixtureRequest, authority: Path) -> Path | None:
    """The certificate of the service, where it has one."""
    return authority if request.param == "tls" else None


# --- before the request ---------------------------------------------------------------------------


def seen_by(
    service: EarlyService, authority: Path | None, operation: Operation
) -> tuple[Exchange, int]:
    """One call, for which the early bytes lie in the socket, unread, just before it is written.

    How often the last look was taken comes with it: until then nobody reads.
    """
    opened: list[Conversation] = []
    looks = 0

    async def last() -> None:
        nonlocal looks
        looks += 1
        service.speak.set()
        assert service.spoken.wait(PATIENCE)
        if looks == 1:
            lowest = opened[-1].layers[0].get_extra_info("socket")
            assert select.select([lowest], [], [], PATIENCE)[0], "nothing lies in the socket"

    async def call() -> Exchange:
        really_open = channel.Way.open

        async def open_it(way: channel.Way) -> Conversation:
            opened.append(await really_open(way))
            return opened[-1]

        base_url = f"{'https' if authority else 'http'}://127.0.0.1:{service.port}"
        ca_file = authority / "certificate.pem" if authority else None
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(channel.Way, "open", open_it)
            async with (
                listening(always(give_token)) as auth,
                Service(
                    settings_for(auth.url, base_url), deadline=DEADLINE, ca_file=ca_file
                ) as client,
            ):
                await client.ready()
                return await client.call(request_of(operation, 1), last)

    return asyncio.run(call()), looks


def context_for(authority: Path, version: ssl.TLSVersion | None) -> ssl.SSLContext | None:
    if version is None:
        return None
    tls = served_with(authority)
    tls.minimum_version = tls.maximum_version = version
    return tls


@IN_THE_CLEAR_AND_WITHIN_TLS
@pytest.mark.parametrize(
    ("operation", "status"),  # nothing is made of either before a byte of ours has left
    [*zip(cycle(Operation), STATUSES, strict=False)],
)
def test_what_lies_in_the_socket_before_the_request_is_no_answer_to_it(
    operation: Operation, status: int, version: ssl.TLSVersion | None, authority: Path
) -> None:
    """Whole, in two records, or behind what TLS has to say: nothing is sent."""
    answer = raw(status, body_of(operation, 1))
    head = answer.index(b"\r\n\r\n") + 4
    for early in ([answer], [answer[:head], answer[head:]], [answer[:9]]):
        with EarlyService(context_for(authority, version), early) as service:
            seen, _ = seen_by(service, authority if version else None, operation)
        assert (seen.reached, seen.status, seen.failure) == (Phase.NOTHING, None, SPOKE_FIRST)
        assert verdict(operation, seen).proof is Proof.NOT_SENT
        assert service.heard == b""


def test_what_tls_itself_says_before_the_request_is_no_answer(authority: Path) -> None:
    """The tickets of TLS 1.3 come after the handshake: the request waits for another look."""
    tls = context_for(authority, ssl.TLSVersion.TLSv1_3)
    with EarlyService(tls, answer=raw(200)) as service:
        seen, looks = seen_by(service, authority, Operation.INVITE)
    assert verdict(Operation.INVITE, seen).proof is Proof.DONE
    assert looks > 1
    assert service.heard.count(b"POST ") == 1


@pytest.mark.parametrize("in_flight", [1, 8])
@pytest.mark.parametrize("operation", list(Operation))
def test_an_answer_on_accepting_is_nobodys(
    operation: Operation, in_flight: int, within: Path | None
) -> None:
    """Said before a byte of ours has left, and read: nothing is sent to whoever does that."""

    async def run(status: int) -> tuple[list[Exchange], list[bytes]]:
        spoken = asyncio.Event()
        heard: list[bytes] = []

        async def act(here: WireServer, line: Line) -> None:
            await line.say(raw(status, body_of(operation, here.connections)))
            if here.connections == in_flight:
                spoken.set()
            heard.append(await line.reader.read())
            if len(heard) == in_flight:
                all_heard.set()

        async def last() -> None:
            await spoken.wait()

        all_heard = asyncio.Event()
        async with (
            listening(always(give_token)) as auth,
            listening(act, tls=served_with(within) if within else None) as api,
            Service(
                settings_for(auth.url, api.url),
                deadline=DEADLINE,
                ca_file=within and within / "certificate.pem",
            ) as service,
        ):
            calls = (service.call(request_of(operation, n), last) for n in range(in_flight))
            seen = await asyncio.gather(*calls)
            await all_heard.wait()
        return list(seen), heard

    for status in STATUSES:
        seen, heard = asyncio.run(run(status))
        assert b"".join(heard) == b""
        for each in seen:
            assert (each.reached, each.status, each.failure) == (Phase.NOTHING, None, SPOKE_FIRST)
            assert verdict(operation, each).proof is Proof.NOT_SENT


@IN_THE_CLEAR_AND_WITHIN_TLS
@pytest.mark.parametrize("ends", [End.CLOSE, End.RESET])
@pytest.mark.parametrize("operation", list(Operation))
def test_a_connection_that_ended_before_the_request_sent_nothing(
    operation: Operation, ends: End, version: ssl.TLSVersion | None, authority: Path
) -> None:
    """Its end lies in the socket before a byte of ours has left, and is seen."""
    with EarlyService(context_for(authority, version), ends=ends) as service:
        seen, _ = seen_by(service, authority if version else None, operation)
    assert (seen.reached, seen.status) == (Phase.NOTHING, None)
    judged = verdict(operation, seen)
    assert (judged.proof, judged.then) == (Proof.NOT_SENT, Then.RETRY)
    assert service.heard == b""


# --- before the whole of it -----------------------------------------------------------------------

LARGE = add_candidates(101, [{**person(1), "notes": "x" * 20_000_000}])


@pytest.mark.parametrize(
    ("status", "proof"),
    [
        (413, Proof.REFUSED),
        (200, Proof.UNSURE),
        (503, Proof.UNSURE),
        (408, Proof.NOT_SENT),  # the service cannot have had the whole of it
    ],
)
@pytest.mark.parametrize("ends", [False, True])
def test_an_answer_may_come_while_the_request_is_still_being_written(
    status: int, proof: Proof, ends: bool, within: Path | None
) -> None:
    """A 413 does not wait for twenty megabytes; a yes to half a request is a doubt."""

    async def act(_: WireServer, line: Line) -> None:
        await line.head()
        await line.say(raw(status, body_of(ADD, 1)))
        if not ends:
            await asyncio.Event().wait()

    seen = asyncio.run(seen_of(act, LARGE, authority=within))
    assert (seen.reached, seen.status, seen.failure) == (Phase.ANSWERED, status, None)
    assert (seen.early, seen.body_failed) == (True, True)
    assert verdict(ADD, seen, rows=1).proof is proof


@pytest.mark.parametrize(
    ("status", "proof"),
    [(413, Proof.REFUSED), (200, Proof.UNSURE), (408, Proof.UNSURE)],
)
def test_an_answer_that_began_too_early_may_end_in_time(
    status: int, proof: Proof, within: Path | None
) -> None:
    """A yes that began before the whole request had left is a doubt, however it ends."""
    answer = raw(status, body_of(ADD, 1))

    async def act(_: WireServer, line: Line) -> None:
        received = await line.head()
        await line.say(answer[:-1])
        await line.reader.readexactly(int(received.headers["content-length"]))
        await line.say(answer[-1:])

    seen = asyncio.run(seen_of(act, LARGE, authority=within))
    assert (seen.status, seen.failure) == (status, None)
    assert (seen.early, seen.body_failed) == (True, False)
    assert verdict(ADD, seen, rows=1).proof is proof


@pytest.mark.parametrize("secure", [False, True])
def test_a_yes_to_half_a_request_is_a_doubt_through_a_proxy(
    secure: bool, authority: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In TLS within TLS as well: what has not left lies below both."""

    async def act(_: WireServer, line: Line) -> None:
        await line.head()
        await line.say(raw(200, body_of(ADD, 1)))
        await asyncio.Event().wait()

    async def run() -> Exchange:
        tls = served_with(authority)
        async with (
            listening(always(give_token)) as auth,
            listening(act, tls=tls) as api,
            listening(leading_to(api), tls=tls if secure else None) as proxy,
        ):
            monkeypatch.setenv("HTTPS_PROXY", proxy.url)
            monkeypatch.delenv("NO_PROXY", raising=False)
            monkeypatch.delenv("no_proxy", raising=False)
            settings = settings_for(auth.url, f"https://{HOST}:{api.port}")
            ca_file = authority / "certificate.pem"
            async with Service(settings, deadline=DEADLINE, ca_file=ca_file) as service:
                return await service.call(LARGE)

    seen = asyncio.run(run())
    assert (seen.status, seen.early, seen.body_failed) == (200, True, True)
    assert verdict(ADD, seen).proof is Proof.UNSURE


def test_an_answer_to_the_whole_of_a_large_request_is_believed(within: Path | None) -> None:
    """Provisional answers may come before."""

    async def act(_: WireServer, line: Line) -> None:
        received = await line.head()
        await line.say(b"HTTP/1.1 100 Continue\r\n\r\n")
        await line.reader.readexactly(int(received.headers["content-length"]))
        await line.say(raw(200, body_of(ADD, 1)))

    seen = asyncio.run(seen_of(act, LARGE, authority=within))
    assert (seen.early, seen.body_failed) == (False, False)
    assert verdict(ADD, seen, rows=1).proof is Proof.DONE


# --- more than one --------------------------------------------------------------------------------


def test_two_answers_in_a_segment_are_no_answer(within: Path | None) -> None:
    """Whichever status comes first, in one record of TLS or in two: which is the request's?

    What is read depends neither on the operation nor on the second status; what it proves is asked
    for each operation.
    """
    pairs = [*zip(STATUSES, (*STATUSES[1:], STATUSES[0]), strict=True)]

    async def run() -> list[Exchange]:
        acts = [answering(raw(first) + raw(then)) for first, then in pairs]
        acts += [answering([raw(first), raw(then)]) for first, then in pairs]
        calls = (seen_of(act, request_of(ADD, 1), authority=within) for act in acts)
        return await asyncio.gather(*calls)

    for (first, _), seen in zip(pairs * 2, asyncio.run(run()), strict=True):
        assert (seen.status, seen.failure, seen.body) == (first, GLUED, None)
        for operation in Operation:
            judged = verdict(operation, seen)
            assert judged.proof is Proof.UNSURE
            assert f"status {first}" in judged.reason
