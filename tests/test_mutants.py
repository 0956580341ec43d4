"""The checks of the promise find what they are there to find: each known way to break it."""

from collections.abc import Iterator

import pytest
from child_runs import ChildRuns
from crash_cases import Crashes, crashes
from mutants import MUTANTS
from promise import BrokenPromise
from small_campaigns import Scenario

from sandbox.faults import Fault
from tests.databases import on_both

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

# Without the mutant some of them are the same case, which is tried once.
UNBROKEN = list({(case.values[1].name, case.values[2]): case for case in CASES}.values())


pytestmark = pytest.mark.usefixtures("each_database")


@pytest.fixture(scope="module")
def place(each_database: str, child_runs: ChildRuns) -> Iterator[Crashes]:
    with crashes(child_runs) as place:
        yield place


def test_every_mutant_is_tried() -> None:
    """No way to break the promise is without a case that shows it."""
    assert SHOWN_BY.keys() == MUTANTS.keys()


@pytest.mark.parametrize(("name", "scenario", "deaths"), CASES)
def test_a_broken_rule_breaks_the_promise(
    place: Crashes, name: str, scenario: Scenario, deaths: tuple[str, ...]
) -> None:
    """With the rule broken, the checks say so."""
    with pytest.raises(BrokenPromise):
        place.case(scenario, *deaths, mutant=name)


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
