"""The demo through a crash: it says that everybody got one email only if the service says so."""

import pytest

from flows.cli.demo import counted
from tests.promises.support.commands import Campaign


@pytest.mark.parametrize(
    ("emailed", "exact", "said"),
    [
        ("ada bob", True, "0 forgotten, 0 twice"),
        ("ada", False, "1 forgotten, 0 twice"),
        ("ada bob bob", False, "0 forgotten, 1 twice"),
        ("ada eve", False, "1 forgotten, 0 twice"),
        ("ada bob eve", False, "0 forgotten, 0 twice"),
    ],
)
def test_everybody_exactly_once(emailed: str, exact: bool, said: str) -> None:
    shown, is_exact = counted(["bob", "ada"], emailed.split())
    assert shown.endswith(said)
    assert is_exact is exact


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_killed_in_the_middle_settled_and_counted(campaign: Campaign) -> None:
    told = campaign("demo", "--crash")
    assert told.code == 0, told.said
    assert "needs attention: 31 invited, 9 unsure" in told.said
    assert told.out.endswith("40 people, 40 emails, 0 forgotten, 0 twice.\n")
