"""Tokens: fetched once, shared, renewed in time; refused credentials end it at once."""

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from config.errors import CampaignError
from flows.engine.credentials import KeptSettings
from tasks.service.auth import Token, Tokens, read_token
from tasks.service.client import Service
from tasks.service.errors import CredentialsRefused, Unreachable
from tasks.service.evidence import Exchange, Phase
from tasks.service.harmless_retries import Patience
from tests.promise.wire.socket_time import in_socket_time
from tests.support.wire_server import SECRET, Line, Received, always, listening, settings_for

QUICK = Patience(attempts=3, first=0.001, most=0.05)
SETTINGS = settings_for("https://auth.example/", "https://api.example")


def said(status: int | None, body: Any = None, **more: Any) -> Exchange:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    if status is None:
        return Exchange(Phase.NOTHING, failure="ConnectError")
    return Exchange(Phase.ANSWERED, status, body=raw, **more)


def grant(value: str = "abc", **more: Any) -> Exchange:
    return said(200, {"access_token": value, "token_type": "Bearer", **more})


class Provider:
    """An identity provider that answers from a list, the last answer for ever."""

    def __init__(self, *answers: Exchange) -> None:
        self._answers = answers
        self.asked: list[dict[str, Any]] = []
        self.now = 1000.0

    async def send(self, body: bytes) -> Exchange:
        self.asked.append(json.loads(body))
        answer = self._answers[min(len(self.asked), len(self._answers)) - 1]
        await asyncio.sleep(0)  # let the others in flight come here too
        return answer

    def tokens(self) -> Tokens:
        return Tokens(SETTINGS, self.send, patience=QUICK, clock=lambda: self.now)


def test_the_request_is_the_one_of_the_interface() -> None:
    """Interface 4.1: JSON with exactly the four fields."""
    provider = Provider(grant())
    asyncio.run(provider.tokens().current())
    wanted = {
        "grant_type": "client_credentials",
        "client_id": "client-7",
        "client_secret": SECRET,
        "audience": "https://api.example/audience",
    }
    assert provider.asked == [wanted]


def test_one_token_is_fetched_for_all_in_flight() -> None:
    """Fifty calls that need a token at once cause one request."""
    provider = Provider(grant(expires_in=86400))

    async def run() -> set[int]:
        tokens = provider.tokens()
        given = await asyncio.gather(*(tokens.current() for _ in range(50)))
        return {token.number for token in given}

    assert asyncio.run(run()) == {1}
    assert len(provider.asked) == 1


LIFETIMES = [(86400, 86340), (300, 240), (100, 80), (2, 1.6), (0.5, 0.4), ("600", 540)]


@pytest.mark.parametrize(("expires_in", "good_for"), LIFETIMES)
def test_a_token_is_renewed_before_it_expires(expires_in: Any, good_for: float) -> None:
    """Renewed a fifth of its lifetime, at most a minute, before expires_in runs out."""
    provider = Provider(grant(expires_in=expires_in))

    async def run() -> list[int]:
        tokens = provider.tokens()
        numbers = [(await tokens.current()).number]
        for moment in (good_for - 0.05, good_for + 0.05):
            provider.now = 1000.0 + moment
            numbers.append((await tokens.current()).number)
        return numbers

    assert asyncio.run(run()) == [1, 1, 2]


@pytest.mark.parametrize(
    "odd", [None, "soon", "", True, False, 0, -5, [], {}, "nan", float("inf"), 10**400]
)
def test_an_odd_lifetime_is_not_an_error(odd: Any) -> None:
    """A missing or unreadable expires_in gives a token that is good for a while."""
    value, seconds = read_token(grant("abc", expires_in=odd))
    assert (value, seconds) == ("abc", 300.0)
    assert read_token(grant("abc")) == ("abc", 300.0)


def test_a_401_renews_the_token_once_for_all() -> None:
    """Eight calls refused with the same token cause one refresh; a late ninth causes none."""
    provider = Provider(grant("one"), grant("two"), grant("three"))

    async def run() -> list[Token]:
        tokens = provider.tokens()
        used = await tokens.current()
        renewed = await asyncio.gather(*(tokens.renew(used.number) for _ in range(8)))
        return [*renewed, await tokens.renew(used.number)]

    assert {(token.number, token.value) for token in asyncio.run(run())} == {(2, "two")}
    assert len(provider.asked) == 2


PASSING = [None, 408, 425, 429, 500, 502, 503, 504]


@pytest.mark.parametrize("status", PASSING)
def test_what_may_pass_is_tried_again(status: int | None) -> None:
    """Network errors, 429 and failing servers: a token request changes nothing."""
    provider = Provider(said(status), said(status), grant())
    assert asyncio.run(provider.tokens().current()).value == "abc"
    assert len(provider.asked) == 3


def test_an_answer_that_was_cut_off_is_asked_for_again() -> None:
    """A 200 whose body was lost may come whole the next time."""
    lost = Exchange(Phase.ANSWERED, 200, failure="ReadError")
    provider = Provider(lost, grant())
    assert asyncio.run(provider.tokens().current()).value == "abc"


@pytest.mark.parametrize("status", PASSING)
def test_a_provider_that_stays_away_is_unreachable(status: int | None) -> None:
    """After a handful of tries: exit 1, one line, and what to type."""
    provider = Provider(said(status))
    with pytest.raises(Unreachable) as stopped:
        asyncio.run(provider.tokens().current())
    assert len(provider.asked) == 3
    text = str(stopped.value)
    assert "ASSESSMENT_AUTH_URL" in text
    assert "Then run again" in text
    assert stopped.value.exit_code == 1


def test_those_who_waited_for_a_failed_refresh_wait_no_longer() -> None:
    """One series of tries for everybody in flight, not one each; the next call tries anew."""
    provider = Provider(*[said(503)] * 3, grant())

    async def run() -> tuple[list[Any], int]:
        tokens = provider.tokens()
        failed = await asyncio.gather(*(tokens.current() for _ in range(8)), return_exceptions=True)
        asked = len(provider.asked)
        await tokens.current()
        return failed, asked

    failed, asked = asyncio.run(run())
    assert asked == 3
    assert all(isinstance(error, Unreachable) for error in failed)


def test_a_small_retry_after_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked to wait, it waits as asked, but never long."""
    waits: list[float] = []
    real = asyncio.sleep

    async def sleep(delay: float, result: object = None) -> None:
        waits.append(delay)
        await real(0)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    busy = [said(429, retry_after=after) for after in ("2", "3600", None)]
    provider = Provider(*busy, grant())
    tokens = Tokens(SETTINGS, provider.send, patience=Patience(first=0.1, most=4.0))
    asyncio.run(tokens.current())
    first, second, third = [wait for wait in waits if wait]
    assert (first, second) == (2.0, 4.0)
    assert 0.1 <= third <= 1.0


REFUSALS = {
    "wrong secret": said(401, {"error": "access_denied"}),
    "bad request": said(400, {"error": "invalid_request"}),
    "forbidden": said(403),
    "moved": said(302),
    "a page": said(200, b"<html>log in</html>"),
    "no token": said(200, {"token_type": "Bearer"}),
    "empty token": grant(""),
    "a number": said(200, {"access_token": 12}),
    "a token for no header": grant("abc\r\nX: y"),
    "a token with spaces": grant("a b"),
    "not an object": said(200, ["abc"]),
    "nonsense": said(200, b"[" * 99999),
    "empty": said(200, b""),
}


@pytest.mark.parametrize("status", [404, 405])
def test_where_nothing_gives_tokens_the_address_is_wrong(status: int) -> None:
    """A 404 says nothing of the credentials; it is the address that a person has to look at."""
    provider = Provider(said(status))
    with pytest.raises(Unreachable, match=rf"ASSESSMENT_AUTH_URL .*\(status {status}\)"):
        asyncio.run(provider.tokens().current())
    assert len(provider.asked) == 1


@pytest.mark.parametrize("answer", REFUSALS.values(), ids=REFUSALS)
def test_refused_credentials_stop_at_once(answer: Exchange) -> None:
    """No second try; one line that names what to look at and never shows the secret."""
    provider = Provider(answer)
    with pytest.raises(CredentialsRefused) as stopped:
        asyncio.run(provider.tokens().current())
    assert len(provider.asked) == 1
    text = str(stopped.value)
    assert "\n" not in text
    assert "ASSESSMENT_CLIENT_ID" in text
    assert "ASSESSMENT_CLIENT_SECRET" in text
    assert SECRET not in text + repr(stopped.value)
    assert stopped.value.exit_code == 1


@pytest.mark.parametrize("status", [401, 404, 503])
def test_what_prefect_keeps_is_named_where_it_is_wrong(status: int) -> None:
    """None of its settings is on this machine, so a person is told how to replace them."""
    kept = KeptSettings(**dict(SETTINGS), kept_as="production")
    tokens = Tokens(kept, Provider(said(status)).send, patience=QUICK)
    with pytest.raises(CampaignError) as stopped:
        asyncio.run(tokens.current())
    where = "Prefect keeps them as production: set the six ASSESSMENT_ settings and type: "
    assert f"{where}campaign credentials production. Then" in str(stopped.value)
    assert SECRET not in str(stopped.value)


def test_a_token_never_shows_itself() -> None:
    """What is printed of a token is its number."""
    assert "abc" not in repr(Token("abc", 1, 0.0))


def test_giving_up_one_call_leaves_the_others_their_token() -> None:
    """The one that fetches is cancelled; those behind it fetch for themselves."""

    async def run() -> Token:
        begun = asyncio.Event()
        answers: Iterator[Callable[[], Any]] = iter([asyncio.Event().wait, begun.wait])

        async def send(_: bytes) -> Exchange:
            begun.set()
            await next(answers)()
            return grant()

        tokens = Tokens(SETTINGS, send, patience=QUICK)
        first = asyncio.create_task(tokens.current())
        await begun.wait()
        second = asyncio.create_task(tokens.current())
        await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        return await second

    assert asyncio.run(run()).value == "abc"


def test_a_token_of_a_second_works_over_the_wire(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every call carries a token that is still good, however short its life."""
    lifetime = 1.0
    assert Tokens.__init__.__kwdefaults__
    monkeypatch.setitem(
        Tokens.__init__.__kwdefaults__, "clock", lambda: asyncio.get_running_loop().time()
    )

    async def run() -> tuple[int, list[bool]]:
        loop = asyncio.get_running_loop()
        issued: dict[str, float] = {}
        good: list[bool] = []

        async def issue(line: Line, _: Received) -> None:
            name = f"token-{len(issued)}"
            issued[name] = loop.time()
            body = {"access_token": name, "expires_in": lifetime}
            await line.answer(200, json.dumps(body).encode())

        async def check(line: Line, received: Received) -> None:
            name = received.headers["authorization"].removeprefix("Bearer ")
            good.append(loop.time() - issued[name] < lifetime)
            await line.answer(200, b"[]")

        async with (
            listening(always(issue)) as auth,
            listening(always(check)) as api,
            Service(settings_for(auth.url, api.url)) as service,
        ):
            until = loop.time() + 1.8 * lifetime
            while loop.time() < until:
                await service.problems()
                await asyncio.sleep(0.01)
        return len(issued), good

    issued, good = in_socket_time(run())
    assert all(good)
    assert 2 <= issued <= 3
