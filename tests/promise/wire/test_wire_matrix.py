"""Every row of the table of outcomes, for every call that changes something, over real sockets."""

import asyncio
import errno
import os
import socket
import ssl
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from data.store.states import Operation
from tasks.service import channel
from tasks.service.client import Service
from tasks.service.evidence import Exchange, Phase
from tasks.service.messages import Request, add_candidates
from tasks.service.verdict import Proof, Then, verdict
from tests.promise.wire.raw_answers import body_of, person, request_of, seen_of
from tests.promise.wire.socket_time import in_socket_time
from tests.support.ports import free_port
from tests.support.session import PATIENCE
from tests.support.wire_server import (
    Act,
    Line,
    Received,
    WireServer,
    always,
    give_token,
    hang,
    listening,
    settings_for,
)

CREATE, ATTACH, ADD, INVITE = Operation
NOT_SENT, REFUSED, UNSURE, DONE = Proof.NOT_SENT, Proof.REFUSED, Proof.UNSURE, Proof.DONE


REQUESTS = {operation: request_of(operation, 1) for operation in Operation}
ONE_BY_ONE = pytest.mark.parametrize("operation", list(Operation))

HANG = 45.0  # seconds, of a time that passes only while everybody waits, until a call is given up


async def for_each_operation(
    see: Callable[[Request], Awaitable[Exchange]],
) -> dict[Operation, Exchange]:
    """Make the four calls at the same time, each in a world of its own; for what takes time."""
    seen = await asyncio.gather(*(see(request) for request in REQUESTS.values()))
    return dict(zip(REQUESTS, seen, strict=True))


# --- before an answer -----------------------------------------------------------------------------


async def seen_at(base_url: str, request: Request, deadline: float = 45.0) -> Exchange:
    async with (
        listening(always(give_token)) as auth,
        Service(settings_for(auth.url, base_url), deadline=deadline) as service,
    ):
        await service.ready()
        return await service.call(request)


def assert_not_sent(operation: Operation, seen: Exchange) -> None:
    assert (seen.reached, seen.status) == (Phase.NOTHING, None)
    judged = verdict(operation, seen)
    assert (judged.proof, judged.then) == (NOT_SENT, Then.RETRY)


@ONE_BY_ONE
def test_a_refused_connection_sent_nothing(operation: Operation) -> None:
    """Refused connection: not sent, and named so."""
    seen = asyncio.run(seen_at(f"http://127.0.0.1:{free_port()}", REQUESTS[operation]))
    assert_not_sent(operation, seen)
    assert seen.failure == "ConnectError"


@ONE_BY_ONE
def test_a_connection_that_is_reset_as_soon_as_it_is_there_sent_nothing(
    operation: Operation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody can say any more who was at its other end: not sent, and no fault of ours."""

    def gone(_: socket.socket) -> object:
        raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")

    async def seen() -> Exchange:
        async with listening(always(give_token)) as service_and_auth:
            settings = settings_for(service_and_auth.url, service_and_auth.url)
            async with Service(settings, deadline=45.0) as service:
                await service.ready()
                monkeypatch.setattr(socket.socket, "getpeername", gone)
                return await service.call(REQUESTS[operation])

    assert_not_sent(operation, found := asyncio.run(seen()))
    assert found.failure == "ConnectError"


@ONE_BY_ONE
def test_an_unknown_host_sent_nothing(
    operation: Operation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DNS: not sent."""
    resolve = socket.getaddrinfo

    def unknown(host: object, *args: object, **kwargs: object) -> object:
        if host in {"service.invalid", b"service.invalid"}:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return resolve(host, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    assert_not_sent(operation, asyncio.run(seen_at("https://service.invalid", REQUESTS[operation])))


@ONE_BY_ONE
def test_tls_to_a_plain_port_sent_nothing(operation: Operation) -> None:
    """TLS failure (the other side does not speak it): not sent."""

    async def babble(_: WireServer, line: Line) -> None:
        await line.reader.read(100)
        await line.say(b"SSH-2.0-OpenSSH_9.2\r\n")
        await line.reader.read(100)

    async def run() -> Exchange:
        async with listening(babble) as api:
            return await seen_at(f"https://127.0.0.1:{api.port}", REQUESTS[operation])

    assert_not_sent(operation, asyncio.run(run()))


@ONE_BY_ONE
def test_a_tls_refusal_sent_nothing(operation: Operation) -> None:
    """TLS refusal (the service ends the handshake with an alert): not sent, no request seen."""

    async def run() -> tuple[Exchange, int]:
        # Without a certificate of its own a server has no cipher to agree on.
        refusing = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        async with listening(always(give_token), tls=refusing) as api:
            seen = await seen_at(api.url, REQUESTS[operation])
            return seen, len(api.received)

    seen, received = asyncio.run(run())
    assert_not_sent(operation, seen)
    assert received == 0


def test_a_tls_hang_sent_nothing() -> None:
    """A TLS handshake that never ends is given up before the deadline: not sent."""

    async def silent(_: WireServer, line: Line) -> None:
        await hang()

    async def see(request: Request) -> Exchange:
        async with listening(silent) as api:
            return await seen_at(f"https://127.0.0.1:{api.port}", request, deadline=HANG)

    for operation, seen in in_socket_time(for_each_operation(see)).items():
        assert_not_sent(operation, seen)
        assert seen.failure == "ConnectTimeout"


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n", b"nonsense", b""]
)
@ONE_BY_ONE
def test_a_proxy_that_opens_no_tunnel_sent_nothing(
    operation: Operation, answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Proxy refusal, or a proxy that breaks off: its CONNECT carries nothing of ours."""

    async def refuse(here: WireServer, line: Line) -> None:
        here.received.append(await line.head())
        await line.say(answer)

    async def run() -> tuple[Exchange, list[Received]]:
        async with listening(refuse) as proxy:
            monkeypatch.setenv("HTTPS_PROXY", proxy.url)
            monkeypatch.delenv("NO_PROXY", raising=False)
            return await seen_at("https://service.invalid", REQUESTS[operation]), proxy.received

    seen, received = asyncio.run(run())
    assert [one.method for one in received] == ["CONNECT"]
    assert_not_sent(operation, seen)


def test_a_tunnel_that_leads_to_no_tls_sent_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A portal that answers within the tunnel itself: not sent, and nothing is thrown about."""
    thrown: list[dict[str, Any]] = []

    async def portal(_: WireServer, line: Line) -> None:
        await line.head()
        await line.say(b"HTTP/1.1 200 OK\r\n\r\n")
        await line.reader.read(1)
        await line.answer(200, b"<html>", "text/html")

    async def see(request: Request) -> Exchange:
        asyncio.get_running_loop().set_exception_handler(lambda _, what: thrown.append(what))
        async with listening(portal) as proxy:
            monkeypatch.setenv("HTTPS_PROXY", proxy.url)
            monkeypatch.delenv("NO_PROXY", raising=False)
            return await seen_at("https://service.invalid", request)

    for operation, seen in asyncio.run(for_each_operation(see)).items():
        assert_not_sent(operation, seen)
    assert thrown == []


@pytest.mark.parametrize("gone", [errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ECONNREFUSED])
def test_an_address_that_cannot_be_reached_any_more_is_asked_for_anew(
    gone: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another network, in which the service's other address is the one: found at once."""
    # However long the first call took, the address that it found is still the one to try.
    monkeypatch.setattr(channel, "_PLACE_KEPT_SECONDS", PATIENCE)
    tried: list[str] = []
    connect = asyncio.BaseEventLoop.create_connection

    async def without_a_way(loop: Any, protocol: Any, host: str, *args: Any, **more: Any) -> Any:
        tried.append(host)
        if host == "127.0.0.1":  # found before, when there was a way
            raise OSError(gone, os.strerror(gone))
        return await connect(loop, protocol, host, *args, **more)

    async def run() -> Exchange:
        async with (
            listening(always(give_token)) as api,
            Service(settings_for(api.url, f"http://localhost:{api.port}")) as service,
        ):
            await service.call(REQUESTS[INVITE])
            monkeypatch.setattr(asyncio.BaseEventLoop, "create_connection", without_a_way)
            return await service.call(REQUESTS[INVITE])

    assert asyncio.run(run()).status == 200
    assert tried == ["127.0.0.1", "localhost"]


def test_no_token_sent_nothing() -> None:
    """A call that cannot get a token in time never began: not sent."""

    async def see(request: Request) -> Exchange:
        async def silent(_: Line, __: Received) -> None:
            await hang()

        async with (
            listening(always(silent)) as auth,
            listening(always(give_token)) as api,
            Service(settings_for(auth.url, api.url), deadline=HANG) as service,
        ):
            seen = await service.call(request)
        assert api.connections == 0
        return seen

    for operation, seen in in_socket_time(for_each_operation(see)).items():
        assert_not_sent(operation, seen)


def test_this_machine_is_reached_without_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy of the environment is for the world outside; the sandbox is not behind it."""
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(variable, f"http://127.0.0.1:{free_port()}")
    monkeypatch.delenv("NO_PROXY", raising=False)
    seen = asyncio.run(seen_of(always(give_token), REQUESTS[INVITE]))
    assert seen.status == 200


# --- sending started, no status line --------------------------------------------------------------


async def reset_at_the_first_byte(_: WireServer, line: Line) -> None:
    await line.reader.readexactly(1)
    line.reset()


async def reset_in_the_head(_: WireServer, line: Line) -> None:
    await line.reader.readexactly(10)
    line.reset()


async def reset_after_reading(_: WireServer, line: Line) -> None:
    await line.request()
    line.reset()


async def close_after_reading(_: WireServer, line: Line) -> None:
    await line.request()


async def hang_after_reading(_: WireServer, line: Line) -> None:
    await line.request()
    await hang()


async def half_a_status_line(_: WireServer, line: Line) -> None:
    await line.request()
    await line.say(b"HTTP/1.1 20")


async def half_the_headers(_: WireServer, line: Line) -> None:
    await line.request()
    await line.say(b"HTTP/1.1 200 OK\r\nContent-Type: applic")


async def hang_in_the_headers(_: WireServer, line: Line) -> None:
    await line.request()
    await line.say(b"HTTP/1.1 200 OK\r\nContent-Type: applic")
    await hang()


async def only_a_provisional_answer(_: WireServer, line: Line) -> None:
    await line.request()
    await line.say(b"HTTP/1.1 102 Processing\r\n\r\n")


async def not_http(_: WireServer, line: Line) -> None:
    await line.request()
    await line.say(b"220 mail.example.com ESMTP\r\n\r\n")


BREAKING_OFF = [reset_at_the_first_byte, reset_in_the_head]
LOST = [
    reset_after_reading,
    close_after_reading,
    half_a_status_line,
    half_the_headers,
    only_a_provisional_answer,
    not_http,
]


def assert_unsure(operation: Operation, seen: Exchange) -> None:
    assert (seen.status, seen.body) == (None, None)
    assert seen.failure is not None
    judged = verdict(operation, seen)
    assert (judged.proof, judged.then) == (UNSURE, Then.GO_ON)


@pytest.mark.parametrize("act", BREAKING_OFF)
@ONE_BY_ONE
def test_a_request_that_was_cut_off_is_unsure(operation: Operation, act: Act) -> None:
    """Sending started: how much of it arrived is not ours to know."""
    seen = asyncio.run(seen_of(act, REQUESTS[operation]))
    assert seen.reached in {Phase.SENDING, Phase.SENT}
    assert_unsure(operation, seen)


@pytest.mark.parametrize("act", LOST)
@ONE_BY_ONE
def test_a_request_without_an_answer_is_unsure(operation: Operation, act: Act) -> None:
    """The request left whole and no status line came: it may have happened, whatever broke."""
    seen = asyncio.run(seen_of(act, REQUESTS[operation]))
    assert seen.reached is Phase.SENT
    assert_unsure(operation, seen)


@pytest.mark.parametrize("act", [hang_after_reading, hang_in_the_headers])
def test_a_service_that_hangs_is_given_up_and_unsure(act: Act) -> None:
    """The deadline of a call ends it; the work may have been done all the same."""

    async def see(request: Request) -> Exchange:
        clock = asyncio.get_running_loop().time
        began = clock()
        seen = await seen_of(act, request, HANG)
        assert HANG <= clock() - began < HANG + 1
        return seen

    for operation, seen in in_socket_time(for_each_operation(see)).items():
        assert (seen.reached, seen.failure) == (Phase.SENT, "TimeoutError")
        assert_unsure(operation, seen)


def test_a_body_that_never_left_whole_is_seen_as_sending() -> None:
    """A service that stops reading midway: the phase is SENDING, the verdict unsure."""

    async def only_the_head(_: WireServer, line: Line) -> None:
        await line.head()
        await hang()

    large = add_candidates(101, [{**person(1), "notes": "x" * 20_000_000}])
    seen = in_socket_time(seen_of(only_the_head, large, HANG))
    assert (seen.reached, seen.status) == (Phase.SENDING, None)
    assert verdict(ADD, seen).proof is UNSURE


@ONE_BY_ONE
def test_a_connection_carries_one_request(operation: Operation) -> None:
    """Kept, it could end just as it is used again, or bring the last answer once more."""

    async def run() -> tuple[Exchange, WireServer]:
        async def reply(line: Line, _: Received) -> None:
            await line.answer(200, body_of(operation, 1), Connection="keep-alive")

        async with (
            listening(always(give_token)) as auth,
            listening(always(reply)) as api,
            Service(settings_for(auth.url, api.url)) as service,
        ):
            await service.call(REQUESTS[operation])
            return await service.call(REQUESTS[operation]), api

    seen, api = asyncio.run(run())
    assert verdict(operation, seen).proof is DONE
    assert api.connections == len(api.received) == 2
    assert {each.headers["connection"] for each in api.received} == {"close"}


# --- by status ------------------------------------------------------------------------------------

STOPS = (402, 403, 406, 410, 411, 412, 414, 415, 418, 423, 424, 428, 431, 451, 499, 501, 505)
DOUBTS = (408, 409, 500, 502, 503, 504, 507, 520, 599, 600, 999)
HERE_AND_THERE = (300, 301, 302, 303, 304, 307, 308)


def expected(operation: Operation, status: int) -> tuple[Proof, Then]:
    """Say what outcomes.md says, in its order, for one row."""
    if status in STOPS:
        return REFUSED, Then.STOP
    if status in DOUBTS:
        return UNSURE, Then.GO_ON
    if status in HERE_AND_THERE:
        return UNSURE, Then.STOP
    named = {
        401: (NOT_SENT, Then.RENEW),
        421: (NOT_SENT, Then.RETRY),
        425: (NOT_SENT, Then.PAUSE),
        429: (NOT_SENT, Then.PAUSE),
        413: (REFUSED, Then.STOP),
    }
    if status in named:
        return named[status]
    by_row = {400: (ADD, INVITE), 422: (ADD, INVITE), 404: (INVITE,), 405: (INVITE,)}
    return REFUSED, Then.ROW if operation in by_row[status] else Then.STOP


STATUSES = (*STOPS, *DOUBTS, *HERE_AND_THERE, 400, 401, 404, 405, 413, 421, 422, 425, 429)


@ONE_BY_ONE
def test_every_status_means_what_the_table_says(operation: Operation) -> None:
    """Each status of the table, and each the table does not name, over one real connection each."""

    async def run() -> dict[int, Exchange]:
        seen: dict[int, Exchange] = {}
        replies = iter(STATUSES)

        async def reply(line: Line, _: Received) -> None:
            status = next(replies)
            body = b"" if status == 304 else b'{"error": "no"}'
            await line.answer(status, body, Location="/api/elsewhere")

        async with (
            listening(always(give_token)) as auth,
            listening(always(reply)) as api,
            Service(settings_for(auth.url, api.url)) as service,
        ):
            await service.ready()
            for status in STATUSES:
                seen[status] = await service.call(REQUESTS[operation])
            assert len(api.received) == len(STATUSES)
        return seen

    for status, seen in asyncio.run(run()).items():
        assert (seen.reached, seen.status, seen.failure) == (Phase.ANSWERED, status, None)
        judged = verdict(operation, seen)
        assert (judged.proof, judged.then) == expected(operation, status), status


async def body_cut_by_a_close(_: WireServer, line: Line) -> None:
    await line.request()
    await line.say(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n[{")


async def body_cut_where_only_the_close_ends_it(_: WireServer, line: Line) -> None:
    await line.request()
    await line.say(b'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n[{"email1": "ada1@ex')


async def body_that_hangs(_: WireServer, line: Line) -> None:
    await line.request()
    await line.say(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n[{")
    await hang()


async def chunks_cut_off(_: WireServer, line: Line) -> None:
    await line.request()
    await line.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n[{")


CUT = [
    body_cut_by_a_close,
    body_cut_where_only_the_close_ends_it,
    chunks_cut_off,
]


def assert_judged_by_status(operation: Operation, seen: Exchange) -> None:
    assert (seen.reached, seen.status) == (Phase.ANSWERED, 200)
    judged = verdict(operation, seen)
    proof = UNSURE if operation in {CREATE, ADD} else DONE
    assert (judged.proof, judged.then) == (proof, Then.GO_ON)


@pytest.mark.parametrize("act", CUT)
@ONE_BY_ONE
def test_a_lost_body_leaves_the_status_to_judge_by(operation: Operation, act: Act) -> None:
    """A status line came, then the body was lost: an invitation is done, a missing id is unsure."""
    assert_judged_by_status(operation, asyncio.run(seen_of(act, REQUESTS[operation])))


def test_a_body_that_hangs_leaves_the_status_to_judge_by() -> None:
    """The deadline ends the reading of a body as well; the status line came before."""

    async def see(request: Request) -> Exchange:
        return await seen_of(body_that_hangs, request, HANG)

    for operation, seen in in_socket_time(for_each_operation(see)).items():
        assert seen.body is None
        assert_judged_by_status(operation, seen)


@pytest.mark.parametrize("status", [403, 422, 429, 500])
@ONE_BY_ONE
def test_a_lost_body_of_a_no_changes_nothing(operation: Operation, status: int) -> None:
    """A refusal whose body is lost is still the refusal that its status line says."""

    async def act(_: WireServer, line: Line) -> None:
        await line.request()
        await line.say(f"HTTP/1.1 {status} No\r\nContent-Length: 50\r\n\r\n{{".encode())

    seen = asyncio.run(seen_of(act, REQUESTS[operation]))
    assert (seen.status, seen.body) == (status, None)
    judged = verdict(operation, seen)
    assert (judged.proof, judged.then) == expected(operation, status)
