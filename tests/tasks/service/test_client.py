"""The service over real sockets: what leaves, what is read, what each failure is called."""

import asyncio
import gc
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from data.store.states import Operation
from tasks.service import channel, connection
from tasks.service.channel import exchange
from tasks.service.client import Service
from tasks.service.connection import Asked, Conversation
from tasks.service.errors import CredentialsRefused, NotTheService, Unreachable
from tasks.service.evidence import Exchange, HeldBack, Phase
from tasks.service.harmless_retries import Patience
from tasks.service.messages import Request, attach_problem, invite
from tasks.service.verdict import Proof, Then, verdict
from tests.support.session import PATIENCE
from tests.support.wire_server import (
    SECRET,
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

QUICK = Patience(attempts=3, first=0.001, most=0.01)
LIST = json.dumps([{"id": 42, "title": "Two sum"}]).encode()


T = TypeVar("T")


def using(
    act: Act, do: Callable[[Service], Awaitable[T]], *, below: str = "", **options: Any
) -> tuple[T, WireServer, WireServer]:
    """Run `do` with a service whose API does `act`; give the result and what both servers saw."""

    async def run() -> tuple[T, WireServer, WireServer]:
        async with (
            listening(always(give_token)) as auth,
            listening(act) as api,
            Service(settings_for(auth.url, api.url + below), patience=QUICK, **options) as service,
        ):
            return await do(service), auth, api

    return asyncio.run(run())


def saying(*answers: tuple[int, bytes] | tuple[int, bytes, str]) -> Act:
    """Answer from a list, the last one for ever."""
    left = list(answers)

    async def reply(line: Line, _: Received) -> None:
        await line.answer(*(left.pop(0) if len(left) > 1 else left[0]))

    return always(reply)


# --- what leaves ----------------------------------------------------------------------------------


@pytest.mark.parametrize("below", ["", "/", "/v2", "/v2/"])
def test_paths_lie_below_the_base_url_without_a_doubled_slash(below: str) -> None:
    """Interface 4: {base_url}/api/...; a base URL may have a path of its own."""

    async def do(service: Service) -> None:
        await service.problems()
        await service.call(attach_problem(101, 42))
        await service.call(invite(101, 5001))

    _, auth, api = using(saying((200, LIST)), do, below=below)
    prefix = below.rstrip("/")
    assert [(one.method, one.path) for one in api.received] == [
        ("GET", f"{prefix}/api/problems"),
        ("POST", f"{prefix}/api/projects/101/problems"),
        ("POST", f"{prefix}/api/projects/101/candidates/5001/invite"),
    ]
    assert [(one.method, one.path) for one in auth.received] == [("POST", "/oauth/token")]


def test_every_api_call_carries_the_bearer_and_json_its_type() -> None:
    """Interface 4.2, 5.2: Bearer always, Content-Type with JSON; an invitation has no body."""

    async def do(service: Service) -> None:
        await service.problems()
        await service.call(attach_problem(101, 42))
        await service.call(invite(101, 5001))

    _, auth, api = using(saying((200, LIST)), do)
    listing, attaching, inviting = api.received
    for one in (*auth.received, *api.received):
        assert one.headers["user-agent"] == "hiring-campaigns"
        assert one.headers["accept-encoding"] == "identity"
    for one in api.received:
        assert one.headers["authorization"] == "Bearer token-1"
        assert "cookie" not in one.headers
    assert listing.headers["content-type"] == "application/json"
    assert (attaching.headers["content-type"], attaching.body) == (
        "application/json",
        b'{"problemid":42}',
    )
    assert "content-type" not in inviting.headers
    assert (inviting.headers["content-length"], inviting.body) == ("0", b"")
    assert auth.received[0].headers["content-type"] == "application/json"
    assert "authorization" not in auth.received[0].headers


def test_a_cookie_of_one_answer_is_not_sent_with_the_next_request() -> None:
    """Every call stands alone."""

    async def reply(line: Line, _: Received) -> None:
        await line.answer(200, LIST, Set_Cookie="session=1")

    async def do(service: Service) -> None:
        await service.problems()
        await service.problems()

    *_, api = using(always(reply), do)
    assert [one.headers.get("cookie") for one in api.received] == [None, None]


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    """One request and no other, wherever the answer points: the token is for the service alone."""

    async def run() -> tuple[Exchange, WireServer, WireServer]:
        async def point_there(line: Line, _: Received) -> None:
            await line.answer(status, Location=f"{there.url}/api/elsewhere")

        async with (
            listening(always(give_token)) as there,
            listening(always(give_token)) as auth,
            listening(always(point_there)) as api,
            Service(settings_for(auth.url, api.url), patience=QUICK) as service,
        ):
            return await service.call(invite(1, 2)), api, there

    seen, api, there = asyncio.run(run())
    assert (seen.status, len(api.received), there.connections) == (status, 1, 0)


@pytest.mark.parametrize("status", [302, 307, 308])
def test_no_redirect_gets_the_credentials(status: int) -> None:
    """A provider of tokens that points elsewhere is refused; nobody there hears the secret."""

    async def run() -> tuple[WireServer, WireServer]:
        async def point_there(line: Line, _: Received) -> None:
            await line.answer(status, Location=f"{there.url}/oauth/token")

        async with (
            listening(always(give_token)) as there,
            listening(always(point_there)) as auth,
            Service(settings_for(auth.url, there.url), patience=QUICK) as service,
        ):
            with pytest.raises(CredentialsRefused):
                await service.ready()
            return auth, there

    auth, there = asyncio.run(run())
    assert (len(auth.received), there.connections) == (1, 0)


def test_a_call_leaves_nothing_that_has_to_be_looked_for() -> None:
    """Its request and its answer go with it: else the interpreter looks through everything that a
    large campaign holds for what each invitation left behind."""

    async def do(service: Service) -> int:
        gc.collect()
        gc.disable()
        try:
            await service.call(invite(1, 2))
            await asyncio.sleep(0)  # asyncio ends a connection in its next step
            return sum(isinstance(each, Conversation) for each in gc.get_objects())
        finally:
            gc.enable()

    left, *_ = using(saying((200, b"")), do)
    assert left == 0


def test_as_many_calls_as_asked_are_in_flight() -> None:
    """Twenty at the same time: none waits for another."""

    async def do_with(count: int) -> int:
        all_here = asyncio.Event()
        here = 0

        async def reply(line: Line, _: Received) -> None:
            nonlocal here
            here += 1
            if here == count:
                all_here.set()
            await all_here.wait()
            await line.answer(200)

        async with (
            listening(always(give_token)) as auth,
            listening(always(reply)) as api,
            Service(settings_for(auth.url, api.url), deadline=45) as service,
        ):
            seen = await asyncio.gather(*(service.call(invite(1, n)) for n in range(count)))
        return sum(one.status == 200 for one in seen)

    assert asyncio.run(do_with(20)) == 20


# --- what an exchange records ---------------------------------------------------------------------


def test_an_exchange_records_what_came() -> None:
    """Status, type, body, Retry-After, the token's number and the time it took."""

    async def reply(line: Line, _: Received) -> None:
        await line.answer(429, b"later", "text/plain", Retry_After="7")

    seen, *_ = using(always(reply), lambda service: service.call(invite(1, 2)))
    assert (seen.reached, seen.status, seen.body) == (Phase.ANSWERED, 429, b"later")
    assert (seen.content_type, seen.retry_after, seen.token) == ("text/plain", "7", 1)
    assert (seen.failure, seen.body_failed) == (None, False)
    assert 0 < seen.seconds < 45


def test_an_endless_answer_counts_as_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """A body beyond any answer of the service is not kept; the status is."""
    monkeypatch.setattr(connection, "LARGEST_BODY", 1000)
    long, *_ = using(saying((200, b"x" * 1001)), lambda service: service.call(invite(1, 2)))
    fits, *_ = using(saying((200, b"x" * 1000)), lambda service: service.call(invite(1, 2)))
    assert (long.status, long.body) == (200, None)
    assert fits.body == b"x" * 1000


@pytest.mark.parametrize("request_", [invite(1, 2), attach_problem(1, 2)])
def test_what_is_held_back_when_it_could_leave_never_leaves(request_: Request) -> None:
    """The way is open by then: the service sees a connection, and no byte."""

    async def hold() -> None:
        raise HeldBack

    seen, _, api = using(saying((200, b"")), lambda service: service.call(request_, hold))
    assert (seen.reached, seen.failure) == (Phase.NOTHING, "HeldBack")
    assert (api.connections, api.received) == (1, [])
    judged = verdict(Operation.INVITE, seen)
    assert (judged.proof, judged.then) == (Proof.NOT_SENT, Then.RETRY)


@pytest.mark.parametrize("request_", [invite(1, 2), attach_problem(1, 2)])
def test_a_request_leaves_in_one_piece_after_one_look(request_: Request) -> None:
    """Between headers and a body there is no moment in which a run could be stopped."""
    looked: list[int] = []
    pieces: list[bytes] = []

    async def look() -> None:
        looked.append(len(pieces))

    async def act(_: WireServer, line: Line) -> None:
        pieces.append(await line.reader.read(65536))
        await line.answer(200)

    seen, *_ = using(act, lambda service: service.call(request_, look))
    assert (seen.status, looked) == (200, [0])
    [whole] = pieces
    assert whole.endswith(b"\r\n\r\n" + (request_.body or b""))


def test_cancelling_a_call_passes() -> None:
    """Only the caller can end a call early, and learns of it."""

    async def run() -> Any:
        arrived = asyncio.Event()

        async def silent(_: Line, __: Received) -> None:
            arrived.set()
            await hang()

        async with (
            listening(always(give_token)) as auth,
            listening(always(silent)) as api,
            Service(settings_for(auth.url, api.url)) as service,
        ):
            call = asyncio.create_task(service.call(invite(1, 2)))
            await arrived.wait()
            call.cancel()
            return (await asyncio.gather(call, return_exceptions=True))[0]

    assert isinstance(asyncio.run(run()), asyncio.CancelledError)


def test_refused_credentials_make_a_call_that_never_began() -> None:
    """A call never raises for what the identity provider says; its exchange names it."""

    async def refuse(line: Line, _: Received) -> None:
        await line.answer(401, b"{}")

    async def run() -> Exchange:
        async with (
            listening(always(refuse)) as auth,
            listening(saying((200, b""))) as api,
            Service(settings_for(auth.url, api.url), patience=QUICK) as service,
        ):
            return await service.call(invite(1, 2))

    seen = asyncio.run(run())
    assert (seen.reached, seen.failure) == (Phase.NOTHING, "CredentialsRefused")


def test_a_header_that_cannot_be_written_sends_nothing() -> None:
    """A local protocol error is raised while the bytes are composed: not one has left."""

    async def run() -> tuple[Exchange, list[bytes]]:
        heard: list[bytes] = []
        over = asyncio.Event()

        async def act(_: WireServer, line: Line) -> None:
            heard.append(await line.reader.read())
            over.set()

        async with listening(act) as api:
            way = channel.Way(api.url, deadline=PATIENCE)
            bad = Asked(b"POST", b"/api", [(b"Host", b"h"), (b"X-Bad", b"a\r\nb")])
            seen = await exchange(way, bad, ends=asyncio.get_running_loop().time() + PATIENCE)
            await over.wait()
        return seen, heard

    seen, heard = asyncio.run(run())
    assert (seen.reached, seen.failure, heard) == (Phase.NOTHING, "LocalProtocolError", [b""])
    judged = verdict(Operation.INVITE, seen)
    assert (judged.proof, judged.then) == (Proof.NOT_SENT, "stop")


# --- the list of problems -------------------------------------------------------------------------


def in_pages(*pages: tuple[str, list[int]]) -> Act:
    """Each page by its path: which problems are on it, and its Link header as {next} is filled."""
    links = dict(zip((path for path, _ in pages), [path for path, _ in pages[1:]], strict=False))

    async def act(here: WireServer, line: Line) -> None:
        here.received.append(received := await line.request())
        numbers = next(numbers for path, numbers in pages if path == received.path)
        body = json.dumps([{"id": number, "title": f"P{number}"} for number in numbers]).encode()
        more = links.get(received.path)
        first = '<http://elsewhere.example/>; rel="first", '
        headers = {"Link": f'{first}<{more}>; title="a, b"; rel="last next"'} if more else {}
        await line.answer(200, body, **headers)

    return act


def test_a_list_in_pages_is_read_to_its_end() -> None:
    """Interface 4.2 leaves paging open: what a Link header calls next belongs to the list."""
    pages = [("/v2/api/problems", [1, 2]), ("/v2/api/problems?page=2", [2, 3]), ("/more", [4])]
    problems, _, api = using(in_pages(*pages), Service.problems, below="/v2")
    assert [one.id for one in problems] == [1, 2, 3, 4]
    assert [one.path for one in api.received] == [path for path, _ in pages]
    assert {one.headers["authorization"] for one in api.received} == {"Bearer token-1"}


@pytest.mark.parametrize(
    "link",
    [
        '<https://127.0.0.1/api/problems>; rel="next"',
        '<http://evil.example/api/problems>; rel="next"',
        '<//evil.example/>; rel="next"',
        '<http://127.0.0.1:1/api/problems>; rel="next"',
        '<http://[::1/>; rel="next"',
        '</api/problems>; rel="next"',
        '</api/problems?page=2>; rel="prev"',
        "next",
    ],
)
def test_no_page_leads_the_token_elsewhere_or_round_in_a_circle(link: str) -> None:
    """Only pages of the same origin are asked for, and each once."""

    async def act(here: WireServer, line: Line) -> None:
        here.received.append(await line.request())
        await line.answer(200, LIST, Link=link)

    problems, _, api = using(act, Service.problems)
    assert ([one.id for one in problems], len(api.received)) == ([42], 1)


def test_a_list_without_an_end_is_given_up() -> None:
    """A service that always names another page keeps nobody waiting for ever."""

    async def act(here: WireServer, line: Line) -> None:
        here.received.append(await line.request())
        await line.answer(200, LIST, Link=f"<?page={len(here.received)}>; rel=next")

    problems, _, api = using(act, Service.problems)
    assert ([one.id for one in problems], len(api.received)) == ([42], 100)


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_the_list_is_asked_for_again_when_that_can_help(status: int) -> None:
    """It changes nothing, so it is retried; after a handful of tries the service is unreachable."""
    problems, _, api = using(saying((status, b""), (status, b""), (200, LIST)), Service.problems)
    assert (len(problems), len(api.received)) == (1, 3)
    with pytest.raises(Unreachable, match="ASSESSMENT_BASE_URL"):
        using(saying((status, b"")), Service.problems)


def test_a_lost_list_is_asked_for_again() -> None:
    """A connection that breaks off under the list costs a try and nothing else."""

    async def act(here: WireServer, line: Line) -> None:
        here.received.append(await line.request())
        if len(here.received) == 1:
            line.reset()
        elif len(here.received) == 2:
            await line.say(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[{")
        else:
            await line.answer(200, LIST)

    problems, _, api = using(act, Service.problems)
    assert (len(problems), len(api.received)) == (1, 3)


def test_a_401_for_the_list_renews_the_token_once() -> None:
    """One refresh, one repetition; again 401: the credentials are refused."""
    problems, auth, api = using(saying((401, b""), (200, LIST)), Service.problems)
    assert (len(problems), len(auth.received), len(api.received)) == (1, 2, 2)

    async def refused(service: Service) -> None:
        with pytest.raises(CredentialsRefused):
            await service.problems()

    _, auth, api = using(saying((401, b"")), refused)
    assert (len(auth.received), len(api.received)) == (2, 2)


NOT_LISTS = [
    (200, b"<html>", "text/html"),
    (200, b"{}"),
    (200, b""),
    (204, b""),
    (302, b""),
    (400, b""),
    (403, b"{}"),
    (404, b"[]"),
    (405, b""),
    (501, b""),
]


@pytest.mark.parametrize("answer", NOT_LISTS)
def test_anything_but_the_list_is_not_the_service(answer: tuple[int, bytes]) -> None:
    """A page, an error or another shape stops at once and names the address to look at."""

    async def stopped(service: Service) -> str:
        with pytest.raises(NotTheService) as error:
            await service.problems()
        assert error.value.exit_code == 1
        return str(error.value)

    text, _, api = using(saying(answer), stopped)
    assert "ASSESSMENT_BASE_URL" in text
    assert f"status {answer[0]}" in text
    assert len(api.received) == 1


def test_ready_means_a_token_and_no_call() -> None:
    """`ready` asks for one token, once, and nothing of the API."""

    async def do(service: Service) -> None:
        await service.ready()
        await service.ready()

    _, auth, api = using(saying((200, LIST)), do)
    assert (len(auth.received), api.connections) == (1, 0)


def test_a_renewed_token_is_the_one_the_next_call_carries() -> None:
    """After `renew` every call goes with the new token, and its exchange says which."""

    async def do(service: Service) -> tuple[int, int]:
        first = await service.call(invite(1, 2))
        await service.renew(first.token)
        await service.renew(first.token)
        second = await service.call(invite(1, 2))
        return first.token, second.token

    numbers, auth, _ = using(saying((401, b"")), do)
    assert (numbers, len(auth.received)) == ((1, 2), 2)


def test_nothing_secret_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """At the most talkative level: no secret, no token, no body, no email."""
    request = Request(Operation.ADD, "/api/projects/1/candidates", b'[{"email1":"ada@x.org"}]')

    async def do(service: Service) -> None:
        await service.problems()
        await service.call(request)

    with caplog.at_level(logging.DEBUG):
        using(saying((503, b""), (200, LIST), (500, b"ada@x.org")), do)
    assert caplog.records
    everything = "\n".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)
    for hidden in (SECRET, "token-1", "ada@x.org"):
        assert hidden not in everything


def test_what_is_printed_of_an_exchange_names_nobody() -> None:
    """A request and its answer repeat names and addresses of candidates; their repr does not."""
    request = Request(Operation.ADD, "/api/projects/1/candidates", b"ada@x.org")
    seen = Exchange(Phase.ANSWERED, 200, body=b"ada@x.org")
    assert "ada@x.org" not in repr(request) + repr(seen)


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "ALL_PROXY"])
def test_an_unusable_proxy_is_told_without_its_password(
    monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    """The environment's proxy is named by its own variable; its address may hold a password."""
    for other in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(variable, "socks5://user:hunter2@proxy:1")
    with pytest.raises(Unreachable) as stopped:
        using(saying((200, LIST)), Service.problems)
    assert f" in {variable} " in str(stopped.value)
    assert "hunter2" not in str(stopped.value)
    assert stopped.value.__cause__ is None
