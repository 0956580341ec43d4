"""Nobody twice, nobody forgotten, in thousands of histories drawn from seeds."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from data.store.states import Step
from tests.promise.histories.many_histories import broken
from tests.promise.histories.simulation import play
from tests.promise.histories.workshop import workshop
from tests.promise.promise import BrokenPromise
from tests.support.ledgers.databases import Postgres

SEEDS = int(os.environ.get("SEEDS", "2000"))
PIECES = 16


@pytest.mark.parametrize("piece", range(PIECES))
def test_no_history_breaks_the_promise(piece: int) -> None:
    """Whatever dies, fails, fills up, jumps or is decided: the promise holds at every check."""
    found = broken(range(piece, SEEDS, PIECES))
    assert not found, "\n".join(found.values())


def test_on_a_server_none_breaks_it_either(postgres: Postgres) -> None:
    """A sample of the same histories; for each statement there takes twice as long."""
    found = broken(range(SEEDS // 50), postgres.ledger_of("histories"))
    assert not found, "\n".join(found.values())


def test_a_seed_always_tells_the_same_history() -> None:
    """The same seed gives the same record and the same ledger, in this process and in another."""
    seeds = (3, 14, 159, 265)
    with workshop() as place:
        here = [play(place, seed).fingerprint() for seed in seeds]
        again = [play(place, seed).fingerprint() for seed in seeds]
    assert here == again
    assert len(set(here)) == len(seeds)
    for seed, digest in zip(seeds[:2], here, strict=False):
        told = subprocess.run(
            [sys.executable, "-m", "tests.promise.histories.many_histories", "1", str(seed)],
            cwd=Path(__file__).parents[3],
            env={**os.environ, "PYTHONHASHSEED": "7"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert told.stdout.rstrip().endswith(f"digest {digest}")


def test_histories_hold_everything_they_are_meant_to_hold() -> None:
    """A simulation in which nothing goes wrong proves nothing: each kind of trouble is met."""
    missing = {
        "completed",
        "settled meanwhile",
        "taken over",
        "needs_attention",
        "stopped",
        "died",
        "settled",
        "settled too early",
        "resent",
        "listed",
        "withdrawn by a person",
        "corrected",
        "LedgerUnusable",
        "Unreachable",
    }
    with workshop() as place:
        for seed in range(80):
            missing -= play(place, seed).endings.keys()
            if not missing:
                return
    raise AssertionError(f"not met in 80 histories: {missing}")


@pytest.mark.parametrize("guess", [Step.WAITING, Step.DONE, Step.REFUSED])
def test_a_recovery_that_guesses_is_caught(monkeypatch: pytest.MonkeyPatch, guess: Step) -> None:
    """Whatever it takes doubt for, somebody is sent to twice, or not at all: histories show it."""
    monkeypatch.setattr("data.sending.recovery.Step", SimpleNamespace(UNSURE=guess))
    with pytest.raises(BrokenPromise), workshop() as place:
        for seed in range(200):
            play(place, seed)


def test_an_old_claim_that_is_sent_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever wakes and does not look once more sends what others have sent."""

    async def no_look(*_: object) -> None: ...

    monkeypatch.setattr("tasks.sending.sender.Sender._last_look", no_look)
    with pytest.raises(BrokenPromise), workshop() as place:
        for seed in range(200):
            play(place, seed)


def test_a_seed_that_breaks_is_told_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who reads of a broken history also reads how to see it again."""

    monkeypatch.setattr("data.sending.queue.to_add", lambda *_: [])
    [(seed, told)] = broken([5]).items()
    assert seed == 5
    assert "make simulate SEEDS=1 FIRST=5" in told
