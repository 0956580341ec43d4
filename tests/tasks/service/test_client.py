"""The six calls, against the sandbox."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

import pytest
import stamina

from config.settings import Settings
from sandbox import faults
from sandbox.faults import ALWAYS, Fault, dropped, html, status
from sandbox.server import Sandbox
from tasks.service import problems as listed
from tasks.service.auth import CredentialsRefused, Unreachable
from tasks.service.client import Service
from tasks.service.exchange import Exchange, Phase
from tasks.service.messages import words
from tasks.service.problems import NotTheService, ServiceProblem, problem_titled

T = TypeVar("T")
PROJECT_BODY = {
    "name": "Backend engineer",
    "description": "",
    "state": "open",
    "starttime": "Dec 1, 2026 9:00 am",
    "endtime": "Dec 14, 2026 6:00 pm",
}


@pytest.fixture(autouse=True)
def no_waiting() -> Iterator[None]:
    with stamina.set_testing(True, attempts=5):
        yield


def settings(sandbox: Sandbox, **more: Any) -> Settings:
    read = Settings(_env_file=None, **sandbox.settings)  # type: ignore[call-arg]
    return read.model_copy(update=more)


def use(sandbox: Sandbox, act: Callable[[Service], Awaitable[T]], **more: Any) -> T:
    async def main() -> T:
        async with Service(settings(sandbox, **more)) as service:
            return await act(service)

    return asyncio.run(main())


def test_no_slash_is_doubled() -> None:
    with Sandbox() as sandbox:
        slashed = dict.fromkeys(("auth_url", "base_url"), f"{sandbox.url}/")
        use(sandbox, Service.problems, **slashed)
        assert [each["path"] for each in sandbox.entries()] == ["/oauth/token", "/api/problems"]


def test_one_token_serves_everybody() -> None:
    async def many(service: Service) -> set[int]:
        made = await asyncio.gather(*(service.create(PROJECT_BODY) for _ in range(8)))
        renewed = [service.renew_token(each.token) for each in made]
        await asyncio.gather(*renewed)
        again = await asyncio.gather(*(service.create(PROJECT_BODY) for _ in range(8)))
        return {each.token for each in (*made, *again)}

    with Sandbox() as sandbox:
        assert use(sandbox, many) == {1, 2}
        assert [each["op"] for each in sandbox.entries()].count("token") == 2


def test_a_token_is_renewed_before_it_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: clock)

    async def later(service: Service) -> list[int]:
        nonlocal clock
        seen = []
        for clock in (1000.0, 1079.0, 1081.0):  # noqa: B007 - the clock is what moves
            seen.append((await service.create(PROJECT_BODY)).token)
        return seen

    with Sandbox(token_lifetime=100) as sandbox:
        assert use(sandbox, later) == [1, 1, 2]


TOKENS = [
    # a fault of the token -> fatal for a changing request, error of the problem list
    (status(401, times=ALWAYS), True, CredentialsRefused),
    (html(times=ALWAYS), True, CredentialsRefused),
    (status(404, times=ALWAYS), False, Unreachable),
    (status(503, times=ALWAYS), False, Unreachable),
    (dropped(times=ALWAYS), False, Unreachable),
]


@pytest.mark.parametrize(("fault", "fatal", "error"), TOKENS)
def test_without_a_token_nothing_is_sent(fault: Fault, fatal: bool, error: type[Exception]) -> None:
    async def both(service: Service) -> Exchange:
        with pytest.raises(error):
            await service.problems()
        return await service.invite(1, 2)

    with Sandbox(token=fault) as sandbox:
        seen = use(sandbox, both)
        assert (seen.phase, seen.fatal) == (Phase.NOTHING, fatal)
        assert {each["op"] for each in sandbox.entries()} == {"token"}


LISTS = [
    # a fault of the list -> what comes of it, how often it was asked
    (status(503, times=4), None, 5),
    (faults.throttled(retry_after=0), None, 2),
    (dropped(), None, 2),
    (status(401), None, 2),
    (status(503, times=ALWAYS), Unreachable, 5),
    (status(401, times=ALWAYS), CredentialsRefused, 2),
    (status(403, times=ALWAYS), NotTheService, 1),
    (status(200, body={"problems": 5}), NotTheService, 1),
    (status(200, body=b'[{"id": 7, "title": "X", "rate": NaN}]'), NotTheService, 1),
    (status(200, body=b'[{"id": 7, "title": "X", "rate": 1e999}]'), NotTheService, 1),
    (html(), NotTheService, 1),
]


@pytest.mark.parametrize(("fault", "error", "asked"), LISTS)
def test_the_problem_list_is_asked_for_until_it_answers(
    fault: Fault, error: type[Exception] | None, asked: int
) -> None:
    async def all_of_it(service: Service) -> int:
        return len(await service.problems())

    with Sandbox(problems=fault) as sandbox:
        if error is None:
            assert use(sandbox, all_of_it) == 5
        else:
            with pytest.raises(error):
                use(sandbox, all_of_it)
        assert [each["op"] for each in sandbox.entries()].count("problems") == asked


def test_a_problem_has_an_id_and_a_title() -> None:
    body = [{"id": "7", "title": "Queue"}, {"id": None, "title": "Stack"}, {"id": 8}, 3]
    with Sandbox(problems=status(200, body=body)) as sandbox:
        problems = use(sandbox, Service.problems)
        assert [(each.id, each.title) for each in problems] == [(7, "Queue")]


TITLES = [
    ("Queue", 1),
    (" QUEUE ", 1),
    ("Cafe\u0301", 4),  # typed in another form of Unicode
    ("Quue", 'The nearest is "Queue".'),
    ("Stack", "2 problems"),
    ("Something else entirely", "no problem titled"),
]


@pytest.mark.parametrize(("title", "found"), TITLES)
def test_a_title_means_exactly_one_problem(title: str, found: int | str) -> None:
    titles = ("Queue", "Stack", "stack", "Café")
    them = [ServiceProblem(number, each, {}) for number, each in enumerate(titles, 1)]
    if isinstance(found, int):
        assert problem_titled(title, them).id == found
    else:
        with pytest.raises((listed.NoSuchProblem, listed.SeveralProblems), match=found):
            problem_titled(title, them)


JWT = "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0."
WORDS: list[tuple[Any, str | None]] = [
    (b"", None),
    (b"\0\1", None),
    (b"<html><title>Sign&nbsp;in</title><p>x</p></html>", "Sign in"),
    (b"<html>no title</html>", None),
    (b" Bad\r\n\trequest \x1b[31m", "Bad request [31m"),
    (b'{"error": "no such stage", "code": 17}', "no such stage; code: 17"),
    (b'{"detail": [{"loc": ["body", "email1"], "msg": "is not valid"}]}',
     "body; email1; is not valid"),
    (b'{"email1": ["is taken"]}', "email1: is taken"),
    (b'{"first_name": "Ada", "notes": "shy", "message": "no"}', "no"),
    (b'{"message": "ada.byron@x.org is known"}', "a…@x… is known"),
    (b"bearer abcdef123456 was refused", "bearer [removed] was refused"),
    (f"token {JWT} expired".encode(), "token [removed] expired"),
    (b"client_secret=hunter2hunter2", "client_secret=[removed]"),
    (b"the s3cret is out", "the [removed] is out"),
    (b"x" * 400, "x" * 299 + "…"),
    # However long and odd, it is read at once: these would take minutes.
    (b"+" * 65_000, None),
    (b"no " + b"+" * 65_000, "no"),
    (b'{"message": "' + b"+" * 65_000 + b'"}', "+" * 299 + "…"),
    (b"<" + b"<title" * 10_000, None),
    (b"wrong " * 199 + b"ada.by@x.orgs", "wrong " * 49 + "wrong…"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "found"), WORDS, ids=map(str, range(len(WORDS))))
def test_the_service_s_own_words_are_one_line_without_secrets(
    body: bytes, found: str | None
) -> None:
    assert words(Exchange("op", Phase.ANSWERED, 400, body=body), ["s3cret"]) == found
