from collections.abc import Iterator

import pytest
from sqlmodel import Session

from data.store.ledger import Ledger


@pytest.fixture
def session(ledger: Ledger) -> Iterator[Session]:
    with ledger.writing() as writing:
        yield writing
