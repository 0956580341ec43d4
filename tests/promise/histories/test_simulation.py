"""Nobody twice, nobody forgotten, in hundreds of histories drawn from seeds."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from data.store.states import Step
from tests.promise.histories.many_histories import broken
from tests.promise.histories.simulation import play
from tests.promise.histories.situations import HISTORIES, LEAST, too_rare
from tests.promise.histories.workshop import workshop
from tests.promise.promise import BrokenPromise
from tests.support.ledgers.databases import Postgres

SEEDS = 200  # `make simulate` plays as many as it is asked for
PIECES = 8


@pytest.fixture
def of_all(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder that the processes of these tests share, for this one run of them."""
    mine = tmp_path_factory.getbasetemp()
    folder = (mine if worker_id == "master" else mine.parent) / "situations"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.mark.parametrize("piece", range(PIECES))
def test_no_history_breaks_the_promise(piece: int, of_all: Path) -> None:
    """Whatever dies, fails, fills up, jumps or is decided: the promise holds at every check.

    The piece that ends last also sees that all of them together met what they are meant to meet: a
    simulation in which nothing goes wrong proves nothing.
    """
    failures, situations = broken(range(piece, SEEDS, PIECES))
    assert not failures, "\n".join(failures.values())
    (of_all / f"{piece}.part").write_text(json.dumps(situations))
    (of_all / f"{piece}.part").rename(of_all / f"{piece}.json")
    pieces = [json.loads(file.read_text()) for file in of_all.glob("*.json")]
    if len(pieces) == PIECES:
        assert too_rare(sum(map(Counter, pieces), Counter()), SEEDS) == {}


def test_on_a_server_none_breaks_it_either(postgres: Postgres) -> None:
    """A sample of the same histories; for each statement there takes twice as long."""
    failures, _ = broken(range(SEEDS // 50), postgres.ledger_of("histories"))
    assert not failures, "\n".join(failures.values())


def test_a_seed_always_tells_the_same_history() -> None:
    """The same seed gives the same record and the same ledger, in this process and in another."""
    seeds = (3, 14, 159, 265)
    with workshop() as place:
        here = [play(place, seed).fingerprint() for seed in seeds]
        again = [play(place, seed).fingerprint() for seed in seeds]
    assert here == again
    assert len(set(here)) == len(seeds)
    for seed, digest in zip(seeds[:1], here, strict=False):
        told = subprocess.run(
            [sys.executable, "-m", "tests.promise.histories.many_histories", "1", str(seed)],
            cwd=Path(__file__).parents[3],
            env={**os.environ, "PYTHONHASHSEED": "7"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert told.stdout.rstrip().endswith(f"digest {digest}")


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
    [(seed, told)] = broken([5])[0].items()
    assert seed == 5
    assert "make simulate SEEDS=1 FIRST=5" in told


def test_a_situation_that_is_met_too_rarely_is_named() -> None:
    """With how often it was met; of a part of the histories half of its share is enough."""
    met = dict(LEAST) | {"resent": 3}
    assert too_rare(met, HISTORIES) == {"resent": f"3 of at least {LEAST['resent']}"}
    assert too_rare(met, HISTORIES // 10) == {"resent": f"3 of at least {LEAST['resent'] // 20}"}
    assert too_rare(met, HISTORIES // 20) == {}
    assert sum(least * SEEDS // HISTORIES // 2 > 1 for least in LEAST.values()) >= 40
    del met["taken over"]
    assert set(too_rare(met, HISTORIES)) == {"resent", "taken over"}
    assert len(LEAST) >= 40
