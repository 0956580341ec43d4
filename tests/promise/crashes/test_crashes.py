"""Wherever a run dies, nobody is invited twice and nobody is forgotten.

A sample of the cases; `make crashes` tries every one.
"""

from collections.abc import Iterator
from functools import partial

import pytest

from tests.promise.crashes.child_runs import ChildRuns
from tests.promise.crashes.crash_cases import (
    ALONE,
    MACHINES,
    SCENARIOS,
    STOPPED,
    TWICE,
    Crashes,
    Machines,
    crashes,
    sample,
)
from tests.promise.crashes.small_campaigns import Scenario

EVERY = {"sqlite": 127, "postgresql": 305}
"""Of the 130 to 290 boundaries of each scenario, one in so many is tried here."""
AGAIN_AFTER = {"sqlite": range(9, 200, 90), "postgresql": range(9, 10)}
"""Where the first run dies, of those pairs that are tried here."""
LEAST_ONCE, LEAST_AGAIN = 1, {"sqlite": 3, "postgresql": 2}
"""So many cases each of them comes to: a sample that shrinks unseen proves nothing."""

OPERATIONS = ("create_project", "attach_problem", "add_candidates", "invite")
MOMENTS = (
    "called",
    "connected",
    "sent",
    "answered",
    "closed",
    "returned",
)
COMMITS = tuple(f"commit {side}" for side in ("before", "inside", "after"))
REQUESTS = tuple(f"{operation} {moment}" for operation in OPERATIONS for moment in MOMENTS)


pytestmark = pytest.mark.usefixtures("each_database")


@pytest.fixture(scope="module")
def place(each_database: str, child_runs: ChildRuns) -> Iterator[Crashes]:
    with crashes(child_runs) as place:
        yield place


@pytest.mark.parametrize(
    ("scenario", "start"),
    [(scenario, 1 + 10 * n % 127) for n, scenario in enumerate(SCENARIOS)],
    ids=[scenario.name for scenario in SCENARIOS],
)
def test_a_rerun_after_a_crash_invites_everyone_once(
    place: Crashes, each_database: str, scenario: Scenario, start: int
) -> None:
    """Killed at any boundary and run again: the promise holds, and doubt is what was in flight."""
    cases = sample(partial(place.case, scenario), start=start, every=EVERY[each_database])
    assert cases >= LEAST_ONCE


@pytest.mark.parametrize("scenario", TWICE, ids=[scenario.name for scenario in TWICE])
def test_a_crash_while_a_crash_is_cleared_up_changes_nothing(
    place: Crashes, each_database: str, scenario: Scenario
) -> None:
    """Killed again at any boundary of the run after: the promise holds all the same."""
    cases = sum(  # with other boundaries of the second run for each of the first
        sample(partial(place.case, scenario, first), start=1 + first % 67, every=67)
        for first in AGAIN_AFTER[each_database]
    )
    assert cases >= LEAST_AGAIN[each_database]


@pytest.mark.parametrize("machines", MACHINES.values(), ids=MACHINES)
@pytest.mark.parametrize(
    ("scenario", "start"),
    [(scenario, 3 + 17 * n) for n, scenario in enumerate(STOPPED)],
    ids=[scenario.name for scenario in STOPPED],
)
def test_a_run_that_stood_still_and_wakes_sends_nothing_twice(
    place: Crashes, each_database: str, scenario: Scenario, start: int, machines: Machines
) -> None:
    """Stopped at any boundary while others finish and a person settles by the truth; then woken."""
    start += 7 * list(MACHINES.values()).index(machines)
    wakes = partial(place.wakes, scenario, machines=machines)
    assert sample(wakes, start=start, every=EVERY[each_database]) >= LEAST_ONCE


CLAIMED = [
    (f"{operation} {moment}", machines)
    for operation in reversed(OPERATIONS)
    for moment, machines in (("called", "two, one slept"), ("connected", "two, one paused"))
]


@pytest.mark.parametrize(
    ("each_database", "stop", "machines"),
    [("sqlite", *case) for case in CLAIMED] + [("postgresql", *case) for case in CLAIMED[:2]],
    indirect=["each_database"],
    scope="module",
)
def test_a_claim_that_waited_too_long_is_not_sent(place: Crashes, stop: str, machines: str) -> None:
    """The attack itself: claimed, stopped, settled as not received, sent by another, woken."""
    assert place.wakes(ALONE, stop, MACHINES[machines]).boundaries == (stop,)


@pytest.mark.parametrize(
    ("each_database", "names"),
    [
        ("sqlite", (*COMMITS, *REQUESTS, "token connecting")),
        ("postgresql", (*COMMITS, "invite called", "invite returned")),
    ],
    indirect=["each_database"],
    scope="module",
)
def test_the_boundaries_are_those_of_every_commit_and_every_request(
    place: Crashes, names: tuple[str, ...]
) -> None:
    """Among what is tried is each phase of each operation, and each side of a commit."""
    seen = {boundary for name in names for boundary in place.case(SCENARIOS[0], name).boundaries}
    assert seen >= set(names)
