"""Several runs share the invitations of one campaign: each takes what no other one has come to."""

import asyncio
import itertools
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from itertools import chain, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from data.decisions import adding_again
from data.store.states import Ending
from flows.run import inviting
from flows.run.context import RunContext
from flows.run.ending import Finish
from flows.run.sibling_runs import SiblingRuns
from flows.run.steps import around
from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from tests.support.campaigns import Heard, Office, people
from tests.support.ledgers.journal import attempts
from tests.support.session import PATIENCE

MANY = people(*(f"person{number}" for number in range(60)))


@pytest.fixture
def office(each_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Office]:
    monkeypatch.setattr(inviting, "PART", 5)
    with Sandbox() as service:
        yield Office.at(tmp_path, service, invites_in_flight=2)


class AtOnce:
    """So many runs of a campaign, none of which begins its second part before each has sent of a
    first one, or has ended: what each comes to is not a matter of which thread is quicker."""

    def __init__(self, office: Office, path: Path, runs: int) -> None:
        self._office, self._path = office, path
        self._turns = [threading.Event() for _ in range(runs)]

    async def run(self, number: int, **desk: object) -> Finish:
        """The run of that number, in a thread of its own."""
        parts = itertools.count()

        async def perform(name: str, step: Callable[[], Awaitable[Any]], /) -> Any:
            if name.startswith("invitations") and next(parts) == 1:
                self._turns[number].set()
                for other in self._turns:
                    assert await asyncio.to_thread(other.wait, PATIENCE)
            return await step()

        try:
            return await asyncio.to_thread(
                self._office.run, self._path, perform=perform, patience=PATIENCE, **desk
            )
        finally:
            self._turns[number].set()


@pytest.mark.parametrize("number", [0, 1, 2, 50])
def test_each_run_comes_round_to_every_part(number: int) -> None:
    """Whoever is alone goes from the first to the last; others begin far from each other."""
    orders = [list(chain(*around(number, before))) for before in range(8)]
    assert orders[0] == list(range(number))
    for order in orders:
        assert sorted(order) == list(range(number))
    if number == 50:
        begins = sorted(order[0] for order in orders)
        assert min(b - a for a, b in pairwise(begins)) >= 3


def test_runs_side_by_side_share_the_people(office: Office) -> None:
    """Everybody is invited once, every run has its share, and hardly anybody is tried twice."""
    # Everybody is added before: else one of them might find nobody to invite yet, and end.
    assert office.run(office.write("shared", MANY, more="invites: {send: false}\n")).counts["added"]
    path = office.write("shared", MANY)
    all_there, at_once = threading.Barrier(3), AtOnce(office, path, 3)

    async def begins(key: str, number: int) -> None:
        await asyncio.to_thread(all_there.wait, PATIENCE)

    async def together() -> list[Finish]:
        return await asyncio.gather(*(at_once.run(number, shares=begins) for number in range(3)))

    ends = asyncio.run(together())
    assert [end.ending for end in ends] == [Ending.COMPLETED] * 3
    assert set(office.emails().values()) == {1}
    assert len(office.emails()) == 60
    with office.ledger() as ledger:
        sent = [one for one in ledger.read(attempts, 1) if one.operation == "invite"]
    shares = Counter(one.run_id for one in sent)
    assert len(sent) == 60
    assert len(shares) == 3
    assert min(shares.values()) >= 5


def test_a_run_that_comes_while_people_are_added_invites_its_share(office: Office) -> None:
    """Of two that begin together, the second has nobody to invite yet: it does not miss them."""
    path = office.write("together", MANY)
    office.service.faults.add(Fault("slow", "add_candidates", count=None, seconds=0.5))
    at_once = AtOnce(office, path, 2)

    async def one_and_then_another() -> list[Finish]:
        first = asyncio.create_task(at_once.run(0))
        await asyncio.to_thread(
            office.service.wait_for, lambda record: record.of("add_candidates"), timeout=PATIENCE
        )
        second = await at_once.run(1)
        return [await first, second]

    ends = asyncio.run(one_and_then_another())
    assert ends[1].ending is Ending.COMPLETED
    assert set(office.emails().values()) == {1}
    assert len(office.emails()) == 60
    with office.ledger() as ledger:
        sent = [one for one in ledger.read(attempts, 1) if one.operation == "invite"]
    shares = Counter(one.run_id for one in sent)
    assert len(shares) == 2
    assert min(shares.values()) >= 5


@pytest.mark.parametrize(
    ("newest", "looks"),
    [
        ([None], 0),
        ([5, None, None], 2),
        ([5, 6, 7, 8, 9, None, None], 6),
        ([5, 5, 5], 2),
        ([5, 5, 6, 6, 6], 4),
    ],
)
def test_others_are_stayed_for_as_long_as_they_come_on(
    newest: list[int | None], looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run ends as the campaign does; one beside it that sends nothing new gets two seconds."""
    told: list[str] = []
    seen = iter(newest)
    ledger = SimpleNamespace(read=lambda *_: next(seen))
    monkeypatch.setattr(adding_again, "recover", lambda *_: 0)
    watching = Heard(on_waiting=lambda: told.append("waits"))
    desk = SimpleNamespace(ledger=ledger, patience=2, observer=watching)

    async def at_once(seconds: float) -> bool:
        return True

    async def looked() -> int:
        others = SiblingRuns(cast(RunContext, desk), 1, at_once)
        number = 0
        while await others.wait_for_siblings():
            number += 1
        return number

    assert asyncio.run(looked()) == looks
    assert told == (["waits"] if looks else [])


def test_a_run_stays_for_the_last_answers_of_others(office: Office) -> None:
    """What others are sending belongs to its end: it does not call that stopped, nor complete."""
    path = office.write("last", people("ada", "bo"))
    slow = Fault("slow", "invite", count=None, seconds=2, email="ada@example.com")
    office.service.faults.add(slow)

    async def one_and_then_another() -> list[Finish]:
        first = asyncio.create_task(asyncio.to_thread(office.run, path))
        await asyncio.to_thread(
            office.service.wait_for, lambda record: record.of("invite"), timeout=PATIENCE
        )
        patient, hasty = await asyncio.gather(
            asyncio.to_thread(office.run, path, patience=PATIENCE),
            asyncio.to_thread(office.run, path),
        )
        return [await first, patient, hasty]

    first, patient, hasty = asyncio.run(one_and_then_another())
    assert (first.ending, patient.ending) == (Ending.COMPLETED, Ending.COMPLETED)
    assert (patient.counts["invited"], patient.counts["sending"]) == (2, 0)
    assert hasty.ending in (Ending.STOPPED, Ending.COMPLETED)
    assert office.emails() == {"ada@example.com": 1, "bo@example.com": 1}
