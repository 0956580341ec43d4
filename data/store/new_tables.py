"""The tables of a new ledger, created at once in this version's form.

Only a ledger of an older version goes through the migrations. Both ways lead to the same tables
(tests/data/store/test_migrations.py); this one spares every first run the import of what migrates.
"""

from sqlalchemy import Column, Connection, MetaData, PrimaryKeyConstraint, String, Table, insert
from sqlmodel import SQLModel

import data.store.tables  # noqa: F401 - says which tables there are

# The same table as Alembic's, which reads from it what has been migrated.
_MIGRATED = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)


def make_tables(connection: Connection, version: str) -> None:
    """Make every table, and note that they are those of this version."""
    SQLModel.metadata.create_all(connection, checkfirst=False)
    _MIGRATED.create(connection)
    connection.execute(insert(_MIGRATED).values(version_num=version))
