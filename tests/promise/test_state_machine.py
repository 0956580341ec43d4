"""Import, run, crash, settle, resend, block, correct, in any order: the promise holds."""

import asyncio
from collections import Counter
from collections.abc import Coroutine
from typing import Any, ClassVar

from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.promise.histories.simulation import NAMES, World
from tests.promise.histories.virtual_time import VirtualLoop
from tests.promise.histories.workshop import Workshop, workshop
from tests.support.ledgers.databases import Postgres

STEADY = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=12,
    stateful_step_count=12,
    suppress_health_check=list(HealthCheck),
)
POINTS = st.integers(1, 90)
# How often so many examples are drawn: so often, and then until each situation was met. What they
# are depends on the program's constants as well, so any change of it may miss a rare one at first.
LEAST, MOST = 2, 100
# The situations (histories/situations.py) that these examples are to meet: those that the rules
# bring about. What the dice of the world do to a request or a disk, the histories count.
MET = (
    "needs_attention",
    "completed",
    "a program that dies beside the ledger",
    "a receipt of a moment ago at a death",
    "listed",
    "settled",
    "settled meanwhile",
    "resent",
    "withdrawn by a person",
    "corrected",
    "a file that is saved just after it was read",
    "NotTheService",
)
TROUBLE = st.sampled_from([0.0, 0.1, 0.5, 1.0])


class Campaigning(RuleBasedStateMachine):
    """What people and machines may do to one campaign, in whatever order it comes to them."""

    met: ClassVar[Counter[str]] = Counter()  # how often each situation was, in all examples

    def __init__(self, place: Workshop) -> None:
        super().__init__()
        self.place = place
        self.loop = VirtualLoop()

    def do(self, work: Coroutine[Any, Any, Any]) -> Any:
        asyncio.set_event_loop(self.loop)
        try:
            return self.loop.run_until_complete(work)
        finally:
            asyncio.set_event_loop(None)

    @initialize(seed=st.integers(0, 2**32))
    def a_new_ledger(self, seed: int) -> None:
        self.place.empty()
        self.world = World(self.place, seed)
        self.world.write_definition()

    @rule(names=st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
    def people_are_added_and_removed(self, names: list[str]) -> None:
        """The next run reads another definition; rows are reworded by the dice."""
        self.world.rows = names
        self.world.write_definition(among=())

    @rule(trouble=TROUBLE)
    def a_run(self, trouble: float) -> None:
        self.world.assessment.trouble = trouble
        self.do(self.world.run(self.world.program(mishaps=False)))

    @rule(trouble=TROUBLE, point=POINTS)
    def a_run_that_dies(self, trouble: float, point: int) -> None:
        self.world.assessment.trouble = trouble
        program = self.world.program(mishaps=False)
        program.fuse = point
        self.do(self.world.run(program))

    @rule(number=st.integers(2, 3), trouble=TROUBLE)
    def several_runs_with_mishaps(self, number: int, trouble: float) -> None:
        self.world.assessment.trouble = trouble
        self.do(self.world.several(number))

    @rule(seconds=st.sampled_from([30.0, 200.0, 1000.0]))
    def time_passes(self, seconds: float) -> None:
        self.do(asyncio.sleep(seconds))

    @rule()
    def a_person_settles(self) -> None:
        self.do(self.world.by_person(self.world.settle))

    @rule()
    def a_person_sends_again(self) -> None:
        self.do(self.world.by_person(self.world.resend))

    @rule()
    def a_person_decides_against_somebody(self) -> None:
        self.do(self.world.by_person(self.world.decide_against))

    @precondition(lambda self: self.world.assessment.record.requests)
    @rule()
    def in_the_calm_everything_is_finished(self) -> None:
        self.do(self.world.calm())

    @invariant()
    def the_promise_holds(self) -> None:
        if hasattr(self, "world"):
            self.do(self._check())

    async def _check(self) -> None:
        self.world.check()

    def teardown(self) -> None:
        try:
            if hasattr(self, "world"):
                self.do(self.world.calm())
        finally:
            self.loop.close()
            if hasattr(self, "world"):
                self.met.update(self.world.situations)


def test_in_any_order_the_promise_holds() -> None:
    """After each step, and at the end, when the same command has finished what it can."""
    Campaigning.met.clear()
    with workshop() as place:
        for number in range(MOST):
            run_state_machine_as_test(seed(number)(lambda: Campaigning(place)), settings=STEADY)
            missed = [name for name in MET if not Campaigning.met[name]]
            if number + 1 >= LEAST and not missed:
                break
    assert missed == []


def test_on_a_server_it_holds_as_well(postgres: Postgres) -> None:
    """A sample of the same orders."""
    some = settings(STEADY, max_examples=4)
    with workshop(postgres.ledger_of("state machine")) as place:
        run_state_machine_as_test(lambda: Campaigning(place), settings=some)
