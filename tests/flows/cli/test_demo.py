"""The demo through a crash: it says that everybody got one email only if the service says so."""

import pytest

from tests.promises.support.commands import Campaign


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_killed_in_the_middle_settled_and_counted(campaign: Campaign) -> None:
    told = campaign("demo", "--crash")
    assert told.code == 0, told.said
    assert "needs attention: 31 invited, 9 unsure" in told.said
    assert told.out.endswith("40 people, 40 emails, 0 forgotten, 0 twice.\n")
