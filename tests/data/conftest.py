"""A ledger to work in: a file, and for the marked tests the same on a PostgreSQL server."""

from collections.abc import Iterator

import pytest

from data.store.ledger import Ledger
from tests.data.desk import Desk
from tests.data.ledgers import empty, new_url, postgres

__all__ = ["empty", "new_url", "postgres"]


@pytest.fixture
def ledger(new_url: str) -> Iterator[Ledger]:
    """An empty ledger."""
    with Ledger.open(new_url) as opened:
        yield opened


@pytest.fixture
def desk(ledger: Ledger) -> Desk:
    """Campaigns in it, as a file, the service and a person move them."""
    return Desk(ledger)
