"""Campaigns in a ledger of their own, which the settings name; nothing of this machine's."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from data.store.ledger import Ledger
from tests.data.desk import Desk


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", f"sqlite:///{tmp_path / 'ledger.db'}")
    monkeypatch.delenv("CAMPAIGN_NOTIFY_URL", raising=False)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open() as opened:
        yield opened


@pytest.fixture
def desk(ledger: Ledger) -> Desk:
    """Campaigns in the ledger, as a file, the service and a person move them."""
    return Desk(ledger)
