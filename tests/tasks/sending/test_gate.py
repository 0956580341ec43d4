"""The gate: when a request may leave, in a time that passes only while everybody waits."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from config.errors import CampaignError
from data.store.states import Operation
from tasks.sending.gate import PAUSES, Gate
from tasks.service.verdict import Proof, Then, Verdict
from tests.promise.histories.virtual_time import VirtualLoop

ADD, INVITE = Operation.ADD, Operation.INVITE
UNSURE = Verdict(Proof.UNSURE, Then.GO_ON, "Nobody answered.")
DONE = Verdict(Proof.DONE, Then.GO_ON, "It was sent.")
FORBIDDEN = Verdict(Proof.REFUSED, Then.STOP, "Not with these credentials.")


def paused(seconds: float) -> Verdict:
    return Verdict(Proof.NOT_SENT, Then.PAUSE, "Later.", seconds)


class Turns:
    """A rate: how long each who asks is to wait."""

    def __init__(self, *waits: float) -> None:
        self.waits = list(waits)
        self.given_back = 0

    def give_back(self) -> None:
        self.given_back += 1

    async def wait(self) -> float:
        return self.waits.pop(0)


class World:
    """A gate, what the other runs are up to, and a service that may be asked something."""

    def __init__(self, *turns: Turns, over: Callable[[], str | None] = lambda: None) -> None:
        self.turns = turns
        self.told: list[float] = []
        self.others: list[float] = []  # for how long the pause of another run still lasts
        self.probes = 0
        self.answers = True
        self.broken = False
        self.paused: list[float] = []
        self.gate = Gate(self.probe, self, over=over, pauses=self.paused.append)  # type: ignore[arg-type]

    async def probe(self) -> None:
        self.probes += 1
        await asyncio.sleep(1)
        if not self.answers:
            raise CampaignError("It does not answer.")

    async def pause(self) -> float:
        if self.broken:
            raise CampaignError("The ledger is gone.")
        return self.others.pop(0) if self.others else 0.0

    async def asked_for(self, pause: float) -> None:
        self.told.append(pause)

    async def opened(
        self, operation: Operation = INVITE, *, alone: bool = False
    ) -> tuple[bool, float]:
        """Whether the gate opens, and after how many seconds; what leaves is back at once."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        if opens := await self.gate.opens(operation, alone=alone):
            self.gate.back()
        return opens, round(loop.time() - begun, 3)


def seen(happens: Callable[[], Any]) -> Any:
    """Let it happen in virtual time."""
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(happens())
    finally:
        loop.close()


@pytest.mark.parametrize("operation", [ADD, INVITE])
def test_an_open_gate_lets_everything_through_at_once(operation: Operation) -> None:
    """Without doubt, pause, rate or end nobody waits, and nobody is asked anything."""
    world = World()
    assert seen(lambda: world.opened(operation)) == (True, 0)
    assert (world.probes, world.told) == (0, [])


def test_the_longer_pause_holds() -> None:
    """A 429 holds everything back for as long as any of them asked."""
    world = World()

    async def happens() -> Any:
        world.gate.heard(INVITE, paused(30))
        world.gate.heard(INVITE, paused(3))
        return [await world.opened(ADD), await world.opened(INVITE)]

    assert seen(happens) == [(True, 30), (True, 0.125)]
    assert world.paused == [30]


def test_a_pause_of_half_a_second_is_one() -> None:
    """No pause is too short to be made."""
    world = World()

    async def happens() -> Any:
        world.gate.heard(INVITE, paused(0.5))
        return await world.opened()

    assert seen(happens) == (True, 0.5)


def test_the_pause_of_another_run_holds_as_well() -> None:
    """And what this run hears of is told to the others, in seconds; other answers are not."""
    world = World()
    world.others = [4.0, 0.25]

    async def happens() -> Any:
        first = await world.opened()
        world.gate.heard(INVITE, paused(7))
        await world.gate.let_all_pause()
        return [first, await world.opened()]

    assert seen(happens) == [(True, 4.25), (True, 7)]
    assert [round(each) for each in world.told] == [7]
    assert [round(each) for each in world.paused] == [4, 7]


@pytest.mark.parametrize(("pause", "told"), [(0, []), (0.5, [0.5])])
def test_other_runs_hear_of_a_pause_however_short(pause: float, told: list[float]) -> None:
    """And of none that nobody asked for."""
    world = World()

    async def happens() -> None:
        if pause:
            world.gate.heard(INVITE, paused(pause))
        await world.gate.let_all_pause()

    seen(happens)
    assert world.told == told


def test_a_service_that_asks_for_a_pause_each_time_is_left_alone() -> None:
    """After ten in a row; nine may be a busy hour."""
    world = World()

    async def happens() -> list[str | None]:
        reasons = []
        for _ in range(PAUSES):
            await world.opened()
            world.gate.heard(INVITE, paused(1))
            reasons.append(world.gate.stopped)
        return reasons

    *before, last = seen(happens)
    assert set(before) == {None}
    assert last == "The service asked for a pause 10 times in a row."


def test_what_did_not_leave_gives_its_turn_back() -> None:
    """An invitation that another run had claimed; adding takes no turn."""
    turns = Turns()
    world = World(turns)
    for operation in (ADD, INVITE, ADD):
        world.gate.nothing_left(operation)
    assert turns.given_back == 1


@pytest.mark.parametrize(
    ("pauses", "told"),
    [([0.5], []), ([1], [1]), ([5, 5.9], [5]), ([5, 6], [5]), ([5, 6.1], [5, 6.1])],
)
def test_a_pause_is_told_once(pauses: list[float], told: list[float]) -> None:
    """One that ends within a second of the one before is the same; a short one is none."""
    world = World()

    async def happens() -> None:
        for pause in pauses:
            world.gate._tell(pause)

    seen(happens)
    assert world.paused == told


def test_only_invitations_wait_for_a_turn() -> None:
    """At each rate that is set, one behind the other."""
    world = World(Turns(2, 3), Turns(0, 5))

    async def happens() -> Any:
        return [await world.opened(ADD), await world.opened(), await world.opened()]

    assert seen(happens) == [(True, 0), (True, 2), (True, 8)]


def test_one_turn_comes_before_the_next_one_is_asked_for() -> None:
    """Two senders of a run are never both first."""
    world = World(Turns(2, 2))

    async def happens() -> Any:
        return await asyncio.gather(world.opened(), world.opened())

    assert seen(happens) == [(True, 2), (True, 4)]


def test_a_doubt_is_asked_about_once_and_taken_away() -> None:
    """However many senders wait: one harmless question, then all go on."""
    world = World()

    async def happens() -> Any:
        world.gate.heard(INVITE, UNSURE)
        return await asyncio.gather(world.opened(), world.opened(ADD))

    assert seen(happens) == [(True, 1), (True, 1)]
    assert world.probes == 1


def test_a_doubt_that_stays_stops_everybody() -> None:
    """A service that does not answer a harmless question is sent nothing more."""
    world = World()
    world.answers = False

    async def happens() -> Any:
        world.gate.heard(INVITE, UNSURE)
        return await asyncio.gather(world.opened(), world.opened(ADD))

    assert seen(happens) == [(False, 1), (False, 1)]
    assert world.probes == 1
    assert str(world.gate.stopped).endswith(" It does not answer.")


def test_a_stop_wakes_whoever_waits() -> None:
    """Not one request leaves after it, whatever it was waiting for; the first reason stays."""
    world = World(Turns(3600))

    async def happens() -> Any:
        world.gate.heard(ADD, paused(3600))
        asyncio.get_running_loop().call_later(5, world.gate.stop, "Somebody stopped it.")
        asyncio.get_running_loop().call_later(6, world.gate.stop, "Somebody else did.")
        return await asyncio.gather(world.opened(ADD), world.opened(INVITE))

    assert seen(happens) == [(False, 5), (False, 5)]
    assert world.gate.stopped == "Somebody stopped it."


def test_what_is_heard_may_stop_as_well() -> None:
    """Whoever waits for a pause hears of refused credentials at once."""
    world = World()

    async def happens() -> Any:
        world.gate.heard(ADD, paused(3600))
        asyncio.get_running_loop().call_later(5, world.gate.heard, INVITE, FORBIDDEN)
        return await world.opened(ADD)

    assert seen(happens) == (False, 5)
    assert world.gate.stopped == "Not with these credentials."


def test_refusals_count_for_invitations_alone() -> None:
    """The gate hands on what was asked for: three refused adds stop nothing."""
    refused = Verdict(Proof.REFUSED, Then.ROW, "No such person.")
    world = World()
    for _ in range(3):
        world.gate.heard(ADD, refused)
    assert world.gate.stopped is None
    for _ in range(3):
        world.gate.heard(INVITE, refused)
    assert world.gate.stopped is not None


def test_behind_the_end_of_their_time_no_invitations_leave() -> None:
    """It is looked at before each, also after a pause that lasted until the night."""
    ends: list[str | None] = [None, "It is night."]
    world = World(over=lambda: ends.pop(0))

    async def happens() -> Any:
        first = await world.opened()
        world.gate.heard(ADD, paused(60))
        return [first, await world.opened(INVITE), await world.opened(ADD)]

    assert seen(happens) == [(True, 0), (False, 60), (False, 0)]
    assert world.gate.stopped == "It is night."


def test_adding_has_no_hours() -> None:
    """Nobody gets an email by being added."""
    world = World(over=lambda: "It is night.")
    assert seen(lambda: world.opened(ADD)) == (True, 0)


def test_without_the_ledger_nothing_leaves() -> None:
    """What the other runs are up to is then unknown."""
    world = World()
    world.broken = True
    assert seen(world.opened) == (False, 0)
    assert world.gate.stopped == "The ledger is gone."


def test_after_a_pause_one_request_goes_first() -> None:
    """The others wait until it is answered; then one more with each answer."""
    world = World()
    on_the_wire: list[int] = []

    async def sender() -> None:
        assert await world.gate.opens(INVITE)
        await asyncio.sleep(10)
        on_the_wire.append(world.gate._throttle.out)
        world.gate.heard(INVITE, DONE)
        world.gate.back()

    async def happens() -> None:
        world.gate.heard(INVITE, paused(30))
        await asyncio.gather(*(sender() for _ in range(8)))

    seen(happens)
    assert on_the_wire[0] == 1
    assert on_the_wire[1] == 2
    assert max(on_the_wire) <= 4


def test_a_last_chance_is_taken_alone_after_a_silence() -> None:
    """Whom one more no would leave in doubt is sent when it is least likely."""
    world = World()

    async def happens() -> Any:
        await world.gate.opens(INVITE)
        waiting = asyncio.ensure_future(world.opened(alone=True))
        await asyncio.sleep(100)
        assert not waiting.done()
        await world.opened()
        world.gate.back()
        return await waiting

    assert seen(happens) == (True, 101)


def test_who_waits_for_another_hears_of_a_stop() -> None:
    """Nobody waits for an answer that is not to come any more."""
    world = World()

    async def happens() -> Any:
        world.gate.heard(INVITE, paused(1))
        await world.gate.opens(INVITE)
        waiting = asyncio.ensure_future(world.opened())
        await asyncio.sleep(5)
        world.gate.stop("Enough.")
        return await waiting

    assert seen(happens) == (False, 5)
