"""What the tests of decisions, holds and privacy begin with."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.doubtful_campaign import DoubtfulCampaign, doubtful_campaign


@pytest.fixture
def desk(
    each_database: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[DoubtfulCampaign]:
    """A campaign of three people that nobody has run yet, in each kind of database."""
    with doubtful_campaign(tmp_path, monkeypatch, capsys) as campaign:
        yield campaign
