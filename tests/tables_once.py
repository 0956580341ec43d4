"""A new ledger's tables in files are migrated once in a process, and written down for the others.

A migration composes each table from its parts, which takes longer than most tests of a ledger do.
That it makes the right tables is judged by tests/test_migrations.py, where each one is real.
"""

from collections.abc import Callable
from typing import Any

import alembic.command
import pytest
from alembic.config import Config
from sqlalchemy import Connection

TABLES = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%'"
VERSION = "SELECT version_num FROM alembic_version"

migrate: Callable[[Config, str], None] = alembic.command.upgrade


class _TablesOnce:
    """Takes the place of `alembic.command.upgrade`."""

    def __init__(self) -> None:
        self._written: list[str] = []

    def __call__(self, config: Config, revision: str) -> None:
        connection: Connection = config.attributes["connection"]
        if connection.dialect.name != "sqlite" or _any(connection, TABLES):
            migrate(config, revision)
        elif self._written:
            for statement in self._written:
                connection.exec_driver_sql(statement)
        else:
            migrate(config, revision)
            [version] = _any(connection, VERSION)
            self._written = [
                *_any(connection, f"{TABLES} ORDER BY rowid"),
                f"INSERT INTO alembic_version VALUES ('{version}')",
            ]


def _any(connection: Connection, asked: str) -> list[Any]:
    return list(connection.exec_driver_sql(asked).scalars())


def make_tables_once() -> None:
    """Have it so for every ledger that this process opens from now on."""
    alembic.command.upgrade = _TablesOnce()


@pytest.fixture
def really_migrated(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of a ledger's first moments: each new one is migrated."""
    monkeypatch.setattr("alembic.command.upgrade", migrate)
