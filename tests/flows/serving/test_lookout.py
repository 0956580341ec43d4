"""What is decided of runs whose process is gone: a thousand cases need no server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from prefect.client.schemas.objects import FlowRun, State, StateType

from flows.serving import lookout
from flows.serving.lookout import (
    A_MOMENT,
    BEGUN_AGAIN,
    IN_A_ROW,
    SILENCE,
    STARTS,
    TELLS,
    TOO_OFTEN,
    WELL,
    Lookout,
    goes_on_by_itself,
    is_gone,
    is_told,
    key_of_next,
    not_taken,
    patience_with,
    what_next,
)

AT = datetime(2026, 12, 1, 9, tzinfo=UTC)
DEPLOYMENT = uuid4()


def run_of(
    kind: StateType,
    name: str | None = None,
    *,
    ended: datetime = AT,
    lived: timedelta | None = timedelta(seconds=5),
    key: str | None = None,
    **more: Any,
) -> FlowRun:
    state: State[Any] = State(type=kind, name=name, timestamp=ended)
    fields: dict[str, Any] = {
        "deployment_id": DEPLOYMENT,
        "expected_start_time": ended - timedelta(minutes=1),
        "start_time": None if lived is None else ended - lived,
        "parameters": {"file": "/hiring/spring.yaml"},
        "idempotency_key": key,
    }
    return FlowRun(id=uuid4(), flow_id=uuid4(), state=state, **(fields | more))


@pytest.mark.parametrize("patience", [A_MOMENT, SILENCE])
@pytest.mark.parametrize(
    ("since", "heard", "gone"),
    [(-1.0, None, True), (-0.99, None, False), (-5, -1, True), (-5, -0.5, False), (-1, -5, True)],
)
def test_a_run_is_gone_when_nothing_was_heard_for_long_enough(
    patience: timedelta, since: float, heard: float | None, gone: bool
) -> None:
    """Neither of its state nor of a sign of life; moments in lengths of our patience."""
    sign = None if heard is None else AT + heard * patience
    assert is_gone(AT + since * patience, sign, AT, patience) is gone


def test_what_a_worker_took_is_to_begin_soon() -> None:
    """On another machine too; what has begun there may be silent for longer, here for less."""
    begun, taken = run_of(StateType.RUNNING), run_of(StateType.PENDING)
    assert patience_with(begun, True) == patience_with(taken, True) == A_MOMENT
    assert A_MOMENT < patience_with(taken, False) == STARTS < patience_with(begun, False) == SILENCE


def test_what_crashes_at_every_start_is_begun_again_so_often() -> None:
    """One after the other, by keys that let Prefect begin each only once; then a person looks."""
    run, keys = run_of(StateType.CRASHED), []
    while (key := key_of_next(run)) is not None:
        keys.append(key)
        run = run_of(StateType.CRASHED, key=key, lived=None)
    assert len(set(keys)) == len(keys) == IN_A_ROW
    assert what_next(run) == TOO_OFTEN


def test_what_ran_well_before_it_crashed_is_begun_again_for_ever() -> None:
    """A machine that is switched off each evening is no reason to give up."""
    run = run_of(StateType.CRASHED)
    for _ in range(3 * IN_A_ROW):
        key = key_of_next(run)
        assert key is not None
        run = run_of(StateType.CRASHED, key=key, lived=WELL)


def test_two_that_look_begin_a_run_again_once() -> None:
    """Both ask with the same key, which no other run has."""
    run = run_of(StateType.CRASHED)
    assert key_of_next(run) == key_of_next(run.model_copy())
    assert key_of_next(run) != key_of_next(run_of(StateType.CRASHED))


SAME = {"file": "/hiring/spring.yaml"}
LATER = AT + timedelta(minutes=1)


@pytest.mark.parametrize(
    ("kind", "fields", "goes_on"),
    [
        (StateType.RUNNING, {}, True),
        (StateType.PENDING, {"lived": None}, True),
        (StateType.RUNNING, {"parameters": {"file": "/hiring/autumn.yaml"}}, False),
        (StateType.SCHEDULED, {"expected_start_time": AT, "lived": None}, True),
        (StateType.SCHEDULED, {"expected_start_time": AT + timedelta(hours=1)}, False),
        (StateType.COMPLETED, {"start_time": LATER}, True),
        (StateType.FAILED, {"start_time": LATER}, True),
        # It ended before the other crashed: nobody did since what that one left.
        (StateType.COMPLETED, {"start_time": AT - timedelta(minutes=1)}, False),
        (StateType.CANCELLED, {"lived": None}, False),
    ],
)
def test_a_later_run_does_what_a_crashed_one_left(
    kind: StateType, fields: dict[str, Any], goes_on: bool
) -> None:
    """With the same parameters, under way or begun since; one that was dropped did nothing."""
    run = run_of(StateType.CRASHED, lived=timedelta(minutes=5))
    assert goes_on_by_itself(run, [run, run_of(kind, **fields)], AT) is goes_on
    assert not goes_on_by_itself(run, [run], AT)


@pytest.mark.parametrize(
    ("flow", "kind", "name", "told"),
    [
        ("campaign", StateType.FAILED, "NeedsAttention", True),
        ("campaign", StateType.CRASHED, "Gone", True),
        ("batch", StateType.FAILED, "Stopped", True),
        ("inbox", StateType.FAILED, "BadInput", True),
        ("wave run", StateType.FAILED, "NeedsAttention", False),
        ("wave run", StateType.CRASHED, "Gone", False),
        ("approve campaign", StateType.FAILED, "NotDecided", True),
        ("approve campaign", StateType.FAILED, "NeedsAttention", False),
        ("settle campaign", StateType.CRASHED, "Crashed", True),
    ],
)
def test_one_run_tells_of_a_campaign(flow: str, kind: StateType, name: str, told: bool) -> None:
    """Of its wave runs the main one, of what a form began that run; what crashes cannot."""
    run = run_of(kind, name)
    assert is_told(flow, run, AT + TELLS) is told
    # Else it may be just about to tell it itself.
    assert is_told(flow, run, AT) is (told and kind is StateType.CRASHED)


def test_a_parameter_that_there_is_none_of_is_named_beside_those_that_there_are() -> None:
    """A person mistyped it; what all runs have is none of them."""
    wrong = run_of(StateType.CRASHED, parameters={**SAME, "shet": "People", "accept": True})
    assert '"shet" or "accept"' in not_taken("campaign", wrong)
    assert "file, campaign, definition, " in not_taken("campaign", wrong)
    assert not_taken("campaign", run_of(StateType.CRASHED)) == ""


def test_a_run_that_was_typed_is_only_told() -> None:
    """It belongs to no deployment: whoever typed it goes on."""
    assert what_next(run_of(StateType.CRASHED, deployment_id=None)) == ""
    assert what_next(run_of(StateType.CRASHED)) == BEGUN_AGAIN
    assert what_next(run_of(StateType.FAILED, "NeedsAttention")) == ""


def test_a_server_that_is_away_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not at each look; and once more where it has answered in between."""
    answers, said = iter([False, False, True, False, False]), list[Exception]()

    @asynccontextmanager
    async def answering() -> AsyncIterator[None]:
        yield

    async def look(_: object, __: object = None) -> None:
        if (answer := next(answers, None)) is None:
            raise asyncio.CancelledError
        if not answer:
            raise httpx.ConnectError("All connection attempts failed")

    async def nothing(*_: object, **__: object) -> list[FlowRun]:
        return []

    monkeypatch.setattr(lookout, "EVERY", 0.0)
    monkeypatch.setattr(lookout, "get_client", answering)
    monkeypatch.setattr(Lookout, "_mark", look)
    for name in ("find_runs", "_ended", "_flows", "not_noted", "tell_what_waits"):
        monkeypatch.setattr(lookout, name, nothing)
    monkeypatch.setattr(lookout, "_not_looked_after", said.append)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(Lookout(alone=False).keep())
    assert len(said) == 2


def test_keys_name_the_run_that_crashed() -> None:
    run = run_of(StateType.CRASHED)
    assert UUID(str(key_of_next(run)).split()[-1]) == run.id
