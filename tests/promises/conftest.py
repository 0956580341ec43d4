"""What every promise is told with: `campaign`, who types commands, and `sandbox`, who answers.

    def test_3_a_finished_campaign_sends_nothing(sandbox, campaign):
        service = sandbox()
        file = campaign.write(people=3)
        assert campaign("run", file, "--yes").code == 0
        …

A test's name begins with the number of its promise: test_3_….
"""

import os
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.promises.support import prefect
from tests.promises.support.commands import Campaign
from tests.promises.support.service import Service

IN_MAKE_TEST = {3, 4, 12, 22, 23, 25, 30}
"""Promises that every change is judged by at once. The others take minutes: `make test-all`."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        number = re.match(r"test_(\d+)_", item.name)
        if number and int(number[1]) not in IN_MAKE_TEST:
            item.add_marker(pytest.mark.slow)
        if number and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(600))  # of a machine that stands still for a while


@pytest.fixture(scope="session")
def prefect_server(tmp_path_factory: pytest.TempPathFactory) -> prefect.Server:
    """The server of the session, which may be starting still; `.ready()` waits for it."""
    folder = tmp_path_factory.getbasetemp()
    return prefect.begin(folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder)


@pytest.fixture(scope="session")
def prefect_url(prefect_server: prefect.Server) -> Callable[[], str]:
    return cache(lambda: prefect_server.ready().url)


@pytest.fixture
def campaign(tmp_path: Path, prefect_url: Callable[[], str]) -> Iterator[Campaign]:
    """Whoever types commands, with an empty home and an empty ledger."""
    typing = Campaign(tmp_path, prefect_url)
    yield typing
    typing.close()


@pytest.fixture
def sandbox(tmp_path: Path, campaign: Campaign) -> Iterator[Callable[..., Service]]:
    """Make a service, to which all commands typed from then on speak."""
    made: list[Service] = []

    def make(**options: Any) -> Service:
        made.append(Service(tmp_path / f"service{len(made)}", **options))
        campaign.environment.update(made[-1].settings)
        return made[-1]

    yield make
    for service in made:
        service.close()
