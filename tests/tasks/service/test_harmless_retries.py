"""A harmless call is tried again where the next try may be better, and nowhere else."""

import asyncio

import pytest

from tasks.service.evidence import Exchange, Phase
from tasks.service.harmless_retries import Patience, TryAgain

PATIENCE = Patience(attempts=3, first=0.5, most=4.0)


def answered(status: int, body: bytes | None = b"[]", **more: str) -> Exchange:
    return Exchange(Phase.ANSWERED, status=status, body=body, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seen", "why", "after"),
    [
        (Exchange(Phase.SENT), "no answer", None),
        (Exchange(Phase.NOTHING, failure="ConnectError"), "ConnectError", None),
        (answered(503), "status 503", None),
        (answered(429, retry_after="2"), "status 429", 2.0),
        (answered(429, retry_after="0"), "status 429", 0.5),
        (answered(503, retry_after="900"), "status 503", 4.0),
        (answered(408), "status 408", None),
        (answered(200, None), "cut off", None),
        (answered(299, None, failure="ReadError"), "ReadError", None),
    ],
)
def test_what_may_pass_is_tried_again(seen: Exchange, why: str, after: float | None) -> None:
    """With the pause that the service asked for, within reason."""
    with pytest.raises(TryAgain, match=f"{why}$") as again:
        PATIENCE.unless_passing(seen)
    assert (again.value.why, again.value.after) == (str(again.value), after)


@pytest.mark.parametrize(
    "seen", [answered(200), answered(300, None), answered(404, None), answered(401), answered(501)]
)
def test_an_answer_is_passed_on(seen: Exchange) -> None:
    """Whatever another try would only say again."""
    assert PATIENCE.unless_passing(seen) is seen


@pytest.mark.parametrize(("error", "tries"), [(TryAgain("late", after=0.0), 3), (KeyError(), 1)])
def test_so_often_and_no_more(error: Exception, tries: int) -> None:
    """The last try's complaint is the answer; a mistake of our own is not tried again."""
    begun = 0

    async def call() -> None:
        nonlocal begun
        async for one in PATIENCE.tries():
            with one:
                begun += 1
                raise error

    with pytest.raises(type(error)):
        asyncio.run(call())
    assert begun == tries


def test_who_has_no_patience_waits_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is a wait spread over more time than the first one takes."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    async def call() -> None:
        async for one in Patience(attempts=9, first=0.0).tries():
            with one:
                raise TryAgain("late")

    monkeypatch.setattr(asyncio, "sleep", sleep)
    with pytest.raises(TryAgain):
        asyncio.run(call())
    assert waited == [0.0] * 8
