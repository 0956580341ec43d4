"""The tables of a new ledger, beside those that the migrations lead to."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, inspect, text

from data.store.ledger import Ledger
from data.store.opening import migrate
from tests.support.ledgers.databases import ledger_at

pytestmark = pytest.mark.usefixtures("each_database")


def test_a_new_ledger_is_as_one_that_was_migrated(tmp_path: Path) -> None:
    """Made at once or step by step: columns, keys, and what each index holds people to."""
    Ledger.open(ledger_at(tmp_path, "made")).close()
    with connected(ledger_at(tmp_path, "migrated")) as connection:
        migrate(connection)
    assert shape(ledger_at(tmp_path, "made")) == shape(ledger_at(tmp_path, "migrated"))


def shape(url: str) -> dict[str, list[str]]:
    """Everything that a database says about its tables, and which version they are of."""
    kinds = ("columns", "pk_constraint", "foreign_keys", "unique_constraints", "indexes")
    told: dict[str, list[str]] = {}
    with connected(url) as connection:
        for kind in kinds:
            for (_, table), found in getattr(inspect(connection), f"get_multi_{kind}")().items():
                parts = found if isinstance(found, list) else [found]
                told[f"{kind} of {table}"] = sorted(
                    json.dumps(part, default=str, sort_keys=True) for part in parts
                )
        told["version"] = [*connection.scalars(text("SELECT version_num FROM alembic_version"))]
    return told


@contextmanager
def connected(url: str) -> Iterator[Connection]:
    """A transaction on a database, which is let go of afterwards."""
    engine = create_engine(url)
    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()
