"""The demo through a crash: it says that everybody got one email only if the service says so."""

import pytest

from tests.flows.cli.test_tour import README, blocks
from tests.promises.support.commands import Campaign


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_killed_in_the_middle_settled_and_counted(campaign: Campaign) -> None:
    told = campaign("demo", "--crash")
    assert told.code == 0, told.said
    transcript = blocks(README.read_text("utf-8"))[1].splitlines()
    assert [line for line in transcript if line not in told.said] == []
