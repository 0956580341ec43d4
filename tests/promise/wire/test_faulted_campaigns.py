"""Faulted requests over real sockets, drawn from seeds: a sample of what `make faults` does."""

import pytest

from tests.promise.promise import BrokenPromise
from tests.promise.wire import faulted_calls, faulted_campaigns
from tests.promise.wire.many_faults import place, several
from tests.promise.wire.tally import Tally

SMALL = (2, 8, 10, 11, 16, 19, 26, 32)  # seeds of campaigns of a few people


def test_no_campaign_with_faults_breaks_the_promise() -> None:
    """Whatever is answered and however: nobody twice, nobody forgotten, doubt only by faults."""
    together = Tally()
    with place() as here:
        for seed in SMALL:
            together.add(faulted_campaigns.play(here, seed))
    assert together.faults > 30


def test_no_verdict_is_contradicted_by_what_was_done() -> None:
    """Calls of every kind by themselves: done was done, once; not sent and refused was not."""
    together = Tally()
    with place() as here:
        for seed in range(3):
            together.add(faulted_calls.play(here, seed))
    assert together.faults > 400
    assert len(together.kinds) > 80


@pytest.mark.parametrize(("rule", "first"), [("GLUED", 0), ("ENCODED", 14)])
def test_a_rule_that_is_not_kept_is_found(
    rule: str, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer with another behind it, or in an encoding, that is believed: calls show it."""
    monkeypatch.setattr(f"tasks.service.verdict.{rule}", "never")
    with pytest.raises(BrokenPromise), place() as here:
        for seed in range(first, 40):
            faulted_calls.play(here, seed)


def test_a_seed_that_breaks_is_told_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who reads of a broken promise also reads how to see it again."""

    def broken(*_: object) -> Tally:
        raise BrokenPromise

    monkeypatch.setattr(faulted_calls, "play", broken)
    [(seed, what)] = several([2]).broken.items()
    assert seed == 2
    assert "make faults REQUESTS=1 FIRST=2" in what
