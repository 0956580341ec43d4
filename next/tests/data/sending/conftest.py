from collections.abc import Iterator

import pytest
from sqlmodel import Session

from data.store.ledger import Ledger
from tests.data.ledgers import empty, new_url, postgres

__all__ = ["empty", "new_url", "postgres"]


@pytest.fixture
def ledger(new_url: str) -> Iterator[Ledger]:
    with Ledger.open(new_url) as opened:
        yield opened


@pytest.fixture
def session(ledger: Ledger) -> Iterator[Session]:
    with ledger.writing() as writing:
        yield writing
