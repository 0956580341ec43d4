"""The bench judges before it measures: what its record of a run must never overlook."""

from pathlib import Path

import pytest

from tests.bench.figures import figure
from tests.bench.place import Place, Round, Sample, Size, Wrong
from tests.bench.recorded import missing
from tests.bench.service import received
from tests.bench.targets import Target

SINGLE = ["check the service and the problem", "create the project", "write the links"]
ADDED = "add candidates 1-250 of 250"


@pytest.mark.parametrize(
    ("waves", "gaps"),
    [
        (["invitations 1-100 of 250", "invitations 101-250 of 250"], []),
        (["invitations 101-250 of 250", "invitations 1-100 of 250"], []),
        (["invitations 1-100 of 250", "invitations 201-250 of 250"], ["invitations 101-200"]),
        (["invitations 1-100 of 250"], ["invitations 101-250"]),
        ([], ["invitations 1-250"]),
    ],
)
def test_a_wave_that_prefect_lost_is_seen(waves: list[str], gaps: list[str]) -> None:
    """In whatever order they come: together they must be everybody."""
    assert missing([*SINGLE, ADDED, *waves], 250) == gaps


def test_a_step_of_all_that_prefect_lost_is_seen() -> None:
    """Also one that is not of some people."""
    assert missing([*SINGLE[1:], ADDED, "invitations 1-250 of 250"], 250) == SINGLE[:1]


def test_who_was_invited_twice_or_never_is_counted() -> None:
    """By the service's own record; the token is no request to the service."""
    record = {
        "invitations": [{"email": one} for one in ("a@x.de", "b@x.de", "b@x.de", "b@x.de")],
        "requests": [{"operation": one} for one in ("token", "list_problems", "invite")],
    }
    found = received(record, ["a@x.de", "b@x.de", "c@x.de", "d@x.de"])
    assert (found.requests, found.invited, found.twice, found.never) == (2, 2, 2, 2)


def test_a_ratio_is_taken_within_a_round() -> None:
    """A machine that is busy for one round is so for both; a round without it does not count."""

    def taken(ours: float, theirs: float) -> Round:
        cost = {"cpu": 1.0, "memory": 0, "written": 0}
        return {"ours": Sample(seconds=ours, **cost), "theirs": Sample(seconds=theirs, **cost)}

    twice = Target("twice", 2.0, lambda r: r["ours"].seconds / r["theirs"].seconds)
    found = figure(twice, [taken(1, 1), taken(90, 30), taken(4, 2), {}])
    assert found is not None
    assert (found.median, found.least, found.most, found.reached) == (2.0, 1.0, 3.0, True)
    assert figure(twice, [{}]) is None


def test_what_cannot_be_measured_takes_nothing_from_the_others(tmp_path: Path) -> None:
    """It is told at the end; half an hour of other figures stands."""
    place, measured = Place(tmp_path, Size()), []
    for name in ("floor", "rival", "ours"):
        with place.measuring(name):
            if name == "rival":
                raise Wrong("two were invited twice")
            measured.append(name)
    assert (measured, place.failed) == (["floor", "ours"], ["rival: two were invited twice"])
