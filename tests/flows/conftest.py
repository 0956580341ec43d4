"""Campaigns in a ledger of their own, which the settings name; nothing of this machine's."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from data.store.ledger import Ledger
from tests.data.desk import Desk
from tests.promises.conftest import campaign, prefect_server, prefect_url, sandbox

__all__ = ["campaign", "prefect_server", "prefect_url", "sandbox"]


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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of campaigns that `up` watches."""
    place = tmp_path / "campaigns"
    place.mkdir()
    return place


def write(folder: Path, key: str, name: str = "", **more: object) -> Path:
    """A definition of one person."""
    person = {"first_name": "Ada", "last_name": "Of X", "email1": f"ada@{key}.test"}
    whole = {"campaign": key, "project": {"name": key}, "problem": 42, "candidates": [person]}
    file = folder / (name or f"{key}.yaml")
    file.write_text("".join(f"{k}: {json.dumps(v)}\n" for k, v in (whole | more).items()))
    return file
