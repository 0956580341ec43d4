"""Wherever a run dies, nobody is invited twice and nobody is forgotten.

A sample of the cases; `make crashes` tries every one.
"""

from collections.abc import Iterator

import pytest
from crash_cases import SCENARIOS, TWICE, Crashes, again, crashes, once
from small_campaigns import Scenario

EVERY = 23
"""Each scenario of some 150 boundaries is killed at every so-manyeth of them."""


@pytest.fixture(scope="module")
def place() -> Iterator[Crashes]:
    with crashes() as place:
        yield place


@pytest.mark.parametrize(
    ("scenario", "start"),
    [(scenario, 1 + 5 * n % EVERY) for n, scenario in enumerate(SCENARIOS)],
    ids=[scenario.name for scenario in SCENARIOS],
)
def test_a_rerun_after_a_crash_invites_everyone_once(
    place: Crashes, scenario: Scenario, start: int
) -> None:
    """Killed at any boundary and run again: the promise holds, and doubt is what was in flight."""
    assert sum(1 for _ in once(place, scenario, start=start, every=EVERY)) >= 2


@pytest.mark.parametrize("scenario", TWICE, ids=[scenario.name for scenario in TWICE])
def test_a_crash_while_a_crash_is_cleared_up_changes_nothing(
    place: Crashes, scenario: Scenario
) -> None:
    """Killed again at any boundary of the run after: the promise holds all the same."""
    cases = [
        case for first in range(7, 200, 40) for case in again(place, scenario, first, every=23)
    ]
    assert len(cases) >= 5


def test_the_boundaries_are_those_of_every_commit_and_every_request(place: Crashes) -> None:
    """What is tried are all phases of all four operations, and each side of each commit."""
    seen = {
        boundary
        for name in (
            *(f"commit {side}" for side in ("before", "inside", "after")),
            *(
                f"{operation} {moment}"
                for operation in ("create_project", "attach_problem", "add_candidates", "invite")
                for moment in (
                    "called",
                    "http11.send_request_headers.started",
                    "http11.send_request_headers.complete",
                    "http11.send_request_body.complete",
                    "http11.receive_response_headers.complete",
                    "http11.receive_response_body.complete",
                    "returned",
                )
            ),
            "token connection.connect_tcp.started",
        )
        for boundary in place.case(SCENARIOS[0], name).boundaries
    }
    assert len(seen) == 3 + 4 * 7 + 1
