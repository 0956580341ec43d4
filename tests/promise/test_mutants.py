"""The checks of the promise find what they are there to find: each known way to break it."""

from collections.abc import Iterator

import pytest

from data.store.states import Operation
from sandbox.faults.faults import Fault
from tests.promise.crashes.child_runs import ChildRuns
from tests.promise.crashes.crash_cases import ALONE, SLEPT, Crashes, crashes
from tests.promise.crashes.small_campaigns import Scenario
from tests.promise.mutants import MUTANTS
from tests.promise.mutation_score import function, unexplained
from tests.promise.promise import BrokenPromise
from tests.support.ledgers.databases import on_both

WELL = Scenario("all goes well")

# How each mutant is brought to show itself: a scenario, and where the run is killed.
SHOWN_BY: dict[str, list[tuple[Scenario, tuple[str, ...]]]] = {
    "claim_after_sending": [
        (WELL, (f"{operation} returned",))
        for operation in ("create_project", "attach_problem", "add_candidates", "invite")
    ],
    "recovery_to_waiting": [
        (WELL, (f"{operation} returned",))
        for operation in ("create_project", "attach_problem", "add_candidates", "invite")
    ],
    "recovery_to_done": [
        (WELL, (f"{operation} called",))
        for operation in ("create_project", "attach_problem", "add_candidates", "invite")
    ],
    "match_by_position": [
        (Scenario("another order", faults=lambda: (Fault("reordered", "add_candidates"),)), ())
    ],
    "gateway_timeout_not_sent": [
        (
            Scenario(
                f"a gateway gives up at {operation}",
                faults=lambda operation=operation: (
                    Fault("status", operation, status=504, after_work=True),
                ),
                doubts=1,
            ),
            (),
        )
        for operation in ("create_project", "attach_problem", "add_candidates", "invite")
    ],
}

CASES = [
    pytest.param(name, scenario, deaths, id=f"{name} {n}")
    for name, shown in SHOWN_BY.items()
    for n, (scenario, deaths) in enumerate(shown, 1)
]

# And of those that others must have taken for dead: where it is stopped, to wake in the end. From
# there to the first byte it waits for nothing; a new connection may take too long when it wakes.
SHOWN_BY_WAKING = {
    "old_claims_are_sent": [f"{operation} connected" for operation in reversed(Operation)],
}
WAKING = [
    pytest.param(name, stop, id=f"{name}, {stop}")
    for name, stops in SHOWN_BY_WAKING.items()
    for stop in stops
]

# Without the mutant some of them are the same case, which is tried once.
UNBROKEN = list({(case.values[1].name, case.values[2]): case for case in CASES}.values())


@pytest.fixture(scope="module")
def place(each_database: str, child_runs: ChildRuns) -> Iterator[Crashes]:
    with crashes(child_runs) as place:
        yield place


def test_every_mutant_is_tried() -> None:
    """No way to break the promise is without a case that shows it."""
    assert SHOWN_BY.keys() | SHOWN_BY_WAKING.keys() == MUTANTS.keys()


@pytest.mark.parametrize(
    ("each_database", "name", "scenario", "deaths"),
    on_both(CASES, 3),
    indirect=["each_database"],
    scope="module",
)
def test_a_broken_rule_breaks_the_promise(
    place: Crashes, name: str, scenario: Scenario, deaths: tuple[str, ...]
) -> None:
    """With the rule broken, the checks say so."""
    with pytest.raises(BrokenPromise):
        place.case(scenario, *deaths, mutant=name)


@pytest.mark.parametrize(
    ("each_database", "name", "stop"),
    on_both(WAKING, len(WAKING)),
    indirect=["each_database"],
    scope="module",
)
def test_a_broken_rule_breaks_the_promise_when_a_run_wakes(
    place: Crashes, name: str, stop: str
) -> None:
    """With the rule broken, somebody has something twice."""
    with pytest.raises(AssertionError):
        place.wakes(ALONE, stop, SLEPT, mutant=name)


@pytest.mark.parametrize(
    ("each_database", "name", "scenario", "deaths"),
    on_both(UNBROKEN, 3),
    indirect=["each_database"],
    scope="module",
)
def test_the_unbroken_rule_keeps_the_promise(
    place: Crashes, name: str, scenario: Scenario, deaths: tuple[str, ...]
) -> None:
    """The same case without the mutant is fine: it was the mutant that was found."""
    assert place.case(scenario, *deaths).unsure <= scenario.in_flight


def test_a_change_that_nobody_noticed_needs_a_reason() -> None:
    """And a reason for what is noticed by now goes: `make mutants` says both."""
    name = "tasks.sending.gate.xǁGateǁstop__mutmut_3"
    change = (function(name), "stop = None")
    assert change[0] == "tasks.sending.gate.Gate.stop"
    assert function("data.sending.claims.x__entry__mutmut_15") == "data.sending.claims._entry"
    assert list(unexplained({name: change}, {change})) == []
    [missing] = unexplained({name: change}, set())
    assert missing == f"no reason for {name} in {change[0]}: stop = None"
    [needless] = unexplained({}, {change})
    assert needless.endswith(f"{change[0]}: stop = None")
